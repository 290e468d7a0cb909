"""Verification as agents use it: a report and the sources of its run in, the verified report and its audit out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aiq.citations.audit import ReportAudit, audit_report
from aiq.citations.match import SourceIndex
from aiq.citations.parse import parse_report
from aiq.citations.repair import Edit, Trail, apply_edits, repair
from aiq.core.reports import Audit
from aiq.core.settings import CitationSettings
from aiq.core.sources import Source

_GENTLE_PASSES = 6
_MOST_PASSES = 40


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


def verify(text: str, sources: Sequence[Source], settings: CitationSettings | None = None) -> Verified:
    """Keep what can be traced to a source, remove the rest, renumber; the same again changes nothing.

    Sources of kinds that `settings.accept` does not name verify nothing; the audit says where it met
    them. Whether to verify at all (`settings.verify`) is the caller's to decide.
    """
    settings = settings or CitationSettings()
    accepted = [source for source in sources if source.kind in settings.accept]
    others = [source for source in sources if source.kind not in settings.accept]
    others.sort(key=lambda source: source.kind == "echoed")  # of a URL seen in two ways the better one counts
    return verify_against(text, _index(accepted, settings), _index(others, settings) if others else None)


def _index(sources: Sequence[Source], settings: CitationSettings) -> SourceIndex:
    return SourceIndex(sources, pages=settings.pages, page_window=settings.page_window)


def verify_against(text: str, index: SourceIndex | None, others: SourceIndex | None = None) -> Verified:
    """The same with sources already indexed; without any (None) for structure and safety alone.

    A removal can, in hostile texts, bring forth a new mark or URL (`[1[9]]`); passes repeat until
    nothing is left to do. Where that takes more than a few, removals leave a sign, so that it ends.
    """
    trail, verified = Trail(text), text
    first: ReportAudit | None = None
    for number in range(_MOST_PASSES):
        found = audit_report(parse_report(verified), index, others)
        first = first or found
        edits = repair(found, scars=number >= _GENTLE_PASSES)
        trail.note(found, edits)
        if not edits:
            break
        verified = apply_edits(verified, edits)
    assert first is not None  # there is at least one pass
    return Verified(verified, trail.audit(), trail.edits, first, trail.numbers())
