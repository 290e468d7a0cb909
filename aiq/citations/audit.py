"""Checks a parsed report against the sources and decides the outcome of each entry, mark and URL. Changes nothing."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Literal, TypeVar

from aiq.citations.documents import looks_like_document, parse_key
from aiq.citations.entries import Entry
from aiq.citations.links import UrlUse, unescape
from aiq.citations.markdown import Place, masked
from aiq.citations.marks import Mark
from aiq.citations.match import NOTHING, Match, SourceIndex
from aiq.citations.parse import ParsedReport
from aiq.citations.sanitise import broken_rule, scheme_of
from aiq.citations.urls import parse_url
from aiq.core.sources import Source

FoundT = TypeVar("FoundT")
Outcome = Literal["valid", "invalid", "duplicate", "unsafe", "unverifiable"]
NO_SOURCES = "no_sources"
"""The reason if an audit was given no sources and finds nothing else wrong; the outcome is then None."""
_NO_DOI = r"\s\"<>，。；：、（）【】《》「」"
_DOI = re.compile(rf"(?<![0-9a-z])(?:doi\s*[:：]?\s*)?(10\.\d{{4,9}}/[^{_NO_DOI}]+[^{_NO_DOI}.,;)\]])", re.IGNORECASE)
_ARXIV = re.compile(
    r"(?<![0-9a-z])arxiv(?:\s+preprint)?\s*[:：\s]\s*"
    r"((?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})(?:v\d+)?)(?![0-9a-z])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The outcome of a URL or an entry. `reason` is None if it is valid, else what is wrong with it.

    `flags` are warnings that do not affect the outcome (`homograph_host`). `seen_as` says how the run
    came across a target that it did not retrieve.
    """

    outcome: Outcome | None
    reason: str | None = None
    target: str = ""
    """The URL or document as written in the report."""
    match: Match | None = None
    flags: tuple[str, ...] = ()
    seen_as: Literal["mentioned", "echoed"] | None = None

    @property
    def kept(self) -> bool:
        """Whether it may stay where only sources are allowed."""
        return self.outcome in ("valid", None)

    @property
    def unsafe(self) -> bool:
        """Whether it breaks a sanitising rule, and so must not stay anywhere."""
        return self.outcome == "unsafe"


@dataclass(frozen=True, slots=True)
class UrlFinding(Finding):
    """A URL and its outcome; it has a match only if it is valid."""

    use: UrlUse


@dataclass(frozen=True, slots=True)
class EntryFinding(Finding):
    """A reference entry and its outcome: that of `chosen`, if one of its URLs decides; `others` are its other URLs."""

    entry: Entry
    chosen: UrlFinding | None = None
    others: tuple[UrlFinding, ...] = ()
    duplicate_of: int | None = None
    """Position in `ReportAudit.entries` of the entry that this one repeats."""


@dataclass(frozen=True, slots=True)
class MarkFinding:
    """An inline mark and, for each of its numbers, the position of the entry it points to (None: no such entry).

    `url` is the target of a mark that is written as a link.
    """

    mark: Mark
    entries: tuple[int | None, ...]
    url: UrlFinding | None = None

    @property
    def source(self) -> Source | None:
        """The source that its link leads to, if any."""
        return self.url.match.source if self.url and self.url.match else None


@dataclass(frozen=True)
class ReportAudit:
    """Everything found in one report, which is left unchanged."""

    report: ParsedReport
    entries: tuple[EntryFinding, ...]
    marks: tuple[MarkFinding, ...]
    body_urls: tuple[UrlFinding, ...]
    dangling: tuple[int, ...]
    """Numbers that marks cite and no list contains."""
    unused: tuple[int, ...]
    """Positions of the entries that no mark points to."""
    uncited_paragraphs: tuple[Place, ...]
    """Paragraphs of the body without a mark and without a URL."""
    with_sources: bool = True

    def cited_by(self, mark: MarkFinding) -> Iterator[tuple[int, int | None, Finding]]:
        """Each number of a mark, the position of its entry, and the finding that decides: of that entry or of its URL.

        The URL decides if it is a source's or unsafe, whatever the entry is.
        """
        for number, position in zip(mark.mark.numbers, mark.entries, strict=True):
            if mark.url is not None and (position is None or mark.url.outcome in ("valid", "unsafe")):
                yield number, position, mark.url
            else:
                yield number, position, _DANGLING if position is None else self.entries[position]


