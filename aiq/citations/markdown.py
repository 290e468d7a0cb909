"""Says what of a report is prose: code, maths, links and tags with their places in the text.

The parser is markdown-it-py; blocks come from it as they are, inline rules are wrapped so that each
success leaves a span. Offsets are code points of the text as given.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, autolink, backtick, html_inline, image, link
from markdown_it.token import Token

SpanKind = Literal["code", "maths", "tag", "autolink", "link", "image"]
InlineRule = Callable[[StateInline, bool], bool]

_NEWLINE = re.compile(r"\r\n?|\n")
_TAGS = re.compile(
    r"<!--.*?(?:-->|\Z)|<(pre|code|script|style|math|svg)\b.*?(?:</\1\s*>|\Z)|</?[a-z][^<>]*>",
    re.IGNORECASE | re.DOTALL,
)
_CODE_TAG = re.compile(r"<(code|pre|kbd|samp|math|script|style)\b", re.IGNORECASE)
_WRAPPED = re.compile(r"\s*(`{3,}|~{3,})(?:markdown|md)[ \t]*(?:\r\n?|\n)", re.IGNORECASE)
_MARKED_FENCE = re.compile(r"^([ \t>]*(?:`{3,}|~{3,}))([ \t]*(?:\[\^?\d{1,3}\][ \t]*)+)$", re.MULTILINE)
_LONGEST_MATHS = 400


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch `start:end` that is no prose; a link or image has its label and destination inside."""

    start: int
    end: int
    kind: SpanKind
    label: tuple[int, int] = (0, 0)
    target: tuple[int, int] = (0, 0)


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
    blocks of fenced code that are closed: one that is not may have swallowed the references.
    """

    text: str
    lines: tuple[tuple[int, int], ...]
    headings: tuple[Heading, ...]
    fences: tuple[tuple[int, int], ...]
    blocks: tuple[tuple[int, int], ...]
    spans: tuple[Span, ...]

    def line_at(self, offset: int) -> int:
        """The number of the line that holds this offset."""
        return bisect_right(self.lines, (offset, len(self.text) + 1)) - 1

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
    for token in _parser().parse(closed[begin:]):
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

    def __init__(self, source: str, lines: Sequence[tuple[int, int]], skipped: int) -> None:
        self.source = source
        self.lines = lines
        self.skipped = skipped
        self.headings: list[Heading] = []
        self.fences: list[tuple[int, int]] = []
        self.blocks: list[tuple[int, int]] = []
        self.spans: list[Span] = []
        self.cell = (-1, 0)  # line and column behind the last table cell read

    def result(self, text: str) -> Markdown:
        spans = sorted(self.spans, key=lambda span: (span.start, -span.end))
        return Markdown(
            text, tuple(self.lines), tuple(self.headings), tuple(self.fences), tuple(sorted(self.blocks)), tuple(spans)
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
            tags = _TAGS.finditer(self.source, *stretch)
            self.blocks += [tag.span() for tag in tags]
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


def inline_spans(content: str) -> list[Span]:
    """The spans of one block's inline content, in its own offsets."""
    if not any(mark in content for mark in "`$\\<["):
        return []
    spans: list[Span] = []
    md = _parser()
    md.inline.parse(content, md, {"spans": spans, "length": len(content)}, [])
    return _closed_over_code_tags(content, spans)


def _closed_over_code_tags(content: str, spans: list[Span]) -> list[Span]:
    """`<code>x[1]</code>` is code from tag to tag, although the parser sees text between two tags."""
    result, until = [], -1
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if span.start < until:
            continue
        opened = _CODE_TAG.match(content, span.start) if span.kind == "tag" else None
        if opened:
            closing = content.lower().find(f"</{opened[1].lower()}", span.end)
            until = content.find(">", closing) + 1 if closing >= 0 else 0
            span = Span(span.start, until, "code") if until > span.end else span
        result.append(span)
    return result


@cache
def _parser() -> MarkdownIt:
    md = MarkdownIt("commonmark").enable("table")
    md.validateLink = lambda url: True  # type: ignore[method-assign]  # unsafe links are ours to find
    md.normalizeLink = lambda url: url  # type: ignore[method-assign]
    md.core.ruler.enableOnly(["normalize", "block"])
    md.disable("reference")  # `[1]: https://...` is an entry here, not a definition to swallow
    md.inline.ruler.enableOnly(["text", "newline", "escape", "backticks", "link", "image", "autolink", "html_inline"])
    md.inline.ruler2.enableOnly([])
    md.inline.ruler.before("escape", "maths", _recorded("maths", _maths))
    rules: list[tuple[str, SpanKind, InlineRule]] = [
        ("backticks", "code", backtick),
        ("autolink", "autolink", autolink),
        ("html_inline", "tag", html_inline),
        ("link", "link", link),
        ("image", "image", image),
    ]
    for name, kind, rule in rules:
        md.inline.ruler.at(name, _recorded(kind, rule))
    return md


def _recorded(kind: SpanKind, rule: InlineRule) -> InlineRule:
    """The rule, leaving a span in the environment where it succeeds; an image's label is parsed apart."""

    def run(state: StateInline, silent: bool) -> bool:
        start = state.pos
        if not rule(state, silent):
            return False
        unclosed = kind == "code" and set(state.src[start : state.pos]) == {"`"}
        if not silent and not unclosed and len(state.src) == state.env["length"]:
            state.env["spans"].append(_span(state, kind, start))
        return True

    return run


def _span(state: StateInline, kind: SpanKind, start: int) -> Span:
    end = state.pos
    if kind not in ("link", "image"):
        return Span(start, end, kind, target=(start + 1, end - 1))
    bracket = start if kind == "link" else start + 1
    close = state.md.helpers.parseLinkLabel(state, bracket, kind == "link")
    state.pos = end
    at = close + 2
    while at < end and state.src[at] in " \t\n":
        at += 1
    target = state.md.helpers.parseLinkDestination(state.src, at, end)
    inside = (at + 1, target.pos - 1) if state.src[at : at + 1] == "<" else (at, target.pos)
    return Span(start, end, kind, (bracket + 1, close), inside if target.ok else (at, end - 1))


def _maths(state: StateInline, silent: bool) -> bool:
    r"""`$x$`, `$$x$$`, `\(x\)` and `\[x\]`; a dollar closes only behind a non-blank and before a non-digit."""
    opening = state.src[state.pos : state.pos + 2]
    if opening in (r"\(", r"\["):
        end = _closing(state, {"(": r"\)", "[": r"\]"}[opening[1]])
        if end and re.fullmatch(r"\^?[\d\s,;–-]*", state.src[state.pos + 2 : end - 2]):
            return False  # `\[1\]` is an escaped citation
    elif opening == "$$":
        end = _closing(state, "$$")
    elif opening[:1] == "$":
        end = _closing_dollar(state)
    else:
        return False
    if not end:
        return False
    state.pos = end
    return True


def _closing(state: StateInline, mark: str) -> int:
    found = state.src.find(mark, state.pos + 2, state.pos + 2 + _LONGEST_MATHS * 5)
    return found + len(mark) if found >= 0 else 0


def _closing_dollar(state: StateInline) -> int:
    src, start = state.src, state.pos + 1
    if src[start : start + 1].isspace():
        return 0
    for at in range(start + 1, min(len(src), start + _LONGEST_MATHS)):
        if src[at] == "$" and not src[at - 1].isspace() and src[at - 1] != "\\" and not src[at + 1 : at + 2].isdigit():
            return at + 1
    return 0
