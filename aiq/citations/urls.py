"""Parses URLs into values that are equal for all spellings of one address (docs/citations.md).

Nothing here raises: what cannot be parsed is None.
"""

import ipaddress
import re
import tomllib
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

from aiq.core.base import Record

Site = tuple[str, int | None]
"""Host in canonical form, and port (None: the scheme's default)."""
Segments = tuple[str, ...]
Query = tuple[tuple[str, str], ...]
UrlKey = tuple[Site, Segments, Query, str]
_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*")
_AUTHORITY = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*)(?::([0-9]{0,9}))?")
_IGNORED = re.compile("[\u00ad\u034f\u180b-\u180d\u200b-\u200d\u2060\u2064\ufe00-\ufe0f\ufeff]")
"""Characters of host names that browsers ignore (UTS 46: mapped to nothing, or invisible joiners)."""
_DEFAULT_PORTS = {"http": 80, "https": 443}
_LONGEST, _LONGEST_LABEL = 253, 63
"""The most characters in a host name and in one label (RFC 1035 2.3.4, less the length bytes)."""
_DOI = re.compile(r"(?:doi:)?(10\.\d{4,9}/.+)", re.IGNORECASE | re.DOTALL)
_PUBLISHED = re.compile(
    r"doi/(?:(?:abs|full|pdf|epdf|pdfplus|pdfdirect|epub|epdfplus|reader)/)?"
    r"(10\.\d{4,9}/.+?)(?:/(?:full|abstract|pdf|epdf))?",
    re.IGNORECASE | re.DOTALL,
)
_ARXIV = re.compile(
    r"(?:abs|pdf|html|format)/(\d{4}\.\d{4,5}(?:v\d+)?|[a-z-]+(?:\.[a-z]{2})?/\d{7}(?:v\d+)?)(?:\.pdf)?(/.+)?",
    re.IGNORECASE | re.DOTALL,
)
_ARXIV_DOI = "10.48550/arxiv."
_ARXIV_HOSTS = frozenset({"arxiv.org", "export.arxiv.org", "ar5iv.org", "ar5iv.labs.arxiv.org"})
_DOI_HOSTS = frozenset({"doi.org", "dx.doi.org"})
_URL = re.compile(r"(https?)://([^/?#\\]*)([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.IGNORECASE | re.DOTALL)
_AMPERSAND = re.compile(r"&(?:(?:amp|#0*38|#x0*26);)+", re.IGNORECASE)
_LEFT_OUT = re.compile(r"[\t\r\n]+")
"""Characters that browsers remove anywhere in a URL (WHATWG URL 4.4)."""
_UNSEEN = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\ufeff]+")
"""Invisible characters that get into a URL when it is copied from a page; joiners stay, as some scripts need them."""
_MAX_LENGTH = 8192
_ENCODED_ELLIPSIS = re.compile("%E2%80%A6", re.IGNORECASE)
_UNWRITABLE = re.compile(r"[\s<>\"`\\|^{}\x00-\x20，。；：！？、（）】》〉」』”’“‘【《〈「『　]")


class Rules(Record):
    """The lists of `rules.toml`; each is explained there."""

    shorteners: frozenset[str]
    unsafe_schemes: frozenset[str]
    private_suffixes: frozenset[str]
    trackers: frozenset[str]
    soft_trackers: frozenset[str]
    code_hosts: frozenset[str]
    api_labels: frozenset[str]
    doi_hosts: frozenset[str]
    confusables: Mapping[str, str]
    code_words: frozenset[str]


@cache
def rules() -> Rules:
    """The table, read once."""
    return Rules.model_validate(tomllib.loads((Path(__file__).with_name("rules.toml")).read_text(encoding="utf-8")))


