"""Says what of a report is prose: code, maths, links and tags with their places in the text.

Blocks come from markdown-it-py as they are, inline spans from `aiq.citations.inline`. Offsets are
code points of the text as given.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from aiq.citations.block_reader import BlockReader, Heading, tags_in
from aiq.citations.inline import Span

_NEWLINE = re.compile(r"\r\n?|\n")
_WRAPPED = re.compile(r"\s*(`{3,}|~{3,})(?:markdown|md)[ \t]*(?:\r\n?|\n)", re.IGNORECASE)
_IN_LINE = re.compile(r"[^\r\n]+")


@dataclass(frozen=True)
class Markdown:
    """A text in lines, with what is not prose in it.

    `lines` are (start, end) without the line break. `blocks` are fenced or indented code and raw
    HTML elements, `spans` inline code, maths, tags and links, each in order. `fences` are the
    blocks of fenced code that are closed; `unclosed` is one that runs to the end of the text, and
    may have swallowed the references. `paragraphs` are the contents of paragraphs and list items,
    the rows of tables, and HTML blocks. `tags` are the tags of raw HTML, those in `<pre>` and the like as well.
    """

    text: str
    lines: tuple[tuple[int, int], ...]
    headings: tuple[Heading, ...]
    fences: tuple[tuple[int, int], ...]
    unclosed: tuple[int, int] | None
    blocks: tuple[tuple[int, int], ...]
    paragraphs: tuple[tuple[int, int], ...]
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
        pieces += [text[at:start], _IN_LINE.sub(lambda line: fill * len(line[0]), text[start:end])]
        at = end
    return "".join([*pieces, text[at:]])


def read_markdown(text: str, code_ends: int | None = None, opened: tuple[int, int] | None = None) -> Markdown:
    """Parse a report. A report that is wrapped as a whole in a ```markdown fence is read from inside.

    `code_ends` is the line where a fence that is never closed is taken to end; `opened` are the first
    and the last line of a fence that holds no code.
    """
    source = text.replace("\x00", "\ufffd")
    lines = _lines(source)
    wrapped = _WRAPPED.match(source)
    begin = wrapped.end() if wrapped else 0
    skipped = len(_NEWLINE.findall(source[:begin]))
    reader = BlockReader(source, lines)
    if opened is not None:
        first, last = opened
        reader.read(begin, lines[first][0], skipped)
        reader.read(lines[first + 1][0], lines[last][0], first + 1)
        reader.read(lines[last][1], len(source), last)
    elif code_ends is not None:
        reader.read(begin, lines[code_ends][0], skipped)
        reader.read(lines[code_ends][0], len(source), code_ends)
    else:
        reader.read(begin, len(source), skipped)
    elements = (span for span in reader.spans if span.kind in ("tag", "code") and source[span.start] == "<")
    tags = [*reader.tags, *(tag for span in elements for tag in tags_in(source, span.start, span.end))]
    return Markdown(
        text=text,
        lines=lines,
        headings=tuple(reader.headings),
        fences=tuple(reader.fences),
        unclosed=reader.unclosed,
        blocks=tuple(sorted(reader.blocks)),
        paragraphs=tuple(sorted(reader.paragraphs)),
        spans=tuple(sorted(reader.spans, key=lambda span: (span.start, -span.end))),
        tags=tuple(sorted(tags)),
    )


def _lines(text: str) -> tuple[tuple[int, int], ...]:
    found, start = [], 0
    for newline in _NEWLINE.finditer(text):
        found.append((start, newline.start()))
        start = newline.end()
    return (*found, (start, len(text)))
