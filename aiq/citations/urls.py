"""A URL as a value that can be compared: what two spellings of one address have in common.

It knows the rules of equality (docs/citations.md) and of finding a URL's end in running text; it
does not know sources. Nothing here raises: what cannot be parsed is None.
"""

import ipaddress
import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property, lru_cache
from urllib.parse import unquote, urlsplit

from aiq.citations.rules import rules, under

Segments = tuple[str, ...]
Query = tuple[tuple[str, str], ...]

_AMPERSAND = re.compile(r"&(?:amp|#38|#x26);", re.IGNORECASE)
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
_ARXIV = re.compile(r"(?:abs|pdf|html|format)/((?:[a-z.-]+/)?\d[\d.]*(?:v\d+)?)(?:\.pdf)?", re.IGNORECASE)
_DEFAULT_PORTS = {"http": 80, "https": 443}
_MAX_LENGTH = 8192


@dataclass(frozen=True)
class ParsedUrl:
    """One http or https address in canonical parts; `scheme` is kept but no part of `key`.

    `host` is lower case, IDNA-encoded, without `www.` and trailing dot; IPv6 hosts stand in their
    shortest form. `port` is None for the scheme's default. `segments` are percent-decoded, without
    path parameters and trailing slashes. `query` is sorted, decoded and without trackers.
    `route` is the fragment where it selects a page (`#/...`, `#!...`), otherwise empty.
    """

    raw: str
    scheme: str
    host: str
    port: int | None
    segments: Segments
    query: Query
    route: str

    @cached_property
    def site(self) -> tuple[str, int | None]:
        """Host and port."""
        return self.host, self.port

    @cached_property
    def key(self) -> tuple[tuple[str, int | None], Segments, Query, str]:
        """What equal URLs have equal."""
        return self.site, self.segments, self.query, self.route


@lru_cache(maxsize=8192)
def parse_url(text: str) -> ParsedUrl | None:
    """The URL in canonical parts, or None where it is not a well-formed http or https address."""
    raw = text.strip()
    if len(raw) > _MAX_LENGTH:
        return None
    try:
        parts = urlsplit(_AMPERSAND.sub("&", raw))
        port = parts.port
    except ValueError:
        return None
    scheme = parts.scheme.lower()
    if scheme not in _DEFAULT_PORTS:
        return None
    host = canonical_host(parts.hostname or "")
    if host is None:
        return None
    segments = _segments(parts.path)
    segments, host = _doi_and_arxiv(segments, host)
    return ParsedUrl(
        raw=raw,
        scheme=scheme,
        host=host,
        port=None if port == _DEFAULT_PORTS[scheme] else port,
        segments=segments,
        query=_query(parts.query, host, segments),
        route=parts.fragment if parts.fragment.startswith(("/", "!")) else "",
    )


@lru_cache(maxsize=8192)
def canonical_host(host: str) -> str | None:
    """Lower case, IDNA, no trailing dot, no `www.`; IPv6 in its shortest form. None where malformed."""
    host = host.strip("[]")
    if ":" in host:
        try:
            return ipaddress.IPv6Address(host.split("%")[0]).compressed
        except ValueError:
            return None
    host = unicodedata.normalize("NFKC", unquote(host)).lower().replace("。", ".").rstrip(".")
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii")
        except UnicodeError:
            return None
    if len(host) > 253 or not _HOST.fullmatch(host):
        return None
    return host.removeprefix("www.") if host.count(".") > 1 else host


def _segments(path: str) -> Segments:
    """Decoded segments; dot segments resolved, parameters of the last one and trailing slashes dropped."""
    kept: list[str] = []
    head, _, last = path.rpartition("/")
    for segment in f"{head}/{last.partition(';')[0]}".split("/")[1:]:
        if segment == "..":
            kept[-1:] = []
        elif segment != ".":
            kept.append(_decode(segment))
    while kept and not kept[-1]:
        kept.pop()
    return tuple(kept)


def _query(query: str, host: str, segments: Segments) -> Query:
    pairs = []
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if part and not _is_tracker(_decode(name).lower(), host, segments):
            pairs.append((_decode(name.replace("+", " ")), _decode(value.replace("+", " "))))
    return tuple(sorted(pairs))


def _is_tracker(name: str, host: str, segments: Segments) -> bool:
    table = rules()
    if name in table.soft_trackers:
        selects = under(host, table.code_hosts) or not table.api_labels.isdisjoint((*host.split("."), *segments))
        return not selects
    return name in table.trackers or name.startswith("utm_")


def _decode(text: str) -> str:
    """Percent-decoded; bytes that are no UTF-8 stay distinct from each other."""
    if "%" not in text and text.isascii():
        return text
    return unicodedata.normalize("NFC", unquote(text, errors="surrogateescape"))


def _doi_and_arxiv(segments: Segments, host: str) -> tuple[Segments, str]:
    """`dx.doi.org` is `doi.org` and DOIs ignore case; abstract, PDF and HTML of an arXiv paper are one source."""
    if host in ("doi.org", "dx.doi.org"):
        return tuple(segment.lower() for segment in segments), "doi.org"
    if host in ("arxiv.org", "export.arxiv.org"):
        paper = _ARXIV.fullmatch("/".join(segments))
        return (("abs", *paper[1].split("/")) if paper else segments), "arxiv.org"
    return segments, host


def without_ellipsis(text: str) -> str | None:
    """The URL before a mark that it was cut off (`...` or `…` at its end), or None where there is no mark."""
    stub = text.rstrip(")]>*.…,;:!?")
    tail = text[len(stub) :]
    return stub if "..." in tail or "…" in tail else None


def spelled(text: str) -> str | None:
    """Host, path and query as written but decoded, without scheme and `www.`: what a cut-off URL begins."""
    try:
        parts = urlsplit(_AMPERSAND.sub("&", text.strip()))
        port = parts.port
    except ValueError:
        return None
    host = canonical_host(parts.hostname or "")
    if host is None:
        return None
    site = host if port in (None, _DEFAULT_PORTS.get(parts.scheme.lower())) else f"{host}:{port}"
    return site + _decode(parts.path) + (f"?{_decode(parts.query)}" if parts.query or text.endswith("?") else "")
