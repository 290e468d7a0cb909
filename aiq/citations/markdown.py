"""Tells a report's prose from code, maths, links and tags; their places are code points of the text as given.

markdown-it-py reads blocks, inline code, tags and autolinks. Links and images are read here with the stack of open
brackets that CommonMark's appendix describes, because the library's own rule is quadratic on `![![![`.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import accumulate
from sys import maxsize
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, autolink, backtick, html_inline
from markdown_it.token import Token

Place = tuple[int, int]
"""Where a part of a text begins and ends."""
SpanKind = Literal["code", "maths", "tag", "autolink", "link", "image"]
_SPECIAL = re.compile(r"!\[|[`$\\<\[\]]")
_CODE_TAG = r"<(code|pre|kbd|samp|math|svg|script|style)\b"
_CLOSING = {"$$": "$$", r"\(": r"\)", r"\[": r"\]"}
_LONGEST_FORMULA = 400
_LONGEST_DISPLAY = 2000
_DOLLAR = re.compile(r"\$(?<![\s\\]\$)(?!\d)")
_CURRENCY = re.compile(r"(?<=[A-Za-z0-9])\$|\$\d[\d.,]*(?:[kKMBTbmt]n?)?[,;:]?[ \t]+(?:[^\W\d_]{2}|\[\d)|\$\s")
"""A dollar sign that does not open a formula: `US$`, `$5 million`, `$5 [1]`."""
_NUMBERS_ONLY = re.compile(r"\\[\[(]\^?[\d\s,;–-]*\\[\])]")
_PLAIN = r"[^\s\\()\x00-\x1f\x7f]++|\\\S"
_TITLE = r"\s++(?:\"(?:[^\"\\]++|\\.)*+\"|'(?:[^'\\]++|\\.)*+'|\((?:[^()\\]++|\\.)*+\))"
MARKED_FENCE = re.compile(r"^([ \t>]*(?:`{3,}|~{3,}))([ \t]*(?:\[\^?\d{1,3}\][ \t]*)+)$", re.MULTILINE)
"""A closing fence followed by citations, as models write it, though Markdown allows nothing after it."""
_TAGS = re.compile(
    rf"<!--.*?(?:-->|\Z)|{_CODE_TAG}.*?(?:</\1[^<>]*>|\Z)|</?[a-z][^<>]*>",
    re.IGNORECASE | re.DOTALL,
)
_CODE_START = re.compile(_CODE_TAG, re.IGNORECASE)
_HTML_TITLE = re.compile(r"\s*<(?:h[1-6]|summary|title)\b", re.IGNORECASE)
_NEWLINE = re.compile(r"\r\n?|\n")
_WRAPPED = re.compile(r"\s*(`{3,}|~{3,})(?:markdown|md)[ \t]*(?:\r\n?|\n)", re.IGNORECASE)
_IN_LINE = re.compile(r"[^\r\n]+")


def _nested(depth: int) -> str:
    """A destination with balanced parentheses; CommonMark requires at least three levels."""
    inside = rf"|\({_nested(depth - 1)}\)" if depth else ""
    return rf"(?:{_PLAIN}{inside})*+"


_TARGET = re.compile(
    rf"\(\s*+(?:<(?P<angle>(?:[^<>\n\\]++|\\.)*+)>|(?P<plain>{_nested(4)}))(?:{_TITLE})?\s*+\)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Span:
    """A part `start:end` that is not prose; for a link or image, with the places of label and destination."""

    start: int
    end: int
    kind: SpanKind
    label: Place = (0, 0)
    target: Place = (0, 0)


@dataclass
class Markdown:
    """A text in lines, and the parts of it that are not prose.

    `lines` are (start, end) without the line break; `headings` maps the number of a heading's line to its level.
    `spans` are code, maths, links and the tags and elements of raw HTML, inline or blocks, in order.
    `fences` are the closed blocks of fenced code; `unclosed` is one that runs to the end of the text and may have
    swallowed the references. `paragraphs` are the contents of paragraphs and list items, the rows of tables, and
    HTML blocks, in order.
    """

    text: str
    lines: Sequence[Place]
    headings: dict[int, int] = field(default_factory=dict)
    fences: list[Place] = field(default_factory=list)
    unclosed: Place | None = None
    paragraphs: list[Place] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)

    def line_at(self, offset: int) -> int:
        """The number of the line that contains this offset."""
        return position(self.lines, offset)

    def prose(self) -> str:
        """The text at the same offsets, with code, maths, tags, images and link destinations as NUL characters."""
        hidden = ((span.label[1] + 1 if span.kind == "link" else span.start, span.end) for span in self.spans)
        return masked(self.text, hidden)


def read_markdown(text: str, passed_over: Sequence[Place] = ()) -> Markdown:
    """Parse a report without the parts `passed_over`; the text between them is parsed separately.

    If the whole report is wrapped in a ```markdown fence, its content is parsed.
    """
    source = text.replace("\x00", "\ufffd")
    markdown = Markdown(text, gaps((newline.span() for newline in _NEWLINE.finditer(source)), len(source)))
    wrapped = _WRAPPED.match(source)
    reader = _BlockReader(source, markdown)
    for start, end in gaps([*([wrapped.span()] if wrapped else []), *passed_over], len(source)):
        reader.read(start, end)
    markdown.paragraphs.sort()
    markdown.spans.sort(key=lambda span: (span.start, -span.end))  # a link before the spans in its label
    return markdown


def gaps(stretches: Iterable[Place], length: int) -> list[Place]:
    """The parts before, between and after these places of a text of this length."""
    edges = [0, *(edge for stretch in stretches for edge in stretch), length]
    return list(zip(edges[::2], edges[1::2], strict=True))


def position(stretches: Sequence[Place], offset: int) -> int:
    """The position of the last of these places, which are in order, that begins at or before the offset; -1 if none."""
    return bisect_right(stretches, (offset, maxsize)) - 1


def masked(text: str, hidden: Iterable[Place], fill: str = "\x00") -> str:
    """The text with these places overwritten, but for line breaks, so that offsets stay."""
    pieces, at = [], 0
    for start, end in sorted(hidden):
        if end <= at:
            continue
        start = max(start, at)
        pieces += [text[at:start], _IN_LINE.sub(lambda line: fill * len(line[0]), text[start:end])]
        at = end
    return "".join([*pieces, text[at:]])


class _BlockReader:
    """Collects what the parser's tokens say, in offsets of the source."""

    def __init__(self, source: str, markdown: Markdown) -> None:
        self._source = source
        self._markdown = markdown
        self._first_line = 0
        self._inside = ""  # the type of the token that opened the current block
        self._at = 0  # the end of the inline content read so far

    def read(self, start: int, end: int) -> None:
        """Parse `start:end` of the source."""
        # citations after a closing fence would keep the parser from seeing it
        stretch = MARKED_FENCE.sub(lambda match: match[1] + " " * len(match[2]), self._source[start:end])
        self._first_line = self._markdown.line_at(start)
        for token in parser().parse(stretch):
            if token.nesting == 1:
                self._inside = token.type
            if token.map is not None:
                self._read_token(token, token.map[0] + self._first_line, token.map[1] + self._first_line)

    def _read_token(self, token: Token, first: int, last: int) -> None:
        markdown = self._markdown
        stretch = (markdown.lines[first][0], markdown.lines[min(last, len(markdown.lines)) - 1][1])
        if token.type == "fence":
            self._read_fence(token, stretch, first, last)
        elif token.type == "code_block":
            markdown.spans.append(Span(*stretch, "code"))
        elif token.type == "html_block":
            if not _HTML_TITLE.match(self._source, *stretch):
                markdown.paragraphs.append(stretch)
            markdown.spans += [Span(*tag.span(), "tag") for tag in _TAGS.finditer(self._source, *stretch)]
        elif token.type == "heading_open":
            markdown.headings[first] = int(token.tag[1])
        elif token.type == "tbody_open":
            markdown.paragraphs.append(stretch)
        elif token.type == "inline":
            self._read_inline(token.content, first)

    def _read_fence(self, token: Token, stretch: Place, first: int, last: int) -> None:
        ending = self._source[self._markdown.lines[last - 1][0] : stretch[1]]
        marked = MARKED_FENCE.fullmatch(ending)
        stretch = (stretch[0], stretch[1] - len(marked[2])) if marked else stretch
        self._markdown.spans.append(Span(*stretch, "code"))
        if last - 1 > first and ending.lstrip(" \t>").startswith(token.markup):
            self._markdown.fences.append(stretch)
        elif not self._source[stretch[1] :].strip():
            self._markdown.unclosed = stretch

    def _read_inline(self, content: str, first: int) -> None:
        if self._inside in ("td_open", "th_open"):
            content = content.replace("|", "\\|")  # as in the source, where an unescaped one ends a cell
        lines = content.split("\n")
        starts = [self._start_of(line, number) for number, line in enumerate(lines, first)]
        if self._inside == "paragraph_open":
            self._markdown.paragraphs.append((starts[0], self._at))
        offsets = [0, *accumulate(len(line) + 1 for line in lines)]

        def source_offset(at: int) -> int:
            line = min(bisect_right(offsets, at), len(starts)) - 1
            return starts[line] + at - offsets[line]

        for span in _Scanner(content).scan():
            start, end, *places = map(source_offset, (span.start, span.end, *span.label, *span.target))
            self._markdown.spans.append(Span(start, end, span.kind, (places[0], places[1]), (places[2], places[3])))

    def _start_of(self, line: str, number: int) -> int:
        """Where a line of a block's content begins in the source: after markers, indent and earlier cells."""
        start, end = self._markdown.lines[min(number, len(self._markdown.lines) - 1)]
        start = max(start, min(self._at, end))
        found = self._source.find(line, start, end)
        if found < 0:  # the parser replaced tabs of the indent by spaces
            stripped = line.strip()
            found = self._source.find(stripped, start, end) - (len(line) - len(line.lstrip()))
        self._at = max(start, found) + len(line)
        return max(start, found)


@cache
def parser() -> MarkdownIt:
    """The parser of blocks; their inline content is read by `_Scanner`, which ignores emphasis and entities."""
    md = MarkdownIt("commonmark").enable("table")
    md.validateLink = lambda url: True  # type: ignore[method-assign]  # the audit must see unsafe links
    md.normalizeLink = lambda url: url  # type: ignore[method-assign]
    md.core.ruler.enableOnly(["normalize", "block"])
    md.disable("reference")  # `[1]: https://...` is an entry here, not a definition to swallow
    return md


