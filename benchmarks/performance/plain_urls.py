"""A plain implementation of URL equality by the rules in docs/reference/citations.md.

Written only from that page; it shares nothing with `aiq.citations` but the lists of `rules.toml`.
"""

import ipaddress
import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote

from aiq.citations.urls import rules

_PORTS = {"http": 80, "https": 443}
_PARTS = re.compile(r"([a-z]+)://([^/?#\\]*)([^?#]*)(\?[^#]*)?(#.*)?", re.IGNORECASE | re.DOTALL)
_AUTHORITY = re.compile(r"(?:.*@)?(\[.*\]|[^:]*)(?::(\d{0,9}))?", re.DOTALL)
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?")
_INVISIBLE = re.compile("[\u00ad\u034f\u180b-\u180d\u200b-\u200d\u2060\u2064\ufe00-\ufe0f\ufeff]")
_PAPER = re.compile(
    r"(abs|pdf|html|format)/(\d{4}\.\d{4,5}(v\d+)?|[a-z-]+(\.[a-z]{2})?/\d{7}(v\d+)?)(\.pdf)?(/.+)?",
    re.IGNORECASE | re.DOTALL,
)
_ARXIV = ("arxiv.org", "export.arxiv.org", "ar5iv.org", "ar5iv.labs.arxiv.org")
_VERSIONS_OF_ONE_WORK = ("abs", "full", "pdf", "epdf", "pdfplus", "pdfdirect", "epub", "epdfplus", "reader")
_LONGEST = 8192
"""Maximum length of a URL, in characters."""


@dataclass(frozen=True)
class Address:
    """What two spellings of one URL have in common; `written` and `spelling` are for truncated ones."""

    site: tuple[str, int | None]
    path: tuple[str, ...]
    query: tuple[tuple[str, str], ...]
    route: str
    written: str
    spelling: str

    @cached_property
    def meaning(self) -> tuple[object, ...]:
        """The parts in which equal URLs are equal."""
        return self.site, self.path, self.query, self.route

    @cached_property
    def bare(self) -> bool:
        """Whether it has a path and nothing more."""
        return not self.query and not self.route


def read_address(url: str) -> Address | None:
    """The URL in comparable parts, or None if it is not a well-formed HTTP URL."""
    written = url.strip()
    if len(written) > _LONGEST:
        return None
    scheme, slashes, rest = re.sub(r"[\t\r\n]", "", written).partition("://")
    visible = scheme + slashes + re.sub("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\ufeff]", "", rest)
    plain = re.sub(r"&((amp|#0*38|#x0*26);)+", "&", visible, flags=re.IGNORECASE)
    parts = _PARTS.fullmatch(plain)
    site = _read_site(parts[1].lower(), parts[2]) if parts else None
    if parts is None or site is None:
        return None
    path, query, fragment = parts[3].replace("\\", "/"), parts[4] or "", parts[5] or ""
    host, segments = _read_work(site[0], _read_path(path))
    return Address(
        site=(host, site[1]),
        path=segments,
        query=tuple(sorted(pair for pair in _read_query(query[1:]) if not _is_tracker(pair[0], host, segments))),
        route=_read_route(fragment[1:]),
        written=written,
        spelling=host + (f":{site[1]}" if site[1] else "") + _decoded(path + query.replace("+", " ")),
    )


def _read_site(scheme: str, authority: str) -> tuple[str, int | None] | None:
    parts = _AUTHORITY.fullmatch(authority)
    host = _read_host(parts[1]) if parts else None
    if parts is None or host is None or scheme not in _PORTS:
        return None
    port = int(parts[2]) if parts[2] else _PORTS[scheme]
    return (host, None if port == _PORTS[scheme] else port) if port < 65536 else None


def _read_host(host: str) -> str | None:
    if host.startswith("["):
        try:
            return str(ipaddress.IPv6Address(host[1:-1].partition("%")[0]))
        except ValueError:
            return None
    name = unquote(host)
    if not name.isascii():
        name = _INVISIBLE.sub("", unicodedata.normalize("NFKC", name)).replace("。", ".")
        name = "".join(letter.lower() for letter in name)
        name = ".".join(map(_read_label, unicodedata.normalize("NFC", name).split(".")))
    name = name.lower().removesuffix(".")
    labels = name.split(".")
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        return None
    return ".".join(labels[1:]) if labels[0] == "www" and len(labels) > 2 else name


def _read_label(label: str) -> str:
    if label.isascii():
        return label
    return "xn--" + label.encode("punycode").decode() if label.isprintable() and len(label) < 64 else "?"


def _read_path(path: str) -> tuple[str, ...]:
    resolved: list[str] = []
    segments = path.rstrip("/").split("/")[1:]
    if segments:
        segments[-1] = segments[-1].partition(";")[0]
    for segment in map(_decoded, segments):
        if segment == "..":
            resolved = resolved[:-1]
        elif segment != ".":
            resolved.append(segment)
    while resolved and resolved[-1] == "":
        resolved = resolved[:-1]
    return tuple(resolved)


def _read_route(fragment: str) -> str:
    """A fragment that selects a page; an encoded slash in it does not count as a slash."""
    if fragment[:1] not in ("/", "!"):
        return ""
    return "/".join(_decoded(part).replace("/", "%2F") for part in fragment.split("/"))


def _read_query(query: str) -> list[tuple[str, str]]:
    pairs = [part.partition("=") for part in query.split("&") if part]
    return [(_decoded(name.replace("+", " ")), _decoded(value.replace("+", " "))) for name, _, value in pairs]


def _is_tracker(name: str, host: str, path: tuple[str, ...]) -> bool:
    name, table = name.lower(), rules()
    if name in table.soft_trackers:
        return not _is_of(host, table.code_hosts) and not any(
            part in table.api_labels for part in [*host.split("."), *path]
        )
    return name.startswith("utm_") or name in table.trackers


def _is_of(host: str, names: frozenset[str]) -> bool:
    return any(host == name or host.endswith("." + name) for name in names)


def _read_work(host: str, path: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """One URL for all forms of a paper, and for a DOI wherever it is resolved or published."""
    joined = "/".join(path)
    if host in _ARXIV:
        paper = _PAPER.fullmatch(joined)
        return "arxiv.org", ("abs", paper[2].lower() + (paper[7] or "")) if paper else path
    doi = None
    if host in ("doi.org", "dx.doi.org"):
        host, doi = "doi.org", re.fullmatch(r"(?:doi:)?(10\.\d{4,9}/.+)", joined, re.IGNORECASE | re.DOTALL)
    elif path and path[0].lower() == "doi" and _is_of(host, rules().doi_hosts):
        forms = "|".join(_VERSIONS_OF_ONE_WORK)
        doi = re.fullmatch(
            rf"doi/(?:(?:{forms})/)?(10\.\d{{4,9}}/.+?)(?:/(?:full|abstract|pdf|epdf))?",
            joined,
            re.IGNORECASE | re.DOTALL,
        )
    if doi is None:
        return host, path
    name = doi[1].lower()
    prefix = "10.48550/arxiv."
    if name.startswith(prefix) and len(name) > len(prefix):
        return "arxiv.org", ("abs", name[len(prefix) :])
    return "doi.org", (name,)


def _decoded(text: str) -> str:
    return unicodedata.normalize("NFC", unquote(text, errors="surrogateescape"))
