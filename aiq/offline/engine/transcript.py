"""What was done so far: tool calls made as such, or told in a text (ReAct, XML, JSON, Python), with what came back."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aiq.offline.chat import ChatRequest
from aiq.offline.engine import material


@dataclass(frozen=True)
class Step:
    """A tool call of this conversation, made as such or as text, and what came back (None: nothing yet)."""

    tool: str
    arguments: dict[str, Any]
    result: str | None
    message: int


Named = tuple[str, dict[str, Any]]

_AFTER = r"[ \t]*\d*\**[ \t]*[:：]\**[ \t]*"
_RESULT = re.compile(
    rf"^[ \t]*\**(?:Observations?|Tool (?:Result|Response|Output)s?|Call id|观察){_AFTER}"
    r"|</?(?:tool[_-]?(?:response|result|output)s?|observations?|function[_-]?results?)>",
    re.IGNORECASE | re.MULTILINE,
)
_WORK = re.compile(
    rf"^[ \t]*\**(?:Thought|Action|Final Answer|思考|行动|动作|最终答案){_AFTER}", re.IGNORECASE | re.MULTILINE
)
_QUESTION = re.compile(rf"^[ \t]*\**(?:Question|问题){_AFTER}", re.IGNORECASE | re.MULTILINE)
_ACTION = re.compile(
    r"^\W*(?:Action|Tool|行动|动作)[ \t]*\d*\W*[:：]\W*(?P<name>\w[\w.-]*)[ \t]*(?:[\[(](?P<inside>.*)[\])])?[ \t`*]*$"
    r"(?:\s*\W*(?:(?:Action|Tool) Input|(?:行动|动作)输入)[ \t]*\d*\W*[:：][ \t]*"
    r"(?P<input>[^\n]*(?:\n(?!\n)[^\n]*)*))?",
    re.IGNORECASE | re.MULTILINE,
)
_CODE = re.compile(r"(?:```(?:py|python)?[ \t]*\n|<code>)(.*?)(?:```|</code>)", re.DOTALL)
_CODED = re.compile(r"(?<![\w.])(?!print|len|str|join|final_answer)([a-z_]\w*)\(([^()]*[\"'][^()]*)\)")
_GIVEN = re.compile(r"(?:(\w+)\s*=\s*)?\[?([\"'])(.*?)\2")
_NO_SOURCE = re.compile(
    r"think|thought|reflect|scratch|note|todo|reason|memo(?!ir)|(?:^|_)(?:write|save|edit|create|delete|update|append"
    r"|store"
    r"|mkdir)|思考|笔记",
    re.IGNORECASE,
)


def brings_sources(step: Step) -> bool:
    """Whether a step's result is evidence: not that of a note, nor that of writing something away."""
    return bool(step.result) and not _NO_SOURCE.search(step.tool)


def steps(request: ChatRequest) -> tuple[list[Step], dict[int, str]]:
    """All steps in order; and of users' messages that tell steps, by index, the text that is left of them."""
    calls: list[tuple[str, dict[str, Any], int]] = []
    results: dict[int, str] = {}
    by_id: dict[str | None, int] = {}
    left: dict[int, str] = {}
    for number, message in enumerate(request.messages):
        for call in message.tool_calls:
            by_id[call.id] = len(calls)
            calls.append((call.function.name, call.function.parsed, number))
        if message.role in ("tool", "function"):
            results.setdefault(by_id.get(message.tool_call_id, len(calls) - 1), message.text)
            continue
        work = message.text if message.role == "assistant" else ""
        if message.role == "user":
            waiting = [i for i, call in enumerate(calls) if call[2] == number - 1 and i not in results]
            if waiting:  # what follows a call that was written as text is its result
                results.update(zip(waiting, filter(str.strip, _RESULT.split(message.text)), strict=False))
            else:
                work = _work(message.text)
            left[number] = "" if waiting else message.text[: len(message.text) - len(work)]
        for at, piece in enumerate(_RESULT.split(work)):
            said = _WORK.split(piece, 1)[0] if at else ""
            if said.strip():
                results.setdefault(len(calls) - 1, said.strip())
            calls += [(name, arguments, number) for name, arguments in told(piece[len(said) :])]
    return [Step(name, arguments, results.get(i), at) for i, (name, arguments, at) in enumerate(calls)], left


def _work(text: str) -> str:
    """The end of a user's text that tells work on the question before it; empty where it tells none."""
    asked = [match.end() for match in _QUESTION.finditer(text)]
    work = _WORK.search(text, asked[-1]) if asked else None
    last = text[text.rfind("\n\n") :].lstrip()
    return text[work.start() :] if work and (_WORK.match(last) or _RESULT.match(last) or _QUESTION.match(last)) else ""


def told(text: str) -> list[Named]:
    """The calls that a text tells: as JSON or Python objects, else as an action with its input, else as code."""
    found = [value for value, _, _ in material.objects(text)]
    if not found and "[{" in text:
        found = material.parsed(text[text.find("[{") : text.rfind("]") + 1]) or []
    calls = [call for value in found for row in (value if isinstance(value, list) else [value]) for call in _named(row)]
    calls = calls or [(m["name"], _arguments(m["input"] or m["inside"] or "")) for m in _ACTION.finditer(text)]
    return calls or [
        (name, {key or "input": value for key, _, value in _GIVEN.findall(inside)})
        for code in _CODE.findall(text)
        for name, inside in _CODED.findall(code)
    ]


def _named(row: Any) -> Iterator[Named]:
    """The call that an object tells, whatever its fields are called."""
    row = row.get("function", row) if isinstance(row, dict) else {}
    fields = row if isinstance(row, dict) else {}
    names = [v for k, v in fields.items() if re.fullmatch("name|action|tool|tool_name", k)]
    given = [v for k, v in fields.items() if re.fullmatch("arguments|parameters|args|(?:action_|tool_)?input", k)]
    if names and given and isinstance(names[0], str):
        yield names[0], given[0] if isinstance(given[0], dict) else _arguments(str(given[0]))


def _arguments(said: str) -> dict[str, Any]:
    """Arguments told as an object, else the text as `input`."""
    said = said.strip("` \n\"'")
    values = [value for value, _, _ in material.objects(said) if isinstance(value, dict)]
    return values[0] if values else {"input": said} if said else {}
