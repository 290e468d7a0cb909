"""A URL as a value that can be compared: what two spellings of one address have in common.

It knows the rules of equality (docs/citations.md); it knows no sources. Nothing here raises: what
cannot be parsed is None.
"""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, unquote

from aiq.citations.hosts import Site, read_site, under
from aiq.citations.rules import rules
from aiq.citations.works import Segments, canonical_work

Query = tuple[tuple[str, str], ...]
UrlKey = tuple[Site, Segments, Query, str]

_URL = re.compile(r"(https?)://([^/?#\\]*)([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.IGNORECASE | re.DOTALL)
_AMPERSAND = re.compile(r"&(?:(?:amp|#0*38|#x0*26);)+", re.IGNORECASE)
LEFT_OUT = re.compile(r"[\t\r\n]+")
"""What browsers take out of a URL, wherever it stands (WHATWG URL 4.4)."""
_UNSEEN = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\ufeff]+")
"""What copying out of a page leaves in a URL behind its scheme; joiners stay, which some scripts spell with."""
_MAX_LENGTH = 8192
_ENCODED_ELLIPSIS = re.compile("%E2%80%A6", re.IGNORECASE)
_UNWRITABLE = re.compile(r"[\s<>\"`\\|^{}\x00-\x20，。；：！？、（）】》〉」』”’“‘【《〈「『　]")


class ParsedUrl(NamedTuple):
    """One http or https address in canonical parts; its scheme is no part of them.

    The host of `site` is lower case, IDNA-encoded, without `www.` and trailing dot. `segments` are
    percent-decoded, without path parameters and trailing slashes. `query` is sorted, decoded and
    without trackers. `route` is the decoded fragment where it selects a page (`#/...`, `#!...`), else empty.
    `written` is path and query decoded but otherwise as given: what a cut-off URL begins.
    """

    raw: str
    site: Site
    segments: Segments
    query: Query
    route: str
    written: str

    @property
    def key(self) -> UrlKey:
        """What equal URLs have equal."""
        return self.site, self.segments, self.query, self.route

    @property
    def spelling(self) -> str:
        """Host, path and query as written but decoded, without scheme and `www.`."""
        host, port = self.site
        return f"{host}{self.written}" if port is None else f"{host}:{port}{self.written}"


def read_url(text: str) -> ParsedUrl | None:
    """The URL in canonical parts, or None where it is not a well-formed http or https address."""
    raw = text.strip()
    if len(raw) > _MAX_LENGTH:
        return None
    plain = raw if raw.isprintable() else _without_unseen(raw)
    match = _URL.fullmatch(_AMPERSAND.sub("&", plain) if "&" in plain else plain)
    if match is None:
        return None
    scheme, authority, path, query, fragment = match.groups()
    site = read_site(scheme.lower(), authority)
    if site is None:
        return None
    if "\\" in path:  # browsers take it for a slash: `https://e.com\@v.com/` leads to e.com
        path = path.replace("\\", "/")
    host, segments = canonical_work(site[0], _segments(path))
    return ParsedUrl(
        raw,
        site if host == site[0] else (host, site[1]),
        segments,
        _query(query, host, segments) if query else (),
        _route(fragment) if fragment and fragment[0] in "/!" else "",
        decoded(path if query is None else f"{path}?{query}"),
    )


parse_url = lru_cache(maxsize=16384)(read_url)
"""`read_url` for URLs that are asked for again and again, as those of a report are."""


def _without_unseen(raw: str) -> str:
    scheme, slashes, rest = LEFT_OUT.sub("", raw).partition("://")
    return scheme + slashes + _UNSEEN.sub("", rest)


def _segments(path: str) -> Segments:
    """Decoded segments; dot segments resolved, parameters of the last one and trailing slashes dropped."""
    path = path.rstrip("/")
    if ";" in path:
        head, slash, last = path.rpartition("/")
        path = (head + slash + last.partition(";")[0]).rstrip("/")
    segments = path.split("/")[1:]
    if "%" in path or "/." in path or not path.isascii():
        segments = _without_dots([decoded(segment) for segment in segments])
    return tuple(segments)


def _without_dots(segments: list[str]) -> list[str]:
    kept: list[str] = []
    for segment in segments:
        if segment == "..":
            kept[-1:] = []
        elif segment != ".":
            kept.append(segment)
    while kept and not kept[-1]:
        kept.pop()
    return kept


def _query(query: str, host: str, segments: Segments) -> Query:
    table = rules()
    plain = "%" not in query and "+" not in query and query.isascii()
    pairs = []
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if not plain:
            name, value = decoded(name.replace("+", " ")), decoded(value.replace("+", " "))
        folded = name.lower()
        if not part or folded in table.trackers or folded.startswith("utm_"):
            continue
        if folded in table.soft_trackers and not _selects_content(host, segments):
            continue
        pairs.append((name, value))
    return tuple(sorted(pairs))


def _route(fragment: str) -> str:
    """A fragment that selects a page, decoded; an encoded slash stays apart from a written one."""
    return "/".join(decoded(part).replace("/", "%2F") for part in fragment.split("/"))


def _selects_content(host: str, segments: Segments) -> bool:
    """Whether `ref` and `source` name what is shown, as on code hosts and APIs."""
    table = rules()
    return under(host, table.code_hosts) or not table.api_labels.isdisjoint((*host.split("."), *segments))


def decoded(text: str) -> str:
    """Percent-decoded; bytes that are no UTF-8 stay distinct from each other."""
    if "%" not in text and text.isascii():
        return text
    return unicodedata.normalize("NFC", unquote(text, errors="surrogateescape"))


def without_ellipsis(text: str) -> str | None:
    """The URL before a mark that it was cut off (`...`, `…` at its end), or None where there is no mark."""
    text = _ENCODED_ELLIPSIS.sub("…", text) if "%" in text else text
    stub = text.rstrip("([<)]>*.…‥⋯,;:!?")
    tail = text[len(stub) :]
    return stub if "..." in tail or not tail.isascii() else None


def spelled(stub: str) -> str | None:
    """What every URL that was cut off here begins with; a percent-encoding cut in two is left out."""
    url = parse_url(stub)
    if url is None or "%" not in stub:
        return url.spelling if url else None
    return re.sub(r"(?:%[0-9A-Fa-f]?|[\ud800-\udfff]+)\Z", "", url.spelling)


def writable(url: str) -> str:
    """A URL that stands for itself in Markdown: what would end or break it is percent-encoded.

    Line breaks and tabs are left out and backslashes of the path are slashes, as browsers have it.
    """
    path, *query = re.split(r"(?=[?#])", LEFT_OUT.sub("", url.strip()), maxsplit=1)
    plain = path.replace("\\", "/") + "".join(query)
    written = _UNWRITABLE.sub(lambda match: quote(match[0], safe=""), plain)
    if written.count("(") != written.count(")"):
        written = written.replace("(", "%28").replace(")", "%29")
    if written.count("[") != written.count("]") or "](" in written:
        written = written.replace("[", "%5B").replace("]", "%5D")
    return written
