"""Finds the URLs of reports and of other texts, linked or bare, and exactly where each begins and ends."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import attrgetter

from aiq.citations.markdown import Markdown, Place, masked, position

_STOPS = "，。；：！？、）】》」』”’“‘（【《「『　"
"""Full-width punctuation, which ends a bare URL although URLs may contain it."""
_STOP = re.compile(f"[{_STOPS}]")
_BRACKET = r"\](?!\()"  # in front of `(` it ends the label of a link that the parser could not read
_BARE = re.compile(
    r"(?<![A-Za-z0-9])"
    r"(?:(?:(?:chrome|moz)-)?[a-z][a-z0-9+]{1,20}://|(?<![./@-])www\.(?=[\w-]+\.)|view-source:(?=\S)"
    r"|(?:java|vb|live)script:(?=\S)|data:(?=[\w.+-]+/[\w.+-]+[;,])|file:/)"
    rf"(?:[^\s\x00<>\"`\]{_STOPS}]|{_BRACKET})+(?:[^\s\x00<>\"`\]]|{_BRACKET}){{0,300}}",
    re.IGNORECASE,
)
_NEXT_LINE = re.compile(r"[ \t]*(?:\r\n?|\n)[ \t>]*((?!\w{1,20}://|www\.)[^\s\x00<>\"`]+)[ \t>]*$", re.MULTILINE)
_URL_REST = re.compile(r"[ \t>]*(?!\d{4}[-/.]\d|[\w.+-]+://|www\.)[\w/%?&=#~+.-][^\s<>\"`]*[ \t]*$")
_URL_MARKS = re.compile(r"[/=&%?_#]|-.*-|\.\w{2,5}\W?$|^[.-]")
_MOST_LINES = 8
_CUT_AT = "/-_?=&%#"
"""A URL that ends in one of these at the end of a line may continue in the next."""
_TRIMMED = ".,;:!?*~'\"…|"
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_TITLE = "|".join(rf"{opened}(?:[^\\{closed}\r\n]|\\.)*+{closed}?" for opened, closed in (r'""', r"''", (r"\(", r"\)")))
_DEFINITION = re.compile(
    r"^[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t>]++)*+\[[^\]\n]{1,200}\]:[ \t]*+(?:(?:\r\n?|\n)[ \t>]*+)?"
    rf"<?([^\s<>\x00]++)>?(?=[ \t]*+(?:{_TITLE})?[ \t]*+(?:[\r\n]|\Z))",
    re.MULTILINE,
)
"""`[a]: url`, perhaps followed by a title; followed by other words, it is not a definition."""
_ATTRIBUTE = re.compile(
    r"\b(?:href|src|action|formaction|poster|data|background|cite|longdesc|ping|manifest|(?P<set>srcset))\s*=\s*"
    r"(?:\"([^\"<]+)\"|'([^'<]+)'|([^\s\"'<>]+))",
    re.IGNORECASE,
)
_RAW_TAG = re.compile(r"<(?:script|style)\b(?:[^\"'>]|\"[^\"]*+\"|'[^']*+')*+>", re.IGNORECASE)
"""The start tag of an element that contains no markup."""
_IN_SET = re.compile(r"[^\s,]+")
"""A possible URL in a `srcset` such as `https://a 1x, https://b 2x`; an absolute one has a colon."""
_PAIRS = {")": "(", "]": "[", "}": "{"}
_MOST_STEPS = 12
_ADDRESS = re.compile(
    r"https?://[^\s<>\"'`|\\^{}\x00-\x20，。；：！？、）】》〉」』”’“‘【《〈「『（　]+", re.IGNORECASE
)
_TRAILING = ".,;:!?*_~"


@dataclass(frozen=True, slots=True)
class UrlUse:
    """A URL in a text: the whole construct is at `start:end`, and the URL itself at `url_start:url_end`.

    `form` is how it is written: `bare_url`, `link`, `image`, `autolink` or `attribute` (of raw HTML).
    `url` has its Markdown escapes undone. `endings` are other places where a bare URL may end,
    longest first: running text does not say whether `...(a).` belongs to it.
    """

    start: int
    end: int
    url_start: int
    url_end: int
    url: str
    form: str
    label: Place = (0, 0)
    endings: tuple[int, ...] = ()


def entry_urls(markdown: Markdown, entries: Sequence[Place]) -> Iterator[tuple[UrlUse, ...]]:
    """The URLs of each of these reference entries, in order, even if Markdown takes the list for code."""
    text = markdown.text
    links: list[list[UrlUse]] = [[] for _ in entries]
    for use in _links(markdown):
        at = position(entries, use.start)
        if at >= 0 and use.end <= entries[at][1]:
            links[at].append(use)
    text = masked(text, [(use.start, use.end) for group in links for use in group])
    for (start, end), uses in zip(entries, links, strict=True):
        at = start
        for use in _bare(text, start, end):
            if use.start >= at:
                use = _with_rest(text, use, end)
                at = use.end
                uses.append(use)
        uses.sort(key=attrgetter("start"))
        # a title may name a site
        yield tuple([use for use in uses if not use.url.lower().startswith("www.")] or uses)


def _with_rest(text: str, use: UrlUse, limit: int) -> UrlUse:
    """A bare URL joined with the next lines, up to the limit, as long as they look like more of it."""
    url, end = use.url, use.end
    for _ in range(_MOST_LINES):
        rest = _NEXT_LINE.match(text, end, limit)
        if rest is None or not (url[-1] in _CUT_AT or is_url_rest(rest[1])):
            break
        start, longest = rest.span(1)
        last = _endings(text, start, longest)[-1]
        if last <= start:
            break
        url, end = url + unescape(text[start:last]), last
    return use if end == use.end else replace(use, end=end, url_end=end, url=url, endings=(use.end,))


def is_url_rest(line: str) -> bool:
    """Whether a line looks like the rest of a wrapped URL: one word with a URL's punctuation."""
    return _URL_REST.match(line) is not None and _URL_MARKS.search(line.strip(" \t>")) is not None


