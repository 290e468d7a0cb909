"""Citation audit as a judge: what verification kept and removed of a report.

Asks no model, and says nothing of what the sources say: whether a page supports a statement is FACT's to judge.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from pydantic import JsonValue

from aiq.citations.metrics import EXACT_RATE, KEPT, REMOVED, VALID_RATE, Ratio, metrics_of
from aiq.core.reports import Audit, Metric, Report, Score
from aiq.core.samples import Sample
from aiq.core.session import Session
from aiq.core.settings import Settings
from aiq.judges.base import Judge, not_applicable

_NOTICES: Final = ("fabricated",)
_VALID_RATE: Final = Metric.share(VALID_RATE, estimator="ratio", worst=None, notices=_NOTICES)
_EXACT_RATE: Final = Metric.share(EXACT_RATE, estimator="ratio", worst=None, notices=_NOTICES)
_KEPT: Final = Metric.count(KEPT, notices=_NOTICES)
_REMOVED: Final = Metric.count(REMOVED, worst=None, higher_is_better=False, notices=_NOTICES)


class CitationAuditSettings(Settings):
    """The audit judge has none."""


class CitationAudit(Judge):
    """Ratios over all citations (`citations.valid_rate`, `.exact_rate`), and counts per report.

    A reference that merely repeats another one is removed but not invalid: it counts in
    `citations.removed` and in neither rate. A report without citations has no rate, but it has
    counts: 0.
    """

    Settings = CitationAuditSettings
    name = "citation_audit"
    version = "4"
    metrics = (_VALID_RATE, _EXACT_RATE, _KEPT, _REMOVED)
    roles: tuple[str, ...] = ()
    prompt_hash: str | None = None

    def __init__(self, settings: CitationAuditSettings) -> None:
        self._settings = settings

    def check(self, samples: Sequence[Sample]) -> None:
        """Every sample will do."""

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        if report.audit is None:
            return not_applicable(self.metrics, "the agent's citations were not verified")
        return _scores(report.audit)


def _scores(audit: Audit) -> list[Score]:
    found = metrics_of(audit)
    reasons = Counter(citation.reason.split("_of_")[0] for citation in audit.removed_citations)
    detail: dict[str, JsonValue] = {
        "levels": dict(sorted(Counter(citation.level for citation in audit.valid_citations).items())),
        "removed": dict(sorted(reasons.items())),
    }
    nothing = _why_no_rate(audit)
    return [
        _ratio(VALID_RATE, found.valid, detail, nothing),
        _ratio(EXACT_RATE, found.exact, {}, nothing),
        Score(metric=KEPT, value=float(len(audit.valid_citations))),
        Score(metric=REMOVED, value=float(found.removed)),
    ]


def _ratio(name: str, ratio: Ratio | None, detail: dict[str, JsonValue], otherwise: str) -> Score:
    if ratio is None:
        return Score(metric=name, not_applicable=otherwise)
    return Score(metric=name, numerator=ratio.numerator, denominator=ratio.denominator, detail=detail)


def _why_no_rate(audit: Audit) -> str:
    return "every reference repeats another one" if audit.removed_citations else "the report has no citations"
