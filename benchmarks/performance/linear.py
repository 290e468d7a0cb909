"""The rules of docs/citations.md for URLs, as plainly as they can be said: every look-up goes through all sources.

Written from that page alone, and shares no code with `aiq.citations` but the lists of `rules.toml`:
tests hold the index against it, and the benchmark says what the index saves.
"""

import ipaddress
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from urllib.parse import unquote

from aiq.citations.rules import rules

_PORTS = {"http": 80, "https": 443}
_PARTS = re.compile(r"([a-z]+)://([^/?#\\]*)([^?#]*)(\?[^#]*)?(#.*)?", re.IGNORECASE | re.DOTALL)
_AUTHORITY = re.compile(r"(?:.*@)?(\[.*\]|[^:]*)(?::(\d{0,9}))?", re.DOTALL)
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?")
_INVISIBLE = re.compile("[\u00ad\u034f\u180b-\u180d\u200b-\u200d\u2060\u2064\ufe00-\ufe0f\ufeff]")
_PAPER = re.compile(
    r"(abs|pdf|html|format)/(\d{4}\.\d{4,5}(v\d+)?|[a-z-]+(\.[a-z]{2})?/\d{7}(v\d+)?)(\.pdf)?", re.IGNORECASE
)
_ARXIV = ("arxiv.org", "export.arxiv.org", "ar5iv.org", "ar5iv.labs.arxiv.org")
_VERSIONS_OF_ONE_WORK = ("abs", "full", "pdf", "epdf", "pdfplus", "pdfdirect", "epub", "epdfplus", "reader")
_AROUND_A_CUT = "([<)]>*.…‥⋯,;:!?"
"""What may stand around the `...` of a URL that was cut off."""
_LONGEST = 8192
"""Characters of a URL."""


@dataclass(frozen=True)
class Address:
    """What two spellings of one URL have in common; `written` and `spelling` are for cut-off ones."""

    site: tuple[str, int | None]
    path: tuple[str, ...]
    query: tuple[tuple[str, str], ...]
    route: str
    written: str
    spelling: str

    @cached_property
    def meaning(self) -> tuple[object, ...]:
        """What equal URLs have equal."""
        return self.site, self.path, self.query, self.route

    @cached_property
    def bare(self) -> bool:
        """Whether it is a path and nothing more."""
        return not self.query and not self.route


@dataclass(frozen=True)
class Found:
    """Which source, by its position, at which level, and whether the report itself marked the URL as cut off."""

    position: int
    level: str
    marked: bool = False


class LinearRegistry:
    """The same sources and rules as `SourceIndex`, without an index."""

    def __init__(self, urls: Sequence[str]) -> None:
        first: dict[object, tuple[int, Address]] = {}
        for position, url in enumerate(urls):
            address = read_address(url)
            if address is not None:
                first.setdefault(address.meaning, (position, address))
        self._known = list(first.values())

    def find(self, url: str) -> Found | None:
        """The source that a cited URL means: the first level that gives exactly one."""
        whole = read_address(url)
        if whole is not None and (found := self._equal(whole)):
            return _found(found, "exact")
        shown = re.sub("%E2%80%A6", "…", url, flags=re.IGNORECASE)
        stub = shown.rstrip(_AROUND_A_CUT)
        tail = shown[len(stub) :]
        marked = "..." in tail or any(mark in tail for mark in "…‥⋯")
        cited = read_address(stub if marked else url)
        if cited is None:
            return None
        if marked:
            return _found(self._begun(cited, stub), "truncation", marked=True)
        if found := _only(self._continuing(cited)):
            longer = len(found[1].path) > len(cited.path)
            level = "truncation" if longer and found[1].written.startswith(cited.written) else "prefix"
            return _found(found, level)
        if found := self._parent(cited):
            return _found(found, "child_path")
        return _found(_only(self._with_more_parameters(cited)), "query_subset")

    def _equal(self, cited: Address) -> tuple[int, Address] | None:
        return next((item for item in self._known if item[1].meaning == cited.meaning), None)

    def _begun(self, cited: Address, stub: str) -> tuple[int, Address] | None:
        """The only source that begins like a stub which goes beyond the host, and completes no identifier of it."""
        start = cited.spelling
        if "%" in stub:  # an encoded letter may have been cut in two
            start = re.sub(r"(%[0-9A-Fa-f]?|[\ud800-\udfff]+)$", "", start)
        if "/" not in start:
            return None
        longer = [item for item in self._known if item[1].spelling.startswith(start)]
        if equal := self._equal(cited):
            return equal if longer in ([], [equal]) else None
        found = _only(longer)
        return None if found is None or _completes(start, found[1].spelling) else found

    def _continuing(self, cited: Address) -> list[tuple[int, Address]]:
        """Sources with more path segments behind these, or with the same path and something more."""
        if not cited.bare:
            return []
        depth = len(cited.path)
        return [
            item
            for item in self._known
            if item[1].site == cited.site
            and item[1].path[:depth] == cited.path
            and (len(item[1].path) > depth or not item[1].bare)
        ]

    def _parent(self, cited: Address) -> tuple[int, Address] | None:
        """The source nearest above, with two segments or more; of several at one path the one without parameters."""
        above = [
            item
            for item in self._known
            if item[1].site == cited.site
            and len(item[1].path) < len(cited.path)
            and sum(segment != "" for segment in item[1].path) >= 2
            and cited.path[: len(item[1].path)] == item[1].path
        ]
        nearest = max((len(item[1].path) for item in above), default=0)
        there = [item for item in above if len(item[1].path) == nearest]
        return _only([item for item in there if item[1].bare]) or _only(there)

    def _with_more_parameters(self, cited: Address) -> list[tuple[int, Address]]:
        """Sources at the same path that have all the parameters of the report's URL, as often, and no other route."""
        if not cited.query:
            return []
        return [
            item
            for item in self._known
            if item[1].site == cited.site
            and item[1].path == cited.path
            and cited.route in ("", item[1].route)
            and not Counter(cited.query) - Counter(item[1].query)
        ]


