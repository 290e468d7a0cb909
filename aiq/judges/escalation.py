"""Was depth taken where the closed world says it is needed, and only there; and what going deep costs."""

from collections.abc import Sequence

from pydantic import JsonValue, ValidationError

from aiq.core.reports import Metric, Report, Score
from aiq.core.samples import Sample, Truth
from aiq.core.session import Session
from aiq.core.settings import Settings
from aiq.core.usage import Usage
from aiq.judges.base import Judge, not_applicable

DEEP_ROUTES = ("deep", "escalated")

SHALLOW_TOKENS, DEEP_TOKENS, DEEP_COST = (
    "escalation.shallow_tokens",
    "escalation.deep_tokens",
    "escalation.deep_cost_usd",
)


class EscalationSettings(Settings):
    """This judge has no settings."""


class Escalation(Judge):
    """Precision and recall are ratios over samples.

    Precision: of the reports that took the deep path, those whose question needs depth. Recall: of the
    questions that need depth, those whose report took the deep path; a failed attempt did not. A report
    outside a metric's denominator gets a reason instead of a value.

    The costs are means over the reports that took the stage, from `extras["stages"]` (usage by stage,
    as the agent reports it): what it took to come to a shallow answer, and what going deep added.
    """

    Settings = EscalationSettings
    name = "escalation"
    version = "3"
    metrics = (
        Metric.share("escalation.precision", estimator="ratio", worst=None),
        Metric.share("escalation.recall", estimator="ratio"),
        Metric.count(SHALLOW_TOKENS, worst=None, higher_is_better=False),
        Metric.count(DEEP_TOKENS, worst=None, higher_is_better=False),
        Metric.count(DEEP_COST, worst=None, higher_is_better=False),
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
        return tuple(metric for metric in self.metrics if needed or metric.name != "escalation.recall")

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        if sample.truth is None:
            decided = not_applicable(self.metrics[:2], "the dataset has no truth for this sample")
        else:
            decided = _decided(sample.truth, report)
        return [*decided, *_costs(report)]


def _decided(truth: Truth, report: Report) -> list[Score]:
    went_deep, needed = report.route in DEEP_ROUTES, truth.needs_depth
    return [
        _share("escalation.precision", needed, among=went_deep, reason=f"the route was {report.route}, not deep"),
        _share("escalation.recall", went_deep, among=needed, reason="the question needs no depth"),
    ]


def _share(metric: str, hit: bool, *, among: bool, reason: str) -> Score:
    if not among:
        return Score(metric=metric, not_applicable=reason)
    return Score(metric=metric, numerator=float(hit), denominator=1.0)


def _costs(report: Report) -> list[Score]:
    """What a stage took; a route that did not take the stage, or an unknown cost, has a reason."""
    shallow = _usage(report, "shallow") if report.route in ("shallow", "escalated") else None
    deep = _usage(report, "deep") if report.route in DEEP_ROUTES else None
    cost = deep.cost_usd if isinstance(deep, Usage) else deep
    if isinstance(deep, Usage) and cost is None:
        cost = "llm.prices has no price for a model of the deep stage"
    skipped = f"the route was {report.route}"
    return [
        _count(SHALLOW_TOKENS, _tokens(shallow), skipped),
        _count(DEEP_TOKENS, _tokens(deep), skipped),
        _count(DEEP_COST, cost, skipped),
    ]


def _usage(report: Report, stage: str) -> Usage | str:
    """The stage's usage, or why there is none."""
    stages: JsonValue = report.extras.get("stages")
    if not isinstance(stages, dict) or stage not in stages:
        return f"the agent reports no usage of its {stage} stage"
    try:
        usage = Usage.model_validate(stages[stage])
    except ValidationError:
        return f"the agent's usage of its {stage} stage cannot be read"
    return "the endpoint reported no usage for some calls" if usage.unreported_calls else usage


def _tokens(usage: Usage | str | None) -> float | str | None:
    return float(usage.total_tokens) if isinstance(usage, Usage) else usage


def _count(metric: str, found: float | str | None, skipped: str) -> Score:
    """A value; or the reason, `skipped` where the stage was not taken."""
    if isinstance(found, float):
        return Score(metric=metric, value=found)
    return Score(metric=metric, not_applicable=found or skipped)
