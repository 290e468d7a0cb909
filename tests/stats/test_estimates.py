"""Estimates and paired differences: by hand, by simulation, and invariances."""

import random
import statistics
import subprocess
import sys
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiq.stats.estimates import Estimate, mean_estimate, paired_means, paired_ratios, ratio_estimate

T = TypeVar("T")
numbers = st.floats(-100, 100, allow_nan=False)
clusters = st.lists(st.lists(numbers, min_size=1, max_size=4), min_size=2, max_size=12)


def known(found: T | None) -> T:
    assert found is not None
    return found


def test_the_mean_is_over_samples_and_the_interval_is_students() -> None:
    estimate = known(mean_estimate([[1.0, 0.0], [1.0], [0.0, 0.0, 0.0]]))
    assert estimate.mean == pytest.approx(0.5)
    assert estimate.n == 3
    half = 4.302653 * statistics.stdev([0.5, 1.0, 0.0]) / 3**0.5
    assert estimate.ci95 == pytest.approx((0.5 - half, 0.5 + half), abs=1e-4)


def test_epochs_add_no_certainty_and_one_sample_has_no_interval() -> None:
    once = mean_estimate([[0.2], [0.9], [0.4]])
    assert mean_estimate([[0.2] * 10, [0.9] * 10, [0.4] * 10]) == pytest.approx(once)
    assert mean_estimate([[1.0, 0.0]]) == Estimate(mean=0.5, ci95=None, n=1, estimator="mean")
    assert mean_estimate([]) is mean_estimate([[], []]) is None
    assert ratio_estimate([]) is ratio_estimate([[(0.0, 0.0)], [(0.0, 0.0)]]) is None


@settings(max_examples=40)
@given(clusters, st.randoms(use_true_random=False))
def test_the_order_of_samples_does_not_matter(values: list[list[float]], shuffle: random.Random) -> None:
    shuffled = list(values)
    shuffle.shuffle(shuffled)
    assert mean_estimate(shuffled) == mean_estimate(values)


@settings(max_examples=40)
@given(st.lists(st.tuples(numbers, st.floats(0.5, 10)), min_size=2, max_size=20), st.floats(0.5, 4))
def test_a_ratio_with_equal_denominators_is_a_mean(pairs: list[tuple[float, float]], under: float) -> None:
    ratio = known(ratio_estimate([[(x * under, under)] for x, _ in pairs]))
    mean = known(mean_estimate([[x] for x, _ in pairs]))
    assert ratio.mean == pytest.approx(mean.mean, abs=1e-9)
    assert ratio.ci95 == (mean.ci95 and pytest.approx(mean.ci95, abs=1e-6))


def bootstrap_width(draw: random.Random, values: list[list[tuple[float, float]]]) -> float:
    """Width of the percentile bootstrap interval of sum/sum, resampling whole clusters."""
    ratios = []
    for _ in range(2000):
        pairs = [pair for cluster in draw.choices(values, k=len(values)) for pair in cluster]
        ratios.append(sum(x for x, _ in pairs) / sum(y for _, y in pairs))
    ratios.sort()
    return ratios[1949] - ratios[49]


@pytest.mark.parametrize("seed", range(2))
def test_intervals_are_as_wide_as_a_cluster_bootstrap_says(seed: int) -> None:
    rng = random.Random(seed)
    rates = [rng.random() for _ in range(60)]
    counts = [[(float(sum(rng.random() < rate for _ in range(5))), 5.0) for _ in range(3)] for rate in rates]
    expected = bootstrap_width(rng, counts)
    for estimate in (ratio_estimate(counts), mean_estimate([[x / y for x, y in cluster] for cluster in counts])):
        low, high = known(known(estimate).ci95)
        assert high - low == pytest.approx(expected, rel=0.15)


def test_a_paired_difference_leaves_out_how_hard_the_samples_are() -> None:
    rng = random.Random(1)
    difficulties = {f"s{i}": rng.random() * 10 for i in range(30)}
    first = {key: [value] for key, value in difficulties.items()}
    second = {key: [value + 0.5 + rng.gauss(0, 0.1)] for key, value in difficulties.items()}
    difference = known(paired_means(first, {**second, "only here": [99.0]}))
    assert (difference.n, known(difference.p) < 0.001) == (30, True)
    assert difference.mean == pytest.approx(0.5, abs=0.1)
    low, high = known(difference.ci95)
    assert high - low < 0.2


def test_equal_runs_do_not_differ_and_disjoint_runs_are_not_compared() -> None:
    values = {"a": [0.0, 1.0], "b": [1.0, 1.0]}
    difference = known(paired_means(values, values))
    assert (difference.mean, difference.ci95, difference.p, difference.is_zero) == (0.0, None, None, True)
    assert paired_means(values, {"c": [1.0]}) is None
    assert paired_ratios({"a": [(1.0, 2.0)]}, {"b": [(1.0, 2.0)]}) is None


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=20))
def test_paired_ratios_over_equal_denominators_are_paired_means(counts: list[tuple[int, int]]) -> None:
    first = {f"s{i}": [(float(a), 5.0)] for i, (a, _) in enumerate(counts)}
    second = {f"s{i}": [(float(b), 5.0)] for i, (_, b) in enumerate(counts)}
    ratios = known(paired_ratios(first, second))
    before, after = ({k: [v[0][0] / 5] for k, v in run.items()} for run in (first, second))
    means = known(paired_means(before, after))
    assert ratios.mean == pytest.approx(means.mean, abs=1e-9)
    assert ratios.ci95 == (means.ci95 and pytest.approx(means.ci95, abs=1e-9))


def test_the_bounds_of_a_metric_determine_its_interval() -> None:
    """Eight ones prove nothing for certain; a constant unbounded metric has no interval at all."""
    ones = [[1.0]] * 8
    low, high = known(known(mean_estimate(ones, 0.0, 1.0)).ci95)
    assert (round(low, 3), high) == (0.676, 1.0)
    low, high = known(known(mean_estimate(ones, 0.0)).ci95)
    assert 0 < low < 1 < high
    assert known(mean_estimate(ones)).ci95 is None
    run = {f"s{i}": [1.0] for i in range(8)}
    assert known(paired_means(run, run, 1.0)).ci95 == pytest.approx((-0.3244, 0.3244), abs=1e-4)


def test_importing_estimates_does_not_import_scipy() -> None:
    """Importing scipy takes most of a second, too long for the start of a run."""
    code = "import aiq.stats.agreement, aiq.stats.estimates, aiq.stats.noise, sys; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_ratio_is_tested_by_the_samples_that_changed() -> None:
    """If only 2 of 20 samples of unequal size changed, there is no test; swapping the runs does not change p."""
    first = {str(number): [(float(number // 2), float(number + 1))] for number in range(20)}
    few = first | {"3": [(4.0, 4.0)], "9": [(10.0, 10.0)]}
    assert known(paired_ratios(first, few)).p is None
    many = {sample: [(min(x + 2, y), y + 1)] for sample, ((x, y),) in first.items()}
    assert known(paired_ratios(first, many)).p == known(paired_ratios(many, first)).p
