"""Reads a report: its reference lists with their URLs, its inline marks, the URLs of its body; knows no sources.

Offsets are code points of the text as given. Fenced code that is none is read as prose: a fence around the
report or its list, or one that is never closed and so holds the list.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from aiq.citations.entries import ListedEntry
from aiq.citations.links import UrlUse, body_urls, entry_urls
from aiq.citations.markdown import Markdown, Place, gaps, position, read_markdown
from aiq.citations.marks import Mark, find_marks, is_circled
from aiq.citations.references import ReferenceList, reference_lists

_OF_PROSE = re.compile(r"[ \t>]*(?:`{3,}|~{3,})[ \t]*(?:markdown|md|text|txt|plaintext|plain)?[ \t]*", re.IGNORECASE)
"""The opening of a fence that does not name a language of code."""
_OF_MARKDOWN = re.compile(r"[ \t>]*(?:`{3,}|~{3,})[ \t]*(?:markdown|md)[ \t]*", re.IGNORECASE)
_BOLD_TITLE = re.compile(r"(\*\*|__)[^\n]{1,150}\1[ \t]*[:：]?")
_WORD = re.compile(r"\w")
_CONTENT = re.compile(r"\S(?:.*\S)?", re.DOTALL)
_RULE: Final = re.compile(r"(?:\s*\n[ \t]*(?:-{3,}|\*{3,}|_{3,})[ \t]*)+\Z")
_TAIL: Final = 200  # characters at the end of the prose in which a rule above the list is looked for


@dataclass(frozen=True, slots=True)
class Entry:
    """A reference entry: its place, which list it is of, its text after the number, its URLs in order."""

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
    """A report in parts. `marks`, `body_urls` and `paragraphs` are outside the lists; all are in order.

    `paragraphs` are where a citation could be: paragraphs, list items and the rows of a table
    (as one), with words in them, each as `(start, end)` without its marker; no headings, no code.
    """

    text: str
    markdown: Markdown
    lists: tuple[ReferenceList, ...]
    entries: tuple[Entry, ...]
    marks: tuple[Mark, ...]
    body_urls: tuple[UrlUse, ...]
    paragraphs: tuple[Place, ...]


@lru_cache(maxsize=32)  # verification and each judge read the same report
def parse_report(text: str) -> ParsedReport:
    """Read a report. Any text is one; a text without citations has none."""
    markdown = read_markdown(text)
    lists = reference_lists(markdown)
    rescued = _swallowed_from(markdown, lists)
    if rescued is not None:
        markdown = read_markdown(text, [(rescued, rescued)])
        lists = reference_lists(markdown)
    elif fence := _fence_of_prose(markdown, lists):
        markdown = read_markdown(text, fence)
        lists = tuple(  # one whose title is above the fence takes the fence's end with it
            replace(found, end=fence[1][1]) if found.start < fence[0][0] < found.end < fence[1][1] else found
            for found in reference_lists(markdown)
        )
    placed = [(section, place) for section, found in enumerate(lists) for place in found.entries]
    urls = entry_urls(markdown, [(place.start, place.end) for _, place in placed])
    entries = tuple(
        Entry(place, section, text[place.body : place.end].strip(), found)
        for (section, place), found in zip(placed, urls, strict=True)
    )
    body = gaps([(found.start, found.end) for found in lists], len(text))
    listed = frozenset(entry.number for entry in entries)
    prose = markdown.prose()
    spans = ((entry.number, entry.place.number_span) for entry in entries)
    circled = frozenset(number for number, span in spans if span and is_circled(text[slice(*span)]))
    marks = find_marks(markdown, prose, body, listed, circled)
    if rescued is not None:  # what follows may be more of the code: `x = [7]` there is no dangling citation
        marks = tuple(mark for mark in marks if mark.start < rescued or listed.issuperset(mark.numbers))
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


def _paragraphs(markdown: Markdown, prose: str, body: Sequence[Place]) -> Iterator[Place]:
    """The paragraphs with words, as far as they lie in the body, without lines that are a title in bold."""
    for start, end in markdown.paragraphs:
        at = position(body, start)
        while at < len(body) and body[at][0] < end:
            found = _CONTENT.search(markdown.text, max(start, body[at][0]), min(end, body[at][1]))
            words = found and _WORD.search(prose, *found.span())
            if found and words and not _BOLD_TITLE.fullmatch(markdown.text, *found.span()):
                yield found.span()
            at += 1


def _swallowed_from(markdown: Markdown, lists: Sequence[ReferenceList]) -> int | None:
    """Where code is taken to end in a fence that is never closed, if a reference list follows in it."""
    start = len(markdown.text) if markdown.unclosed is None else markdown.unclosed[0]
    swallowed = next((found.start for found in lists if found.start > start), None)
    if swallowed is None:
        return None
    lines = markdown.lines[markdown.line_at(start) + 1 : markdown.line_at(swallowed) + 1]
    return next((line[0] for line in lines if not markdown.text[slice(*line)].strip()), lines[-1][0])


def _fence_of_prose(markdown: Markdown, lists: Sequence[ReferenceList]) -> tuple[Place, Place] | None:
    """First and last line of a fence that holds no code but the report, or its list."""
    if not markdown.fences:
        return None
    return _around_report_with_code(markdown) if lists else _around_list(markdown)


def _around_report_with_code(markdown: Markdown) -> tuple[Place, Place] | None:
    """A fence of Markdown that the first code within it seems to close, so that its own end opens another."""
    first = markdown.lines[markdown.line_at(markdown.fences[0][0])]
    if markdown.unclosed is None or not _OF_MARKDOWN.fullmatch(markdown.text, *first):
        return None
    return first, markdown.lines[markdown.line_at(markdown.unclosed[0])]


def _around_list(markdown: Markdown) -> tuple[Place, Place] | None:
    """The closed fence that holds the list of a report which has none outside of code.

    It is most of the report (`Here it is: ...`), or it holds nothing but a numbered list, below the
    list's title or at the report's end. Any other list in code is an example.
    """
    found = next(iter(reference_lists(replace(markdown, fences=[]))), None)
    if found is None:
        return None
    text, end = markdown.text, found.entries[-1].end
    fence = next(((a, b) for a, b in markdown.fences if a < found.entries[0].start and end < b), None)
    if fence is None:
        return None
    first, last = (markdown.lines[markdown.line_at(edge)] for edge in fence)
    if not _OF_PROSE.fullmatch(text, *first):
        return None
    most = 2 * (fence[1] - first[0]) > len(text.strip()) and found.start > first[0]
    alone = not text[first[1] : max(first[1], found.start)].strip() and not text[end : last[0]].strip()
    placed = found.start < first[0] or not text[fence[1] :].strip()
    return (first, last) if most or (alone and placed and found.entries[0].number_span) else None


def without_references(text: str) -> str:
    """The report without its reference lists; marks in the text stay."""
    return split_references(text)[0]


def split_references(text: str) -> tuple[str, str]:
    """The report without its reference lists, and the lists as written."""
    parsed = parse_report(text)
    lists = "\n".join(text[found.entries[0].start : found.entries[-1].end].strip() for found in parsed.lists)
    body = cut(text, ((found.start, found.end, "") for found in parsed.lists))
    return trimmed(body) if lists else body.strip(), lists


def cut(text: str, replaced: Iterable[tuple[int, int, str]]) -> str:
    """The text with each `start:end` replaced; a piece that overlaps an earlier one is passed over."""
    pieces, at = [], 0
    for start, end, kept in sorted(replaced):
        if start >= at:
            pieces += [text[at:start], kept]
            at = end
    return "".join([*pieces, text[at:]])


def trimmed(text: str) -> str:
    """Without blanks around it and without the rule that stood above the list."""
    text = text.strip()
    return text[:-_TAIL] + _RULE.sub("", text[-_TAIL:], count=1)
