"""Checks a parsed report against the sources: what each entry, mark and URL is worth. Changes nothing."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

from aiq.citations.documents import looks_like_document
from aiq.citations.findings import EntryFinding, MarkFinding, ReportAudit, UrlFinding
from aiq.citations.links import UrlUse, unescape
from aiq.citations.marks import Mark
from aiq.citations.matching import Match, SourceIndex
from aiq.citations.parsing import Entry, ParsedReport
from aiq.citations.sanitise import broken_rule, scheme_of
from aiq.citations.urls import parse_url

_DOI = re.compile(r"\b(?:doi\s*[:：]?\s*)?(10\.\d{4,9}/[^\s\"<>]+[^\s\"<>.,;)\]])", re.IGNORECASE)
_ARXIV = re.compile(r"\barxiv\s*[:：]\s*((?:[a-z.-]+/)?\d[\d.]{5,9}(?:v\d+)?)\b", re.IGNORECASE)


def audit_report(report: ParsedReport, index: SourceIndex) -> ReportAudit:
    """Find the outcome of every entry, mark and URL of a report."""
    entries = _without_repeats([_entry(report.text, entry, index) for entry in report.entries])
    marks = _MarkReader(report, entries, index)
    found = tuple(marks.read(mark) for mark in report.marks)
    missing = {n for mark in found for n, to in zip(mark.mark.numbers, mark.entries, strict=True) if to is None}
    linked = {n for mark in found if mark.url and mark.url.match for n in mark.mark.numbers}
    return ReportAudit(
        report=report,
        entries=tuple(entries),
        marks=found,
        body_urls=tuple(_url(report.text, use, index) for use in report.body_urls),
        dangling=tuple(sorted(missing - linked)),
    )


def _url(text: str, use: UrlUse, index: SourceIndex) -> UrlFinding:
    """What a URL means; a cut-off one that only one source continues is no broken one."""
    use, match = _resolved(text, use, index)
    rule = broken_rule(_with_scheme(use.url))
    if match is not None and rule in (None, "truncated_url"):
        rule = broken_rule(match.source.url or "")
    return UrlFinding(use, None if rule else match, rule)


def _resolved(text: str, use: UrlUse, index: SourceIndex) -> tuple[UrlUse, Match | None]:
    """The source of a URL; of several possible ends the longest that is a source's URL, else the usual one."""
    for end in use.endings:
        url = unescape(text[use.url_start : end])
        if match := index.match_exactly(_with_scheme(url)):
            return replace(use, end=end, url_end=end, url=url, endings=()), match
    return use, index.match_url(_with_scheme(use.url))


def _with_scheme(url: str) -> str:
    return f"https://{url}" if url.lower().startswith("www.") else url


def _entry(text: str, entry: Entry, index: SourceIndex) -> EntryFinding:
    urls = [_url(text, use, index) for use in entry.urls]
    chosen = next((url for url in urls if url.match), None)
    if chosen:
        others = tuple(url for url in urls if url is not chosen)
        return EntryFinding(entry, "valid", chosen.use.url, match=chosen.match, chosen=chosen, others=others)
    named = _text_without(text, entry)
    if match := index.match_document(named) or _identifier(entry.text, index):
        return EntryFinding(entry, "valid", named, match=match, others=tuple(urls))
    if not urls:
        if looks_like_document(named):
            return EntryFinding(entry, "invalid", named, "citation_key_not_in_registry")
        return EntryFinding(entry, "unverifiable", named, "unverifiable")
    return _invalid(entry, urls[0])


def _invalid(entry: Entry, url: UrlFinding) -> EntryFinding:
    target = url.use.url
    if url.rule is not None:
        return EntryFinding(entry, "unsafe", target, url.rule, chosen=url)
    if scheme_of(_with_scheme(target)) not in ("http", "https"):
        return EntryFinding(entry, "unsafe", target, "unsafe_scheme", chosen=url)
    if parse_url(_with_scheme(target)) is None:
        return EntryFinding(entry, "unverifiable", target, "unverifiable", chosen=url)
    return EntryFinding(entry, "invalid", target, "url_not_in_registry", chosen=url)


def _text_without(text: str, entry: Entry) -> str:
    """The entry's text without its URLs, in one line: where a document's name may stand."""
    parts, at = [], entry.place.body
    for use in entry.urls:
        parts.append(text[at : max(at, use.start)])
        at = max(at, use.end)
    return " ".join(" ".join([*parts, text[at : entry.place.end]]).split())


def _identifier(entry: str, index: SourceIndex) -> Match | None:
    """A DOI or arXiv number without a URL means the address that resolves it."""
    if doi := _DOI.search(entry):
        return index.match_exactly(f"https://doi.org/{doi[1]}")
    if paper := _ARXIV.search(entry):
        return index.match_exactly(f"https://arxiv.org/abs/{paper[1]}")
    return None


def _without_repeats(entries: Sequence[EntryFinding]) -> list[EntryFinding]:
    """Of valid entries that mean the same source (and the same page of a document) the first stays."""
    first: dict[object, int] = {}
    result = []
    for position, finding in enumerate(entries):
        if finding.match is not None:
            kept = first.setdefault(_meaning(finding.match), position)
            if kept != position:
                reason = f"duplicate_of_citation_{entries[kept].entry.number}"
                finding = replace(finding, outcome="duplicate", reason=reason, duplicate_of=kept)
        result.append(finding)
    return result


def _meaning(match: Match) -> object:
    return match.document or id(match.source)


class _MarkReader:
    """Says which entry a mark's number means, where lists may repeat numbers."""

    def __init__(self, report: ParsedReport, entries: Sequence[EntryFinding], index: SourceIndex) -> None:
        self._report = report
        self._index = index
        self._numbered: dict[int, list[tuple[int, int]]] = {}  # number -> (where its list begins, entry), a list once
        for position, finding in enumerate(entries):
            begin = report.lists[finding.entry.section].start
            known = self._numbered.setdefault(finding.entry.number, [])
            if not known or known[-1][0] != begin:
                known.append((begin, position))
            elif finding.match is not None and entries[known[-1][1]].match is None:
                known[-1] = (begin, position)

    def read(self, mark: Mark) -> MarkFinding:
        url = None
        if mark.url is not None:
            target = unescape(self._report.text[slice(*mark.url)])
            url = _url(self._report.text, UrlUse(mark.start, mark.end, *mark.url, target, "link"), self._index)
        return MarkFinding(mark, tuple(self._entry_of(number, mark) for number in mark.numbers), url)

    def _entry_of(self, number: int, mark: Mark) -> int | None:
        """The next list behind the mark that has the number, else the last one; in a list a valid entry first."""
        known = self._numbered.get(number)
        if not known:
            return None
        return known[min(bisect_left(known, (mark.start, 0)), len(known) - 1)][1]
