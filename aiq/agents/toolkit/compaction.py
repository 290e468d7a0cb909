"""Extractive summaries of old tool results, shown to the model so that long chains of calls stay affordable."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from math import inf
from typing import NamedTuple

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from pydantic import Field

from aiq.agents.toolkit.langchain import replies_in
from aiq.core.events import Decision
from aiq.core.session import current
from aiq.core.settings import Settings
from aiq.tools.ranking import tokens

MARK = "[shortened]"
"""The last line of a summary: the model may search again, in other words, for what was left out."""

SENTENCE = 300
"""Characters; a longer sentence (or a text without sentences) is scored in pieces of this length."""

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
    """How the model sees old tool results while all of them together are too long."""

    enabled: bool = Field(description="show old tool results as summaries")
    max_chars: int = Field(ge=1, description="characters of all tool results; above this the oldest are summarised")
    keep_last: int = Field(ge=0, description="latest results that stay whole")
    extract_chars: int = Field(ge=200, description="characters of one summary")


class PruningSettings(Settings):
    """How the model sees old tool results, whatever their total length."""

    keep_last: int = Field(ge=0, description="latest results that stay whole")
    max_chars: int = Field(ge=200, description="characters of each older result")


class _Piece(NamedTuple):
    line: int
    text: str
    is_source: bool


def summary(text: str, max_chars: int, query: str = "") -> str:
    """`text` in at most `max_chars` characters, with its order kept; `text` itself if it fits.

    Lines that say where something comes from (tags, titles, URLs, citation keys, reference lists) are kept first. The
    remaining space goes to the sentences that share the most words with `query`; of equals the earlier is kept.
    """
    if len(text) <= max_chars:
        return text
    pieces, query_terms = list(_pieces(text)), frozenset(tokens(query))
    scores = [inf if piece.is_source else len(query_terms & frozenset(tokens(piece.text))) for piece in pieces]
    room, chosen = max_chars - len(MARK), []
    for number in sorted(range(len(pieces)), key=scores.__getitem__, reverse=True):
        cost = len(pieces[number].text) + 1
        if cost <= room:
            chosen.append(number)
            room -= cost
    lines = groupby([pieces[number] for number in sorted(chosen)], key=lambda piece: piece.line)
    return "\n".join([*(" ".join(piece.text for piece in line) for _, line in lines), MARK])[:max_chars]


def _pieces(text: str) -> Iterator[_Piece]:
    """Source lines whole (up to 2 * SENTENCE characters), other lines by sentence, without blank ones."""
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
    """The messages as the model is to see them; summaries favour what the call and the question asked for."""
    if not settings.enabled:
        return list(messages)
    extract_chars, max_chars = settings.extract_chars, settings.max_chars
    return shortened(messages, "compaction", settings.keep_last, extract_chars, max_chars, _queries(messages))


def shortened(
    messages: Sequence[AnyMessage],
    name: str,
    keep_last: int,
    extract_chars: int,
    max_chars: int,
    queries: Mapping[str, str],
    exempt: Collection[str] = (),
) -> list[AnyMessage]:
    """The messages, all but the `keep_last` latest tool results summarised in `extract_chars`; logs decision `name`.

    Oldest first, until all together are down to `max_chars`. `queries`: what to look for, by call id. Results of the
    tools in `exempt` stay as they are.
    """
    result, count = list(messages), 0
    ids = {call["id"] for reply in replies_in(result) for call in reply.tool_calls if call["name"] in exempt}
    results = {
        number: message
        for number, message in enumerate(result)
        if isinstance(message, ToolMessage) and isinstance(message.content, str) and message.tool_call_id not in ids
    }
    total = size = sum(len(message.text) for message in results.values())
    for number, old in list(results.items())[: max(0, len(results) - keep_last)]:
        if size <= max_chars:
            break
        short = summary(str(old.text), extract_chars, queries.get(old.tool_call_id, ""))
        if short != old.text:
            result[number] = old.model_copy(update={"content": short})
            size -= len(old.text) - len(short)
            count += 1
    if count:
        sizes = {"characters_before": total, "characters_after": size}
        current().events.emit(Decision(name=name, value=count, cause="old tool results", detail=sizes))
    return result


def _queries(messages: Sequence[AnyMessage]) -> dict[str, str]:
    """What each tool call asked for, in words: its arguments and the question before it, by call id."""
    queries, question = {}, ""
    for message in messages:
        if isinstance(message, HumanMessage):
            question = str(message.text)
        for call in message.tool_calls if isinstance(message, AIMessage) else ():
            words = [value for value in call["args"].values() if isinstance(value, str)]
            queries[call["id"] or ""] = " ".join([*words, question])
    return queries
