"""What a model sees of old tool results, so that long chains of calls stay affordable.

Shallow research compacts (`compacted`), deep research prunes (`ToolResultPruning`); both leave the graph's state, the
source registry and the events of the tool calls as they are.

A long tool result in few characters: where it comes from, and the sentences that say most.

Made from the text alone and without chance, so that the same conversation always looks the same to a model.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from aiq.agents.ai_q.settings import CompactionSettings, PruningSettings
from aiq.agents.toolkit.middleware import Call, Request, Response
from aiq.core.events import Decision
from aiq.core.session import current
from aiq.tools.ranking import tokens

MARK = "[shortened]"
"""The last line of an extract: a model may search again for what is left out."""

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


class _Piece(NamedTuple):
    line: int
    text: str
    is_source: bool


def extract(text: str, most: int, about: str = "") -> str:
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

    While they take more, the oldest is replaced by an extract of `extract_chars` characters that looks for what the
    call and the question asked; the last `keep_last` stay whole.
    """
    seen, results = list(messages), _results(messages)
    before = size = sum(len(message.text) for message in results.values())
    if not settings.enabled or size <= settings.max_chars:
        return seen
    asked = _asked(seen)
    for number in _older(results, settings.keep_last):
        if size <= settings.max_chars:
            break
        old = results[number]
        seen[number] = short = _shortened(old, settings.extract_chars, asked.get(old.tool_call_id, ""))
        size -= len(old.text) - len(short.text)
    _note("compaction", messages, seen, before, size)
    return seen


class ToolResultPruning(AgentMiddleware[Any, Any, Any]):
    """Shows all but the last `keep_last` tool results in at most `max_chars` characters each."""

    def __init__(self, settings: PruningSettings) -> None:
        super().__init__()
        self._settings = settings

    async def awrap_model_call(self, request: Request, handler: Call) -> Response:
        seen, results = list(request.messages), _results(request.messages)
        before = size = sum(len(message.text) for message in results.values())
        for number in _older(results, self._settings.keep_last):
            seen[number] = short = _shortened(results[number], self._settings.max_chars, "")
            size -= len(results[number].text) - len(short.text)
        _note("pruning", request.messages, seen, before, size)
        return await handler(request.override(messages=seen))


def _results(messages: Sequence[AnyMessage]) -> dict[int, ToolMessage]:
    """The tool results that are text, by place, oldest first."""
    return {n: m for n, m in enumerate(messages) if isinstance(m, ToolMessage) and isinstance(m.content, str)}


def _older(results: Mapping[int, ToolMessage], keep_last: int) -> list[int]:
    """The places of all but the last results."""
    return list(results)[: max(0, len(results) - keep_last)]


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


def _shortened(message: ToolMessage, most: int, about: str) -> ToolMessage:
    """A copy with an extract for its content, or the message itself where it fits; status and artifact stay."""
    text = extract(str(message.text), most, about)
    return message if text == message.text else message.model_copy(update={"content": text})


def _note(name: str, whole: Sequence[AnyMessage], seen: Sequence[AnyMessage], before: int, after: int) -> None:
    changed = sum(old is not new for old, new in zip(whole, seen, strict=True))
    if changed:
        sizes = {"characters_before": before, "characters_after": after}
        current().events.emit(Decision(name=name, value=changed, cause="old tool results", detail=sizes))
