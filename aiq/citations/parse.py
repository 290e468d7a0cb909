"""Parses a report into reference lists with their URLs, inline marks and the body's URLs; sources play no part.

Offsets are code points of the text as given. A fence that does not hold code is read as prose: one around the
report or its list, or one that is never closed and so contains the list.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from aiq.citations.entries import Entry
from aiq.citations.links import UrlUse, body_urls, entry_urls
from aiq.citations.markdown import Markdown, Place, gaps, position, read_markdown
from aiq.citations.marks import Mark, find_marks
from aiq.citations.references import ReferenceList, reference_lists

_OF_PROSE = re.compile(r"[ \t>]*(?:`{3,}|~{3,})[ \t]*(?:(markdown|md)|text|txt|plaintext|plain)?[ \t]*", re.IGNORECASE)
"""The opening line of a fence that names no programming language; the group is `markdown` or `md`."""
_BOLD_TITLE = re.compile(r"(\*\*|__)[^\n]{1,150}\1[ \t]*[:：]?")
_WORD = re.compile(r"\w")
_CONTENT = re.compile(r"\S(?:.*\S)?", re.DOTALL)
_RULE: Final = re.compile(r"(?:\s*\n[ \t]*(?:-{3,}|\*{3,}|_{3,})[ \t]*)+\Z")
_TAIL: Final = 200  # how many characters at the end of the prose are searched for a rule above the list


@dataclass(frozen=True)
class ParsedReport:
    """A report in parts. `marks`, `body_urls` and `paragraphs` are outside the lists; all are in order.

    `paragraphs` are the places where a citation could be: paragraphs, list items and the rows of a
    table (as one) if they contain words, each as `(start, end)` without its marker; no headings or code.
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
    """Parse a report. Any text is a report, even without citations."""
    original = text
    if text.startswith("\ufeff"):  # a byte order mark is read as an empty line, so that offsets stay
        text = f"\n{text[1:]}"
    markdown = read_markdown(text)
    lists = reference_lists(markdown)
    cuts = _prose_in_fences(markdown, lists)
    if cuts:
        markdown = read_markdown(text, cuts)
        lists = tuple(  # a list whose title is above the fence ends with the fence
            replace(listing, end=cuts[-1][1]) if listing.start < cuts[0][0] < listing.end < cuts[-1][1] else listing
            for listing in reference_lists(markdown)
        )
    listed = [(section, entry) for section, listing in enumerate(lists) for entry in listing.entries]
    urls = entry_urls(markdown, [(entry.start, entry.end) for _, entry in listed])
    entries = tuple(
        replace(entry, section=section, text=text[entry.body : entry.end].strip(), urls=uses)
        for (section, entry), uses in zip(listed, urls, strict=True)
    )
    body = gaps([(listing.start, listing.end) for listing in lists], len(text))
    prose = markdown.prose()
    numbers = {entry.number: text[slice(*entry.number_span or (0, 0))] for entry in entries}
    # a fence that is never closed may be followed by more code: `x = [7]` there is not a dangling citation
    limit = cuts[0][0] if len(cuts) == 1 else len(text)
    marks = find_marks(markdown, prose, body, numbers)
    marks = tuple(mark for mark in marks if mark.start < limit or numbers.keys() >= {*mark.numbers})
    linked = {mark.url for mark in marks}
    return ParsedReport(
        text=original,
        markdown=markdown,
        lists=lists,
        entries=entries,
        marks=marks,
        body_urls=tuple(use for use in body_urls(markdown, body) if (use.url_start, use.url_end) not in linked),
        paragraphs=tuple(_paragraphs(markdown, prose, body)),
    )


def _paragraphs(markdown: Markdown, prose: str, body: Sequence[Place]) -> Iterator[Place]:
    """The parts of paragraphs that are in the body and contain words, except lines that are a title in bold."""
    for start, end in markdown.paragraphs:
        for begin, stop in body[position(body, start) : position(body, end) + 1]:
            content = _CONTENT.search(markdown.text, max(start, begin), min(end, stop))
            words = content and _WORD.search(prose, *content.span())
            if content and words and not _BOLD_TITLE.fullmatch(markdown.text, *content.span()):
                yield content.span()


def _prose_in_fences(markdown: Markdown, lists: Sequence[ReferenceList]) -> Sequence[Place]:
    """The first and last line of a fence that does not hold code, or where the code of an unclosed fence ends."""
    text, unclosed = markdown.text, markdown.unclosed
    list_start = next((listing.start for listing in lists if unclosed and listing.start > unclosed[0]), None)
    if unclosed and list_start is not None:  # code ends at the first blank line, if a list follows
        lines = markdown.lines[markdown.line_at(unclosed[0]) + 1 : markdown.line_at(list_start) + 1]
        end = next((line[0] for line in lines if not text[slice(*line)].strip()), lines[-1][0])
        return [(end, end)]
    if not markdown.fences or not lists:
        return _around_list(markdown) if markdown.fences else ()
    first = markdown.lines[markdown.line_at(markdown.fences[0][0])]
    opening = _OF_PROSE.fullmatch(text, *first)
    if unclosed and opening and opening[1]:
        # code within a fence of Markdown seems to close that fence, so that its own end opens another
        return first, markdown.lines[markdown.line_at(unclosed[0])]
    return ()


def _around_list(markdown: Markdown) -> Sequence[Place]:
    """The first and last line of the closed fence that holds the only list of a report.

    The fence holds most of the report (`Here it is: ...`), or nothing but a numbered list, below the
    list's title or at the report's end. Any other list in code is an example.
    """
    text = markdown.text
    for listing in reference_lists(replace(markdown, fences=[]))[:1]:
        begin, end = listing.entries[0].start, listing.entries[-1].end
        for fence in markdown.fences:
            first, last = (markdown.lines[markdown.line_at(edge)] for edge in fence)
            if not fence[0] < begin < end < fence[1] or not _OF_PROSE.fullmatch(text, *first):
                continue
            holds_most = 2 * (fence[1] - first[0]) > len(text.strip()) and listing.start > first[0]
            list_only = not text[first[1] : max(first[1], listing.start)].strip() and not text[end : last[0]].strip()
            in_place = listing.start < first[0] or not text[fence[1] :].strip()
            if holds_most or (list_only and in_place and listing.entries[0].number_span):
                return first, last
    return ()


def without_references(text: str) -> str:
    """The report without its reference lists; marks in the text stay."""
    return split_references(text)[0]


def split_references(text: str) -> tuple[str, str]:
    """The report without its reference lists, and the lists as written."""
    lists = parse_report(text).lists
    body = replace_spans(text, ((listing.start, listing.end, "") for listing in lists))
    references = "\n".join(text[listing.entries[0].start : listing.entries[-1].end].strip() for listing in lists)
    return trimmed(body) if lists else body.strip(), references


def replace_spans(text: str, replaced: Iterable[tuple[int, int, str]]) -> str:
    """The text with each `start:end` replaced; a replacement that overlaps an earlier one is skipped."""
    pieces, at = [], 0
    for start, end, replacement in sorted(replaced):
        if start >= at:
            pieces += [text[at:start], replacement]
            at = end
    return "".join([*pieces, text[at:]])


def trimmed(text: str) -> str:
    """The text without surrounding whitespace and without a final rule, which was above the list."""
    text = text.strip()
    return text[:-_TAIL] + _RULE.sub("", text[-_TAIL:], count=1)
