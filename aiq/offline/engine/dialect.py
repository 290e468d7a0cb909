"""Calls written as text, for agents that use no function calling: how a prompt asks for them, and reading them.

The prompt says which tools there are, how a call is written and how the end is; calls are written in just that form.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aiq.offline.chat import ChatRequest, FunctionSpec, ToolCall, ToolSpec
from aiq.offline.engine import material

Call = tuple[str, dict[str, Any]]

_FORMS = (
    (r"(?s)<code>.*\bfinal_answer\(", "<code>\nprint({python})\n</code>", "<code>\nfinal_answer({quoted})\n</code>"),
    (
        r"(?s)<end_code>.*\bfinal_answer\(",
        "```py\nprint({python})\n```<end_code>",
        "```py\nfinal_answer({quoted})\n```<end_code>",
    ),
    (r"(?s)```py.*\bfinal_answer\(", "```py\nprint({python})\n```", "```py\nfinal_answer({quoted})\n```"),
    (
        r'"action_input"',
        'Action:\n```json\n{{"action": "{name}", "action_input": {json}}}\n```',
        'Action:\n```json\n{{"action": "Final Answer", "action_input": {quoted}}}\n```',
    ),
    (
        r"Action:\s*\n\s*(?:```\w*\s*)?\{",
        'Action:\n{{"name": "{name}", "arguments": {json}}}',
        'Action:\n{{"name": "final_answer", "arguments": {{"answer": {quoted}}}}}',
    ),
    (r"Action Input:[^\n]*(?:JSON|json|\{)", "Action: {name}\nAction Input: {json}", "Final Answer: {text}"),
    (r"Action Input:", "Action: {name}\nAction Input: {value}", "Final Answer: {text}"),
    (r"<tool_call>", '<tool_call>\n{{"name": "{name}", "arguments": {json}}}\n</tool_call>', "{text}"),
    (r"\b[Ff]inish\[", "Action: {name}[{value}]", "Action: Finish[{text}]"),
    (r"\bAction:?\s*\w+\[", "Action: {name}[{value}]", "{text}"),
)
"""What in a prompt shows a form, a call in that form, and the end."""

_OFFERED = re.compile(
    r"^[ \t]*(?:(?P<defined>def )|[-*•][ \t]|\d+[.)][ \t])?[ \t]*[`*\"]*(?P<name>[A-Za-z]\w{2,})[`*\"]*"
    r"(?:[(\[](?P<parameters>[^()\n]*)[)\]])?[ \t]*(?:->[ \t]*[\w\[\], |]+?)?[ \t]*(?:[:：]|[ ]-[ ])[ \t]*(?P<rest>.*)$",
    re.MULTILINE,
)
_ANNOUNCED = re.compile(r"\btools?\b|\bfunctions?\b|\bactions?\b|工具", re.IGNORECASE)
_PARAMETER = re.compile(r"(\w+)\s*:\s*(\w+)")
_TYPES = {"int": "integer", "float": "number", "bool": "boolean", "list": "array", "dict": "object"}
_TYPES |= {name: name for name in _TYPES.values()}

_ACTION = re.compile(
    r"^\W*(?:Action|Tool|行动|动作)[ \t]*\d*\W*[:：]\W*(?P<name>\w[\w.-]*)[ \t]*(?:[\[(](?P<inside>.*)[\])])?[ \t`*]*$"
    r"(?:\s*\W*(?:(?:Action|Tool) Input|(?:行动|动作)输入)[ \t]*\d*\W*[:：][ \t]*"
    r"(?P<input>[^\n]*(?:\n(?!\n)[^\n]*)*))?",
    re.IGNORECASE | re.MULTILINE,
)
_CODE = re.compile(r"(?:```(?:py|python)?[ \t]*\n|<code>)(.*?)(?:```|</code>)", re.DOTALL)
_CODED = re.compile(r"(?<![\w.])(?!print|len|str|join|final_answer)([a-z_]\w*)\(([^()]*[\"'][^()]*)\)")
_GIVEN = re.compile(r"(?:(\w+)\s*=\s*)?\[?([\"'])(.*?)\2")


@dataclass(frozen=True)
class Dialect:
    """How calls and the end are written as text (templates), and the tools that may be called."""

    called: str
    ended: str
    thinks: bool
    tools: tuple[ToolSpec, ...]

    def call(self, call: ToolCall) -> str:
        """A call in the prompt's form."""
        arguments = call.function.parsed
        python = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        value = next(iter(arguments.values()), "")
        written = self.called.format(
            name=call.function.name,
            value=call.function.arguments if len(arguments) > 1 else value,
            json=call.function.arguments,
            python=f"{call.function.name}({python})",
        )
        return f"Thought: I look up {value or 'what is missing'}.\n{written}" if self.thinks else written

    def final(self, text: str) -> str:
        """The last reply in the prompt's form."""
        written = self.ended.format(text=text, quoted=json.dumps(text, ensure_ascii=False))
        return f"Thought: I now know the final answer.\n{written}" if self.thinks else written