_DANGLING = Finding(outcome="invalid", reason="dangling")


def audit_report(report: ParsedReport, index: SourceIndex | None, others: SourceIndex | None = None) -> ReportAudit:
    """Decide the outcome of every entry, mark and URL of a report.

    Without an index the sources are unknown, so whatever is safe and well formed has no outcome.
    `others` are sources that verify nothing; the audit only says that the run came across them.
    """
    reader = _Reader(report.text, index, others)
    entries = _without_repeats([reader.entry(entry) for entry in report.entries])
    by_number = _positions_by_number(report, entries)
    marks = tuple(reader.mark(m, tuple(_position(by_number.get(n, ()), m) for n in m.numbers)) for m in report.marks)
    missing = {n for mark in report.marks for n in mark.numbers} - by_number.keys()
    linked = {n for mark in marks if mark.url and mark.url.kept for n in mark.mark.numbers}
    cited = {position for mark in marks for position in mark.entries}
    sources = {id(mark.source) for mark in marks if mark.source}
    return ReportAudit(
        report=report,
        entries=tuple(entries),
        marks=marks,
        body_urls=tuple(reader.url(use) for use in report.body_urls),
        dangling=tuple(sorted(missing - linked)),
        unused=tuple(
            position
            for position, finding in enumerate(entries)
            if position not in cited and not (finding.match and id(finding.match.source) in sources)
        ),
        uncited_paragraphs=_uncited_paragraphs(report),
        with_sources=index is not None,
    )


class _Reader:
    """Resolves the URLs and entries of one report to sources."""

    def __init__(self, text: str, index: SourceIndex | None, others: SourceIndex | None) -> None:
        self._text = text
        self._with_sources = index is not None
        self._index = index or NOTHING
        self._others = others or NOTHING

    def url(self, use: UrlUse, *, listed: bool = False) -> UrlFinding:
        """Judge a URL. A cut-off one that only one source continues is not broken; a `listed` one must be a web URL."""
        use, match = self._resolved(use)
        address = _with_scheme(use.url)
        flags = self._index.hosts.flags(address)
        rule = broken_rule(address)
        if match is not None and rule in (None, "truncated_url"):
            rule = broken_rule(match.source.url or "")
        malformed = match is None and parse_url(address) is None
        if malformed and listed and scheme_of(address) not in ("http", "https"):
            rule = rule or "unsafe_scheme"
        finding = partial(UrlFinding, use, target=use.url, flags=flags)
        if rule is not None:
            return finding(outcome="unsafe", reason=rule)
        if match is not None:
            return finding(outcome="valid", match=match)
        if malformed:
            return finding(outcome="unverifiable", reason="unverifiable")
        return self._unmatched(finding, "url_not_in_registry", self._others.match_exactly(address))

    def _resolved(self, use: UrlUse) -> tuple[UrlUse, Match | None]:
        """The URL up to its longest end that matches a source, which beyond the usual end must be equal literally."""
        for end in sorted({*use.endings, use.url_end}, reverse=True):
            url = use.url if end == use.url_end else unescape(self._text[use.url_start : end])
            match = self._index.match_exactly(_with_scheme(url))
            if match and (end <= use.url_end or url == match.source.url):
                return replace(use, end=use.end if end == use.url_end else end, url_end=end, url=url), match
        return use, self._index.match_url(_with_scheme(use.url))

    def mark(self, mark: Mark, entries: tuple[int | None, ...]) -> MarkFinding:
        if mark.url is None:
            return MarkFinding(mark, entries)
        target = unescape(self._text[slice(*mark.url)])
        return MarkFinding(mark, entries, self.url(UrlUse(mark.start, mark.end, *mark.url, target, "link")))

    def entry(self, entry: Entry) -> EntryFinding:
        """Judge an entry by a URL of a source if it has one, else by its document, else by its best URL."""
        uses = [use for use in entry.urls if not (_is_name(use.url) or self._is_key(use.url))]
        hidden = [(use.start - entry.body, use.end - entry.body) for use in uses]
        text = " ".join(unescape(masked(self._text[entry.body : entry.end], hidden, " ")).split())
        urls = [self.url(use, listed=True) for use in uses]
        chosen = min(urls, key=lambda url: (url.match is None, not url.kept), default=None)
        if (chosen is None or chosen.match is None) and (match := _match_named(self._index, text)):
            return EntryFinding(entry, target=text, others=tuple(urls), outcome="valid", match=match)
        if chosen is not None:
            values = {field.name: getattr(chosen, field.name) for field in fields(Finding)}
            return EntryFinding(entry, chosen, tuple(url for url in urls if url is not chosen), **values)
        finding = partial(EntryFinding, entry, target=text)
        address = _identifier(text)
        if not address and not looks_like_document(text):
            return finding(outcome="unverifiable", reason="unverifiable")
        reason = "url_not_in_registry" if address else "citation_key_not_in_registry"
        return self._unmatched(finding, reason, _match_named(self._others, text))

    def _is_key(self, url: str) -> bool:
        """Whether it is a document's key in the form of a URI, as MCP servers name their resources."""
        is_web = scheme_of(url) in ("http", "https") or broken_rule(url) is not None
        return not is_web and self._index.match_document(url) is not None

    def _unmatched(self, finding: Callable[..., FoundT], reason: str, sighting: Match | None) -> FoundT:
        """The finding for a target that is no source, though the run may have come across it (`sighting`)."""
        if not self._with_sources:
            return finding(outcome=None, reason=NO_SOURCES)
        kind = sighting.source.kind if sighting else None
        return finding(outcome="invalid", reason=reason, seen_as=None if kind == "retrieved" else kind)


