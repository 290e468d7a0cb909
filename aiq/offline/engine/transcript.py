"""Tool calls written as text, in whatever form a prompt shows, and what was done so far in a conversation.

For agents without function calling, the prompt says which tools there are, how a call is written and how to finish;
calls are written in exactly that form."""

import json
import re
from dataclasses import dataclass, replace
from typing import Any

from aiq.offline.chat import ChatRequest, FunctionSpec, ToolCall, ToolSpec
from aiq.offline.engine import material
from aiq.offline.engine.tools import TABLES, kind_of

Call = tuple[str, dict[str, Any]]

_OFFERED = re.compile(
    r"(?m)^[ \t]*(?:(?P<defined>def )|[-*•][ \t]|\d+[.)][ \t])?[ \t]*[`*\"]*(?P<name>[A-Za-z]\w{2,})[`*\"]*"
    r"(?:[(\[](?P<parameters>[^()\n]*)[)\]])?[ \t]*(?:->[ \t]*[\w\[\], |]+?)?[ \t]*(?:[:：]|[ ]-[ ])[ \t]*"
    r"(?P<rest>.*)$"
)
_ANNOUNCED = re.compile(
    r"(?i)(?:\A|\n[ \t]*\n)[^\n]*(?:\b(?:tools?|functions?|actions?)\b|工具)[^\n]*"
    r"(?=\n(?:[ \t]*\n)?((?:[^\n]*\S[^\n]*(?:\n|\Z))*))"
)
"""A paragraph's first line about tools, with what follows it."""
_PARAMETER = re.compile(r"(\w+)\s*:\s*(\w+)")
_ARGUMENT = re.compile(r"(?m)^[ \t]+(\w+)(?: \([^()\n]*\))?: (\S.*)$")
_TYPES = {"int": "integer", "float": "number", "bool": "boolean", "list": "array", "dict": "object"}
_TYPES |= {name: name for name in _TYPES.values()}

_ACTION = re.compile(
    r"(?im)^\W*(?:Action|Tool|行动|动作)[ \t]*\d*\W*[:：]\W*(?P<name>\w[\w.-]*)[ \t]*"
    r"(?:[\[(](?P<inside>.*)[\])])?[ \t`*]*$"
    r"(?:\s*\W*(?:(?:Action|Tool) Input|(?:行动|动作)输入)[ \t]*\d*\W*[:：][ \t]*"
    r"(?P<input>[^\n]*(?:\n(?!\n)[^\n]*)*))?"
)
_INPUT = "arguments|parameters|args|(?:action_|tool_)?input"
_LOOK, _KNOW = "Thought: I look up what is missing.\n", "Thought: I now know the final answer.\n"
_CODE = re.compile(r"(?s)(?:```(?:py|python)?[ \t]*\n|<code>)(.*?)(?:```|</code>)")
_CODE_CALL = re.compile(r"(?<![\w.])(?!print|len|str|join|final_answer)([a-z_]\w*)\(([^()]*[\"'][^()]*)\)")
_LITERAL = re.compile(r"(?:(\w+)\s*=\s*)?\[?([\"'])(.*?)\2")


@dataclass(frozen=True)
class Dialect:
    """How calls and the final reply are written as text (templates), and the tools that may be called."""

    called: str
    ended: str
    tools: tuple[ToolSpec, ...]

    def call(self, call: ToolCall) -> str:
        """A call in the prompt's form."""
        name, payload, arguments = call.function.name, call.function.arguments, call.function.parsed
        value = payload if len(arguments) > 1 else next(iter(arguments.values()), "")
        keywords = ", ".join(f"{parameter}={value!r}" for parameter, value in arguments.items())
        return self.called.format(look=_LOOK, name=name, value=value, json=payload, python=f"{name}({keywords})")

    def final(self, text: str) -> str:
        """The final reply in the prompt's form."""
        quoted = json.dumps(text, ensure_ascii=False)
        return self.ended.format(know=_KNOW, text=text, quoted=quoted)


def dialect(request: ChatRequest) -> Dialect | None:
    """The dialect of a request whose prompt describes tools and how to call them; None if it does not, or if the
    request itself offers tools."""
    prompt = "\n\n".join(m.text for m in request.messages if m.role in ("system", "developer", "user"))
    form = next((form for form in TABLES["dialects"] if re.search(form[0], prompt)), None)
    if form is None or request.tools or request.tool_choice == "none":
        return None
    _, called, ended = form
    tools = offered(prompt)
    return Dialect(called, ended, tools) if tools else None


def offered(prompt: str) -> tuple[ToolSpec, ...]:
    """The tools that a prompt describes: as JSON, as Python signatures, or as a list below a line about tools."""
    rows = [row.get("function", row) for row in material.rows(prompt)]
    objects = [row for row in rows if isinstance(row, dict) and isinstance(row.get("parameters"), dict)]
    signatures = [match for match in _OFFERED.finditer(prompt) if match["defined"]]
    items = [match for part in _ANNOUNCED.findall(prompt) for match in _OFFERED.finditer(part) if match["rest"]]
    specs = {row["name"]: FunctionSpec.model_validate(row) for row in objects or map(_parse_tool, signatures or items)}
    return tuple(ToolSpec(function=spec) for name, spec in specs.items() if name.casefold() != "final_answer")


