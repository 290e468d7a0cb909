"""Intervals near bounds and for few samples: against the published methods, by symmetry, by simulation."""

import math
import random
from collections.abc import Callable
from statistics import fmean

import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from aiq.stats.intervals import Interval, Method, difference_interval, mean_interval, spread
from benchmarks.intervals import at_every_p

shares = st.lists(st.floats(0, 1, allow_nan=False), min_size=2, max_size=30)


def of(values: list[float], low: float | None = None, high: float | None = None) -> Interval:
    mean = fmean(values)
    interval = mean_interval(mean, [value - mean for value in values], low, high)
    assert interval is not None
    return interval


def between(first: list[float], second: list[float], span: float | None = 1.0) -> Interval:
    changes = [b - a for a, b in zip(first, second, strict=True)]
    mean = fmean(changes)
    interval = difference_interval(mean, [change - mean for change in changes], changes, span)
    assert interval is not None
    return interval


@pytest.mark.parametrize(("right", "n"), [(0, 8), (8, 8), (0, 100)])
def test_equal_answers_have_wilsons_interval(right: int, n: int) -> None:
    expected = scipy.stats.binomtest(right, n).proportion_ci(method="wilson")
    assert of([1.0] * right + [0.0] * (n - right), 0, 1) == pytest.approx((expected.low, expected.high), abs=1e-9)


@pytest.mark.parametrize(("right", "n"), [(1, 8), (19, 20), (50, 101)])
def test_shares_have_wilsons_interval_for_n_minus_1(right: int, n: int) -> None:
    """The variance is divided by n - 1, so n_eff = p (1 - p) / se^2 = n - 1; a sixth of the quantile is Student's."""
    share, q = right / n, scipy.stats.norm.ppf(0.975) * 5 / 6 + scipy.stats.t.ppf(0.975, n - 1) / 6
    center, half = share + q**2 / (2 * (n - 1)), q * (share * (1 - share) / (n - 1) + q**2 / (4 * (n - 1) ** 2)) ** 0.5
    expected = [(center + sign * half) / (1 + q**2 / (n - 1)) for sign in (-1, 1)]
    assert of([1.0] * right + [0.0] * (n - right), 0, 1) == pytest.approx(expected, abs=1e-9)


def test_scores_that_hardly_vary_have_students_interval() -> None:
    values = [0.5 + 0.001 * number for number in range(-6, 7)]
    low, high = scipy.stats.ttest_1samp(values, 0).confidence_interval()
    assert of(values, 0, 1) == pytest.approx((low, high), rel=1e-3)
    assert of(values) == pytest.approx((low, high), rel=1e-12)


@pytest.mark.parametrize(("right", "n"), [(0, 8), (1, 8), (19, 20), (50, 101)])
def test_exact_intervals_of_shares_are_clopper_pearson(right: int, n: int) -> None:
    exact = scipy.stats.binomtest(right, n).proportion_ci(method="exact")
    deviations = [1 - right / n] * right + [-right / n] * (n - right)
    assert mean_interval(right / n, deviations, 0, 1, "exact") == pytest.approx((exact.low, exact.high), abs=1e-9)
    lowest, highest = difference_interval(right / n, deviations, [1.0] * right + [0.0] * (n - right), 1, "exact") or (
        0,
        0,
    )
    assert lowest < exact.low < exact.high < highest  # it covers rises and falls together


@pytest.mark.parametrize(("method", "least"), [("score", 0.90), ("exact", 0.95)])
def test_no_share_is_covered_less_often_than_promised(method: Method, least: float) -> None:
    for n in (12, 18, 25, 27, 60):
        mean, lowest, where = at_every_p(n, method)
        assert lowest >= least, (n, where)
        assert mean <= 0.97 or method == "exact"