def _match_named(index: SourceIndex, text: str) -> Match | None:
    """The source that an entry names without its URL: a document, or the address of its DOI or arXiv number."""
    return index.match_document(text) or index.match_exactly(_identifier(text))


def _identifier(text: str) -> str:
    """The address that resolves the DOI or arXiv number of an entry without a URL; empty if it has neither."""
    if doi := _DOI.search(text):
        return f"https://doi.org/{doi[1]}"
    paper = _ARXIV.search(text)
    return f"https://arxiv.org/abs/{paper[1]}" if paper else ""


def _is_name(url: str) -> bool:
    """Whether a link of an entry does not lead to the web but names a file, a DOI or an arXiv number."""
    not_web = scheme_of(url) in ("", "doi", "arxiv") and not url.lower().startswith(("www.", "//", "\\"))
    return not_web and broken_rule(url) is None


def _with_scheme(url: str) -> str:
    return f"https://{url}" if url.lower().startswith("www.") else url


def _without_repeats(entries: Sequence[EntryFinding]) -> list[EntryFinding]:
    """Mark all but the first of the entries for the same source (and the same page of a document) as duplicates."""
    firsts: dict[object, int] = {}
    result = []
    for position, finding in enumerate(entries):
        if finding.kept:
            original = firsts.setdefault(meaning(finding), position)
            if original != position:
                reason = f"duplicate_of_citation_{entries[original].entry.number}"
                finding = replace(finding, outcome="duplicate", reason=reason, duplicate_of=original)
        result.append(finding)
    return result


def meaning(finding: Finding) -> object:
    """A key that is equal for entries and URLs that cite the same thing."""
    if finding.match is not None:
        return finding.match.document or id(finding.match.source)
    url = parse_url(_with_scheme(finding.target)) or parse_url(_identifier(finding.target))
    return url.key if url else parse_key(finding.target)


def _positions_by_number(report: ParsedReport, entries: Sequence[EntryFinding]) -> dict[int, list[tuple[int, int]]]:
    """Number -> (start of the list, position of the entry) for each list, there the first entry whose marks stay."""
    result: dict[int, list[tuple[int, int]]] = {}
    stays = [finding.kept or finding.outcome == "duplicate" for finding in entries]
    for position, finding in enumerate(entries):
        begin = report.lists[finding.entry.section].start
        positions = result.setdefault(finding.entry.number, [])
        if not positions or positions[-1][0] != begin:
            positions.append((begin, position))
        elif stays[position] and not stays[positions[-1][1]]:
            positions[-1] = begin, position
    return result


def _position(positions: Sequence[tuple[int, int]], mark: Mark) -> int | None:
    """Of the entries with a mark's number, the one it means: that of the next list after it, else of the last list."""
    return positions[min(bisect_left(positions, (mark.start, 0)), len(positions) - 1)][1] if positions else None


def _uncited_paragraphs(report: ParsedReport) -> tuple[Place, ...]:
    starts = sorted(citation.start for citations in (report.marks, report.body_urls) for citation in citations)
    return tuple(
        (start, end) for start, end in report.paragraphs if bisect_left(starts, start) == bisect_left(starts, end)
    )
