"""The parts of a summary without estimators: the state's rules, and the numbers that follow from them."""

from typing import Any

import pytest

from aiq.core.reports import CAVEAT, Caveat, Metric
from aiq.core.run_settings import FailureSettings
from aiq.core.samples import SampleKey
from aiq.runs.manifest import JudgeSpec, RunSpec
from aiq.runs.rows import SampleRow, ScoreRow, Timing
from aiq.runs.state import RunState
from aiq.runs.summary import JudgeErrors, _Figures, _timing, causes
from tests.settings import configured

FAILED: Any = {"status": "error", "value": None, "error": {"type": "JudgeError", "message": "no"}}


def state_of(attempts: int = 1, **runner: object) -> RunState:
    """A state with this many completed attempts and one judge, without any scores."""
    judge = JudgeSpec(name="j", version="1", hash="new", metrics=(Metric(name="j.x"), Metric(name="j.y")))
    keys = tuple(SampleKey(f"s{number}", 1) for number in range(attempts))
    state = RunState(RunSpec(keys, (judge,), configured(FailureSettings, **runner)))
    for key in keys:
        state.add_attempt(row(key))
    return state


def row(key: SampleKey, **changes: object) -> SampleRow:
    values = {"sample_id": key.sample_id, "sample_hash": "h", "epoch": key.epoch, "attempt": 1, "question": "?"}
    timing = Timing(started="2026-11-01T09:00:00+00:00", seconds=1.0)
    return SampleRow.model_validate({**values, "status": "completed", "timing": timing, **changes})


def score(key: SampleKey, metric: str = "j.x", **changes: object) -> ScoreRow:
    judge = {"judge": "j", "judge_hash": "new", "judge_version": "1", "judge_model": None, "prompt_hash": None}
    values = {"sample_id": key.sample_id, "epoch": 1, "attempt": 1, "metric": metric, "status": "scored", "value": 1.0}
    return ScoreRow.model_validate({**judge, **values, **changes})


@pytest.mark.parametrize(("n", "rank"), [(1, 1), (2, 2), (19, 19), (20, 19), (21, 20), (60, 57), (100, 95)])
def test_the_95th_percentile_is_the_nearest_rank(n: int, rank: int) -> None:
    assert _timing([float(value) for value in range(1, n + 1)], 0).attempt_p95 == rank


def test_failures_with_the_same_cause_are_counted_under_the_first_message() -> None:
    messages = [f"HTTP 429: try again in {wait}, request req_{wait}" for wait in ("3.2s", "20ms", "1.0s")]
    messages[1:1] = ["HTTP 500: try again in 1s, request req_2", "no usable answer", "HTTP 500: try again"]
    assert causes(messages) == {messages[0]: 3, messages[1]: 1, "no usable answer": 1, "HTTP 500: try again": 1}
    answers = [
        f"no verdict; the last answer began {answer!r}" for answer in ("The tunnel is open.", "It's open, isn't it?")
    ]
    assert causes([*answers, "no tool 'search'", "no tool 'think'"]) == {
        answers[0]: 2,
        "no tool 'search'": 1,
        "no tool 'think'": 1,
    }
    assert JudgeErrors.model_validate({"n": 2, "first": "no"}) == JudgeErrors(n=2, causes={"no": 2})  # older summaries


def test_a_key_is_done_when_the_current_judge_has_scored_its_last_attempt() -> None:
    state = state_of()
    (key,) = state.spec.keys
    assert state.remaining() == [key]
    state.add_scores([score(key), score(key, "j.y")])
    assert state.remaining() == []
    state.add_scores([score(key, judge_hash="old")])
    assert state.remaining() == [key]
    state.add_scores([score(key), score(key, "unknown.metric", judge_hash="other")])
    state.add_attempt(row(key, attempt=2))
    assert (state.remaining(), state.by_sample("j.x")) == ([key], {})
    state.add_scores([score(key, attempt=2, **FAILED), score(key, "j.y", attempt=2)])
    assert (state.remaining(), state.judge_errors()) == ([key], {"j": ["no"]})  # an error is tried again


@pytest.mark.parametrize(
    ("status", "retry_failed", "attempted"),
    [
        ("completed", True, True),
        ("failed", False, True),
        ("failed", True, False),
        ("limit", True, False),
        ("cancelled", False, False),
    ],
)
def test_what_is_worth_another_attempt(status: str, retry_failed: bool, attempted: bool) -> None:
    state = state_of(0, retry_failed=retry_failed)
    key = SampleKey("a", 1)
    state.add_attempt(row(key, status=status))
    assert state.attempted(key) is attempted


def test_the_exit_code_counts_failed_attempts_and_each_judges_failures_separately() -> None:
    state = state_of(4, max_error_rate=0.25)
    first, second, *_ = state.spec.keys
    assert [state.exit_code(status) for status in ("finished", "failed", "interrupted")] == [0, 2, 130]
    state.add_attempt(row(first, status="failed"))
    state.add_scores([score(second, **FAILED)])
    assert state.exit_code("finished") == 0
    state.add_scores([score(state.spec.keys[2], **FAILED)])
    assert state.exit_code("finished") == 3


@pytest.mark.parametrize(("retry", "rate", "code"), [(True, 0.25, 0), (True, 0.1, 3), (False, 0.1, 0)])
def test_caveats_of_scores_are_summed_up_and_may_count_as_a_failure(retry: bool, rate: float, code: int) -> None:
    state = state_of(2, max_error_rate=rate)
    for key, reasons in zip(state.spec.keys, ({}, {"http": 2, "timeout": 1}), strict=True):
        caveat = Caveat(what="pages were not read", of=8, reasons=reasons, first="no" if reasons else "", retry=retry)
        state.add_scores([score(key, detail={CAVEAT: caveat.model_dump(mode="json")}), score(key, "j.y")])
    text = "3 of 16 pages were not read: 2 http, 1 timeout; the first: no"
    assert {name: str(caveat) for name, caveat in state.caveats().items()} == {"j": text}
    assert state.remaining() == list(state.spec.keys[1:] if retry else ())
    assert state.exit_code("finished") == code
    assert state.excess_failures() == (["judge j: 3 of 16 pages were not read"] if code else [])


@pytest.mark.parametrize("rule", ["worst", "exclude"])
def test_unjudged_attempts_are_counted_and_bound_the_mean(rule: str) -> None:
    """Six attempts: scored 1 and 0.5, failed, not applicable, one that the judge failed on, one that it never saw."""
    judge = JudgeSpec(name="j", version="1", hash="new", metrics=(Metric.share("j.x"),))
    keys = tuple(SampleKey(f"s{number}", 1) for number in range(6))
    state = RunState(RunSpec(keys, (judge,), configured(FailureSettings, agent_failures=rule)))
    for key in keys:
        state.add_attempt(row(key))
    changes: list[Any] = [{}, {"value": 0.5}, {"status": "agent_failed", "value": 0.0}]
    changes += [{"status": "not_applicable", "value": None, "reason": "none"}, FAILED]
    state.add_scores([score(key, **change) for key, change in zip(keys, changes, strict=False)])
    left_out = _Figures(state).left_out("j.x", rule)  # type: ignore[arg-type]
    assert left_out is not None
    assert (left_out.failed, left_out.unjudged, left_out.not_applicable) == (1, 2, 1)
    assert left_out.bounds == pytest.approx((0.3, 0.7) if rule == "worst" else (0.375, 0.875))