def test_a_variance_dominated_by_few_clusters_has_few_degrees_of_freedom() -> None:
    assert spread([-1.0, 1.0] * 6).freedom == spread([-1.5, -0.5, 0.5, 1.5] * 3).freedom == 11
    assert spread([-1.0] * 11 + [11.0]).freedom < 3


def test_a_paired_difference_has_tangos_interval() -> None:
    """At its ends the score statistic equals the quantile, at the most likely discordant share."""
    worse, better, equal = 5, 2, 33
    n = worse + better + equal
    low, high = between([1.0] * worse + [0.0] * (better + equal), [0.0] * worse + [1.0] * better + [0.0] * equal)
    for end, sign in ((low, 1), (high, -1)):

        def unlikely(fall: float, end: float = end) -> float:
            rise = fall + end
            if min(fall, rise, 1 - fall - rise) <= 0:
                return math.inf
            return -(better * math.log(rise) + worse * math.log(fall) + equal * math.log(1 - rise - fall))

        fall = scipy.optimize.minimize_scalar(unlikely, bounds=(max(0, -end), (1 - end) / 2), method="bounded").x
        variance = (2 * fall + end - end**2) / (n - 1)
        assert ((better - worse) / n - end) / variance**0.5 == pytest.approx(
            sign * scipy.stats.norm.ppf(0.975), abs=0.01
        )


@given(shares)
def test_an_interval_contains_its_mean_stays_in_bounds_and_mirrors(values: list[float]) -> None:
    low, high = of(values, 0, 1)
    assert 0 <= low <= fmean(values) + 1e-9
    assert fmean(values) - 1e-9 <= high <= 1
    assert of([1 - value for value in values], 0, 1) == pytest.approx((1 - high, 1 - low), abs=1e-7)
    assert of([5 * value - 2 for value in values], -2, 3) == pytest.approx((5 * low - 2, 5 * high - 2), abs=1e-6)


@settings(max_examples=40)
@given(shares, st.randoms(use_true_random=False))
def test_a_difference_interval_contains_its_mean_and_stays_in_range(values: list[float], draw: random.Random) -> None:
    others = [draw.random() for _ in values]
    low, high = between(values, others)
    mean = fmean(b - a for a, b in zip(values, others, strict=True))
    assert -1 <= low <= mean + 1e-6
    assert mean - 1e-6 <= high <= 1
    assert between(others, values) == pytest.approx((-high, -low), abs=1e-6)


def test_too_little_data_gives_no_interval() -> None:
    assert mean_interval(0.5, [0.0], 0, 1) is None
    assert mean_interval(0.5, [0.0] * 9) is mean_interval(0.5, [0.0] * 9, 0) is None
    assert difference_interval(0.5, [0.0] * 9, [0.5] * 9, None) is None


CASES: dict[str, tuple[Callable[[random.Random], float], float, float | None, float]] = {
    "a share of 0.9": (lambda draw: float(draw.random() < 0.9), 0.9, 1.0, 0.90),
    "a share of 0.02": (lambda draw: float(draw.random() < 0.02), 0.02, 1.0, 0.90),
    "three epochs": (lambda draw: sum(draw.random() < 0.95 for _ in range(3)) / 3, 0.95, 1.0, 0.93),
    "many zeros": (lambda draw: draw.betavariate(4, 4) * (draw.random() < 0.1), 0.05, 1.0, 0.93),
    "skewed counts": (lambda draw: float(round(draw.lognormvariate(1, 0.5))), 3.08, None, 0.91),
}


@pytest.mark.parametrize("case", CASES)
def test_intervals_cover_the_truth_where_students_does_not(case: str) -> None:
    """With twelve samples, where Student's interval covers 0.72, 0.21, 0.50, 0.56 and 0.92."""
    draw_one, truth, high, least = CASES[case]
    draw, covered = random.Random(case), 0
    for _ in range(600):
        lowest, highest = of([draw_one(draw) for _ in range(12)], 0, high)
        covered += lowest <= truth <= highest
    assert least <= covered / 600
