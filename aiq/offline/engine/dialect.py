"""Tools that a prompt offers in prose, and calls written as text: for agents that use no function calling.

The prompt says which tools there are, how a call is written and how the end is; calls are written in just that form.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from aiq.offline.chat import ChatRequest, FunctionSpec, ToolCall, ToolSpec

Form = Literal["action_input", "action_json", "bracket", "markup", "code"]

_PYTHON = re.compile(
    r"^[ \t]*(?:def )?(?P<name>[a-z]\w+)\((?P<arguments>[^()\n]*)\)[ \t]*(?:->[ \t]*[\w\[\], |]+)?\s?:?(?P<rest>.*)$",
    re.MULTILINE,
)
_LISTED = re.compile(
    r"^[ \t]*(?:[-*•]|\d+[.)])?[ \t]*[`*\"]*(?P<name>[A-Za-z]\w{2,})[`*\"]*(?:\[[^\]\n]*\])?[ \t]*"
    r"[:：][ \t]*(?P<rest>\S.*)$",
    re.MULTILINE,
)
_HEADING = re.compile(r"\btools?\b|\bfunctions?\b|\bactions?\b|工具", re.IGNORECASE)
_TYPES = {"int": "integer", "float": "number", "bool": "boolean", "list": "array", "dict": "object"}
_TYPES |= {name: name for name in ("integer", "number", "boolean", "array", "object")}


@dataclass(frozen=True)
class Dialect:
    """How calls are written as text, and the tools that may be called."""

    form: Form
    tools: tuple[ToolSpec, ...]
    prompt: str

    def written(self, calls: Sequence[ToolCall]) -> str:
        """The calls in the prompt's form; one where the form holds one."""
        first = calls[0].function
        values = list(first.parsed.values())
        if self.form == "action_input":
            shown = str(values[0]) if len(values) == 1 and not self._wants_json() else first.arguments
            return f"Thought: I need {_purpose(values)}.\nAction: {first.name}\nAction Input: {shown}"
        if self.form == "bracket":
            return f"Thought: I need {_purpose(values)}.\nAction: {first.name}[{values[0] if values else ''}]"
        if self.form == "action_json":
            return f"Thought: I need {_purpose(values)}.\n{self._blob(first.name, first.parsed)}"
        if self.form == "markup":
            return "\n".join(
                f"<tool_call>\n{json.dumps(_object(call), ensure_ascii=False)}\n</tool_call>" for call in calls
            )
        return self._code(*(f"print({_python(call)})" for call in calls))

    def final(self, text: str) -> str:
        """The last reply in the prompt's form."""
        if self.form == "code":
            return self._code(f"final_answer({json.dumps(text, ensure_ascii=False)})")
        if self.form == "bracket":
            return f"Thought: I know the answer.\nAction: Finish[{text}]" if "Finish[" in self.prompt else text
        if self.form == "action_json" and "final_answer" in self.prompt.casefold().replace(" ", "_"):
            name = re.search(r"[Ff]inal[ _][Aa]nswer", self.prompt)
            return self._blob(name[0] if name else "final_answer", text)
        return f"Thought: I now know the final answer.\nFinal Answer: {text}" if "Final Answer" in self.prompt else text

    def _blob(self, name: str, value: object) -> str:
        keys = ("action", "action_input") if '"action_input"' in self.prompt else ("name", "arguments")
        blob = json.dumps(dict(zip(keys, (name, value), strict=True)), ensure_ascii=False)
        return f"Action:\n```json\n{blob}\n```"

    def _wants_json(self) -> bool:
        return re.search(r"Action Input:[^\n]*(?:JSON|json|\{)", self.prompt) is not None

    def _code(self, *lines: str) -> str:
        opening, closing = ("<code>", "</code>") if "<code>" in self.prompt else ("```py", "```<end_code>")
        if "<end_code>" not in self.prompt and closing.startswith("```"):
            closing = "```"
        return "\n".join(["Thought: I go on with the next step.", opening, *lines, closing])


