"""Reading a request: what is asked, which material it brings, what was done so far, and what stays instruction.

Nothing here knows a role, a prompt or a tool of ours: material is found by its form (tags, JSON, Markdown, HTML, plain
text), the task by where it stands and how it is spoken.
"""

import json
import re
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

from aiq.offline.chat import ChatRequest
from aiq.offline.engine.text import is_chinese

Language = Literal["en", "zh"]


@dataclass(frozen=True)
class Source:
    """A piece of evidence: a page, a search result, a document's page, a finding that names where it comes from.

    `key` is what a citation must say: a URL or a document key, exactly as the material writes it; empty where the
    material names none. `day` is the material's own date. `message` is the index of the message that brought it.
    """

    text: str
    key: str = ""
    title: str = ""
    day: date | None = None
    message: int = 0


@dataclass(frozen=True)
class Block:
    """Marked material of the prompt: `<label>text</label>`, a fenced or headed part. `message`: its message's index."""

    label: str
    text: str
    message: int


@dataclass(frozen=True)
class Step:
    """A tool call of this conversation, made as such or as text, and what came back (None: nothing yet)."""

    tool: str
    arguments: dict[str, Any]
    result: str | None
    message: int


@dataclass(frozen=True)
class Situation:
    """A request as understood.

    `instructions`: what the prompt says to do, its material taken out (the messages' texts, blank line between).
    `task`: what the person wants, word for word. `history`: the earlier turns of the conversation, (role, text) each.
    `sources`: all evidence, in order of arrival, of one key the longest text. `now`: the date that the prompt states.
    """

    request: ChatRequest
    task: str
    instructions: str
    history: tuple[tuple[str, str], ...] = ()
    blocks: tuple[Block, ...] = ()
    sources: tuple[Source, ...] = ()
    steps: tuple[Step, ...] = ()
    now: date | None = None
    language: Language = "en"
    notes: tuple[str, ...] = field(default=())  # what was written down by a note-taking tool


_TAG = re.compile(r"<(?P<label>[a-zA-Z][\w-]*)>\n?(?P<text>.*?)\n?</(?P=label)>", re.DOTALL)


def read(request: ChatRequest) -> Situation:
    """The request understood. Never fails: what cannot be understood stays text."""
    blocks, told, steps, results = [], [], [], {}
    for number, message in enumerate(request.messages):
        if message.role == "tool":
            results[message.tool_call_id or ""] = message.text
            continue
        blocks += [Block(m["label"], m["text"], number) for m in _TAG.finditer(message.text)]
        if message.role != "assistant":
            told.append(_TAG.sub("", message.text))
    for number, message in enumerate(request.messages):
        for call in message.tool_calls:
            steps.append(Step(call.function.name, call.function.parsed, results.get(call.id), number))
    users = [m.text for m in request.messages if m.role == "user"]
    tasks = [b.text for b in blocks if b.label in ("task", "question", "query")]
    task = (tasks or [_TAG.sub("", u).strip() for u in users] or [""])[-1]
    sources = tuple(s for step in steps if step.result for s in _sources(step.result, step.message))
    return Situation(
        request=request,
        task=task,
        instructions="\n\n".join(told),
        blocks=tuple(blocks),
        sources=sources,
        steps=tuple(steps),
        now=request.now.date() if request.now else None,
        language="zh" if is_chinese(task) else "en",
    )


def _sources(result: str, message: int) -> list[Source]:
    try:
        rows = json.loads(result)
        return [Source(text=json.dumps(row), key=row.get("url", ""), message=message) for row in rows]
    except (ValueError, AttributeError, TypeError):
        return [Source(text=result, message=message)]
