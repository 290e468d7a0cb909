"""`escalation.precision` and `escalation.recall`: was depth taken where the closed world says it is needed."""

from collections.abc import Sequence

from aiq.core.reports import Metric, Report, Score
from aiq.core.samples import Sample
from aiq.core.session import Session
from aiq.core.settings import Settings
from aiq.judges.base import not_applicable

DEEP_ROUTES = ("deep", "escalated")


class EscalationSettings(Settings):
    """This judge has no settings."""


class Escalation:
    """Both metrics are ratios over samples.

    Precision: of the reports that took the deep path, those whose question needs depth. Recall: of the
    questions that need depth, those whose report took the deep path; a failed attempt did not. A report
    outside a metric's denominator gets a reason instead of a value.
    """

    Settings = EscalationSettings
    name = "escalation"
    version = "2"
    metrics = (
        Metric.share("escalation.precision", estimator="ratio", worst=None),
        Metric.share("escalation.recall", estimator="ratio"),
    )
    roles: tuple[str, ...] = ()
    prompt_hash: str | None = None

    def __init__(self, settings: EscalationSettings) -> None:
        self._settings = settings

    def check(self, samples: Sequence[Sample]) -> None:
        """Nothing to refuse: a sample without truth is left out, which its row says."""

    def metrics_for(self, sample: Sample) -> tuple[Metric, ...]:
        """Recall only where the question needs depth: elsewhere a failed attempt has missed nothing."""
        needed = sample.truth is not None and sample.truth.needs_depth
        return self.metrics if needed else self.metrics[:1]

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        if sample.truth is None:
            return not_applicable(self.metrics, "the dataset has no truth for this sample")
        went_deep, needed = report.route in DEEP_ROUTES, sample.truth.needs_depth
        return [
            _share("escalation.precision", needed, among=went_deep, reason=f"the route was {report.route}, not deep"),
            _share("escalation.recall", went_deep, among=needed, reason="the question needs no depth"),
        ]


def _share(metric: str, hit: bool, *, among: bool, reason: str) -> Score:
    if not among:
        return Score(metric=metric, not_applicable=reason)
    return Score(metric=metric, numerator=float(hit), denominator=1.0)