def body_urls(markdown: Markdown, body: Sequence[Place]) -> list[UrlUse]:
    """The URLs in these parts of a text, in order, outside of code and maths.

    Besides links and bare URLs, these are the others that Markdown and browsers turn into links:
    definitions (`[a]: url`) and attributes of raw HTML.
    """
    text = markdown.text
    links = list(_links(markdown))
    non_prose = [(span.start, span.end) for span in markdown.spans if span.kind in ("code", "maths", "tag")]
    prose = masked(text, [*non_prose, *((use.start, use.end) for use in links)])
    definitions = [_plain(prose, *match.span(1)) for match in _DEFINITION.finditer(prose)]
    prose = masked(prose, [(use.start, use.end) for use in definitions])
    bare = (use for part in body for use in _bare(prose, *part))
    uses = [*links, *definitions, *_attributes(markdown)]
    in_body = (use for use in uses if use.start < body[position(body, use.start)][1])
    return sorted([*in_body, *bare], key=attrgetter("start"))


def _links(markdown: Markdown) -> Iterator[UrlUse]:
    """Links, images and autolinks that lead out of the text, unlike `#part`."""
    for span in markdown.spans:
        target = markdown.text[slice(*span.target)]
        if span.kind in ("link", "image", "autolink") and target and target[0] != "#":
            yield UrlUse(span.start, span.end, *span.target, unescape(target), span.kind, span.label)


def _attributes(markdown: Markdown) -> Iterator[UrlUse]:
    """The URLs in tags of raw HTML, within `<pre>` and the like too; the construct is the URL alone, not its tag."""
    text = markdown.text
    for span in markdown.spans:
        if span.kind not in ("tag", "code") or text[span.start] != "<" or text.startswith("<!", span.start):
            continue
        opening = _RAW_TAG.match(text, span.start, span.end)
        for match in _ATTRIBUTE.finditer(text, span.start, opening.end() if opening else span.end):
            start, end = match.span(match.lastindex or 0)
            if match["set"]:
                candidates = _IN_SET.finditer(text, start, end)
                yield from (_plain(text, *url.span(), "attribute") for url in candidates if ":" in url[0][:-1])
            elif text[start] != "#":
                yield _plain(text, start, end, "attribute")


def _plain(text: str, start: int, end: int, form: str = "bare_url", endings: tuple[int, ...] = ()) -> UrlUse:
    return UrlUse(start, end, start, end, unescape(text[start:end]), form, endings=endings)


def _bare(text: str, at: int, end: int) -> Iterator[UrlUse]:
    """The bare URLs in `at:end` of a text."""
    while match := _BARE.search(text, at, end):
        start = match.start()
        *endings, at = _endings(text, start, match.end())
        yield _plain(text, start, at, endings=tuple(endings))


def _endings(text: str, start: int, longest: int) -> list[int]:
    """Where a bare URL may end, longest first; the last one is where a reader would end it."""
    stop = _STOP.search(text, start, longest)
    ends = dict.fromkeys((longest, stop.start() if stop else longest))
    steps = [step for end in ends for step in islice(_shorter(text, start, end), _MOST_STEPS + 1)]
    final = steps[-1]
    return [*sorted({end for end in steps if end > final}, reverse=True)[:_MOST_STEPS], final]


def _shorter(text: str, start: int, end: int, surplus: str = _TRIMMED) -> Iterator[int]:
    """Where a URL may end: each time one more surplus character, or bracket that nothing opens, is left off."""
    unopened: dict[str, int] = {}
    while True:
        yield end
        last = text[end - 1 : end]
        if end - start > 8 and surplus == _TRIMMED and text.endswith(("...", "…"), start, end):
            return  # an ellipsis, which shows that the URL was cut off, is part of the citation
        if last in _PAIRS:
            if last not in unopened:
                unopened[last] = text.count(last, start, end) - text.count(_PAIRS[last], start, end)
            unopened[last] -= 1
        if unopened.get(last, -1) < 0 and last not in surplus and not (last == "_" and text[start - 1 : start] == "_"):
            return
        end -= 1


def unescape(text: str) -> str:
    """Undo Markdown's backslash escapes."""
    return _ESCAPED.sub(r"\1", text) if "\\" in text else text


def find_urls(text: str) -> Iterator[str]:
    """The http and https URLs in a text, in order, without the punctuation after them."""
    for match in _ADDRESS.finditer(text):
        *_, end = _shorter(text, *match.span(), _TRAILING)
        if end - match.start() > len("https://"):
            yield text[match.start() : end]