class ParsedUrl(NamedTuple):
    """One http or https address in canonical parts, without its scheme.

    The host of `site` is lower case, IDNA-encoded, without `www.` and trailing dot. `segments` are
    percent-decoded, without path parameters and trailing slashes. `query` is sorted, decoded and
    without trackers. `route` is the decoded fragment if it selects a page (`#/...`, `#!...`), else empty.
    `spelling` is host, path and query, decoded but otherwise as given, without scheme and `www.`; cut-off
    URLs are compared with its beginning.
    """

    raw: str
    site: Site
    segments: Segments
    query: Query
    route: str
    spelling: str

    @property
    def key(self) -> UrlKey:
        """The parts that decide whether two URLs are equal."""
        return self.site, self.segments, self.query, self.route

    @property
    def path(self) -> Segments:
        """Host, port and segments; a path below another begins with all parts of that one."""
        host, port = self.site
        return host, str(port), *self.segments

    @property
    def bare(self) -> bool:
        """Whether it has neither query nor route."""
        return not self.query and not self.route


@lru_cache(maxsize=16384)  # a report's URLs are parsed again and again
def parse_url(text: str) -> ParsedUrl | None:
    """The URL in canonical parts, or None if it is not a well-formed http or https address."""
    raw = plain = text.strip()
    if len(raw) > _MAX_LENGTH:
        return None
    if not raw.isprintable():
        scheme, slashes, rest = _LEFT_OUT.sub("", raw).partition("://")
        plain = scheme + slashes + _UNSEEN.sub("", rest)
    match = _URL.fullmatch(_AMPERSAND.sub("&", plain))
    site = read_site(match[1].lower(), match[2]) if match else None
    if match is None or site is None:
        return None
    path, query, fragment = match[3].replace("\\", "/"), match[4], match[5] or ""  # `\` as browsers do
    host, segments = _canonical_paper(site[0], _segments(path))
    port = "" if site[1] is None else f":{site[1]}"
    # in a fragment that selects a page, an encoded slash stays distinct from a literal one
    route = "/".join(decoded(part).replace("/", "%2F") for part in fragment.split("/"))
    return ParsedUrl(
        raw,
        (host, site[1]),
        segments,
        _query(query, host, segments) if query else (),
        route if fragment.startswith(("/", "!")) else "",
        host + port + decoded(path if query is None else f"{path}?{query.replace('+', ' ')}"),
    )


def _segments(path: str) -> Segments:
    """Decoded segments; dot segments resolved, parameters of the last one and trailing slashes dropped."""
    segments: list[str] = []
    *leading, last = path.rstrip("/").split("/")
    for segment in map(decoded, [*leading[1:], last.partition(";")[0]] if leading else ()):
        if segment == "..":
            segments[-1:] = []
        elif segment != ".":
            segments.append(segment)
    while segments and not segments[-1]:
        segments.pop()
    return tuple(segments)


def _query(query: str, host: str, segments: Segments) -> Query:
    table = rules()
    parts = [part.replace("+", " ").partition("=") for part in query.split("&") if part]
    pairs = []
    for name, value in sorted((decoded(name), decoded(value)) for name, _, value in parts):
        folded = name.lower()
        # on code hosts and APIs `ref` and `source` select content
        soft = folded in table.soft_trackers and not under(host, table.code_hosts)
        if soft and table.api_labels.isdisjoint((*host.split("."), *segments)):
            continue
        if folded not in table.trackers and not folded.startswith("utm_"):
            pairs.append((name, value))
    return tuple(pairs)


def _canonical_paper(host: str, segments: Segments) -> tuple[str, Segments]:
    """Host and segments of the canonical address of a DOI or an arXiv paper; unchanged if it is neither.

    `dx.doi.org` means `doi.org`, and DOIs ignore case (DOI Handbook 2.4). So does `/doi/10...` on the
    publishers' hosts of `rules.toml` (abstract, full text and PDF are one paper), but nowhere else.
    Abstract, PDF, HTML and DOI of an arXiv paper are one; its versions are distinct.
    """
    doi = None
    if host in _ARXIV_HOSTS:
        paper = _ARXIV.fullmatch("/".join(segments))
        return "arxiv.org", ("abs", paper[1].lower() + (paper[2] or "")) if paper else segments
    if host in _DOI_HOSTS:
        host, doi = "doi.org", _DOI.fullmatch("/".join(segments))
    elif segments and segments[0].lower() == "doi" and under(host, rules().doi_hosts):
        doi = _PUBLISHED.fullmatch("/".join(segments))
    if doi is None:
        return host, segments
    name = doi[1].lower()
    number = name.removeprefix(_ARXIV_DOI)
    return ("arxiv.org", ("abs", number)) if number not in ("", name) else ("doi.org", (name,))


