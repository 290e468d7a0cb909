"""Citation audit as a judge: what verification kept and removed of a report. Asks no model.

It measures where references point (to sources the agent really retrieved), not whether the pages
support the statements; that is FACT.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from pydantic import JsonValue

from aiq.core.audit import Audit
from aiq.core.reports import Metric, Report, Score
from aiq.core.samples import Sample
from aiq.core.session import Session
from aiq.core.settings import Settings
from aiq.judges.base import not_applicable

_VALID_RATE: Final = Metric.share("citations.valid_rate", estimator="ratio", worst=None)
_EXACT_RATE: Final = Metric.share("citations.exact_rate", estimator="ratio", worst=None)
_KEPT: Final = Metric.count("citations.kept")
_REMOVED: Final = Metric.count("citations.removed", worst=None, higher_is_better=False)


class CitationAuditSettings(Settings):
    """The audit judge has none."""


class CitationAudit:
    """`citations.valid_rate` and `citations.exact_rate` (ratios over all citations), and counts per report.

    A reference that merely repeats another one is removed but not invalid: it counts in
    `citations.removed` and in neither rate. A report without citations has no rate, but it has counts: 0.
    """

    Settings = CitationAuditSettings
    name = "citation_audit"
    version = "2"
    metrics = (_VALID_RATE, _EXACT_RATE, _KEPT, _REMOVED)
    roles: tuple[str, ...] = ()
    prompt_hash: str | None = None

    def __init__(self, settings: CitationAuditSettings) -> None:
        self._settings = settings

    def check(self, samples: Sequence[Sample]) -> None:
        """Every sample will do."""

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        audit = session.audit
        if audit is None:
            return not_applicable(self.metrics, "the agent's citations were not verified")
        return _scores(audit)


def _scores(audit: Audit) -> list[Score]:
    kept, removed = len(audit.valid_citations), audit.removed_citations
    exact = sum(citation.level in ("exact", "document") for citation in audit.valid_citations)
    reasons = Counter(citation.reason.split("_of_")[0] for citation in removed)
    judged = kept + len(removed) - reasons["duplicate"]
    detail: dict[str, JsonValue] = {
        "levels": dict(sorted(Counter(citation.level for citation in audit.valid_citations).items())),
        "removed": dict(sorted(reasons.items())),
    }
    rates = (
        [
            Score(metric=_VALID_RATE.name, numerator=kept, denominator=judged, detail=detail),
            Score(metric=_EXACT_RATE.name, numerator=exact, denominator=judged),
        ]
        if judged
        else not_applicable((_VALID_RATE, _EXACT_RATE), _why_no_rate(audit))
    )
    counts = [
        Score(metric=_KEPT.name, value=float(kept)),
        Score(metric=_REMOVED.name, value=float(len(removed))),
    ]
    return [*rates, *counts]


def _why_no_rate(audit: Audit) -> str:
    return "every reference repeats another one" if audit.removed_citations else "the report has no citations"
