"""Agreement figures against values worked out by hand or published, and what must not change them."""

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.stats.agreement import accuracy, alpha_interval, alpha_nominal, bootstrap95, kappa, kendall, spearman

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
HOURS = [7, 27, 2, 50, 28, 29, 20, 12, 6, 17]  # of television: the squared rank differences sum to 194
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


def test_chance_is_near_nought() -> None:
    random = Random(1)
    assert alpha_interval([[random.random() for _ in range(3)] for _ in range(2000)]) == pytest.approx(0, abs=0.05)
    assert alpha_nominal([[random.randrange(3) for _ in range(3)] for _ in range(2000)]) == pytest.approx(0, abs=0.05)


@given(RATINGS)
def test_what_does_not_count_for_alpha(units: list[list[int]]) -> None:
    nominal, interval = alpha_nominal(units), alpha_interval([[float(v) for v in unit] for unit in units])
    assert alpha_nominal([[f"label {v}" for v in unit[::-1]] for unit in units[::-1]]) == pytest.approx(nominal)
    assert alpha_interval([[3.0 * v - 7 for v in unit] for unit in units]) == pytest.approx(interval)
    assert alpha_nominal([*units, [9]]) == pytest.approx(nominal)
    for found in (nominal, interval):
        assert found is None or found <= 1 + 1e-12


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=2, max_size=20))
@pytest.mark.parametrize("measure", [spearman, kendall])
def test_series_correlate_where_both_vary(measure: Any, pairs: list[tuple[int, int]]) -> None:
    found = measure(pairs)
    assert (found is None) == any(len(set(side)) < 2 for side in zip(*pairs, strict=True))
    if found is not None:
        assert measure([(-a, b) for a, b in pairs]) == pytest.approx(-found)
        assert measure([(a, a) for a, _ in pairs]) == pytest.approx(1)


def test_the_bootstrap_resamples_clusters_and_repeats() -> None:
    clusters = [[("a", "a")] * 4, [("a", "b")] * 4] * 2
    interval = bootstrap95(clusters, accuracy, draws=200)
    assert interval == bootstrap95(clusters, accuracy, draws=200)
    assert interval is not None
    assert interval[0] < 0.5 < interval[1]
    assert bootstrap95(clusters[:1], accuracy) is None
    alike, other = [("a", "a")], [("b", "a"), ("b", "b")]
    assert bootstrap95([alike, other, other, other], kappa, draws=200) is not None  # drawn alone, `alike` has no kappa
    assert bootstrap95([alike] * 4, kappa, draws=200) is None
