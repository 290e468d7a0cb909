"""What was done so far: tool calls made as such, or told in a text (ReAct, XML, Python), with what came back."""

import ast
import builtins
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aiq.offline.chat import ChatRequest, FunctionCall
from aiq.offline.engine import material


@dataclass(frozen=True)
class Step:
    """A tool call of this conversation, made as such or as text, and what came back (None: nothing yet)."""

    tool: str
    arguments: dict[str, Any]
    result: str | None
    message: int


@dataclass
class _Call:
    tool: str
    arguments: dict[str, Any]
    message: int
    id: str = ""
    result: str | None = None


_LABEL = re.compile(
    r"^[ \t]*\**(?P<label>Thought|Action Input|Action|Tool Input|Tool|Observations?|Tool (?:Result|Response"
    r"|Output)s?|Final Answer|Question"
    r"|思考|行动输入|动作输入|行动|动作|观察|最终答案|问题)[ \t]*\d*\**[ \t]*[:：]\**[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_RESULT = re.compile(r"observations?|tool (?:result|response|output)s?|观察", re.IGNORECASE)
_INPUT = re.compile(r"(?:action|tool) input|(?:行动|动作)输入", re.IGNORECASE)
_ACTION = re.compile(r"action|tool|行动|动作", re.IGNORECASE)
_QUESTION = re.compile(r"question|问题", re.IGNORECASE)
_RESULT_TAG = re.compile(
    r"tool[_-]?(?:response|result|output)s?|observations?|function[_-]?results?|information", re.IGNORECASE
)
_CALL_TAG = re.compile(r"(?:tool|function)[_-]?calls?|action|invoke|search|fetch", re.IGNORECASE)
_CODE = re.compile(r"```(?:py|python)?[ \t]*\n(.*?)```|<code>(.*?)</code>", re.DOTALL)
_NOTE = re.compile(r"think|thought|reflect|scratch|note|todo|reason|memo(?!ir)|思考|笔记", re.IGNORECASE)
_NOTE_SAID = re.compile(
    r"write down|no other effect|retrieves? nothing|your reasoning|reflect on|take notes?|does not (?:search|retrieve)",
    re.I,
)
_WRITING = re.compile(r"(?:^|_)(?:write|save|edit|create|delete|update|append|store|mkdir)", re.IGNORECASE)
_BUILTINS = frozenset(dir(builtins))


def is_note(tool: str, description: str) -> bool:
    """Whether a tool only takes notes."""
    return bool(_NOTE.search(tool) or _NOTE_SAID.search(description[:300]))


def is_writing(tool: str) -> bool:
    """Whether a tool writes something away, so that its result is no evidence."""
    return bool(_WRITING.search(tool))


def is_working(text: str) -> bool:
    """Whether an assistant's text is a step of work, not an answer."""
    return any(_ACTION.fullmatch(m["label"]) for m in _LABEL.finditer(text)) or bool(
        _CODE.search(text) or "<tool_call" in text
    )


def steps(request: ChatRequest) -> tuple[list[Step], dict[int, str]]:
    """All steps in order; and of messages that tell steps, by index, the text that is left of them."""
    calls: list[_Call] = []
    left: dict[int, str] = {}
    for number, message in enumerate(request.messages):
        if message.role in ("tool", "function"):
            _answer([c for c in calls if c.id == message.tool_call_id and c.result is None] or calls[-1:], message.text)
        elif message.role == "assistant":
            made = [(c.function, c.id) for c in message.tool_calls]
            legacy = getattr(message, "function_call", None)
            if isinstance(legacy, FunctionCall):
                made.append((legacy, ""))
            calls += [_Call(function.name, function.parsed, number, name) for function, name in made]
            _tell(message.text, number, calls)
        elif message.role == "user":
            left[number] = _tell(message.text, number, calls)
    return [Step(c.tool, c.arguments, c.result, c.message) for c in calls], left


def _answer(calls: list[_Call], result: str) -> None:
    for call in calls:
        call.result = result if call.result is None else call.result


def _tell(text: str, number: int, calls: list[_Call]) -> str:
    """Adds the calls that a text tells, or answers those that wait, and returns the rest of the text."""
    made = [_Call(name, arguments, number) for name, arguments in _tagged(text)]
    if not _LABEL.search(text):
        calls += made or [_Call(name, arguments, number) for name, arguments in _coded(text)]
        return _answered_by_tags(text, calls, number)
    pieces = list(_LABEL.finditer(text))
    asked = [i for i, m in enumerate(pieces) if _QUESTION.fullmatch(m["label"])]
    first = asked[-1] + 1 if asked else 0
    rest = text[: pieces[first].start()] if first < len(pieces) else text
    for match, following in zip(pieces[first:], [*pieces[first + 1 :], None], strict=False):
        said = text[match.end() : following.start() if following else len(text)].strip()
        if _RESULT.fullmatch(match["label"]):
            waiting = [c for c in calls if c.result is None]
            if said:
                _answer(waiting or calls[:0], said)
                if not waiting:
                    calls.append(_Call("", {}, number, result=said))
        elif _INPUT.fullmatch(match["label"]):
            if calls and said:
                calls[-1].arguments = _arguments(said)
        elif _ACTION.fullmatch(match["label"]):
            calls += [_Call(name, arguments, number) for name, arguments in _action(said)]
        elif not re.match(r"thought|思考|final|最终", match["label"], re.IGNORECASE):
            rest += said
        else:
            calls += [_Call(name, arguments, number) for name, arguments in _coded(said)]
    return rest


def _answered_by_tags(text: str, calls: list[_Call], number: int) -> str:
    """The text without the results in tags such as `<tool_response>`, which answer the calls that wait."""
    waiting = [c for c in calls if c.result is None and c.message < number]
    rest, at = [], 0
    for element in material.elements(text) if waiting else ():
        if _RESULT_TAG.fullmatch(element.label):
            _answer(waiting[:1], element.text)
            waiting = waiting[1:]
            rest.append(text[at : element.start])
            at = element.end
    return "".join([*rest, text[at:]])


def _tagged(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls as `<tool_call>{"name": ..., "arguments": {...}}</tool_call>`, or as a JSON list of calls."""
    bodies = [e.text for e in material.elements(text) if _CALL_TAG.fullmatch(e.label)]
    bodies += re.findall(r"calling tools?:\s*(\[.*\])", text, re.IGNORECASE | re.DOTALL)
    for body in bodies:
        for value in material.parsed(body) or ():
            for row in value if isinstance(value, list) else [value]:
                if isinstance(row, dict) and (call := _named(row)):
                    yield call


def _named(row: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """A call told as an object, whatever its fields are called."""
    row = row["function"] if isinstance(row.get("function"), dict) else row
    name = next(
        (row[n] for n in ("name", "action", "tool", "tool_name", "function") if isinstance(row.get(n), str)), None
    )
    given = next(
        (row[n] for n in ("arguments", "action_input", "parameters", "args", "input", "tool_input") if n in row), {}
    )
    if name is None:
        return None
    return name, given if isinstance(given, dict) else _arguments(str(given))


def _action(said: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """`tool[argument]`, `tool(argument)`, a bare name, or an object in a fence."""
    for value in material.parsed(said.strip("`\n ").removeprefix("json")) or ():
        if isinstance(value, dict) and (call := _named(value)):
            yield call
            return
    line = said.split("\n", 1)[0].strip("` ")
    if call := next(_coded(f"```\n{line}\n```"), None) if re.match(r"\w+\(.*\)$", line) else None:
        yield call
    elif match := re.match(r"(\w[\w.-]*)\s*(?:[\[(](.*)[\])])?\s*$", line):
        yield match[1], _arguments(match[2]) if match[2] else {}


def _arguments(said: str) -> dict[str, Any]:
    """Arguments told as an object, else the text as `input`."""
    said = said.strip().strip("`").strip()
    try:
        value = json.loads(said)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"input": said.split("\n\n", 1)[0].strip("\"' ")}


def _coded(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls in Python code: functions that the code does not define, with the arguments that are plain values."""
    for fenced, tagged in _CODE.findall(text):
        try:
            tree = ast.parse((fenced or tagged).strip())
        except (SyntaxError, ValueError, RecursionError):
            continue
        own = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in _BUILTINS | own:
                given = [(k.arg or "", k.value) for k in node.keywords]
                given += [("input" + (str(i) if i else ""), a) for i, a in enumerate(node.args)]
                yield node.func.id, {n: a.value for n, a in given if isinstance(a, ast.Constant)}
