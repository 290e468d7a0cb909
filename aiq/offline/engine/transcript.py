"""What was done so far: tool calls made as such, or told in a text (ReAct, XML, JSON, Python), with what came back."""

import re
from dataclasses import dataclass, replace
from typing import Any

from aiq.offline.chat import ChatRequest
from aiq.offline.engine import dialect
from aiq.offline.engine.tools import kind_of


@dataclass(frozen=True)
class Step:
    """A tool call of this conversation, made as such or as text, and what came back (None: nothing yet)."""

    tool: str
    arguments: dict[str, Any]
    result: str | None
    message: int

    @property
    def brings_sources(self) -> bool:
        """Whether the result is evidence: not that of a note, of writing away, or of what fields there are."""
        return bool(self.result) and kind_of(self.tool) not in ("note", "save", "steps", "fields")


_AFTER = r"[ \t]*\d*\**[ \t]*[:：]\**[ \t]*"
_RESULT = re.compile(
    rf"(?im)^[ \t]*\**(?:Observations?|Tool (?:Result|Response|Output)s?|Call id|观察){_AFTER}"
    r"|</?(?:tool[_-]?(?:response|result|output)s?|observations?|function[_-]?results?)>"
)
_WORK = re.compile(rf"(?im)^[ \t]*\**(?:Thought|Action|Final Answer|思考|行动|动作|最终答案){_AFTER}")
_QUESTION = re.compile(rf"(?im)^[ \t]*\**(?:Question|问题){_AFTER}")


def steps(request: ChatRequest) -> tuple[list[Step], dict[int, str]]:
    """All steps in order; and of the users' messages, by index, the text that tells no step."""
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
                came_back(at, result)  # what follows a call that was written as text
        for place, piece in enumerate(_RESULT.split(work)):
            result = _WORK.split(piece, maxsplit=1)[0] if place else ""
            if result.strip():
                came_back(-1, result)
            found += [Step(name, given, None, number) for name, given in dialect.calls(piece[len(result) :])]
    return found, left


def _work(text: str) -> str:
    """The end of a user's text that tells work on the question before it; empty where it tells none."""
    asked = [match.end() for match in _QUESTION.finditer(text)]
    work = _WORK.search(text, asked[-1]) if asked else None
    last = text[text.rfind("\n\n") :].lstrip()
    return text[work.start() :] if work and any(p.match(last) for p in (_WORK, _RESULT, _QUESTION)) else ""
