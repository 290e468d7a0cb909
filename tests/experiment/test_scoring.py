"""A judge's scores become rows; an undeclared score is a failure of the judge."""

from typing import Any

import pytest

from aiq.core.reports import Metric, Report, Score
from aiq.core.samples import Question, Sample
from aiq.core.session import Session
from aiq.experiment.plan import JudgePlan
from aiq.experiment.scoring import score_failure, score_report
from aiq.judges.base import Judge, NoSettings
from aiq.runs.manifest import JudgeSpec
from aiq.runs.rows import SampleRow, ScoreRow, Timing
from tests.sessions import make_session

SAMPLE = Sample(id="1", question=Question(text="?"))
METRICS = (Metric.share("j.share"), Metric.share("j.ratio", estimator="ratio"), Metric(name="j.other"))


class Given(Judge):
    """Returns the scores that a test wants; `j.other` does not apply to its samples."""

    metrics = METRICS

    def __init__(self, scores: list[Score]) -> None:
        super().__init__(NoSettings())
        self._scores = scores

    def metrics_for(self, sample: Sample) -> tuple[Metric, ...]:
        return METRICS[:2]

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        return self._scores


def planned(*scores: Score) -> JudgePlan:
    return JudgePlan(Given(list(scores)), JudgeSpec(name="j", version="1", hash="h", metrics=METRICS), None)


def row(**changes: Any) -> SampleRow:
    timing = Timing(started="2026-11-01T09:00:00+00:00", seconds=1.0)
    values = {"sample_id": "1", "sample_hash": "h", "epoch": 1, "attempt": 1, "question": "?", "report": "It is."}
    return SampleRow.model_validate({**values, "status": "completed", "timing": timing, **changes})


async def rows_of(*scores: Score) -> list[ScoreRow]:
    rows: list[ScoreRow] = []
    await score_report(planned(*scores), SAMPLE, row(), make_session(), rows.extend)
    return rows


async def test_a_score_is_a_row_with_its_numbers_its_reason_or_its_error() -> None:
    share, ratio, other = await rows_of(
        Score(metric="j.share", value=0.5, detail={"why": "half"}), Score(metric="j.ratio", error="no page answered")
    )
    assert (share.status, share.value, share.detail) == ("scored", 0.5, {"why": "half"})
    assert (ratio.status, ratio.error and ratio.error.message) == ("error", "no page answered")
    assert (other.status, other.reason) == ("not_applicable", "not a metric of this sample")


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([Score(metric="j.mine", value=1)], "undeclared or repeated scores: ['j.mine']"),
        ([Score(metric="j.share", value=1)] * 2, "undeclared or repeated scores: ['j.share']"),
        ([Score(metric="j.ratio", value=1)], "declared j.ratio as a ratio but did not score it as one"),
        ([Score(metric="j.share", numerator=1, denominator=2)], "j.share as a mean but did not score it as one"),
        ([Score(metric="j.share", value=1, detail={"noise": 3})], "the detail 'noise' of j.share is invalid"),
        ([Score(metric="j.share", value=1.5)], "gave j.share=1.5, outside the bounds it declared"),
    ],
)
async def test_an_undeclared_score_is_an_error_of_the_judge(scores: list[Score], message: str) -> None:
    rows = await rows_of(*scores)
    assert [score_row.status for score_row in rows] == ["error"] * 3
    assert all(score_row.error is not None and message in score_row.error.message for score_row in rows)


def test_a_failed_attempt_gets_the_worst_value_of_each_metric_of_its_sample() -> None:
    share, ratio, other = score_failure(planned(), SAMPLE, row(status="failed", report=None))
    assert (share.status, share.value, share.reason) == ("agent_failed", 0, "the attempt ended as failed")
    assert (ratio.status, ratio.numerator, ratio.denominator) == ("agent_failed", 0, 1)
    assert (other.status, other.reason) == ("not_applicable", "not a metric of this sample")