def dialect(request: ChatRequest) -> Dialect | None:
    """The dialect of a request whose prompt describes tools and how to call them; None where it does not, or where
    tools are offered by the protocol."""
    if request.tools or request.tool_choice == "none":
        return None
    prompt = "\n\n".join(m.text for m in request.messages if m.role in ("system", "developer", "user"))
    form = next((form for form in _FORMS if re.search(form[0], prompt)), None)
    tools = _offered(prompt) if form else ()
    return Dialect(*form[1:], "Thought" in prompt, tools) if form and tools else None


def _offered(prompt: str) -> tuple[ToolSpec, ...]:
    """The tools that a prompt describes: as JSON, as Python signatures, or as a list below a line about tools."""
    values = [value for value, _, _ in material.objects(prompt)]
    rows = [row for value in values for row in (value if isinstance(value, list) else [value])]
    functions = [row.get("function", row) for row in rows if isinstance(row, dict)]
    found = [f for f in functions if isinstance(f, dict) and f.get("name") and isinstance(f.get("parameters"), dict)]
    defined = [match for match in _OFFERED.finditer(prompt) if match["defined"]]
    listed = [match for part in _announced(prompt) for match in _OFFERED.finditer(part) if match["rest"]]
    found = found or [_described(match) for match in defined or listed]
    specs = {function["name"]: ToolSpec(function=FunctionSpec.model_validate(function)) for function in found}
    return tuple(spec for name, spec in specs.items() if name.casefold() != "final_answer")


def _announced(prompt: str) -> Iterator[str]:
    """What follows each line that announces tools, up to the next blank line."""
    parts = re.split(r"\n[ \t]*\n", prompt)
    for part, following in zip(parts, [*parts[1:], ""], strict=True):
        first, _, rest = part.strip().partition("\n")
        if _ANNOUNCED.search(first):
            yield rest or following


def _described(match: re.Match[str]) -> dict[str, Any]:
    """A tool of a signature or a line; only its first parameter is taken to be required."""
    below = match.string[match.end() : match.end() + 300].split("\n\n")[0] if match["defined"] else ""
    named = _PARAMETER.findall(match["parameters"] or "") or [("input", "str")]
    properties = {name: {"type": _TYPES.get(kind.casefold(), "string")} for name, kind in named}
    parameters = {"type": "object", "properties": properties, "required": [named[0][0]]}
    return {"name": match["name"], "description": f"{match['rest']}{below}".strip(" \"'\n"), "parameters": parameters}


def calls(text: str) -> list[Call]:
    """The calls that a text tells: as JSON or Python objects, else as an action with its input, else as code."""
    enclosed = re.search(r"[\[{].*[\]}]", text, re.DOTALL)
    values = material.parsed(enclosed[0]) if enclosed else None
    rows = [row for value in values or () for row in (value if isinstance(value, list) else [value])]
    found = [call for row in rows if isinstance(row, dict) for call in _named(row.get("function", row))]
    found = found or [(m["name"], _arguments(m["input"] or m["inside"] or "")) for m in _ACTION.finditer(text)]
    return found or [
        (name, {key or "input": value for key, _, value in _GIVEN.findall(inside)})
        for code in _CODE.findall(text)
        for name, inside in _CODED.findall(code)
    ]


def _named(row: Any) -> Iterator[Call]:
    """The call that an object tells, whatever its fields are called."""
    fields = row.items() if isinstance(row, dict) else ()
    names = [value for key, value in fields if re.fullmatch("name|action|tool|tool_name", key)]
    given = [value for key, value in fields if re.fullmatch("arguments|parameters|args|(?:action_|tool_)?input", key)]
    if names and given and isinstance(names[0], str):
        yield names[0], given[0] if isinstance(given[0], dict) else _arguments(str(given[0]))


def _arguments(said: str) -> dict[str, Any]:
    """Arguments told as an object, else the text as `input`."""
    said = said.strip("` \n\"'")
    values = [value for value, _, _ in material.objects(said) if isinstance(value, dict)]
    return values[0] if values else {"input": said} if said else {}
