"""Whether agents go deep where the closed world says it is needed, and only there; and what going deep costs."""

from pydantic import ValidationError

from aiq.core.reports import Metric, Report, Score
from aiq.core.samples import Sample
from aiq.core.usage import USAGE, Usage
from aiq.judges.base import Found, RouteJudge, scores_of


class Escalation(RouteJudge):
    """Precision and recall of going deep, as ratios over samples, and the mean costs of the stages.

    Precision: of the reports that took the deep path, those whose question needs depth. Recall: of the
    questions that need depth, those whose report took the deep path; a failed attempt did not. A report
    outside a metric's denominator gets a reason instead of a value.

    The costs are means over the reports that went through the stage, from `extras["stages"]` (usage by
    stage, as the agent reports it): the cost of a shallow answer, and what going deep added.
    """

    version = "3"
    metrics = (
        Metric.share("escalation.precision", estimator="ratio", worst=None),
        Metric.share("escalation.recall", estimator="ratio"),
        Metric.count("escalation.shallow_tokens", worst=None, higher_is_better=False),
        Metric.count("escalation.deep_tokens", worst=None, higher_is_better=False),
        Metric.count("escalation.deep_cost_usd", worst=None, higher_is_better=False),
    )

    def metrics_for(self, sample: Sample) -> tuple[Metric, ...]:
        """Without recall unless the question needs depth: otherwise a failed attempt has missed nothing."""
        needed = sample.truth is not None and sample.truth.needs_depth
        return tuple(metric for metric in self.metrics if needed or metric.name != "escalation.recall")

    def judged(self, sample: Sample, report: Report) -> list[Score]:
        values: list[Found] = ["the dataset has no truth for this sample"] * 2
        if sample.truth is not None:
            went_deep, needed = report.route in ("deep", "escalated"), sample.truth.needs_depth
            values = [
                (needed, 1) if went_deep else f"the route was {report.route}, not deep",
                (went_deep, 1) if needed else "the question needs no depth",
            ]
        shallow, deep = _usage(report, "shallow"), _usage(report, "deep")
        tokens = [usage if isinstance(usage, str) else usage.total_tokens for usage in (shallow, deep)]
        cost = deep if isinstance(deep, str) else deep.cost_usd
        unpriced = "llm.prices has no price for a model of the deep stage"
        return scores_of(self.metrics, [*values, *tokens, unpriced if cost is None else cost])


def _usage(report: Report, stage: str) -> Usage | str:
    """The usage of a stage, or why there is none."""
    if report.route not in (stage, "escalated"):
        return f"the route was {report.route}"
    stages = report.extras.get("stages")
    if not isinstance(stages, dict) or stage not in stages:
        return f"the agent reports no usage of its {stage} stage"
    try:
        usage = USAGE.validate_python(stages[stage])
    except ValidationError:
        return f"the agent's usage of its {stage} stage cannot be read"
    return "the endpoint reported no usage for some calls" if usage.unreported_calls else usage
