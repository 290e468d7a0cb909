"""Verification as agents use it: a report and the sources of its run in, the verified report and its audit out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from aiq.citations.audit import EntryFinding, ReportAudit, audit_report
from aiq.citations.match import SourceIndex
from aiq.citations.parse import parse_report
from aiq.citations.repair import Edit, apply_edits, composed, new_numbers, repair
from aiq.core.reports import Audit, RemovedCitation, ValidCitation
from aiq.core.settings import CitationSettings
from aiq.core.sources import Source

_MOST_ROUNDS = 8


@dataclass(frozen=True)
class Verified:
    """The verified report (`text`), the account of what was done to it, and what the report as given was worth.

    `edits` applied to the text as given are the verified report, byte for byte. `numbers`: position
    in `found.entries` of an entry that stays -> its number in the verified report.
    """

    text: str
    audit: Audit
    edits: tuple[Edit, ...]
    found: ReportAudit
    numbers: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class _Round:
    """One repair: what was found, the edits, and for each entry the number it gets and how the first round found it."""

    found: ReportAudit
    edits: tuple[Edit, ...]
    numbers: Mapping[int, int]
    origins: Sequence[EntryFinding]


def verify(text: str, sources: Sequence[Source], settings: CitationSettings) -> Verified:
    """Keep what can be traced to a source, remove the rest, renumber; the same again changes nothing.

    Sources of kinds that `settings.accept` does not name verify nothing; the audit says where it met
    them. Whether to verify at all (`settings.verify`) is for the caller to decide.
    """
    accepted = [source for source in sources if source.kind in settings.accept]
    others = [source for source in sources if source.kind not in settings.accept]
    others.sort(key=lambda source: source.kind == "echoed")  # of a URL seen in two ways the better one counts
    return verify_against(text, SourceIndex(accepted, settings.window), SourceIndex(others, settings.window))


def verify_against(text: str, index: SourceIndex | None, others: SourceIndex | None = None) -> Verified:
    """The same with sources already indexed; without any (None) for structure and safety alone.

    One round of edits repairs a report. In a hostile text a removal can bring forth another list, mark
    or URL: what the result still has to remove goes in further rounds.
    """
    rounds: list[_Round] = []
    verified, origins = text, dict[int, EntryFinding]()
    while len(rounds) < _MOST_ROUNDS:
        found = audit_report(parse_report(verified), index, others)
        numbers = new_numbers(found)
        edits = repair(found, numbers)
        known = [origins.pop(finding.entry.number, finding) for finding in found.entries]
        rounds.append(_Round(found, edits, numbers, known))
        if not edits:
            break
        verified = apply_edits(verified, edits)
        origins = {numbers[p]: known[p] for p, finding in enumerate(found.entries) if finding.kept}
    last = rounds[-1]
    kept = {id(last.origins[p]): last.numbers[p] for p, finding in enumerate(last.found.entries) if finding.kept}
    first = rounds[0].found
    return Verified(
        verified,
        _account(rounds),
        composed(text, [one.edits for one in rounds if one.edits] or [()]),
        first,
        {p: kept[id(finding)] for p, finding in enumerate(first.entries) if id(finding) in kept},
    )


def _account(rounds: Sequence[_Round]) -> Audit:
    """What all rounds removed and the last one kept, with targets and numbers of the report as given."""
    found, numbers = rounds[-1].found, rounds[-1].numbers
    listed = {finding.entry.number for finding in rounds[0].found.entries}
    dangling = {number for one in rounds for number in one.found.dangling}
    return Audit(
        valid_citations=tuple(sorted(_valid(rounds[-1]), key=lambda citation: citation.number)),
        removed_citations=tuple(citation for one in rounds for citation in _removed(one)),
        dangling=tuple(sorted(dangling - listed)),
        unused=tuple(sorted(numbers[position] for position in found.unused if position in numbers)),
        uncited_paragraphs=len(found.uncited_paragraphs),
    )


def _valid(last: _Round) -> Iterator[ValidCitation]:
    for position, (finding, origin) in enumerate(zip(last.found.entries, last.origins, strict=True)):
        match = origin.match or finding.match
        if finding.outcome == "valid" and match is not None:
            yield ValidCitation(
                number=last.numbers[position],
                original_number=origin.entry.number,
                target=origin.target,
                source=match.source.url or match.source.citation_key or "",
                level=match.level,
                marked=match.marked,
                flags=origin.flags,
            )


def _removed(one: _Round) -> Iterator[RemovedCitation]:
    for finding, origin in zip(one.found.entries, one.origins, strict=True):
        if not finding.kept:
            reason = finding.reason or ""
            if finding.duplicate_of is not None:
                reason = f"duplicate_of_citation_{one.origins[finding.duplicate_of].entry.number}"
            yield RemovedCitation(
                number=origin.entry.number,
                target=origin.target,
                reason=reason,
                seen_as=finding.seen_as,
                flags=finding.flags,
            )
    # URLs that go although no entry goes with them: of entries that stay, of the body, of marks that are links
    found = one.found
    urls = [url for finding in found.entries if finding.kept for url in finding.others if not url.kept]
    urls += [url for url in found.body_urls if url.unsafe]
    urls += [mark.url for mark in found.marks if mark.url is not None and not mark.url.kept]
    for url in urls:
        yield RemovedCitation(
            number=None, target=url.use.url, reason=url.reason or "", seen_as=url.seen_as, flags=url.flags
        )
