"""Reads a report: its reference lists with their URLs, its inline marks, and the URLs of its body.

Knows nothing of sources; what it finds has offsets in code points of the text as given.
"""

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aiq.citations.fences import closed_with_fence, fence_of_prose, swallowed_from
from aiq.citations.line_entries import ListedEntry
from aiq.citations.links import UrlUse, body_urls, entry_urls
from aiq.citations.mark_finder import find_marks
from aiq.citations.markdown import Markdown, read_markdown
from aiq.citations.marks import Mark
from aiq.citations.numerals import is_circled
from aiq.citations.reference_list import ReferenceList, reference_lists

_BOLD_TITLE = re.compile(r"(\*\*|__)[^\n]{1,150}\1[ \t]*[:：]?")
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Entry:
    """A reference entry: where it stands, which list it is of, its text behind the number, its URLs in order."""

    place: ListedEntry
    section: int
    text: str
    urls: tuple[UrlUse, ...]

    @property
    def number(self) -> int:
        """The number it has in the report, or its position in a list without numbers."""
        return self.place.number


@dataclass(frozen=True)
class ParsedReport:
    """A report in parts. `marks`, `body_urls` and `paragraphs` stand outside the lists; all are in order.

    `paragraphs` are where a citation could stand: paragraphs, list items and the rows of a table
    (as one), with words in them, each as `(start, end)` without its marker; no headings, no code.
    """

    text: str
    markdown: Markdown
    lists: tuple[ReferenceList, ...]
    entries: tuple[Entry, ...]
    marks: tuple[Mark, ...]
    body_urls: tuple[UrlUse, ...]
    paragraphs: tuple[tuple[int, int], ...]


def parse_report(text: str) -> ParsedReport:
    """Read a report. Any text is one; a text without citations has none."""
    markdown = read_markdown(text)
    lists = reference_lists(markdown)
    rescued = swallowed_from(markdown, lists)
    fence = fence_of_prose(markdown, lists) if rescued is None else None
    if rescued is not None:
        markdown = read_markdown(text, code_ends=rescued)
        lists = reference_lists(markdown)
    elif fence is not None:
        markdown = read_markdown(text, opened=fence)
        lists = closed_with_fence(markdown, reference_lists(markdown), fence)
    entries = tuple(_entry(markdown, place, section) for section, found in enumerate(lists) for place in found.entries)
    body = _gaps([(found.start, found.end) for found in lists], len(text))
    listed = frozenset(entry.number for entry in entries)
    prose = markdown.prose()
    circled = frozenset(entry.number for entry in entries if _is_circled(text, entry))
    marks = find_marks(markdown, prose, body, listed, circled)
    if rescued is not None:  # what follows may be more of the code: `x = [7]` there is no dangling citation
        sure = markdown.lines[rescued][0]
        marks = tuple(mark for mark in marks if mark.start < sure or listed.issuperset(mark.numbers))
    linked = {mark.url for mark in marks}
    return ParsedReport(
        text=text,
        markdown=markdown,
        lists=lists,
        entries=entries,
        marks=marks,
        body_urls=tuple(use for use in body_urls(markdown, body) if (use.url_start, use.url_end) not in linked),
        paragraphs=tuple(_paragraphs(markdown, prose, body)),
    )


def _entry(markdown: Markdown, place: ListedEntry, section: int) -> Entry:
    urls = entry_urls(markdown, place.start, place.end)
    full = [use for use in urls if not use.url.lower().startswith("www.")]  # a title may name a site
    return Entry(place, section, markdown.text[place.body : place.end].strip(), tuple(full or urls))


def _is_circled(text: str, entry: Entry) -> bool:
    return entry.place.number_span is not None and is_circled(text[slice(*entry.place.number_span)])


def _paragraphs(markdown: Markdown, prose: str, body: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The paragraphs with words, as far as they lie in the body, without lines that are a title in bold."""
    for start, end in markdown.paragraphs:
        at = max(bisect_right(body, (start, sys.maxsize)) - 1, 0)
        while at < len(body) and body[at][0] < end:
            first, last = max(start, body[at][0]), min(end, body[at][1])
            while first < last and markdown.text[first].isspace():
                first += 1
            while first < last and markdown.text[last - 1].isspace():
                last -= 1
            words = first < last and _WORD.search(prose, first, last)
            if words and not _BOLD_TITLE.fullmatch(markdown.text, first, last):
                yield first, last
            at += 1


def _gaps(stretches: Sequence[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """What lies between these stretches of a text of this length."""
    edges = [0, *(edge for stretch in stretches for edge in stretch), length]
    return [(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if start < end]
