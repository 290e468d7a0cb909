"""Which sentence cites what, and the passage of its source that shares most words with it: where to read first.

Works on the text at its own offsets: reference lists are blanked, each citation becomes a run of one
sign of its own length (a pin), so that what is found has a place in the report.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final
from unicodedata import normalize

from aiq.citations.audit import ReportAudit
from aiq.citations.markdown import Place, masked
from aiq.citations.parse import ParsedReport, cut, parse_report, trimmed
from aiq.core.sources import Source

_PIN: Final = "\ue000"
"""In place of a citation."""
_VOID: Final = "\ue001"
"""In place of what is neither seen nor said: the syntax of a link around its label."""
_PRIVATE: Final = str.maketrans({_PIN: "\ufffd", _VOID: "\ufffd"})
_BRACKETED: Final = rf"[(（][ \t]?(?:(?i:source|sources|see|via|来源)[:： ]*)?(?:{_PIN}++[,，; ]*+)++[)）]"
_PINS: Final = re.compile(f"[ \t]?(?:{_BRACKETED}|{_PIN}++)")
_CITED: Final = f"(?:[ \t]*+(?:{_BRACKETED}|{_PIN}++))*+"
_SENTENCE_END: Final = re.compile(
    f'(?:(?<=[.!?])|(?<=[.!?]["”)]))(?P<pins>{_CITED})[ \t]+(?=["“‘(*{_VOID}]*[A-Z\\d\u00c0-\u024f])'
    f"|(?<=[。！？；])(?P<cjk_pins>{_CITED})[ \t]*"
)
_LEAD: Final = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•]\s+|\d{1,3}[.)]\s+|>\s*)+")
_DECORATION: Final = re.compile(r"[*_`]{1,3}")
_LONGEST_HEAD: Final = 300
_CELL: Final = re.compile(r"(?:\\.|[^|\\])+")
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
class CitedStatement:
    """A sentence, list item or table cell of a report that carries citations.

    `start:end` is its place in the report, `text` what it says: without marks, URLs and emphasis.
    `marks` and `body_urls` are positions in `ParsedReport.marks` and `ParsedReport.body_urls`.
    """

    start: int
    end: int
    text: str
    marks: tuple[int, ...]
    body_urls: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """The stretch `start:end` of a source's text; `shared` are the places in `text` of the statement's words."""

    start: int
    end: int
    text: str
    shared: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """A statement, a source that it cites (by this position in `ReportAudit.entries`, or a URL), and the passage."""

    statement: CitedStatement
    source: Source
    entry: int | None
    passage: Passage | None


def cited_passages(audit: ReportAudit) -> tuple[CitedPassage, ...]:
    """One row for each (statement, source) pair in order of the report; a pair once, each source read once."""
    read: dict[int, SourceSentences] = {}
    found: dict[Place, CitedPassage] = {}
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
        marks: list[Place] = []
        for word, at, end in _words(text):
            if word in wanted:  # pairs of signs overlap
                marks.append((marks.pop()[0] if marks and at < marks[-1][1] else at, end))
        return Passage(start, start + len(text), text, tuple(marks))


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


def cited_statements(report: ParsedReport) -> tuple[CitedStatement, ...]:
    """The statements of a report that cite something, in order."""
    found: list[CitedStatement] = []
    citing = [[found.start for found in places] for places in (report.marks, report.body_urls)]
    for start, end, text in _statements(_pinned(report)):
        marks, urls = (tuple(range(bisect_left(cites, start), bisect_left(cites, end))) for cites in citing)
        if (marks or urls) and text:
            found.append(CitedStatement(start, end, text, marks, urls))
    return tuple(found)


def without_citations(text: str) -> str:
    """The report without reference lists, citation marks and link targets; code stays as it is."""
    report = parse_report(text.translate(_PRIVATE))
    lists = ((found.start, found.end, "") for found in report.lists)
    pinned = cut(report.text, [*lists, *(stretch for stretch in _hidden(report) if stretch[0] < stretch[1])])
    return trimmed(_without_pins(pinned))


def _hidden(report: ParsedReport) -> Iterator[tuple[int, int, str]]:
    """The stretches `start:end` of the body that a reader of its content does not read: _PIN or _VOID for each."""
    for mark in report.marks:
        yield mark.start, mark.end, _PIN
    for use in report.body_urls:
        if use.label[0] < use.label[1]:
            yield use.start, use.label[0], _VOID
            yield use.label[1], use.end, _VOID
        else:
            yield use.start, use.end, _PIN


def _without_pins(pinned: str) -> str:
    """The text without pins, the brackets that held nothing else, the blank before them, and the voids."""
    return _PINS.sub("", pinned).replace(_VOID, "")


def _pinned(report: ParsedReport) -> str:
    """The report at the same offsets with lists blank and citations as pins."""
    text = masked(report.text.translate(_PRIVATE), [(found.start, found.end) for found in report.lists], " ")
    stretches = list(_hidden(report))
    for sign in (_PIN, _VOID):
        text = masked(text, [(start, end) for start, end, kind in stretches if kind == sign and start < end], sign)
    return text


def _statements(pinned: str) -> Iterator[tuple[int, int, str]]:
    """Sentences with their places; lines end sentences, pins after a full stop belong to its sentence."""
    heads: list[str] = []
    start = 0
    for line in pinned.splitlines(keepends=True):
        end = start + len(line.rstrip("\r\n"))
        if not line.lstrip().startswith("|"):
            heads = []
            for first, last in _sentences(pinned, start, end):
                yield first, last, _plain(pinned[first:last])
        elif not heads:
            heads = [text for _, _, text in _cells(pinned, start, end)]
        else:
            yield from _row(heads, _cells(pinned, start, end))
        start += len(line)


def _sentences(text: str, start: int, end: int) -> Iterator[Place]:
    at = start
    for stop in _SENTENCE_END.finditer(text, start, end):
        cut = max(stop.end("pins"), stop.end("cjk_pins"))
        if text[at:cut].strip():
            yield at, cut
        at = stop.end()
    if text[at:end].strip():
        yield at, end


def _cells(text: str, start: int, end: int) -> list[tuple[int, int, str]]:
    return [(*cell.span(), _plain(cell[0])) for cell in _CELL.finditer(text, start, end) if cell[0].strip()]


def _row(heads: Sequence[str], cells: Sequence[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """A cell is a statement of its own: "row's name, column's heading: cell"."""
    for number, (start, end, text) in enumerate(cells):
        head = heads[number][:_LONGEST_HEAD] if number < len(heads) else ""
        yield start, end, f"{cells[0][2][:_LONGEST_HEAD]}, {head}: {text}" if number and head else text


def _plain(sentence: str) -> str:
    """A sentence without pins, list and heading marks and emphasis."""
    return " ".join(_DECORATION.sub("", _LEAD.sub("", _without_pins(sentence))).split())
