"""What a model sees of old tool results, so that long chains of calls stay affordable: extractive summaries.

A summary is made from the text alone and without chance, so that the same conversation always looks the same to a
model. The graph's state, the source registry and the events of the tool calls keep everything.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from pydantic import Field

from aiq.agents.toolkit.langchain import Middleware
from aiq.agents.toolkit.middleware import Call, Request, Response
from aiq.core.events import Decision
from aiq.core.session import current
from aiq.core.settings import Settings
from aiq.tools.ranking import tokens

MARK = "[shortened]"
"""The last line of a summary: a model may search again for what is left out."""

SENTENCE = 300
"""Characters; a longer sentence (or a text without sentences) is weighed in pieces of this length."""

_SOURCE_LINE = re.compile(
    r"</?(?:Document|title|published|Answer)\b"  # blocks of search and fetch
    r"|---"  # between blocks, and `--- Result 1 ---` of documents
    r"|(?:Source|Page|Citation|Title|URL|Link):\s"
    r"|-\s+\*\*(?:Link|Publication)\*\*:"  # of papers
    r"|\d+\.\s+\*\*"
    r"|\*\*(?:Sources|References):?\*\*|#+\s+(?:Sources|References)\b"  # of a researcher's findings
    r"|\[\d+\]\s",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")


class CompactionSettings(Settings):
    """Old tool results in what the model sees, while all together are too long."""

    enabled: bool = Field(description="show old tool results as summaries")
    max_chars: int = Field(ge=1, description="characters of all tool results; beyond it the oldest are summarised")
    keep_last: int = Field(ge=0, description="results that stay whole")
    extract_chars: int = Field(ge=200, description="characters of one summary")


class PruningSettings(Settings):
    """Old tool results in what the model sees, however long all are."""

    keep_last: int = Field(ge=0, description="results that stay whole")
    max_chars: int = Field(ge=200, description="characters of each older one")


class _Piece(NamedTuple):
    line: int
    text: str
    is_source: bool


def summary(text: str, most: int, about: str = "") -> str:
    """`text` in at most `most` characters, what is kept in its order; `text` itself where it fits.

    Lines that say where something comes from (tags, titles, URLs, citation keys, reference lists) come first. The
    room that they leave goes to the sentences that share most words with `about`, the earlier one of equals.
    """
    if len(text) <= most:
        return text
    pieces = list(_pieces(text))
    wanted = frozenset(tokens(about))
    order = sorted(range(len(pieces)), key=lambda n: (not pieces[n].is_source, -_shared(pieces[n], wanted), n))
    left, kept = most - len(MARK), set()
    for number in order:
        cost = len(pieces[number].text) + 1
        if cost <= left:
            kept.add(number)
            left -= cost
    lines: dict[int, list[str]] = {}
    for number in sorted(kept):
        lines.setdefault(pieces[number].line, []).append(pieces[number].text)
    return "\n".join([*(" ".join(parts) for parts in lines.values()), MARK])[:most]


def _shared(piece: _Piece, wanted: frozenset[str]) -> int:
    """How many of the wanted words a sentence has; source lines are not weighed."""
    return 0 if piece.is_source else len(wanted & frozenset(tokens(piece.text)))


def _pieces(text: str) -> Iterator[_Piece]:
    """Source lines whole (to 2 * SENTENCE characters), other lines by sentence; blank ones left out."""
    in_title = False
    for number, raw in enumerate(text.splitlines()):
        line = raw.strip()
        if in_title or _SOURCE_LINE.match(line):
            yield _Piece(number, line[: 2 * SENTENCE], True)
            in_title = line.lower() == "<title>"
            continue
        for sentence in _SENTENCE_END.split(line):
            for start in range(0, len(sentence), SENTENCE):
                yield _Piece(number, sentence[start : start + SENTENCE], False)


def compacted(messages: Sequence[AnyMessage], settings: CompactionSettings) -> list[AnyMessage]:
    """The messages as a model is to see them: tool results in `max_chars` characters, as far as that goes.

    Summaries look for what the call and the question asked.
    """
    if not settings.enabled:
        return list(messages)
    asked = _asked(messages)
    return _shortened(messages, "compaction", settings.keep_last, settings.extract_chars, settings.max_chars, asked)


class ToolResultPruning(Middleware):
    """Shows all but the last `keep_last` tool results in at most `max_chars` characters each."""

    def __init__(self, settings: PruningSettings) -> None:
        super().__init__()
        self._settings = settings

    async def awrap_model_call(self, request: Request, handler: Call) -> Response:
        seen = _shortened(request.messages, "pruning", self._settings.keep_last, self._settings.max_chars)
        return await handler(request.override(messages=seen))


def _shortened(
    messages: Sequence[AnyMessage],
    name: str,
    keep_last: int,
    most: int,
    enough: int = -1,
    asked: Mapping[str, str] | None = None,
) -> list[AnyMessage]:
    """The messages with all but the last tool results summarised in `most` characters, oldest first.

    It stops where all results together are down to `enough` characters. `asked`: what to look for, by call id.
    Status and artifact of a message stay. What was shortened is a decision of this name.
    """
    seen = list(messages)
    results = {n: m for n, m in enumerate(seen) if isinstance(m, ToolMessage) and isinstance(m.content, str)}
    before = size = sum(len(message.text) for message in results.values())
    shortened = 0
    for number in list(results)[: max(0, len(results) - keep_last)]:
        if size <= enough:
            break
        old = results[number]
        short = summary(str(old.text), most, (asked or {}).get(old.tool_call_id, ""))
        if short != old.text:
            seen[number] = old.model_copy(update={"content": short})
            size -= len(old.text) - len(short)
            shortened += 1
    if shortened:
        sizes = {"characters_before": before, "characters_after": size}
        current().events.emit(Decision(name=name, value=shortened, cause="old tool results", detail=sizes))
    return seen


def _asked(messages: Sequence[AnyMessage]) -> dict[str, str]:
    """What each tool call asked for, in words: its arguments and the question before it, by call id."""
    found, question = {}, ""
    for message in messages:
        if isinstance(message, HumanMessage):
            question = str(message.text)
        elif isinstance(message, AIMessage):
            for call in message.tool_calls:
                words = [value for value in call["args"].values() if isinstance(value, str)]
                found[call["id"] or ""] = " ".join([*words, question])
    return found
