"""For each citation the passage of its source that shares most words with the citing sentence: where to read first."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import log
from typing import Final
from unicodedata import normalize

from aiq.citations.findings import ReportAudit
from aiq.citations.statements import CitedStatement, cited_statements
from aiq.core.sources import Source

_CJK: Final = "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD: Final = re.compile(rf"(?P<number>\d+(?:[.,]\d+)*)|(?P<cjk>[{_CJK}]+)|[^\W\d_{_CJK}]+")
_SENTENCE: Final = re.compile(
    r"[^\n]{1,300}?(?:[.!?][\"”’)\]]*(?=\s(?![a-z]))|[。！？；]|(?=\n|\Z))|[^\n]{1,300}(?=\s)|[^\n]{1,300}"
)
_FUNCTION_WORD: Final = re.compile(
    "a|an|and|are|as|at|be|been|by|for|from|had|has|have|in|is|it|its|of|on|or|that|the|this|to|was|were|with"
)
_FUNCTION_SIGNS: Final = frozenset("的了是在和与及也而被把")
_MOST_SENTENCES: Final = 3
_WORTH_A_SENTENCE: Final = 1.2  # a further sentence must add a fifth to what is shared: reading it costs time


@dataclass(frozen=True, slots=True)
class Passage:
    """The stretch `start:end` of a source's text; `shared` are the places in `text` of the statement's words."""

    start: int
    end: int
    text: str
    shared: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """A statement, a source that it cites (by this position in `ReportAudit.entries`, or a URL), and the passage."""

    statement: CitedStatement
    source: Source
    entry: int | None
    passage: Passage | None


class SourceSentences:
    """A source's text in sentences of at most 300 characters, and which of them hold which word."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._places = [match.span() for match in _SENTENCE.finditer(text) if match[0].strip()]
        self._holders: dict[str, list[int]] = {}
        for number, place in enumerate(self._places):
            for word in dict.fromkeys(word for word, _, _ in _words(text[slice(*place)])):
                self._holders.setdefault(word, []).append(number)

    def closest(self, statement: str) -> Passage | None:
        """The one to three sentences that share most with a statement; words that few sentences hold weigh more."""
        shared: dict[int, dict[str, float]] = {}
        wanted = dict.fromkeys(word for word, _, _ in _words(statement[:4_000]))  # no sentence is longer
        for word in wanted:
            for number in (holders := self._holders.get(word, [])):
                shared.setdefault(number, {})[word] = log((len(self._places) + 1) / len(holders))
        best, place = 0.0, (0, 0)
        for first in sorted(shared):
            together: dict[str, float] = {}
            for more in range(_MOST_SENTENCES):
                together |= shared.get(first + more, {})
                if (score := sum(together.values()) / _WORTH_A_SENTENCE**more) > best:
                    best, place = score, (first, first + more)
        return self._passage(*place, wanted) if shared else None

    def _passage(self, first: int, last: int, wanted: Mapping[str, None]) -> Passage:
        text = self._text[self._places[first][0] : self._places[last][1]].strip()
        start = self._text.index(text, self._places[first][0])
        marks: list[tuple[int, int]] = []
        for word, at, end in _words(text):
            if word in wanted:  # pairs of signs overlap
                marks.append((marks.pop()[0] if marks and at < marks[-1][1] else at, end))
        return Passage(start, start + len(text), text, tuple(marks))


def cited_passages(audit: ReportAudit) -> tuple[CitedPassage, ...]:
    """One row for each (statement, source) pair in order of the report; a pair once, each source read once."""
    read: dict[int, SourceSentences] = {}
    found: dict[tuple[int, int], CitedPassage] = {}
    for statement in cited_statements(audit.report):
        for source, entry in _cited(audit, statement):
            sentences = read.get(id(source)) or read.setdefault(id(source), SourceSentences(source.text))
            if (pair := (statement.start, id(source))) not in found:
                found[pair] = CitedPassage(statement, source, entry, sentences.closest(statement.text))
    return tuple(found.values())


def _cited(audit: ReportAudit, statement: CitedStatement) -> Iterator[tuple[Source, int | None]]:
    for mark in (audit.marks[number] for number in statement.marks):
        if mark.url and mark.url.match:
            yield mark.url.match.source, None
            continue
        for entry in mark.entries:
            if entry is not None and (match := audit.entries[entry].match):
                yield match.source, entry
    for number in statement.body_urls:
        if match := audit.body_urls[number].match:
            yield match.source, None


def _words(text: str) -> Iterator[tuple[str, int, int]]:
    """Each word as it is compared, with its place: without case, accents and plural; Chinese as pairs of signs."""
    for match in _WORD.finditer(text):
        start, end = match.span()
        if match["cjk"]:
            pairs = ((text[at : at + 2], at, at + 2) for at in range(start, end - 1))
            yield from (pair for pair in pairs if _FUNCTION_SIGNS.isdisjoint(pair[0]))
            continue
        word = normalize("NFKD", match[0]).casefold()
        word = word.replace(",", "") if match["number"] else "".join(filter(str.isalnum, word))
        if not _FUNCTION_WORD.fullmatch(word) and (len(word) > 1 or match["number"]):
            yield word[:-1] if len(word) > 3 and word.endswith("s") else word, start, end
