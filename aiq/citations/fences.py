"""Finds fenced code that is none: around the report or its list, or never closed so that it swallowed the list."""

import re
from collections.abc import Sequence
from dataclasses import replace

from aiq.citations.markdown import Markdown
from aiq.citations.reference_list import ReferenceList, reference_lists

_OF_PROSE = re.compile(r"[ \t>]*(?:`{3,}|~{3,})[ \t]*(?:markdown|md|text|txt|plaintext|plain)?[ \t]*", re.IGNORECASE)
"""The opening of a fence that does not name a language of code."""
_OF_MARKDOWN = re.compile(r"[ \t>]*(?:`{3,}|~{3,})[ \t]*(?:markdown|md)[ \t]*", re.IGNORECASE)


def swallowed_from(markdown: Markdown, lists: Sequence[ReferenceList]) -> int | None:
    """The line where code is taken to end in a fence that is never closed, if a reference list follows in it."""
    if markdown.unclosed is None:
        return None
    start = markdown.unclosed[0]
    swallowed = next((found.start for found in lists if found.start > start), None)
    if swallowed is None:
        return None
    first, last = markdown.line_at(start) + 1, markdown.line_at(swallowed)
    blank = (n for n in range(first, last) if not markdown.text[slice(*markdown.lines[n])].strip())
    return next(blank, last)


def fence_of_prose(markdown: Markdown, lists: Sequence[ReferenceList]) -> tuple[int, int] | None:
    """First and last line of a fence that holds no code but the report, or its list."""
    if not markdown.fences:
        return None
    return _around_report_with_code(markdown) if lists else _around_list(markdown)


def _around_report_with_code(markdown: Markdown) -> tuple[int, int] | None:
    """A fence of Markdown that the first code within it seems to close, so that its own end opens another."""
    first = markdown.line_at(markdown.fences[0][0])
    if markdown.unclosed is None or not _OF_MARKDOWN.fullmatch(markdown.text, *markdown.lines[first]):
        return None
    return first, markdown.line_at(markdown.unclosed[0])


def _around_list(markdown: Markdown) -> tuple[int, int] | None:
    """The closed fence that holds the list of a report which has none outside of code.

    It is most of the report (`Here it is: ...`), or it holds nothing but a numbered list, below the
    list's title or at the report's end. Any other list in code is an example.
    """
    found = next(iter(reference_lists(replace(markdown, fences=()))), None)
    if found is None:
        return None
    first_entry, end, text = found.entries[0].start, found.entries[-1].end, markdown.text
    fence = next(((a, b) for a, b in markdown.fences if a < first_entry and end < b), None)
    if fence is None:
        return None
    first, last = markdown.line_at(fence[0]), markdown.line_at(fence[1])
    (start, opened), (closing, _) = markdown.lines[first], markdown.lines[last]
    if not _OF_PROSE.fullmatch(text, start, opened):
        return None
    most = 2 * (fence[1] - start) > len(text.strip()) and found.start > start
    alone = not text[opened : max(opened, found.start)].strip() and not text[end:closing].strip()
    placed = found.start < start or not text[fence[1] :].strip()
    numbered = found.entries[0].number_span is not None
    return (first, last) if most or (alone and placed and numbered) else None


def closed_with_fence(
    markdown: Markdown, lists: Sequence[ReferenceList], fence: tuple[int, int]
) -> tuple[ReferenceList, ...]:
    """The lists; one whose title stands above the fence takes the fence's end with it."""
    opening, end = markdown.lines[fence[0]][0], markdown.lines[fence[1]][1]
    return tuple(replace(found, end=end) if found.start < opening < found.end < end else found for found in lists)
