"""Agreement statistics: against values worked out by hand or published, and invariances."""

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiq.stats.agreement import accuracy, alpha_interval, alpha_nominal, jackknife95, kappa, kendall, spearman
from aiq.stats.intervals import mean_interval

PAIRS = [("a", "a")] * 20 + [("a", "b")] * 5 + [("b", "a")] * 10 + [("b", "b")] * 15

# Krippendorff 2011, example C: four observers, twelve units, None where an observer is silent.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
UNITS = [[value for value in unit if value is not None] for unit in zip(*OBSERVERS, strict=True)]
RATINGS = st.lists(st.lists(st.integers(0, 4), max_size=4), max_size=12)

IQ = [106, 100, 86, 101, 99, 103, 97, 113, 112, 110]
HOURS = [7, 27, 2, 50, 28, 29, 20, 12, 6, 17]  # of television a week; the squared rank differences sum to 194
TIED = [(1, 1), (2, 3), (2, 2), (3, 3)]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (accuracy(PAIRS), 0.7),
        (accuracy([]), None),
        (kappa(PAIRS), 0.4),
        (kappa([("a", "a")]), None),
        (kappa([]), None),
        (alpha_nominal(UNITS), 0.743),
        (alpha_interval(UNITS), 0.849),
        # ten values, four pairs agree: D_o = 2 / 10, D_e = (10 * 10 - 6^2 - 4^2) / (10 * 9)
        (alpha_nominal(["aa", "aa", "bb", "ab", "ab"]), 1 - (4 / 10) / (48 / 90)),
        (alpha_nominal([["a", "a"], ["b", "b", "b"]]), 1),
        (alpha_interval([[0.1, 0.1], [0.7, 0.7]]), 1),
        (alpha_nominal([["a", "a"], ["a", "a"]]), None),
        (alpha_interval([[1.0], [2.0]]), None),
        (alpha_interval([]), None),
        (spearman(list(zip(IQ, HOURS, strict=True))), 1 - 6 * 194 / (10 * 99)),
        # ranks 1, 2.5, 2.5, 4 and 1, 3.5, 2, 3.5; four pairs agree, one is tied in x, one in y
        (spearman(TIED), 3.75 / 4.5),
        (kendall(TIED), 4 / 5),
        (spearman([(1, 1), (1, 2), (1, 3)]), None),
        (kendall([(1, 2), (2, 2), (3, 2)]), None),
        (spearman([]), None),
    ],
)
def test_figures_by_hand(found: float | None, expected: float | None) -> None:
    assert found == (None if expected is None else pytest.approx(expected, abs=5e-4))


def test_chance_agreement_is_near_zero() -> None:
    random = Random(1)
    assert alpha_interval([[random.random() for _ in range(3)] for _ in range(2000)]) == pytest.approx(0, abs=0.05)
    assert alpha_nominal([[random.randrange(3) for _ in range(3)] for _ in range(2000)]) == pytest.approx(0, abs=0.05)


@given(RATINGS)
def test_alpha_ignores_order_labels_scale_and_single_ratings(units: list[list[int]]) -> None:
    nominal, interval = alpha_nominal(units), alpha_interval([[float(v) for v in unit] for unit in units])
    assert alpha_nominal([[f"label {v}" for v in unit[::-1]] for unit in units[::-1]]) == pytest.approx(nominal)
    assert alpha_interval([[3.0 * v - 7 for v in unit] for unit in units]) == pytest.approx(interval)
    assert alpha_nominal([*units, [9]]) == pytest.approx(nominal)
    for alpha in (nominal, interval):
        assert alpha is None or alpha <= 1 + 1e-12


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=2, max_size=20))
@pytest.mark.parametrize("measure", [spearman, kendall])
def test_series_correlate_where_both_vary(measure: Any, pairs: list[tuple[int, int]]) -> None:
    correlation = measure(pairs)
    assert (correlation is None) == any(len(set(side)) < 2 for side in zip(*pairs, strict=True))
    if correlation is not None:
        assert measure([(-a, b) for a, b in pairs]) == pytest.approx(-correlation)
        assert measure([(a, a) for a, _ in pairs]) == pytest.approx(1)


def test_an_interval_over_clusters_by_hand_and_at_the_edges() -> None:
    clusters = [[("a", "a")] * 4, [("a", "b")] * 4] * 2
    # four clusters, each 0 or 1: leaving one out gives 1/3 or 2/3, hence se = sqrt(3/4 * 4/36), n_eff = 3
    assert jackknife95(clusters, accuracy, 0, 1) == pytest.approx(mean_interval(0.5, [0.5, -0.5] * 2, 0, 1))
    assert jackknife95(clusters[:1], accuracy, 0, 1) is None
    alike, other = [("a", "a")], [("b", "a"), ("b", "b")]
    assert jackknife95([alike, other], kappa) is None  # `alike` alone has no kappa
    assert jackknife95([alike] * 4, kappa) is None
    lowest, highest = jackknife95([[*alike, ("b", "b")]] * 12, kappa, -1, 1) or (0, 0)
    assert 0.4 < lowest < 0.6 < highest == 1  # twelve clusters in full agreement do not prove it


@pytest.mark.parametrize("shared", [0.0, 1.0])
def test_intervals_cover_the_truth_with_few_clusters(shared: float) -> None:
    """For a true kappa of 0.5 and six pairs per cluster, without and with an effect that a cluster's pairs share."""
    rng, covered = Random(3), 0
    for _ in range(400):
        clusters = []
        for _ in range(12):
            base = rng.gauss(0, shared)
            firsts = [base + rng.gauss(0, 1) > 0 for _ in range(6)]
            clusters.append([(label, label if rng.random() < 0.75 else not label) for label in firsts])
        lowest, highest = jackknife95(clusters, kappa, -1, 1) or (1, -1)
        covered += lowest <= 0.5 <= highest
    assert 0.92 <= covered / 400 <= 0.98
