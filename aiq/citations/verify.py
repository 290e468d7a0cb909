"""Verification as agents use it: a report and the sources of its run in, the verified report and its audit out."""

from collections.abc import Sequence

from aiq.citations.audit import audit_report
from aiq.citations.edits import Edit, apply_edits
from aiq.citations.findings import ReportAudit
from aiq.citations.matching import SourceIndex
from aiq.citations.parsing import parse_report
from aiq.citations.repair import new_numbers, repair
from aiq.core.audit import Audit, MatchLevel, RemovedCitation, ValidCitation
from aiq.core.base import Record
from aiq.core.sources import Source

_MOST_PASSES = 8


class Verified(Record):
    """The verified report, what verification did to it, and the first pass's edits to the text as given."""

    text: str
    audit: Audit
    edits: tuple[Edit, ...] = ()


def verify(text: str, sources: Sequence[Source]) -> Verified:
    """Keep what can be traced to a source, remove the rest, renumber; the same again changes nothing.

    A removal can, in hostile texts, bring forth a new mark or URL (`[1[9]]`); passes repeat until
    nothing is left to do. What later passes remove is in the audit too.
    """
    index = SourceIndex(sources)
    first = audit_report(parse_report(text), index)
    edits = repair(first)
    audit, verified = summary(first), apply_edits(text, edits)
    latest, again = edits, first
    for _ in range(_MOST_PASSES):
        if not latest:
            break
        again = audit_report(parse_report(verified), index)
        latest = repair(again)
        verified = apply_edits(verified, latest)
        audit = audit.model_copy(
            update={"removed_citations": (*audit.removed_citations, *summary(again).removed_citations)}
        )
    return Verified(text=verified, audit=audit, edits=edits)


def summary(audit: ReportAudit) -> Audit:
    """The audit as it is written beside a sample."""
    numbers = new_numbers(audit)
    cited = {numbers[p] for mark in audit.marks for p in mark.entries if p in numbers}
    return Audit(
        valid_citations=tuple(_valid(audit, numbers)),
        removed_citations=tuple(_removed(audit)),
        dangling=audit.dangling,
        unused=tuple(sorted(set(numbers.values()) - cited)),
    )


def _valid(audit: ReportAudit, numbers: dict[int, int]) -> list[ValidCitation]:
    found = []
    for position, finding in enumerate(audit.entries):
        if finding.outcome == "valid" and finding.match is not None:
            level: MatchLevel = finding.match.level
            source = finding.match.source
            found.append(
                ValidCitation(
                    number=numbers[position],
                    original_number=finding.entry.number,
                    target=finding.target,
                    source=source.url or source.citation_key or "",
                    level=level,
                )
            )
    return sorted(found, key=lambda valid: valid.number)


def _removed(audit: ReportAudit) -> list[RemovedCitation]:
    entries = [
        RemovedCitation(number=finding.entry.number, target=finding.target, reason=finding.reason or "")
        for finding in audit.entries
        if finding.outcome != "valid"
    ]
    others = [url for finding in audit.entries if finding.outcome == "valid" for url in finding.others]
    urls = [url for url in others if url.match is None]
    urls += [url for url in audit.body_urls if url.rule is not None]
    urls += [mark.url for mark in audit.marks if mark.url is not None and mark.url.match is None]
    return [
        *entries,
        *(RemovedCitation(number=None, target=u.use.url, reason=u.rule or "url_not_in_registry") for u in urls),
    ]