def dialect(request: ChatRequest) -> Dialect | None:
    """The dialect of a request whose prompt describes tools and how to call them; None where it does not, or where
    tools are offered by the protocol."""
    if request.tools or request.tool_choice == "none":
        return None
    prompt = "\n\n".join(m.text for m in request.messages if m.role in ("system", "developer", "user"))
    form = _form(prompt)
    if form is None:
        return None
    tools = _offered(prompt)
    return Dialect(form, tools, prompt) if tools else None


def _form(prompt: str) -> Form | None:
    if re.search(r"\bfinal_answer\(", prompt) and re.search(r"```py|<code>", prompt):
        return "code"
    if '"action_input"' in prompt or re.search(r"Action:\s*\n\s*(?:```\w*\s*)?\{", prompt):
        return "action_json"
    if "Action Input:" in prompt:
        return "action_input"
    if re.search(r"<tool_call>", prompt):
        return "markup"
    return "bracket" if re.search(r"\bAction:?\s*\w+\[|\b[Ff]inish\[", prompt) else None


def _offered(prompt: str) -> tuple[ToolSpec, ...]:
    """The tools that the prompt describes: as Python signatures, as JSON, or as a list below a heading about tools."""
    found: dict[str, ToolSpec] = {}
    for match in re.finditer(r"\{\s*\"(?:type|name)\"\s*:.*\}", prompt):
        try:
            value = json.loads(match.group())
        except ValueError:
            continue
        function = value.get("function", value)
        if isinstance(function, dict) and isinstance(function.get("parameters"), dict):
            found[str(function.get("name"))] = ToolSpec(function=FunctionSpec.model_validate(function))
    signatures = [match for match in _PYTHON.finditer(prompt) if _is_tool(match, "\ndef " in prompt)]
    for match in signatures:
        after = prompt[match.end() : match.end() + 300].split("\n\n")[0]
        described = f"{match['rest']} {after if match['rest'].strip() in ('', ':') else ''}".strip(" :\"'\n")
        found.setdefault(match["name"], _spec(match["name"], described, _parameters(match["arguments"])))
    if not found:
        for listed in _tool_lists(prompt):
            for match in _LISTED.finditer(listed):
                found.setdefault(match["name"], _spec(match["name"], match["rest"], {"input": {"type": "string"}}))
    return tuple(spec for name, spec in found.items() if name.casefold() != "final_answer")


def _is_tool(match: re.Match[str], defined: bool) -> bool:
    """Whether a line is a signature: a definition where the prompt has any, else a name with typed parameters."""
    if defined:
        return match.group().lstrip().startswith("def ")
    return ":" in match["arguments"] and not match["arguments"].lstrip().startswith(("'", '"'))


def _tool_lists(prompt: str) -> list[str]:
    """What follows each line that announces tools, up to a blank line after it."""
    parts = re.split(r"\n[ \t]*\n", prompt)
    lists = []
    for at, part in enumerate(parts):
        first, _, rest = part.strip().partition("\n")
        if _HEADING.search(first):
            lists.append(rest or (parts[at + 1] if at + 1 < len(parts) else ""))
    return lists


def _parameters(arguments: str) -> dict[str, Any]:
    found = {}
    for part in filter(None, re.split(r",\s*(?![^\[]*\])", arguments)):
        name, _, kind = part.partition(":")
        found[name.strip()] = {"type": _TYPES.get(re.split(r"\W", kind.strip())[0].casefold(), "string")}
    return found


def _spec(name: str, description: str, properties: dict[str, Any]) -> ToolSpec:
    parameters = {"type": "object", "properties": properties, "required": list(properties)[:1]}
    return ToolSpec(function=FunctionSpec(name=name, description=description[:600], parameters=parameters))


def _object(call: ToolCall) -> dict[str, Any]:
    return {"name": call.function.name, "arguments": call.function.parsed}


def _python(call: ToolCall) -> str:
    given = ", ".join(f"{name}={value!r}" for name, value in call.function.parsed.items())
    return f"{call.function.name}({given})"


def _purpose(values: Sequence[Any]) -> str:
    return f"to look up {values[0]}" if values else "the next step"