def _parse_tool(match: re.Match[str]) -> dict[str, Any]:
    """A tool from a signature, with what its docstring says about the parameters, or from a line; only its first
    parameter is taken to be required."""
    docstring = re.split(r"\n[ \t]*def ", match.string[match.end() : match.end() + 1000])[0] if match["defined"] else ""
    summary, descriptions = docstring[:300].split("\n\n")[0], dict(_ARGUMENT.findall(docstring))
    arguments = _PARAMETER.findall(match["parameters"] or "") or [("input", "str")]
    properties = {
        name: {"type": _TYPES.get(kind.casefold(), "string"), "description": descriptions.get(name, "")}
        for name, kind in arguments
    }
    parameters = {"type": "object", "properties": properties, "required": [arguments[0][0]]}
    return {"name": match["name"], "description": f"{match['rest']}{summary}".strip(" \"'\n"), "parameters": parameters}


def calls(text: str) -> list[Call]:
    """The calls in a text: as JSON or Python objects, else as an action with its input, else as code."""
    pairs: list[tuple[str, Any]] = []
    for row in material.rows(text):
        fields = row["function"] if isinstance(row.get("function"), dict) else row
        names = [value for key, value in fields.items() if re.fullmatch("name|action|tool|tool_name", key)]
        is_definition = "description" in fields
        inputs = [value for key, value in fields.items() if re.fullmatch(_INPUT, key) and not is_definition]
        pairs += zip(map(str, names), inputs, strict=False)
    pairs = pairs or [(match["name"], match["input"] or match["inside"] or "") for match in _ACTION.finditer(text)]
    return [(name, _arguments(raw)) for name, raw in pairs] or [
        (name, {key or "input": value for key, _, value in _LITERAL.findall(arguments)})
        for code in _CODE.findall(text)
        for name, arguments in _CODE_CALL.findall(code)
    ]


def _arguments(raw: Any) -> dict[str, Any]:
    """Arguments given as an object, else the text as `input`."""
    if isinstance(raw, dict):
        return raw
    raw = str(raw).strip("` \n\"'")
    values = material.rows(raw)
    return values[0] if values else {"input": raw} if raw else {}


@dataclass(frozen=True)
class Step:
    """A tool call of this conversation, native or written as text, and its result (None: nothing yet)."""

    tool: str
    arguments: dict[str, Any]
    result: str | None
    message: int

    @property
    def brings_sources(self) -> bool:
        """Whether the result is evidence, unlike that of a note, of saving a file, or of listing fields."""
        return bool(self.result) and kind_of(self.tool) not in ("note", "save", "steps", "fields")


_COLON = r"[ \t]*\d*\**[ \t]*[:：]\**[ \t]*"
_RESULT = re.compile(
    rf"(?im)^[ \t]*\**(?:Observations?|Tool (?:Result|Response|Output)s?|Call id|观察){_COLON}"
    r"|</?(?:tool[_-]?(?:response|result|output)s?|observations?|function[_-]?results?)>"
)
_WORK = re.compile(rf"(?im)^[ \t]*\**(?:Thought|Action|Final Answer|思考|行动|动作|最终答案){_COLON}")
_QUESTION = re.compile(rf"(?im)^[ \t]*\**(?:Question|问题){_COLON}")


def steps(request: ChatRequest) -> tuple[list[Step], dict[int, str]]:
    """All steps in order; and, by index, the text of each user message apart from its steps."""
    steps: list[Step] = []
    by_id: dict[str | None, int] = {}
    rest: dict[int, str] = {}

    def add_result(index: int, result: str) -> None:
        if steps and steps[index].result is None:
            steps[index] = replace(steps[index], result=result.strip())

    for number, message in enumerate(request.messages):
        for call in message.tool_calls:
            by_id[call.id] = len(steps)
            steps.append(Step(call.function.name, call.function.parsed, None, number))
        work = message.text if message.role == "assistant" else ""
        if message.role in ("tool", "function"):
            add_result(by_id.get(message.tool_call_id, -1), message.text)
        elif message.role == "user":
            pending = [index for index, step in enumerate(steps) if step.message == number - 1 and step.result is None]
            work = "" if pending else _work(message.text)
            rest[number] = "" if pending else message.text.removesuffix(work)
            for index, result in zip(pending, filter(str.strip, _RESULT.split(message.text)), strict=False):
                add_result(index, result)  # the result of a call that was written as text
        for i, piece in enumerate(_RESULT.split(work)):
            result = _WORK.split(piece, maxsplit=1)[0] if i else ""
            if result.strip():
                add_result(-1, result)
            steps += [Step(name, arguments, None, number) for name, arguments in calls(piece[len(result) :])]
    return steps, rest


def _work(text: str) -> str:
    """The end of a user's text, if it reports work on the question before it; otherwise empty."""
    ends = [match.end() for match in _QUESTION.finditer(text)]
    work = _WORK.search(text, ends[-1]) if ends else None
    paragraph = text[text.rfind("\n\n") :].lstrip()
    return text[work.start() :] if work and any(p.match(paragraph) for p in (_WORK, _RESULT, _QUESTION)) else ""
