"""Finds the URLs of a text, linked or bare, with their exact places; where one ends is decided here."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from aiq.citations.inline import Span, SpanKind
from aiq.citations.markdown import Markdown, masked

_STOPS = "，。；：！？、）】》」』”’“‘（【《「『　"
"""Full-width punctuation, which ends a bare URL although it may stand in one."""
_BARE = re.compile(
    r"(?<![A-Za-z0-9])"
    r"(?:(?:(?:chrome|moz)-)?[a-z][a-z0-9+]{1,20}://|(?<![./@-])www\.(?=[\w-]+\.)|view-source:(?=\S)"
    r"|(?:java|vb|live)script:(?=\S)|data:(?=[\w.+-]+/[\w.+-]+[;,])|file:/)"
    rf"[^\s\x00<>\"`{_STOPS}]+[^\s\x00<>\"`]{{0,300}}",
    re.IGNORECASE,
)
_TRIMMED = ".,;:!?*~'\"…|"
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_DEFINITION = re.compile(r"^[ \t>]{0,6}\[[^\]\n]{1,200}\]:[ \t]*<?([^\s<>\x00]+)", re.MULTILINE)
_ATTRIBUTE = re.compile(
    r"\b(?:href|src|action|formaction|poster|data|background|cite|longdesc)\s*=\s*"
    r"(?:\"([^\"]+)\"|'([^']+)'|([^\s\"'>]+))",
    re.IGNORECASE,
)
_PAIRS = {")": "(", "]": "[", "}": "{"}
_MOST_STEPS = 12


@dataclass(frozen=True, slots=True)
class UrlUse:
    """A URL in the text: the whole construct `start:end`, and the URL itself at `url_start:url_end`.

    `kind` is None for a bare URL, `tag` for an attribute of raw HTML.

    `url` is the URL as meant (Markdown escapes undone). `endings` are further ends that a bare URL
    may have, longest first: running text does not say whether `...(a).` belongs to it.
    """

    start: int
    end: int
    url_start: int
    url_end: int
    url: str
    kind: SpanKind | None
    label: tuple[int, int] = (0, 0)
    endings: tuple[int, ...] = ()


def entry_urls(markdown: Markdown, start: int, end: int) -> list[UrlUse]:
    """The URLs of a reference entry, in order; a list that Markdown takes for code has them too."""
    linked = [_linked(markdown.text, span) for span in markdown.spans_in(start, end) if _leads_somewhere(span)]
    text = masked(markdown.text[start:end], [(use.start - start, use.end - start) for use in linked], "\x00")
    return sorted([*linked, *_bare(text, start)], key=_place)


def body_urls(markdown: Markdown) -> list[UrlUse]:
    """The URLs of a whole text, in order, outside of code and maths.

    Besides links and bare URLs also what Markdown and browsers make links of: definitions
    (`[a]: url`) and attributes of raw HTML.
    """
    text = markdown.text
    found = [_linked(text, span) for span in markdown.spans if _leads_somewhere(span)]
    silent = [(span.start, span.end) for span in markdown.spans if span.kind in ("code", "maths", "tag")]
    prose = masked(text, [*silent, *markdown.blocks, *((use.start, use.end) for use in found)], "\x00")
    defined = [_plain(match[1], match.start(1)) for match in _DEFINITION.finditer(prose)]
    prose = masked(prose, [(use.start, use.end) for use in defined], "\x00")
    return sorted([*found, *defined, *_attributes(markdown), *_bare(prose, 0)], key=_place)


def _place(use: UrlUse) -> int:
    return use.start


def _leads_somewhere(span: Span) -> bool:
    return span.kind in ("link", "image", "autolink") and span.target[0] < span.target[1]


def _attributes(markdown: Markdown) -> Iterator[UrlUse]:
    """The URLs in tags of raw HTML; each is all that would be taken out of its tag."""
    for tag in markdown.tags:
        for match in _ATTRIBUTE.finditer(markdown.text, *tag):
            group = match.lastindex or 0
            yield replace(_plain(match[group], match.start(group)), kind="tag")


def _plain(written: str, start: int) -> UrlUse:
    end = start + len(written)
    return UrlUse(start, end, start, end, unescape(written), None)


def _linked(text: str, span: Span) -> UrlUse:
    url = unescape(text[slice(*span.target)])
    return UrlUse(span.start, span.end, *span.target, url, span.kind, span.label)


def _bare(text: str, offset: int) -> Iterator[UrlUse]:
    at = 0
    while match := _BARE.search(text, at):
        first, *others = reversed(_endings(text, match.start(), match.end()))
        start, end = match.start() + offset, first + offset
        url = unescape(text[match.start() : first])
        yield UrlUse(start, end, start, end, url, None, endings=tuple(other + offset for other in reversed(others)))
        at = first


def _endings(text: str, start: int, longest: int) -> list[int]:
    """Where a bare URL may end, longest first; the last one is what a reader would take."""
    label_end = text.find("](", start, longest)  # a link that the parser could not read
    longest = label_end if label_end > start + 8 else longest
    stop = next((at for at in range(start, longest) if text[at] in _STOPS), longest)
    steps: list[int] = []
    for end in (longest, stop):
        steps.append(end)
        for _ in range(_MOST_STEPS):
            steps.append(_trimmed(text, start, steps[-1]))
    final = steps[-1]
    return [*sorted({end for end in steps if end > final}, reverse=True)[:_MOST_STEPS], final]


def _trimmed(text: str, start: int, end: int) -> int:
    """One step shorter, if the last character is punctuation or a bracket that nothing opens."""
    last = text[end - 1]
    if end - start > 8 and text.endswith(("...", "…"), start, end):
        return end  # a cut-off mark is part of what is cited
    if last in _TRIMMED or (last == "_" and text[start - 1 : start] == "_"):
        return end - 1
    if last in _PAIRS and text.count(last, start, end) > text.count(_PAIRS[last], start, end):
        return end - 1
    return end


def unescape(text: str) -> str:
    """Markdown's backslash escapes undone."""
    return _ESCAPED.sub(r"\1", text)