class _Scanner:
    """Reads a block's inline content from one special character to the next; its spans are offsets of that content."""

    def __init__(self, content: str) -> None:
        self._spans: list[Span] = []
        self._content = content
        self._open: list[Place] = []  # open brackets: the start of the construct and of its label
        self._spent = 0  # this many of them cannot be links, because they contain a link
        self._code_until = -1  # where the last HTML element of code ends
        self._unclosed: set[str] = set()  # names of code tags that are never closed

    @cached_property
    def _state(self) -> StateInline:
        return StateInline(self._content, parser(), {}, [])

    def scan(self) -> list[Span]:
        rules = {"]": self._close, "`": self._code, "<": self._angle, "$": self._maths, "\\": self._maths}
        end = 0
        while special := _SPECIAL.search(self._content, end):
            at, end = special.span()
            if rule := rules.get(special[0]):
                end = rule(at)
            else:
                self._open.append((at, end))
        return self._spans

    def _by_library(self, rule: Callable[[StateInline, bool], bool], at: int) -> int:
        """Where the match of the library's rule ends; `at` if it does not match here."""
        self._state.pos = at
        return self._state.pos if rule(self._state, True) else at

    def _add(self, kind: SpanKind, start: int, end: int) -> int:
        """Add a span; within an element of code only if it is an autolink, as Markdown renders those there too."""
        if kind == "autolink" or start >= self._code_until:
            self._spans.append(Span(start, end, kind, target=(start + 1, end - 1)))
        return end

    def _code(self, at: int) -> int:
        end = self._by_library(backtick, at)
        unclosed = not self._content[at:end].strip("`")
        return end if unclosed else self._add("code", at, end)

    def _angle(self, at: int) -> int:
        if (end := self._by_library(autolink, at)) > at:
            return self._add("autolink", at, end)
        if (end := self._by_library(html_inline, at)) == at:
            return at + 1
        opening = _CODE_START.match(self._content, at) if at >= self._code_until else None
        if opening and (name := opening[1].lower()) not in self._unclosed:
            # `<code>x[1]</code>` is code from tag to tag, although the parser sees text between two tags
            if closing := re.compile(rf"</{name}[^<>]*>", re.IGNORECASE).search(self._content, end):
                self._add("code", at, closing.end())
                self._code_until = closing.end()
                return end
            self._unclosed.add(name)
        return self._add("tag", at, end)

    def _maths(self, at: int) -> int:
        r"""`$x$`, `$$x$$`, `\(x\)` and `\[x\]`; a dollar closes only after a non-blank and before a non-digit.

        `\[1\]` is an escaped citation, and any other character after a backslash means itself.
        """
        opening = self._content[at : at + 2]
        if (closing := _CLOSING.get(opening)) and not _NUMBERS_ONLY.match(self._content, at):
            found = self._content.find(closing, at + 2, at + _LONGEST_DISPLAY)
            return self._add("maths", at, found + 2) if found >= 0 else at + 2
        if opening[0] == "\\":
            return at + 2
        amount = _CURRENCY.match(self._content, at)
        closer = None if amount else _DOLLAR.search(self._content, at + 2, at + _LONGEST_FORMULA)
        return self._add("maths", at, closer.end()) if closer else at + 1

    def _close(self, at: int) -> int:
        if not self._open:
            return at + 1
        start, label = self._open.pop()
        kind: SpanKind = "image" if self._content[start] == "!" else "link"
        spent = len(self._open) < self._spent
        self._spent = min(self._spent, len(self._open))
        target = None if spent and kind == "link" else _TARGET.match(self._content, at + 1)
        if target is None:
            return at + 1
        group = "plain" if target["angle"] is None else "angle"
        self._spans.append(Span(start, target.end(), kind, (label, at), target.span(group)))
        if kind == "link":
            self._spent = len(self._open)  # links do not nest
        return target.end()
