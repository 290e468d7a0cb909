"""Finds inline code, maths, tags, links and images of one block: rules of markdown-it-py that leave spans.

Offsets are those of the block's content; `aiq.citations.markdown` puts them into the text.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, autolink, backtick, html_inline, image, link

SpanKind = Literal["code", "maths", "tag", "autolink", "link", "image"]
InlineRule = Callable[[StateInline, bool], bool]

_CODE_TAG = re.compile(r"<(code|pre|kbd|samp|math|script|style)\b", re.IGNORECASE)
_LONGEST_MATHS = 400


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch `start:end` that is no prose; a link or image has its label and destination inside."""

    start: int
    end: int
    kind: SpanKind
    label: tuple[int, int] = (0, 0)
    target: tuple[int, int] = (0, 0)


def inline_spans(content: str) -> list[Span]:
    """The spans of one block's inline content, in its own offsets."""
    if not any(mark in content for mark in "`$\\<["):
        return []
    spans: list[Span] = []
    md = parser()
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
def parser() -> MarkdownIt:
    """The parser of blocks and of what stands in them; emphasis and entities concern nobody here."""
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
