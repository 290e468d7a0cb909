"""Finds which sentence cites which source, and the passage of the source that shares most words with the sentence.

All offsets are those of the text as given: each citation is replaced by a run of one character, of its length (a pin).
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from math import log
from typing import Final
from unicodedata import normalize

from aiq.citations.audit import Finding, ReportAudit
from aiq.citations.markdown import Place, masked
from aiq.citations.parse import ParsedReport, parse_report, replace_spans, trimmed
from aiq.core.sources import Source

_PIN: Final = "\ue000"  # replaces a citation
_VOID: Final = "\ue001"  # replaces what is not part of the prose
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
_WORTH_A_SENTENCE: Final = 1.2  # a further sentence must add a fifth to the score, because it takes time to read


@dataclass(frozen=True, slots=True)
class CitedStatement:
    """A sentence, list item or table cell `start:end` of a report; `text` is without marks, URLs and emphasis.

    `marks` and `body_urls` are positions in `ParsedReport.marks` and `ParsedReport.body_urls`, at least one in all.
    """

    start: int
    end: int
    text: str
    marks: tuple[int, ...]
    body_urls: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage `start:end` of a source's text; `shared` are the places in `text` of the statement's words."""

    start: int
    end: int
    text: str
    shared: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """A statement, a source that it cites (by the number `entry`, or by a URL), and the closest passage, if any."""

    statement: CitedStatement
    source: Source
    entry: int | None
    passage: Passage | None


def cited_passages(audit: ReportAudit) -> tuple[CitedPassage, ...]:
    """One row for each (statement, source) pair, in the report's order; each source is read once."""
    by_source: dict[int, SourceSentences] = {}
    passages: dict[Place, CitedPassage] = {}
    for statement in cited_statements(audit.report):
        for finding, entry in _cited_findings(audit, statement):
            pair = statement.start, id(finding.match and finding.match.source)
            if finding.match is not None and pair not in passages:
                source = finding.match.source
                sentences = by_source.get(pair[1]) or by_source.setdefault(pair[1], SourceSentences(source.text))
                passages[pair] = CitedPassage(statement, source, entry, sentences.closest(statement.text))
    return tuple(passages.values())


def _cited_findings(audit: ReportAudit, statement: CitedStatement) -> Iterator[tuple[Finding, int | None]]:
    for mark in (audit.marks[number] for number in statement.marks):
        for number, _, finding in audit.cited_by(mark):
            yield finding, None if finding is mark.url else number
    yield from ((audit.body_urls[number], None) for number in statement.body_urls)


class SourceSentences:
    """A source's text in sentences of at most 300 characters, indexed by word."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._places = [match.span() for match in _SENTENCE.finditer(text) if match[0].strip()]
        self._holders: dict[str, list[int]] = {}
        for number, place in enumerate(self._places):
            for word in dict.fromkeys(word for word, _, _ in _words(text[slice(*place)])):
                self._holders.setdefault(word, []).append(number)

    def closest(self, statement: str) -> Passage | None:
        """The one to three sentences that share most with a statement; words that occur in few sentences weigh more."""
        shared: dict[int, dict[str, float]] = {}
        words = dict.fromkeys(word for word, _, _ in _words(statement[:4_000]))  # hardly any sentence is longer
        for word in words:
            for number in (holders := self._holders.get(word, [])):
                shared.setdefault(number, {})[word] = log((len(self._places) + 1) / len(holders))
        best, sentences = 0.0, (0, 0)
        for first in sorted(shared):
            weights: dict[str, float] = {}
            for last in range(first, first + _MOST_SENTENCES):
                weights |= shared.get(last, {})
                if (score := sum(weights.values()) / _WORTH_A_SENTENCE ** (last - first)) > best:
                    best, sentences = score, (first, last)
        if not shared:
            return None
        begin, end = self._places[sentences[0]][0], self._places[sentences[1]][1]
        text = self._text[begin:end].strip()
        begin = self._text.index(text, begin)
        places: list[Place] = []
        for word, at, stop in _words(text):
            if word in words:  # pairs of characters overlap
                places.append((places.pop()[0] if places and at < places[-1][1] else at, stop))
        return Passage(begin, begin + len(text), text, tuple(places))


def _words(text: str) -> Iterator[tuple[str, int, int]]:
    """Each word as compared (without case, accents and plural; Chinese as pairs of characters), with its place."""
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
    statements: list[CitedStatement] = []
    pins, voids = _pins_and_voids(report)
    pinned = masked(masked(report.text.translate(_PRIVATE), pins, _PIN), voids, _VOID)
    starts = [[citation.start for citation in citations] for citations in (report.marks, report.body_urls)]
    for start, end, text in _statements(pinned):
        marks, urls = (tuple(range(bisect_left(group, start), bisect_left(group, end))) for group in starts)
        if (marks or urls) and text:
            statements.append(CitedStatement(start, end, text, marks, urls))
    return tuple(statements)


def without_citations(text: str) -> str:
    """The report without reference lists, citation marks and link targets; code stays as it is."""
    report = parse_report(text.translate(_PRIVATE))
    pins, voids = _pins_and_voids(report)
    pinned = replace_spans(report.text, [*((*pin, _PIN) for pin in pins), *((*void, "") for void in voids)])
    return trimmed(_without_pins(pinned))


def _pins_and_voids(report: ParsedReport) -> tuple[list[Place], list[Place]]:
    """The places of citations, and of what is not prose: reference lists, and the syntax of a link around its label."""
    pins = [(mark.start, mark.end) for mark in report.marks]
    voids = [(listing.start, listing.end) for listing in report.lists]
    for use in report.body_urls:
        if use.label[0] < use.label[1]:
            voids += [(use.start, use.label[0]), (use.label[1], use.end)]
        else:
            pins.append((use.start, use.end))
    return pins, voids


def _without_pins(pinned: str) -> str:
    """The text without pins, brackets that hold nothing else, the blanks before them, and voids."""
    return _PINS.sub("", pinned).replace(_VOID, "")


def _statements(pinned: str) -> Iterator[tuple[int, int, str]]:
    """Sentences with their places. A line's end is a sentence's end; pins after a full stop belong to its sentence.

    Each cell of a table is a statement of its own: "row's name, column's heading: cell".
    """
    headings: list[str] = []
    start = 0
    for line in pinned.splitlines(keepends=True):
        end = start + len(line.rstrip("\r\n"))
        if line.lstrip().startswith("|"):
            places = [cell.span() for cell in _CELL.finditer(pinned, start, end) if cell[0].strip()]
            cells = [_plain(pinned[slice(*place)]) for place in places]
            for number, (place, text) in enumerate(zip(places, cells, strict=True) if headings else ()):
                heading = headings[number] if number < len(headings) else ""
                yield *place, f"{cells[0][:_LONGEST_HEAD]}, {heading}: {text}" if number and heading else text
            headings = headings or [text[:_LONGEST_HEAD] for text in cells]
        else:
            headings = []
            for place in _sentences(pinned, start, end):
                yield *place, _plain(pinned[slice(*place)])
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


def _plain(sentence: str) -> str:
    """A sentence without pins, list and heading markers and emphasis."""
    return " ".join(_DECORATION.sub("", _LEAD.sub("", _without_pins(sentence))).split())
