"""Finds inline code, maths, tags, links and images of one block, in time linear in its length.

Code, tags and autolinks are read by the rules of markdown-it-py; links and images with the stack of
open brackets that CommonMark's appendix describes, because the library's own rule reads a run of
`![` again from each of them. Offsets are those of the block's content; `aiq.citations.markdown` puts
them into the text.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, autolink, backtick, html_inline

SpanKind = Literal["code", "maths", "tag", "autolink", "link", "image"]

_SPECIAL = re.compile(r"!\[|[`$\\<\[\]]")
_CODE_TAG = re.compile(r"<(code|pre|kbd|samp|math|svg|script|style)\b", re.IGNORECASE)
_LONGEST_FORMULA = 400
_LONGEST_DISPLAY = 2000
_DOLLAR = re.compile(r"\$(?<![\s\\]\$)(?!\d)")
_NUMBERS_ONLY = re.compile(r"\\[\[(]\^?[\d\s,;–-]*\\[\])]")
_PLAIN = r"[^\s\\()\x00-\x1f\x7f]++|\\\S"
_TITLE = r"\s++(?:\"(?:[^\"\\]++|\\.)*+\"|'(?:[^'\\]++|\\.)*+'|\((?:[^()\\]++|\\.)*+\))"


def _nested(depth: int) -> str:
    """A destination whose parentheses pair up; CommonMark asks for three levels at least."""
    inside = rf"|\({_nested(depth - 1)}\)" if depth else ""
    return rf"(?:{_PLAIN}{inside})*+"


_TARGET = re.compile(
    rf"\(\s*+(?:<(?P<angle>(?:[^<>\n\\]++|\\.)*+)>|(?P<plain>{_nested(4)}))(?:{_TITLE})?\s*+\)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch `start:end` that is no prose; a link or image has its label and destination inside."""

    start: int
    end: int
    kind: SpanKind
    label: tuple[int, int] = (0, 0)
    target: tuple[int, int] = (0, 0)


def inline_spans(content: str) -> list[Span]:
    """The spans of one block's inline content, in its own offsets, in order; a link before what its label holds."""
    scanner = _Scanner(content)
    scanner.scan()
    return _closed_over_code_tags(content, sorted(scanner.spans, key=lambda span: (span.start, -span.end)))


@cache
def parser() -> MarkdownIt:
    """The parser of blocks; what stands in them is read here, emphasis and entities concern nobody."""
    md = MarkdownIt("commonmark").enable("table")
    md.validateLink = lambda url: True  # type: ignore[method-assign]  # unsafe links are ours to find
    md.normalizeLink = lambda url: url  # type: ignore[method-assign]
    md.core.ruler.enableOnly(["normalize", "block"])
    md.disable("reference")  # `[1]: https://...` is an entry here, not a definition to swallow
    return md


class _Scanner:
    """Goes once through a block's content, from one special character to the next."""

    def __init__(self, content: str) -> None:
        self.content = content
        self.spans: list[Span] = []
        self.open: list[tuple[int, int]] = []  # open brackets: where the construct begins, where its label does
        self.spent = 0  # this many of them can be no links, because what they hold became one

    @cached_property
    def _state(self) -> StateInline:
        return StateInline(self.content, parser(), {}, [])

    def scan(self) -> None:
        rules: dict[str, Callable[[int], int]] = {
            "`": self._code,
            "<": self._angle,
            "$": self._dollar,
            "\\": self._backslash,
            "[": lambda at: self._bracket(at, at + 1),
            "![": lambda at: self._bracket(at, at + 2),
            "]": self._close,
        }
        at = 0
        while special := _SPECIAL.search(self.content, at):
            at = rules[special[0]](special.start())

    def _by_library(self, rule: Callable[[StateInline, bool], bool], at: int) -> int:
        """Where what the library's rule reads here ends; `at` if it reads nothing."""
        self._state.pos = at
        return self._state.pos if rule(self._state, True) else at

    def _found(self, kind: SpanKind, start: int, end: int) -> int:
        self.spans.append(Span(start, end, kind, target=(start + 1, end - 1)))
        return end

    def _code(self, at: int) -> int:
        end = self._by_library(backtick, at)
        unclosed = not self.content[at:end].strip("`")
        return end if unclosed else self._found("code", at, end)

    def _angle(self, at: int) -> int:
        if (end := self._by_library(autolink, at)) > at:
            return self._found("autolink", at, end)
        if (end := self._by_library(html_inline, at)) > at:
            return self._found("tag", at, end)
        return at + 1

    def _dollar(self, at: int) -> int:
        r"""`$x$` and `$$x$$`; a dollar closes only behind a non-blank and before a non-digit."""
        if self.content.startswith("$$", at):
            return self._formula(at, "$$") or at + 2
        if not self.content[at + 1 : at + 2].isspace():
            closing = _DOLLAR.search(self.content, at + 2, at + _LONGEST_FORMULA)
            if closing:
                return self._found("maths", at, closing.end())
        return at + 1

    def _backslash(self, at: int) -> int:
        r"""`\(x\)` and `\[x\]`; `\[1\]` is an escaped citation, and any other character stands for itself."""
        closing = {"(": r"\)", "[": r"\]"}.get(self.content[at + 1 : at + 2])
        if closing and not _NUMBERS_ONLY.match(self.content, at):
            return self._formula(at, closing) or at + 2
        return at + 2

    def _formula(self, at: int, closing: str) -> int:
        found = self.content.find(closing, at + 2, at + _LONGEST_DISPLAY)
        return self._found("maths", at, found + 2) if found >= 0 else 0

    def _bracket(self, start: int, label: int) -> int:
        self.open.append((start, label))
        return label

    def _close(self, at: int) -> int:
        if not self.open:
            return at + 1
        start, label = self.open.pop()
        image = self.content[start] == "!"
        spent = len(self.open) < self.spent
        self.spent = min(self.spent, len(self.open))
        target = _TARGET.match(self.content, at + 1) if image or not spent else None
        if target is None:
            return at + 1
        group = "plain" if target["angle"] is None else "angle"
        self.spans.append(Span(start, target.end(), "image" if image else "link", (label, at), target.span(group)))
        if not image:
            self.spent = len(self.open)  # a link holds no other link
        return target.end()


def _closed_over_code_tags(content: str, spans: list[Span]) -> list[Span]:
    """`<code>x[1]</code>` is code from tag to tag, although the parser sees text between two tags.

    Links in it lead away all the same, as readers of Markdown make them.
    """
    result, until, unclosed = [], -1, set()
    for span in spans:
        if span.start < until:
            if span.kind in ("link", "image", "autolink"):
                result.append(span)
            continue
        opened = _CODE_TAG.match(content, span.start) if span.kind == "tag" else None
        if opened and (name := opened[1].lower()) not in unclosed:
            closing = re.compile(rf"</{name}[^<>]*>", re.IGNORECASE).search(content, span.end)
            if closing:
                until = closing.end()
                span = Span(span.start, until, "code")
            else:
                unclosed.add(name)
        result.append(span)
    return result
