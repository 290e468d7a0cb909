"""The metrics of citations, from an audit; the judge and `aiq audit` report the same."""

from dataclasses import dataclass
from typing import NamedTuple

from aiq.core.reports import Audit

VALID_RATE = "citations.valid_rate"
EXACT_RATE = "citations.exact_rate"
KEPT = "citations.kept"
REMOVED = "citations.removed"


class Ratio(NamedTuple):
    """`numerator` of `denominator`, which is positive."""

    numerator: int
    denominator: int


@dataclass(frozen=True, slots=True)
class CitationMetrics:
    """The metrics of one report, or of several together; a rate that cannot be had is None.

    valid: citations that mean a source, at any level, of all but those that merely repeat another.
    exact: of the same, those whose address or document is the source's own, or is cut off with an
    ellipsis. kept: valid citations of the verified report, None where no sources were known;
    removed: what was taken out.
    """

    valid: Ratio | None
    exact: Ratio | None
    kept: int | None
    removed: int

    def by_name(self) -> dict[str, float | int | None]:
        """The metrics under their names."""
        rates = {VALID_RATE: self.valid, EXACT_RATE: self.exact}
        shares = {name: ratio and ratio.numerator / ratio.denominator for name, ratio in rates.items()}
        return {**shares, KEPT: self.kept, REMOVED: self.removed}


def metrics_of(*audits: Audit, with_sources: bool = True) -> CitationMetrics:
    """The metrics of a report, or of several together; nothing is said of validity where no sources were known."""
    valid = [citation for audit in audits for citation in audit.valid_citations]
    removed = [citation for audit in audits for citation in audit.removed_citations]
    repeats = sum(citation.reason.startswith("duplicate_of_") for citation in removed)
    exact = sum(
        found.level in ("exact", "document") or (found.level == "truncation" and found.marked) for found in valid
    )
    judged = len(valid) + len(removed) - repeats if with_sources else 0
    kept = len(valid) if with_sources else None
    if not judged:
        return CitationMetrics(None, None, kept, len(removed))
    return CitationMetrics(Ratio(len(valid), judged), Ratio(exact, judged), kept, len(removed))
