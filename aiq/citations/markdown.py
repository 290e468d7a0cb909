"""Says what of a report is prose: code, maths, links and tags with their places in the text.

Blocks come from markdown-it-py as they are, inline spans from `aiq.citations.inline`. Offsets are
code points of the text as given.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from markdown_it.token import Token

from aiq.citations.inline import Span, inline_spans, parser

_NEWLINE = re.compile(r"\r\n?|\n")
_TAGS = re.compile(
    r"<!--.*?(?:-->|\Z)|<(pre|code|script|style|math|svg)\b.*?(?:</\1\s*>|\Z)|</?[a-z][^<>]*>",
    re.IGNORECASE | re.DOTALL,
)
_WRAPPED = re.compile(r"\s*(`{3,}|~{3,})(?:markdown|md)[ \t]*(?:\r\n?|\n)", re.IGNORECASE)
_MARKED_FENCE = re.compile(r"^([ \t>]*(?:`{3,}|~{3,}))([ \t]*(?:\[\^?\d{1,3}\][ \t]*)+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Heading:
    """A Markdown heading: its first and last line, and its level from 1."""

    first: int
    last: int
    level: int


@dataclass(frozen=True)
class Markdown:
    """A text in lines, with what is not prose in it.

    `lines` are (start, end) without the line break. `blocks` are fenced or indented code and raw
    HTML elements, `spans` inline code, maths, tags and links, each in order. `fences` are the
    blocks of fenced code that are closed: one that is not may have swallowed the references. `tags`
    are single tags of raw HTML, in blocks and in line.
    """

    text: str
    lines: tuple[tuple[int, int], ...]
    headings: tuple[Heading, ...]
    fences: tuple[tuple[int, int], ...]
    blocks: tuple[tuple[int, int], ...]
    spans: tuple[Span, ...]
    tags: tuple[tuple[int, int], ...]

    def line_at(self, offset: int) -> int:
        """The number of the line that holds this offset."""
        return bisect_right(self.lines, (offset, len(self.text) + 1)) - 1

    def spans_in(self, start: int, end: int) -> tuple[Span, ...]:
        """The spans that begin in `start:end`."""
        first, last = (bisect_left(self.spans, at, key=lambda span: span.start) for at in (start, end))
        return self.spans[first:last]

    def prose(self, fill: str = "\x00") -> str:
        """The text at the same offsets, with code, maths, tags, images and link destinations filled."""
        hidden = [*self.blocks]
        for span in self.spans:
            if span.kind == "link":
                hidden.append((span.label[1] + 1, span.end))
            else:
                hidden.append((span.start, span.end))
        return masked(self.text, hidden, fill)


def masked(text: str, hidden: Iterable[tuple[int, int]], fill: str) -> str:
    """The text with these stretches filled, so that offsets stay; line breaks stay too."""
    pieces, at = [], 0
    for start, end in sorted(hidden):
        if end <= at:
            continue
        start = max(start, at)
        pieces += [text[at:start], re.sub(r"[^\r\n]", fill, text[start:end])]
        at = end
    return "".join([*pieces, text[at:]])


def read_markdown(text: str) -> Markdown:
    """Parse a report. A report that is wrapped as a whole in a ```markdown fence is read from inside."""
    source = text.replace("\x00", "\ufffd")
    wrapped = _WRAPPED.match(source)
    begin = wrapped.end() if wrapped else 0
    reader = _Reader(source, _lines(source), skipped=len(_NEWLINE.findall(source[:begin])))
    # models write "``` [3]" to end a block of code and cite it: the parser must see the fence closed
    closed = _MARKED_FENCE.sub(lambda match: match[1] + " " * len(match[2]), source)
    for token in parser().parse(closed[begin:]):
        reader.read(token)
    return reader.result(text)


def _lines(text: str) -> tuple[tuple[int, int], ...]:
    found, start = [], 0
    for newline in _NEWLINE.finditer(text):
        found.append((start, newline.start()))
        start = newline.end()
    return (*found, (start, len(text)))


class _Reader:
    """Collects what the parser's tokens say, in offsets of the source."""

    def __init__(self, source: str, lines: tuple[tuple[int, int], ...], skipped: int) -> None:
        self.source = source
        self.lines = lines
        self.skipped = skipped
        self.headings: list[Heading] = []
        self.fences: list[tuple[int, int]] = []
        self.blocks: list[tuple[int, int]] = []
        self.spans: list[Span] = []
        self.tags: list[tuple[int, int]] = []
        self.cell = (-1, 0)  # line and column behind the last table cell read

    def result(self, text: str) -> Markdown:
        tags = [*self.tags, *((span.start, span.end) for span in self.spans if span.kind == "tag")]
        return Markdown(
            text=text,
            lines=self.lines,
            headings=tuple(self.headings),
            fences=tuple(self.fences),
            blocks=tuple(sorted(self.blocks)),
            spans=tuple(sorted(self.spans, key=lambda span: (span.start, -span.end))),
            tags=tuple(sorted(tags)),
        )

    def read(self, token: Token) -> None:
        if token.map is None:
            return
        first, last = token.map[0] + self.skipped, token.map[1] + self.skipped
        stretch = (self.lines[first][0], self.lines[min(last, len(self.lines)) - 1][1])
        if token.type == "fence":
            ending = self.source[self.lines[last - 1][0] : stretch[1]]
            cited = _MARKED_FENCE.fullmatch(ending)
            stretch = (stretch[0], stretch[1] - len(cited[2])) if cited else stretch
            self.blocks.append(stretch)
            if last - 1 > first and ending.lstrip(" \t>").startswith(token.markup):
                self.fences.append(stretch)
        elif token.type == "code_block":
            self.blocks.append(stretch)
        elif token.type == "html_block":
            for tag in _TAGS.finditer(self.source, *stretch):
                self.blocks.append(tag.span())
                if not tag[1] and tag[0][:2] != "<!":
                    self.tags.append(tag.span())
        elif token.type == "heading_open":
            self.headings.append(Heading(first, last - 1, int(token.tag[1])))
        elif token.type == "inline":
            self._read_inline(token.content, first)

    def _read_inline(self, content: str, first: int) -> None:
        starts = self._starts(content, first)
        spans = inline_spans(content)
        if not spans:
            return
        offsets = [0]
        for line in content.split("\n"):
            offsets.append(offsets[-1] + len(line) + 1)

        def place(at: int) -> int:
            line = min(bisect_right(offsets, at) - 1, len(starts) - 1)
            return starts[line] + at - offsets[line]

        def pair(ends: tuple[int, int]) -> tuple[int, int]:
            return place(ends[0]), place(ends[1])

        for span in spans:
            start, end = place(span.start), place(span.end)
            self.spans.append(Span(start, end, span.kind, pair(span.label), pair(span.target)))

    def _starts(self, content: str, first: int) -> list[int]:
        """Where each line of a block's content begins in the source (markers and indent stand before)."""
        starts = []
        for number, line in enumerate(content.split("\n"), first):
            start, end = self.lines[min(number, len(self.lines) - 1)]
            behind = self.cell[1] if self.cell[0] == number else start
            found = self.source.find(line, behind, end)
            if found < 0:  # the parser changed the line (tabs, escaped pipes): align at its end
                found = max(start, end - len(line))
            self.cell = (number, found + len(line))
            starts.append(found)
        return starts