@lru_cache(maxsize=16384)
def read_site(scheme: str, authority: str) -> Site | None:
    """Host and port of `user@host:port` under `http` or `https`, without user-info. None if malformed."""
    match = _AUTHORITY.fullmatch(authority.rpartition("@")[2])
    host = canonical_host(match[1]) if match else None
    port = int((match and match[2]) or _DEFAULT_PORTS[scheme])
    if host is None or port > 65535:
        return None
    return host, None if port == _DEFAULT_PORTS[scheme] else port


def canonical_host(host: str) -> str | None:
    """Lower case, IDNA, no trailing dot, no `www.`; IPv6 in its shortest form. None if malformed."""
    if host.startswith("["):
        try:  # without the zone (`%eth0`, `%25eth0`), which has a meaning on one machine only
            return ipaddress.IPv6Address(host[1:-1].partition("%")[0]).compressed if host.endswith("]") else None
        except ValueError:
            return None
    if not host.isascii() or "%" in host:
        host = _ascii(unquote(host))
    host = host.lower().removesuffix(".")
    if len(host) > _LONGEST or not _HOST.fullmatch(host):
        return None
    return host.removeprefix("www.") if host.count(".") > 1 else host


def _ascii(host: str) -> str:
    """The host in ASCII: full-width and other forms normalised, then non-ASCII labels in punycode (RFC 3492).

    Follows UTS 46 in its non-transitional form, as browsers do: `ß` is kept. An impossible label
    becomes an empty one, which no host may have.
    """
    plain = "".join(letter.lower() for letter in _IGNORED.sub("", unicodedata.normalize("NFKC", host)))
    labels = unicodedata.normalize("NFC", plain).replace("。", ".").split(".")
    for position, label in enumerate(labels):
        if not label.isascii():
            possible = label.isprintable() and len(label) <= _LONGEST_LABEL
            labels[position] = f"xn--{label.encode('punycode').decode()}" if possible else ""
    return ".".join(labels)


def under(host: str, names: frozenset[str]) -> bool:
    """Whether a canonical host is one of these names or a sub-domain of one."""
    while host and host not in names:
        host = host.partition(".")[2]
    return bool(host)


def unicode_labels(host: str) -> list[str]:
    """The labels of a canonical host as displayed; one that is not valid punycode stays as it is."""
    labels = host.split(".")
    for position, label in enumerate(labels):
        if label.startswith("xn--"):
            with suppress(UnicodeError):
                labels[position] = label[4:].encode("ascii").decode("punycode")
    return labels


def decoded(text: str) -> str:
    """The text percent-decoded, in NFC; bytes that are not UTF-8 stay distinct from each other."""
    if "%" not in text and text.isascii():
        return text
    return unicodedata.normalize("NFC", unquote(text, errors="surrogateescape"))


def without_ellipsis(text: str) -> str | None:
    """The URL before an ellipsis at its end (`...`, `…`), or None if there is no ellipsis."""
    text = _ENCODED_ELLIPSIS.sub("…", text) if "%" in text else text
    stub = text.rstrip("([<)]>*.…‥⋯,;:!?")
    tail = text[len(stub) :]
    return stub if "..." in tail or not tail.isascii() else None


def markdown_safe(url: str) -> str:
    """The URL as it can be written in Markdown: characters that would end or break it are percent-encoded.

    As in browsers, line breaks and tabs are dropped, and backslashes in the path become slashes.
    """
    path, *query = re.split(r"(?=[?#])", _LEFT_OUT.sub("", url.strip()), maxsplit=1)
    plain = path.replace("\\", "/") + "".join(query)
    encoded = _UNWRITABLE.sub(lambda match: quote(match[0], safe=""), plain)
    if encoded.count("(") != encoded.count(")"):
        encoded = encoded.replace("(", "%28").replace(")", "%29")
    if encoded.count("[") != encoded.count("]") or "](" in encoded:
        encoded = encoded.replace("[", "%5B").replace("]", "%5D")
    return encoded
