"""Puts what markdown-it-py says of a report's blocks into offsets of its text: headings, code, paragraphs, spans.

Which text is parsed, and when it is parsed again, is decided in `aiq.citations.markdown`.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it.token import Token

from aiq.citations.inline import Span, inline_spans, parser

MARKED_FENCE = re.compile(r"^([ \t>]*(?:`{3,}|~{3,}))([ \t]*(?:\[\^?\d{1,3}\][ \t]*)+)$", re.MULTILINE)
"""A closing fence with citations behind it, as models write it; Markdown wants it bare."""
_TAGS = re.compile(
    r"<!--.*?(?:-->|\Z)|<(pre|code|script|style|math|svg)\b.*?(?:</\1[^<>]*>|\Z)|</?[a-z][^<>]*>",
    re.IGNORECASE | re.DOTALL,
)
_TAG = re.compile(r"<[a-z](?:[^\"'>]|\"[^\"]*+\"|'[^']*+')*+>", re.IGNORECASE)
_RAW = re.compile(r"<(?:script|style)\b", re.IGNORECASE)
_OPENED = re.compile(r"<[a-z].*?(?=<[a-z/!]|\Z)", re.IGNORECASE | re.DOTALL)
_TITLE = re.compile(r"\s*<(?:h[1-6]|summary|title)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Heading:
    """A Markdown heading: its first and last line, and its level from 1."""

    first: int
    last: int
    level: int


def tags_in(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The tags of an element `start:end`, each up to the next one: a quoted `<` or `>` hides no attribute.

    Of a script or a style it is the tag that begins it; what it holds is no markup, as it is in `<pre>` or `<code>`.
    """
    if _RAW.match(text, start, end):
        tag = _TAG.match(text, start, end)
        return [tag.span() if tag else (start, end)]
    return [tag.span() for tag in _OPENED.finditer(text, start, end)]


class BlockReader:
    """Collects what the tokens of one or more parsed stretches say, in offsets of the source."""

    def __init__(self, source: str, lines: Sequence[tuple[int, int]]) -> None:
        self.headings: list[Heading] = []
        self.fences: list[tuple[int, int]] = []
        self.unclosed: tuple[int, int] | None = None
        self.blocks: list[tuple[int, int]] = []
        self.paragraphs: list[tuple[int, int]] = []
        self.spans: list[Span] = []
        self.tags: list[tuple[int, int]] = []
        self._source = source
        self._lines = lines
        self._first_line = 0
        self._inside = ""  # the token that opened the block at hand
        self._cell = (-1, 0)  # line of the last table cell read, and where it ends

    def read(self, start: int, end: int, first_line: int) -> None:
        """Parse `start:end` of the source, which begins with this line."""
        # the parser must see a marked fence closed
        stretch = MARKED_FENCE.sub(lambda match: match[1] + " " * len(match[2]), self._source[start:end])
        self._first_line = first_line
        for token in parser().parse(stretch):
            self._read_token(token)

    def _read_token(self, token: Token) -> None:
        if token.nesting == 1:
            self._inside = token.type
        if token.map is None:
            return
        first, last = token.map[0] + self._first_line, token.map[1] + self._first_line
        stretch = (self._lines[first][0], self._lines[min(last, len(self._lines)) - 1][1])
        if token.type == "fence":
            self._read_fence(token, stretch, first, last)
        elif token.type == "code_block":
            self.blocks.append(stretch)
        elif token.type == "html_block":
            self._read_html(stretch)
        elif token.type == "heading_open":
            self.headings.append(Heading(first, last - 1, int(token.tag[1])))
        elif token.type == "tbody_open":
            self.paragraphs.append(stretch)
        elif token.type == "inline":
            self._read_inline(token.content, first)

    def _read_fence(self, token: Token, stretch: tuple[int, int], first: int, last: int) -> None:
        ending = self._source[self._lines[last - 1][0] : stretch[1]]
        cited = MARKED_FENCE.fullmatch(ending)
        stretch = (stretch[0], stretch[1] - len(cited[2])) if cited else stretch
        self.blocks.append(stretch)
        if last - 1 > first and ending.lstrip(" \t>").startswith(token.markup):
            self.fences.append(stretch)
        elif not self._source[stretch[1] :].strip():
            self.unclosed = stretch

    def _read_html(self, stretch: tuple[int, int]) -> None:
        if not _TITLE.match(self._source, *stretch):
            self.paragraphs.append(stretch)
        for tag in _TAGS.finditer(self._source, *stretch):
            self.blocks.append(tag.span())
            if tag[0][:2] != "<!":
                self.tags += tags_in(self._source, *tag.span()) if tag[1] else [tag.span()]

    def _read_inline(self, content: str, first: int) -> None:
        if self._inside in ("td_open", "th_open"):
            content = content.replace("|", "\\|")  # as it stands in the source: an unescaped one ends a cell
            starts = [self._cell_start(content, first)]
        else:
            starts = [self._line_start(line, number) for number, line in enumerate(content.split("\n"), first)]
        if self._inside == "paragraph_open":
            self.paragraphs.append((starts[0], starts[-1] + len(content) - content.rfind("\n") - 1))
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
            label = pair(span.label) if span.kind in ("link", "image") else (0, 0)
            self.spans.append(Span(start, end, span.kind, label, pair(span.target)))

    def _cell_start(self, content: str, number: int) -> int:
        """Where a table cell begins in the source: cells come in order."""
        start, end = self._lines[number]
        behind = self._cell[1] if self._cell[0] == number else start
        found = max(self._source.find(content, behind, end), behind)
        self._cell = (number, found + len(content))
        return found

    def _line_start(self, line: str, number: int) -> int:
        """Where a line of a block's content begins in the source: markers and indent stand before it."""
        start, end = self._lines[min(number, len(self._lines) - 1)]
        found = self._source.find(line, start, end)
        if found < 0:  # the parser wrote tabs of the indent as blanks
            bare = line.strip()
            found = self._source.find(bare, start, end) - (len(line) - len(line.lstrip()))
        return max(start, found)