def _only(items: Sequence[tuple[int, Address]]) -> tuple[int, Address] | None:
    return items[0] if len(items) == 1 else None


def _found(item: tuple[int, Address] | None, level: str, *, marked: bool = False) -> Found | None:
    return None if item is None else Found(item[0], level, marked)


def _completes(start: str, whole: str) -> bool:
    """Whether the cut goes through an identifier: a word with a digit, or two such words that one mark joins."""
    end = len(start)
    mark = ""
    before = _word(start[::-1])[::-1]
    if not before and start and _is_mark(start[-1]):
        mark, before = start[-1], _word(start[-2::-1])[::-1]
    after = _word(whole[end:])
    if not mark and not after and _is_mark(whole[end : end + 1]):
        mark, after = whole[end], _word(whole[end + 1 :])
    if not before or not after:
        return False
    return _digit(before) and _digit(after) if mark else _digit(before + after)


def _word(text: str) -> str:
    """The letters and digits that a text begins with; ideographs and syllables belong to no identifier."""
    return "".join(takewhile(lambda letter: letter.isalnum() and not _is_cjk(letter), text))


def _is_cjk(letter: str) -> bool:
    return "\u2e80" <= letter <= "\u9fff" or "\uac00" <= letter <= "\ud7af"


def _is_mark(text: str) -> bool:
    return len(text) == 1 and not text.isalnum() and text not in "_/?&="


def _digit(text: str) -> bool:
    return any(letter.isdigit() for letter in text)


def read_address(url: str) -> Address | None:
    """The URL in parts that can be compared, or None where it is no well-formed HTTP address."""
    written = url.strip()
    if len(written) > _LONGEST:
        return None
    plain = re.sub(r"&((amp|#0*38|#x0*26);)+", "&", re.sub(r"[\t\r\n]", "", written), flags=re.IGNORECASE)
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
        route=fragment[1:] if fragment[1:2] in ("/", "!") else "",
        written=written,
        spelling=host + (f":{site[1]}" if site[1] else "") + _decoded(path + query),
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
    found: list[str] = []
    segments = path.rstrip("/").split("/")[1:]
    if segments:
        segments[-1] = segments[-1].partition(";")[0]
    for segment in map(_decoded, segments):
        if segment == "..":
            found = found[:-1]
        elif segment != ".":
            found.append(segment)
    while found and found[-1] == "":
        found = found[:-1]
    return tuple(found)


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
    """One address for a paper in all its forms, and for a DOI wherever it is resolved or published."""
    joined = "/".join(path)
    if host in _ARXIV:
        paper = _PAPER.fullmatch(joined)
        return "arxiv.org", ("abs", paper[2].lower()) if paper else path
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
