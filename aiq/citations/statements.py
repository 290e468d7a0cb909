"""Which sentence cites what: the sentences, list items and table cells of a report that carry a mark or a URL.

Works on the text at its own offsets: reference lists are blanked, each citation becomes a run of one
sign of its own length (a pin), so that what is found has a place in the report.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from aiq.citations.markdown import masked
from aiq.citations.parsing import ParsedReport

PIN: Final = "\ue000"
"""Stands for a citation."""
VOID: Final = "\ue001"
"""Stands for what is neither seen nor said: the syntax of a link around its label."""
PRIVATE: Final = str.maketrans({PIN: "\ufffd", VOID: "\ufffd"})
_BRACKETED: Final = rf"[(（][ \t]?(?:(?i:source|sources|see|via|来源)[:： ]*)?(?:{PIN}++[,，; ]*+)++[)）]"
_PINS: Final = re.compile(f"[ \t]?(?:{_BRACKETED}|{PIN}++)")
_CITED: Final = f"(?:[ \t]*+(?:{_BRACKETED}|{PIN}++))*+"
_SENTENCE_END: Final = re.compile(
    f'(?:(?<=[.!?])|(?<=[.!?]["”)]))(?P<pins>{_CITED})[ \t]+(?=["“‘(*{VOID}]*[A-Z\\d\u00c0-\u024f])'
    f"|(?<=[。！？；])(?P<cjk_pins>{_CITED})[ \t]*"
)
_LEAD: Final = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•]\s+|\d{1,3}[.)]\s+|>\s*)+")
_DECORATION: Final = re.compile(r"[*_`]{1,3}")
_LONGEST_HEAD: Final = 300
_CELL: Final = re.compile(r"(?:\\.|[^|\\])+")


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


class _Use(NamedTuple):
    """A place that cites: a mark or a URL of the body, by its position."""

    start: int
    mark: int | None
    body_url: int | None


def cited_statements(report: ParsedReport) -> tuple[CitedStatement, ...]:
    """The statements of a report that cite something, in order."""
    uses = sorted(
        [
            *(_Use(mark.start, number, None) for number, mark in enumerate(report.marks)),
            *(_Use(use.start, None, number) for number, use in enumerate(report.body_urls)),
        ],
        key=lambda use: use.start,
    )
    found: list[CitedStatement] = []
    at = 0
    for start, end, text in _statements(_pinned(report)):
        while at < len(uses) and uses[at].start < start:
            at += 1
        first = at
        while at < len(uses) and uses[at].start < end:
            at += 1
        if first < at and text:
            marks = tuple(use.mark for use in uses[first:at] if use.mark is not None)
            urls = tuple(use.body_url for use in uses[first:at] if use.body_url is not None)
            found.append(CitedStatement(start, end, text, marks, urls))
    return tuple(found)


def hidden(report: ParsedReport) -> Iterator[tuple[int, int, str]]:
    """The stretches `start:end` of the body that a reader of its content does not read: PIN or VOID for each."""
    for mark in report.marks:
        yield mark.start, mark.end, PIN
    for use in report.body_urls:
        if use.label[0] < use.label[1]:
            yield use.start, use.label[0], VOID
            yield use.label[1], use.end, VOID
        else:
            yield use.start, use.end, PIN


def without_pins(pinned: str) -> str:
    """The text without pins, the brackets that held nothing else, the blank before them, and the voids."""
    return _PINS.sub("", pinned).replace(VOID, "")


def _pinned(report: ParsedReport) -> str:
    """The report at the same offsets with lists blank and citations as pins."""
    text = masked(report.text.translate(PRIVATE), [(found.start, found.end) for found in report.lists], " ")
    stretches = list(hidden(report))
    for sign in (PIN, VOID):
        text = masked(text, [(start, end) for start, end, kind in stretches if kind == sign and start < end], sign)
    return text


def _statements(pinned: str) -> Iterator[tuple[int, int, str]]:
    """Sentences with their places; lines end sentences, pins behind a full stop belong to its sentence."""
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


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for stop in _SENTENCE_END.finditer(text, start, end):
        cut = stop.end("pins") if stop["pins"] is not None else stop.end("cjk_pins")
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
    return " ".join(_DECORATION.sub("", _LEAD.sub("", without_pins(sentence))).split())
