"""Reads a report: its reference lists with their URLs, its inline marks, and the URLs of its body.

Knows nothing of sources; what it finds has offsets in code points of the text as given.
"""

import sys
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from aiq.citations.links import UrlUse, body_urls, entry_urls
from aiq.citations.markdown import Markdown, read_markdown
from aiq.citations.marks import Mark, find_marks
from aiq.citations.reference_list import ListedEntry, ReferenceList, reference_lists


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
    """A report in parts. `marks` and `body_urls` stand outside the lists; both are in order."""

    text: str
    markdown: Markdown
    lists: tuple[ReferenceList, ...]
    entries: tuple[Entry, ...]
    marks: tuple[Mark, ...]
    body_urls: tuple[UrlUse, ...]


def parse_report(text: str) -> ParsedReport:
    """Read a report. Any text is one; a text without citations has none."""
    markdown = read_markdown(text)
    lists = reference_lists(markdown)
    entries = tuple(_entry(markdown, place, section) for section, found in enumerate(lists) for place in found.entries)
    body = _gaps([(found.start, found.end) for found in lists], len(text))
    marks = find_marks(markdown, body, frozenset(entry.number for entry in entries))
    linked = {mark.url for mark in marks}
    urls = [use for use in body_urls(markdown) if (use.url_start, use.url_end) not in linked]
    return ParsedReport(
        text=text,
        markdown=markdown,
        lists=lists,
        entries=entries,
        marks=marks,
        body_urls=tuple(use for use in urls if _holds(body, use.start)),
    )


def _entry(markdown: Markdown, place: ListedEntry, section: int) -> Entry:
    urls = entry_urls(markdown, place.start, place.end)
    full = [use for use in urls if not use.url.lower().startswith("www.")]  # a title may name a site
    return Entry(place, section, markdown.text[place.body : place.end].strip(), tuple(full or urls))


def _gaps(stretches: Sequence[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """What lies between these stretches of a text of this length."""
    edges = [0, *(edge for stretch in stretches for edge in stretch), length]
    return [(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if start < end]


def _holds(stretches: Sequence[tuple[int, int]], offset: int) -> bool:
    """Whether one of these stretches, which are in order, holds the offset."""
    at = bisect_right(stretches, (offset, sys.maxsize)) - 1
    return at >= 0 and offset < stretches[at][1]
