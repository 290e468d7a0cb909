"""Citation audit as a judge: what verification kept and removed of a report.

It asks no model and does not look at what the sources say: whether a page supports a statement is for FACT to judge.
"""

from collections import Counter
from typing import Final

from pydantic import JsonValue

from aiq.citations.metrics import EXACT_RATE, KEPT, REMOVED, VALID_RATE, ratios_of
from aiq.core.reports import Metric, Report, Score
from aiq.core.samples import Sample
from aiq.core.session import Session
from aiq.judges.base import Judge, scores_of

_NOTICES: Final = ("fabricated",)


class CitationAudit(Judge):
    """Ratios over all citations (`citations.valid_rate`, `.exact_rate`), and counts per report.

    A reference that merely repeats another one is removed but not invalid: it counts in
    `citations.removed` and in neither rate. A report without citations has no rates, and its counts
    are 0.
    """

    version = "4"
    metrics = (
        Metric.share(VALID_RATE, estimator="ratio", worst=None, notices=_NOTICES),
        Metric.share(EXACT_RATE, estimator="ratio", worst=None, notices=_NOTICES),
        Metric.count(KEPT, notices=_NOTICES),
        Metric.count(REMOVED, worst=None, higher_is_better=False, notices=_NOTICES),
    )

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        audit = report.audit
        if audit is None:
            return scores_of(self.metrics, ["the agent's citations were not verified"] * len(self.metrics))
        ratios = ratios_of(audit)
        reasons = Counter(citation.reason.split("_of_")[0] for citation in audit.removed_citations)
        detail: dict[str, JsonValue] = {
            "levels": dict(sorted(Counter(citation.level for citation in audit.valid_citations).items())),
            "removed": dict(sorted(reasons.items())),
        }
        repeats, no_citations = "every reference repeats another one", "the report has no citations"
        reason = repeats if audit.removed_citations else no_citations
        values = [*(ratios.values() or [reason] * 2), len(audit.valid_citations), len(audit.removed_citations)]
        return scores_of(self.metrics, values, detail if ratios else None)
