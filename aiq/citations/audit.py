"""Checks a parsed report against the sources: what each entry, mark and URL is worth. Changes nothing."""

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
"""The reason where an audit was given no sources and finds nothing else wrong; there is no outcome then."""
_NO_DOI = r"\s\"<>，。；：、（）【】《》「」"
_DOI = re.compile(rf"(?<![0-9a-z])(?:doi\s*[:：]?\s*)?(10\.\d{{4,9}}/[^{_NO_DOI}]+[^{_NO_DOI}.,;)\]])", re.IGNORECASE)
_ARXIV = re.compile(
    r"(?<![0-9a-z])arxiv(?:\s+preprint)?\s*[:：\s]\s*"
    r"((?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})(?:v\d+)?)(?![0-9a-z])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a URL or an entry is worth. `reason` is None where it is valid, else what is wrong with it.

    `flags` are warnings that decide nothing (`homograph_host`). `seen_as` says of what was not
    retrieved how the run met it all the same.
    """

    outcome: Outcome | None
    reason: str | None = None
    target: str = ""
    """The URL or document as the report has it."""
    match: Match | None = None
    flags: tuple[str, ...] = ()
    seen_as: Literal["mentioned", "echoed"] | None = None

    @property
    def kept(self) -> bool:
        """Whether it may be where only sources are."""
        return self.outcome in ("valid", None)

    @property
    def unsafe(self) -> bool:
        """Whether it breaks a sanitising rule, and so may be nowhere."""
        return self.outcome == "unsafe"


@dataclass(frozen=True, slots=True)
class UrlFinding(Finding):
    """A URL and what it means; it has a match only where it is valid."""

    use: UrlUse


@dataclass(frozen=True, slots=True)
class EntryFinding(Finding):
    """A reference entry and its outcome: that of `chosen`, one of its URLs, if any decides; `others` are the rest."""

    entry: Entry
    chosen: UrlFinding | None = None
    others: tuple[UrlFinding, ...] = ()
    duplicate_of: int | None = None
    """Position in `ReportAudit.entries` of the entry that this one repeats."""


@dataclass(frozen=True, slots=True)
class MarkFinding:
    """An inline mark: for each of its numbers the position of the entry it points to, None where there is none.

    `url` is what a mark written as a link leads to.
    """

    mark: Mark
    entries: tuple[int | None, ...]
    url: UrlFinding | None = None

    @property
    def source(self) -> Source | None:
        """The source that it leads to as a link."""
        return self.url.match.source if self.url and self.url.match else None


@dataclass(frozen=True)
class ReportAudit:
    """Everything found in one report; nothing in it is changed."""

    report: ParsedReport
    entries: tuple[EntryFinding, ...]
    marks: tuple[MarkFinding, ...]
    body_urls: tuple[UrlFinding, ...]
    dangling: tuple[int, ...]
    """Numbers that marks cite and no list has."""
    unused: tuple[int, ...]
    """Positions of the entries that no mark points to."""
    uncited_paragraphs: tuple[Place, ...]
    """Paragraphs of the body without a mark and without a URL."""
    with_sources: bool = True

    def cited_by(self, mark: MarkFinding) -> Iterator[tuple[int, int | None, Finding]]:
        """Each number of a mark, the position of its entry, and what decides: that entry, or the URL it leads to.

        The URL decides where it is a source's or unsafe, whatever the entry is.
        """
        for number, position in zip(mark.mark.numbers, mark.entries, strict=True):
            if mark.url is not None and (position is None or mark.url.outcome in ("valid", "unsafe")):
                yield number, position, mark.url
            else:
                yield number, position, _DANGLING if position is None else self.entries[position]


_DANGLING = Finding(outcome="invalid", reason="dangling")


def audit_report(report: ParsedReport, index: SourceIndex | None, others: SourceIndex | None = None) -> ReportAudit:
    """Find the outcome of every entry, mark and URL of a report.

    Without an index nothing is known of sources: what is safe and well formed has no outcome then.
    `others` are sources that verify nothing, of which the audit says that the run met them.
    """
    reader = _Reader(report.text, index, others)
    entries = _without_repeats([reader.entry(entry) for entry in report.entries])
    known = _by_number(report, entries)
    marks = tuple(reader.mark(m, tuple(_meant(known.get(n, ()), m) for n in m.numbers)) for m in report.marks)
    missing = {n for mark in report.marks for n in mark.numbers} - known.keys()
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
        uncited_paragraphs=_uncited(report),
        with_sources=index is not None,
    )


class _Reader:
    """Says what the URLs and entries of one report mean."""

    def __init__(self, text: str, index: SourceIndex | None, others: SourceIndex | None) -> None:
        self._text = text
        self._with_sources = index is not None
        self._index = index or NOTHING
        self._others = others or NOTHING

    def url(self, use: UrlUse, *, listed: bool = False) -> UrlFinding:
        """What a URL means; a cut-off one that only one source continues is no broken one; a list's are of the web."""
        use, match = self._resolved(use)
        address = _with_scheme(use.url)
        flags = self._index.hosts.flags(address)
        rule = broken_rule(address)
        if match is not None and rule in (None, "truncated_url"):
            rule = broken_rule(match.source.url or "")
        malformed = match is None and parse_url(address) is None
        if malformed and listed and scheme_of(address) not in ("http", "https"):
            rule = rule or "unsafe_scheme"
        found = partial(UrlFinding, use, target=use.url, flags=flags)
        if rule is not None:
            return found(outcome="unsafe", reason=rule)
        if match is not None:
            return found(outcome="valid", match=match)
        if malformed:
            return found(outcome="unverifiable", reason="unverifiable")
        return self._unknown(found, "url_not_in_registry", self._others.match_exactly(address))

    def _resolved(self, use: UrlUse) -> tuple[UrlUse, Match | None]:
        """The source of a URL; of its ends the longest that means one, beyond the usual end letter by letter."""
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
        """A source that one of its URLs means decides, then a document, then what is wrong with the first URL."""
        uses = [use for use in entry.urls if not (_is_name(use.url) or self._is_key(use.url))]
        hidden = [(use.start - entry.body, use.end - entry.body) for use in uses]
        named = " ".join(unescape(masked(self._text[entry.body : entry.end], hidden, " ")).split())
        urls = [self.url(use, listed=True) for use in uses]
        chosen = min(urls, key=lambda url: (url.match is None, not url.kept), default=None)
        if (chosen is None or chosen.match is None) and (match := _named(self._index, named)):
            return EntryFinding(entry, target=named, others=tuple(urls), outcome="valid", match=match)
        if chosen is not None:
            worth = {field.name: getattr(chosen, field.name) for field in fields(Finding)}
            return EntryFinding(entry, chosen, tuple(url for url in urls if url is not chosen), **worth)
        found = partial(EntryFinding, entry, target=named)
        address = _identifier(named)
        if not address and not looks_like_document(named):
            return found(outcome="unverifiable", reason="unverifiable")
        reason = "url_not_in_registry" if address else "citation_key_not_in_registry"
        return self._unknown(found, reason, _named(self._others, named))

    def _is_key(self, url: str) -> bool:
        """Whether it is a document's key in the form of a URI, as MCP servers call their resources."""
        web = scheme_of(url) in ("http", "https") or broken_rule(url) is not None
        return not web and self._index.match_document(url) is not None

    def _unknown(self, found: Callable[..., FoundT], reason: str, seen: Match | None) -> FoundT:
        """What no source is, and perhaps something that was met all the same."""
        if not self._with_sources:
            return found(outcome=None, reason=NO_SOURCES)
        kind = seen.source.kind if seen else None
        return found(outcome="invalid", reason=reason, seen_as=None if kind == "retrieved" else kind)


def _named(index: SourceIndex, text: str) -> Match | None:
    """The source that an entry names without its URL: a document, or by DOI or arXiv number its address."""
    return index.match_document(text) or index.match_exactly(_identifier(text))


def _identifier(text: str) -> str:
    """The address that resolves the DOI or arXiv number of an entry without a URL; empty where it has none."""
    if doi := _DOI.search(text):
        return f"https://doi.org/{doi[1]}"
    paper = _ARXIV.search(text)
    return f"https://arxiv.org/abs/{paper[1]}" if paper else ""


def _is_name(url: str) -> bool:
    """Whether a link of an entry leads to no place of the web, but names a file, a DOI or an arXiv number."""
    named = scheme_of(url) in ("", "doi", "arxiv") and not url.lower().startswith(("www.", "//", "\\"))
    return named and broken_rule(url) is None


def _with_scheme(url: str) -> str:
    return f"https://{url}" if url.lower().startswith("www.") else url


def _without_repeats(entries: Sequence[EntryFinding]) -> list[EntryFinding]:
    """Of entries that mean the same source (and the same page of a document) the first stays."""
    first: dict[object, int] = {}
    result = []
    for position, finding in enumerate(entries):
        if finding.kept:
            kept = first.setdefault(meaning(finding), position)
            if kept != position:
                reason = f"duplicate_of_citation_{entries[kept].entry.number}"
                finding = replace(finding, outcome="duplicate", reason=reason, duplicate_of=kept)
        result.append(finding)
    return result


def meaning(finding: Finding) -> object:
    """What entries and URLs that cite the same thing have in common."""
    if finding.match is not None:
        return finding.match.document or id(finding.match.source)
    url = parse_url(_with_scheme(finding.target)) or parse_url(_identifier(finding.target))
    return url.key if url else parse_key(finding.target)


def _by_number(report: ParsedReport, entries: Sequence[EntryFinding]) -> dict[int, list[tuple[int, int]]]:
    """Number -> (where its list begins, position of the entry), each list once: there the first whose marks stay."""
    result: dict[int, list[tuple[int, int]]] = {}
    stays = [finding.kept or finding.outcome == "duplicate" for finding in entries]
    for position, finding in enumerate(entries):
        begin = report.lists[finding.entry.section].start
        known = result.setdefault(finding.entry.number, [])
        if not known or known[-1][0] != begin:
            known.append((begin, position))
        elif stays[position] and not stays[known[-1][1]]:
            known[-1] = begin, position
    return result


def _meant(known: Sequence[tuple[int, int]], mark: Mark) -> int | None:
    """The entry with a number that a mark means: of the next list after it, else of the last one."""
    return known[min(bisect_left(known, (mark.start, 0)), len(known) - 1)][1] if known else None


def _uncited(report: ParsedReport) -> tuple[Place, ...]:
    cites = sorted(found.start for places in (report.marks, report.body_urls) for found in places)
    return tuple(
        (start, end) for start, end in report.paragraphs if bisect_left(cites, start) == bisect_left(cites, end)
    )
