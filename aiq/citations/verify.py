"""Verification as agents use it: takes a report and its run's sources, returns the verified report and its audit."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from aiq.citations.audit import EntryFinding, Finding, ReportAudit, audit_report, meaning
from aiq.citations.match import Match, SourceIndex
from aiq.citations.parse import parse_report
from aiq.citations.repair import Edit, apply_edits, new_numbers, repair
from aiq.core.reports import Audit, RemovedCitation, ValidCitation
from aiq.core.run_settings import CitationSettings
from aiq.core.sources import Source

_MOST_ROUNDS = 8


@dataclass(frozen=True)
class Verified:
    """The verified report (`text`), its audit, and what was found in the report as given (`found`).

    `edits` applied to the text as given yield the verified report, byte for byte. `numbers`: position
    in `found.entries` of an entry that stays -> its number in the verified report.
    """

    text: str
    audit: Audit
    edits: tuple[Edit, ...]
    found: ReportAudit
    numbers: Mapping[int, int]


def verify(text: str, sources: Sequence[Source], settings: CitationSettings) -> Verified:
    """Keep what can be traced to a source, remove the rest, and renumber. Idempotent.

    Sources of kinds that `settings.accept` does not name verify nothing, but the audit says which removed
    citations name them. Whether to verify at all (`settings.verify`) is for the caller to decide.
    """
    accepted = [source for source in sources if source.kind in settings.accept]
    others = [source for source in sources if source.kind not in settings.accept]
    others.sort(key=lambda source: source.kind == "echoed")  # if a URL was seen in both ways, the better one counts
    index, other_index = (SourceIndex(group, settings.window) for group in (accepted, others))
    return verify_against(text, index, other_index)


def verify_against(text: str, index: SourceIndex | None, others: SourceIndex | None = None) -> Verified:
    """Like `verify`, with sources already indexed; without an index, check structure and safety only.

    One round of edits repairs a report. In a hostile text a removal can create another list, mark or
    URL, which further rounds remove; all rounds together are then a single edit.
    """
    verified = text
    rounds: list[ReportAudit] = []
    edits: tuple[Edit, ...] = ()
    removed: list[RemovedCitation] = []
    dangling: set[int] = set()
    originals: dict[int, EntryFinding] = {}
    for _ in range(_MOST_ROUNDS):
        report_audit = audit_report(parse_report(verified), index, others)
        rounds.append(report_audit)
        numbers = new_numbers(report_audit)
        # each entry as the first round found it, with its target and number in the report as given
        origins = [originals.pop(finding.entry.number, finding) for finding in report_audit.entries]
        removed += _removed_citations(report_audit, origins)
        dangling.update(report_audit.dangling)
        round_edits = repair(report_audit, numbers)
        if not round_edits:
            break
        verified = apply_edits(verified, round_edits)
        edits = (Edit(0, len(text), verified, round_edits[-1].rule),) if edits else round_edits
        originals = {numbers[p]: origins[p] for p, finding in enumerate(report_audit.entries) if finding.kept}
    initial = rounds[0]
    by_origin = {id(origins[p]): numbers[p] for p, finding in enumerate(report_audit.entries) if finding.kept}
    audit = Audit(
        valid_citations=_valid_citations(report_audit, origins, numbers, initial),
        removed_citations=tuple(removed),
        dangling=tuple(sorted(dangling - {finding.entry.number for finding in initial.entries})),
        unused=tuple(sorted(numbers[position] for position in report_audit.unused if position in numbers)),
        uncited_paragraphs=len(report_audit.uncited_paragraphs),
    )
    kept_numbers = {p: by_origin[id(finding)] for p, finding in enumerate(initial.entries) if id(finding) in by_origin}
    return Verified(verified, audit, edits, initial, kept_numbers)


def _valid_citations(
    audit: ReportAudit, origins: Sequence[EntryFinding], numbers: Mapping[int, int], initial: ReportAudit
) -> tuple[ValidCitation, ...]:
    """The entries that stay, and the sources that only links with a number (`[1](url)`) lead to, each once."""
    citations: list[tuple[Finding, Match, int, int]] = []
    for position, (finding, origin) in enumerate(zip(audit.entries, origins, strict=True)):
        if finding.outcome == "valid" and (match := origin.match or finding.match):
            citations.append((origin, match, numbers[position], origin.entry.number))
    seen = {id(match.source) for _, match, *_ in citations}
    first_marks = {id(mark.source): mark for mark in reversed(initial.marks)}
    for mark in audit.marks:
        origin_mark = first_marks.get(id(mark.source), mark)
        if (url := origin_mark.url) and url.match and id(url.match.source) not in seen:
            seen.add(id(url.match.source))
            citations.append((url, url.match, mark.mark.numbers[0], origin_mark.mark.numbers[0]))
    citations.sort(key=itemgetter(2))
    return tuple(
        ValidCitation(
            number=number,
            original_number=original,
            target=finding.target,
            source=match.source.address,
            level=match.level,
            marked=match.marked,
            flags=finding.flags,
        )
        for finding, match, number, original in citations
    )


def _removed_citations(audit: ReportAudit, origins: Sequence[EntryFinding]) -> Iterator[RemovedCitation]:
    """The entries that are removed, and the URLs removed from other entries, the body and marks.

    A URL counts once, however often it occurs, and not in addition to an entry with the same target.
    """
    removed = set()
    for finding, origin in zip(audit.entries, origins, strict=True):
        if not finding.kept:
            removed.add(meaning(finding))
            first_number = None if finding.duplicate_of is None else origins[finding.duplicate_of].entry.number
            reason = finding.reason if first_number is None else f"duplicate_of_citation_{first_number}"
            yield _citation(finding, origin.entry.number, origin.target, reason)
    urls = [url for finding in audit.entries if finding.kept for url in finding.others if not url.kept]
    urls += [url for url in audit.body_urls if url.unsafe]
    urls += [mark.url for mark in audit.marks if mark.url is not None and not mark.url.kept]
    for url in urls:
        if (key := meaning(url)) not in removed:
            removed.add(key)
            yield _citation(url, None, url.target, url.reason)


def _citation(finding: Finding, number: int | None, target: str, reason: str | None) -> RemovedCitation:
    return RemovedCitation(
        number=number, target=target, reason=reason or "", seen_as=finding.seen_as, flags=finding.flags
    )
