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
_CODED = re.compile(r"(?<![\w.])(?!print|len|str|join|final_answer)([a-z_]\w*)\(([^()]*[\"'][^()]*)\)")
_GIVEN = re.compile(r"(?:(\w+)\s*=\s*)?\[?([\"'])(.*?)\2")


@dataclass(frozen=True)
class Dialect:
    """How calls and the final reply are written as text (templates), and the tools that may be called."""

    called: str
    ended: str
    tools: tuple[ToolSpec, ...]

    def call(self, call: ToolCall) -> str:
        """A call in the prompt's form."""
        name, told, arguments = call.function.name, call.function.arguments, call.function.parsed
        value = told if len(arguments) > 1 else next(iter(arguments.values()), "")
        given = ", ".join(f"{parameter}={value!r}" for parameter, value in arguments.items())
        return self.called.format(look=_LOOK, name=name, value=value, json=told, python=f"{name}({given})")

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
    found = [row for row in rows if isinstance(row, dict) and isinstance(row.get("parameters"), dict)]
    defined = [match for match in _OFFERED.finditer(prompt) if match["defined"]]
    listed = [match for part in _ANNOUNCED.findall(prompt) for match in _OFFERED.finditer(part) if match["rest"]]
    specs = {row["name"]: FunctionSpec.model_validate(row) for row in found or map(_described, defined or listed)}
    return tuple(ToolSpec(function=spec) for name, spec in specs.items() if name.casefold() != "final_answer")


def _described(match: re.Match[str]) -> dict[str, Any]:
    """A tool from a signature, with what its docstring says about the parameters, or from a line; only its first
    parameter is taken to be required."""
    told = re.split(r"\n[ \t]*def ", match.string[match.end() : match.end() + 1000])[0] if match["defined"] else ""
    below, about = told[:300].split("\n\n")[0], dict(_ARGUMENT.findall(told))
    named = _PARAMETER.findall(match["parameters"] or "") or [("input", "str")]
    properties = {
        name: {"type": _TYPES.get(kind.casefold(), "string"), "description": about.get(name, "")}
        for name, kind in named
    }
    parameters = {"type": "object", "properties": properties, "required": [named[0][0]]}
    return {"name": match["name"], "description": f"{match['rest']}{below}".strip(" \"'\n"), "parameters": parameters}


def calls(text: str) -> list[Call]:
    """The calls in a text: as JSON or Python objects, else as an action with its input, else as code."""
    found: list[tuple[str, Any]] = []
    for row in material.rows(text):
        fields = row["function"] if isinstance(row.get("function"), dict) else row
        names = [value for key, value in fields.items() if re.fullmatch("name|action|tool|tool_name", key)]
        defines = "description" in fields
        given = [value for key, value in fields.items() if re.fullmatch(_INPUT, key) and not defines]
        found += zip(map(str, names), given, strict=False)
    found = found or [(match["name"], match["input"] or match["inside"] or "") for match in _ACTION.finditer(text)]
    return [(name, _arguments(given)) for name, given in found] or [
        (name, {key or "input": value for key, _, value in _GIVEN.findall(inside)})
        for code in _CODE.findall(text)
        for name, inside in _CODED.findall(code)
    ]


def _arguments(said: Any) -> dict[str, Any]:
    """Arguments given as an object, else the text as `input`."""
    if isinstance(said, dict):
        return said
    said = str(said).strip("` \n\"'")
    values = material.rows(said)
    return values[0] if values else {"input": said} if said else {}


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


_AFTER = r"[ \t]*\d*\**[ \t]*[:：]\**[ \t]*"
_RESULT = re.compile(
    rf"(?im)^[ \t]*\**(?:Observations?|Tool (?:Result|Response|Output)s?|Call id|观察){_AFTER}"
    r"|</?(?:tool[_-]?(?:response|result|output)s?|observations?|function[_-]?results?)>"
)
_WORK = re.compile(rf"(?im)^[ \t]*\**(?:Thought|Action|Final Answer|思考|行动|动作|最终答案){_AFTER}")
_QUESTION = re.compile(rf"(?im)^[ \t]*\**(?:Question|问题){_AFTER}")


def steps(request: ChatRequest) -> tuple[list[Step], dict[int, str]]:
    """All steps in order; and, by index, the text of each user message apart from its steps."""
    found: list[Step] = []
    by_id: dict[str | None, int] = {}
    left: dict[int, str] = {}

    def came_back(place: int, result: str) -> None:
        if found and found[place].result is None:
            found[place] = replace(found[place], result=result.strip())

    for number, message in enumerate(request.messages):
        for call in message.tool_calls:
            by_id[call.id] = len(found)
            found.append(Step(call.function.name, call.function.parsed, None, number))
        work = message.text if message.role == "assistant" else ""
        if message.role in ("tool", "function"):
            came_back(by_id.get(message.tool_call_id, -1), message.text)
        elif message.role == "user":
            waiting = [at for at, step in enumerate(found) if step.message == number - 1 and step.result is None]
            work = "" if waiting else _work(message.text)
            left[number] = "" if waiting else message.text.removesuffix(work)
            for at, result in zip(waiting, filter(str.strip, _RESULT.split(message.text)), strict=False):
                came_back(at, result)  # the result of a call that was written as text
        for place, piece in enumerate(_RESULT.split(work)):
            result = _WORK.split(piece, maxsplit=1)[0] if place else ""
            if result.strip():
                came_back(-1, result)
            found += [Step(name, given, None, number) for name, given in calls(piece[len(result) :])]
    return found, left


def _work(text: str) -> str:
    """The end of a user's text, if it reports work on the question before it; otherwise empty."""
    asked = [match.end() for match in _QUESTION.finditer(text)]
    work = _WORK.search(text, asked[-1]) if asked else None
    last = text[text.rfind("\n\n") :].lstrip()
    return text[work.start() :] if work and any(p.match(last) for p in (_WORK, _RESULT, _QUESTION)) else ""
