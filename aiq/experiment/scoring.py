"""One judge on one attempt: rows for its scores, for a failed attempt (the worst values), or for a judge's failure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from aiq.core.base import Record
from aiq.core.errors import JudgeError, message_of, traceback_of
from aiq.core.events import RunFinished
from aiq.core.reports import CAVEAT, Caveat, Metric, Score
from aiq.core.samples import Sample
from aiq.core.session import Session
from aiq.experiment.attempt import as_row_error, classify, result_or_error
from aiq.experiment.plan import JudgePlan
from aiq.judges.base import RouteJudge
from aiq.runs.rows import RowError, SampleRow, ScoreRow, ScoreStatus
from aiq.stats.noise import NOISE, Noise

_NO_METRIC = "not a metric of this sample"
_DETAIL_FORMS: Mapping[str, type[Record]] = {NOISE: Noise, CAVEAT: Caveat}
"""The parts of a score's detail that a run reads."""


async def score_report(
    plan: JudgePlan, sample: Sample, row: SampleRow, session: Session, write: Callable[[list[ScoreRow]], None]
) -> None:
    """Let the judge score a report and hand its rows to `write`, one per declared metric, in that order.

    A judge that fails gives error rows. Raises what ends the whole run, as `run_attempt` does, once error rows have
    kept what the judge had spent.
    """

    async def checked_scores() -> Mapping[str, Score]:
        return _check_scores(plan, await plan.judge.score(sample, row.as_report(), session))

    scores, error = await result_or_error(session, f"judge {plan.spec.name}", checked_scores)
    status, fatal = classify(error)
    if error is None:
        rows = [_score_row(plan, row, metric, scores or {}) for metric in plan.spec.metrics]
    else:
        rows = [_row(plan, row, metric, "error", error=as_row_error(error)) for metric in plan.spec.metrics]
    usage = session.usage.by_role()
    session.events.emit(RunFinished(status=status, error=traceback_of(error) or (error and message_of(error))))
    if usage or not fatal:  # the usage of all the judge's work is in the first row only
        write([*(first.model_copy(update={"usage": usage}) for first in rows[:1]), *rows[1:]])
    if error is not None and fatal:
        raise error from None


def score_route(plan: JudgePlan, judge: RouteJudge, sample: Sample, row: SampleRow) -> list[ScoreRow]:
    """The rows of a judge that only looks at the route. Raises JudgeError for scores that it did not declare."""
    scores = _check_scores(plan, judge.judged(sample, row.as_report()))
    return [_score_row(plan, row, metric, scores) for metric in plan.spec.metrics]


def score_nothing(plan: JudgePlan, row: SampleRow, reason: str) -> list[ScoreRow]:
    """Rows that state why the judge has nothing to score."""
    return [_row(plan, row, metric, "not_applicable", reason=reason) for metric in plan.spec.metrics]


def score_failure(plan: JudgePlan, sample: Sample, row: SampleRow) -> list[ScoreRow]:
    """Rows of an attempt without a report to judge: each metric's declared worst value, without asking the judge."""
    reason = "the agent's work was rejected" if row.status == "completed" else f"the attempt ended as {row.status}"
    applicable = {metric.name for metric in plan.judge.metrics_for(sample)}
    rows = []
    for metric in plan.spec.metrics:
        numbers: dict[str, float | None] = {"value": metric.worst}
        if metric.estimator == "ratio" and metric.worst is not None:
            numbers = {"numerator": metric.worst, "denominator": 1.0}
        if metric.name in applicable:
            rows.append(_row(plan, row, metric, "agent_failed", reason=reason, **numbers))
        else:
            rows.append(_row(plan, row, metric, "not_applicable", reason=_NO_METRIC))
    return rows


def _check_scores(plan: JudgePlan, scores: Sequence[Score]) -> Mapping[str, Score]:
    """Scores by metric. Raises JudgeError for scores that the judge did not declare like this."""
    by_metric, judge = {score.metric: score for score in scores}, plan.spec.name
    declared = {metric.name: metric for metric in plan.spec.metrics}
    unknown = [name for name in by_metric if name not in declared]
    if unknown or len(by_metric) != len(scores):
        raise JudgeError(f"judge {judge} gave undeclared or repeated scores: {unknown or list(by_metric)}")
    for name, score in by_metric.items():
        estimator = declared[name].estimator
        if (score.value if estimator == "ratio" else score.numerator) is not None:
            raise JudgeError(f"judge {judge} declared {name} as a {estimator} but did not score it as one")
        if score.value is not None and not declared[name].allows(score.value):
            raise JudgeError(f"judge {judge} gave {name}={score.value:g}, outside the bounds it declared")
        for key, form in _DETAIL_FORMS.items():
            try:
                _ = key in score.detail and form.model_validate(score.detail[key])
            except ValidationError:
                raise JudgeError(f"judge {judge}: the detail '{key}' of {name} is invalid; rename it") from None
    return by_metric


def _score_row(plan: JudgePlan, row: SampleRow, metric: Metric, scores: Mapping[str, Score]) -> ScoreRow:
    """The row of a metric that the judge scored, failed on, or left out."""
    score = scores.get(metric.name) or Score(metric=metric.name, not_applicable=_NO_METRIC)
    if score.error is not None:
        failure = RowError(type=JudgeError.__name__, message=score.error)
        return _row(plan, row, metric, "error", error=failure, detail=score.detail)
    status: ScoreStatus = "scored" if score.not_applicable is None else "not_applicable"
    numbers = score.model_dump(include={"value", "numerator", "denominator"})
    return _row(plan, row, metric, status, reason=score.not_applicable, detail=score.detail, **numbers)


def _row(plan: JudgePlan, row: SampleRow, metric: Metric, status: ScoreStatus, **fields: Any) -> ScoreRow:
    return ScoreRow(
        sample_id=row.sample_id,
        epoch=row.epoch,
        attempt=row.attempt,
        judge=plan.spec.name,
        judge_hash=plan.spec.hash,
        judge_version=plan.spec.version,
        judge_model=plan.model,
        prompt_hash=plan.judge.prompt_hash,
        metric=metric.name,
        status=status,
        **fields,
    )
