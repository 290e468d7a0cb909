"""Search strategies: which points are drawn, what Optuna suggests, which points are stopped."""

import sys
from collections.abc import Callable

import pytest

from aiq.core.errors import ConfigError
from aiq.core.reports import Metric
from aiq.core.run_settings import FailureSettings
from aiq.core.samples import SampleKey
from aiq.core.usage import Usage
from aiq.experiment.search import Halving, TriedPoint, check_optuna, random_points, suggest_point
from aiq.runs.manifest import JudgeSpec, RunSpec
from aiq.runs.rows import SampleRow, ScoreRow, Timing
from aiq.runs.state import RunState
from tests.settings import configured

METRIC = Metric.share("right")
IDS = [f"s{number}" for number in range(120)]


def state(right: Callable[[int], bool], tokens: int = 10) -> RunState:
    """A run over IDS, in which a function of its number says whether a sample is right."""
    keys = tuple(SampleKey(name, 1) for name in IDS)
    judge = JudgeSpec(name="j", version="1", hash="h", metrics=(METRIC,))
    run_state = RunState(RunSpec(keys, (judge,), configured(FailureSettings)))
    attempt = {"epoch": 1, "attempt": 1}
    for number, name in enumerate(IDS):
        timing, usage = Timing(started="", seconds=1), {"a": Usage(calls=1, input_tokens=tokens)}
        key = {"sample_id": name, **attempt}
        run_state.add_attempt(
            SampleRow(**key, sample_hash="", status="completed", question="", timing=timing, usage=usage)
        )
        judge_fields = {"judge": "j", "judge_hash": "h", "judge_version": "1", "judge_model": None, "prompt_hash": None}
        score = ScoreRow(**key, **judge_fields, metric="right", status="scored", value=float(right(number)))
        run_state.add_scores([score])
    return run_state


def test_points_are_drawn_from_the_grid_without_repetition() -> None:
    points = random_points([3, 4, 1000000], 50, seed=1)
    assert len(set(points)) == 50
    assert points == sorted(points) == random_points([3, 4, 1000000], 50, seed=1)
    assert points != random_points([3, 4, 1000000], 50, seed=2)
    assert random_points([2, 2], 9, seed=1) == [(0, 0), (0, 1), (1, 0), (1, 1)]


AXES = (("1", "2", "3", "5"), ("2", "3", "4"), ("a", "b"))


def numbers(places: tuple[int, ...]) -> tuple[float, float]:
    return 0.2 * places[0] + 0.1 * (places[1] == 1) + 0.3 * places[2], 1.0 + places[0]


def test_optuna_continues_from_the_points_tried() -> None:
    pytest.importorskip("optuna", reason="the extra `optuna` is not installed")
    tried = [TriedPoint(places, numbers(places)) for places in random_points([4, 3, 2], 5, seed=0)]
    tried[0] = TriedPoint(tried[0].places, None)  # a failure
    for _ in range(19):
        places = suggest_point(AXES, tried, 0, higher_is_better=True)
        assert places is not None
        tried.append(TriedPoint(places, numbers(places)))
    assert suggest_point(AXES, tried, 0, higher_is_better=True) is None
    assert len({point.places for point in tried}) == 24
    assert (3, 1, 1) in {point.places for point in tried[:15]}  # the best
    assert suggest_point(AXES, tried[:9], 0, higher_is_better=True) == tried[9].places


def test_without_optuna_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ConfigError, match=r"pip install 'aiq-bench\[optuna\]'"):
        check_optuna()


def test_rungs_double_and_skip_those_in_which_no_point_can_lose() -> None:
    halving = Halving(IDS, points=4, rungs=4, error=0.05, seed=0)
    assert [len(rung) for rung in halving.rungs] == [15, 30, 60, 120]
    assert all(small < large for small, large in zip(halving.rungs, halving.rungs[1:], strict=False))
    assert halving.level == pytest.approx(0.05 / 3 / 3)
    small_halving = Halving(IDS[:40], points=12, rungs=4, error=0.05, seed=0)  # 5 samples are never below 0.05 / 11 / 3
    assert [len(rung) for rung in small_halving.rungs] == [10, 20, 40]
    assert Halving(IDS, points=4, rungs=4, error=0.05, seed=1).rungs[0] != halving.rungs[0]


def test_a_point_that_cannot_win_is_stopped() -> None:
    best, far = state(lambda n: n % 10 > 0), state(lambda n: n % 2 > 0)
    near = state(lambda n: n % 10 != 1 and n != 5)
    halving = Halving(IDS, points=3, rungs=3, error=0.05, seed=0)
    eliminations = halving.eliminated(1, METRIC, {0: far, 1: near, 2: best})
    assert list(eliminations) == [0]
    assert eliminations[0].leader == 2
    assert eliminations[0].p <= halving.level
    assert "from point 2 after 60 samples" in str(eliminations[0])
    lower = METRIC.model_copy(update={"higher_is_better": False})
    assert list(halving.eliminated(1, lower, {0: far, 1: near, 2: best})) == [1, 2]
    assert halving.eliminated(2, METRIC, {0: far, 2: best}) == {}  # the last rung has all samples: nothing to save


def test_points_with_the_same_results_continue_as_one() -> None:
    cheap, costlier = state(lambda n: n > 9), state(lambda n: n > 9, tokens=11)
    halving = Halving(IDS, points=4, rungs=4, error=0.05, seed=0)
    states = {0: cheap, 1: costlier, 2: state(lambda n: n > 9), 3: state(lambda n: n > 30)}
    assert halving.duplicates(1, states) == {2: 0}
    assert halving.duplicates(0, states) == {}  # 15 samples can hide too much
