"""The citation metrics of audits, as reported by both the judge and `aiq audit`."""

from aiq.core.reports import Audit

VALID_RATE = "citations.valid_rate"
EXACT_RATE = "citations.exact_rate"
KEPT = "citations.kept"
REMOVED = "citations.removed"


def ratios_of(*audits: Audit) -> dict[str, tuple[int, int]]:
    """Numerator and denominator of both rates of a report, or of several together; empty if no citation counts.

    Both are shares of all citations but those that merely repeat another. Valid are those that match a source at any
    level. Exact are those whose address or document is the source's own, or is cut off with an ellipsis.
    """
    valid = [citation for audit in audits for citation in audit.valid_citations]
    removed = [citation for audit in audits for citation in audit.removed_citations]
    judged = len(valid) + sum(not citation.reason.startswith("duplicate_of_") for citation in removed)
    exact = sum(
        found.level in ("exact", "document") or (found.level == "truncation" and found.marked) for found in valid
    )
    return {VALID_RATE: (len(valid), judged), EXACT_RATE: (exact, judged)} if judged else {}


def metrics_of(*audits: Audit, with_sources: bool = True) -> dict[str, float | int | None]:
    """The metrics of a report, or of several together, by name; None for one that cannot be computed.

    Without sources, these are all but `citations.removed`.
    """
    ratios = ratios_of(*audits) if with_sources else {}
    kept = sum(len(audit.valid_citations) for audit in audits) if with_sources else None
    removed = sum(len(audit.removed_citations) for audit in audits)
    rates = {name: part / whole for name, (part, whole) in ratios.items()}
    return {VALID_RATE: None, EXACT_RATE: None, KEPT: kept, REMOVED: removed, **rates}
