"""Krippendorff's alpha against his own example, and what must not change it."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.stats.agreement import alpha_interval, alpha_nominal, kappa, weighted_kappa

# Krippendorff 2011, example C: four observers, twelve units, None where an observer is silent.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
UNITS = [[value for value in unit if value is not None] for unit in zip(*OBSERVERS, strict=True)]
RATINGS = st.lists(st.lists(st.integers(0, 4), max_size=4), max_size=12)


def test_the_published_example_with_missing_data() -> None:
    assert alpha_nominal(UNITS) == pytest.approx(0.743, abs=5e-4)
    assert alpha_interval(UNITS) == pytest.approx(0.849, abs=5e-4)


def test_two_observers_by_hand() -> None:
    """Ten values, four pairs agree: D_o = 2 / 10, D_e = (10 * 10 - 6^2 - 4^2) / (10 * 9)."""
    units = [["a", "a"], ["a", "a"], ["b", "b"], ["a", "b"], ["a", "b"]]
    assert alpha_nominal(units) == pytest.approx(1 - (4 / 10) / ((100 - 36 - 16) / 90))


def test_perfect_agreement_and_nothing_to_agree_on() -> None:
    assert alpha_nominal([["a", "a"], ["b", "b", "b"]]) == 1
    assert alpha_interval([[0.1, 0.1], [0.7, 0.7]]) == pytest.approx(1)
    assert alpha_nominal([["a", "a"], ["a", "a"]]) is None
    assert alpha_interval([[1.0], [2.0]]) is None
    assert alpha_interval([]) is None


def test_chance_is_near_nought() -> None:
    random = Random(1)
    assert alpha_interval([[random.random() for _ in range(3)] for _ in range(2000)]) == pytest.approx(0, abs=0.05)
    assert alpha_nominal([[random.randrange(3) for _ in range(3)] for _ in range(2000)]) == pytest.approx(0, abs=0.05)


@given(RATINGS)
def test_what_does_not_count(units: list[list[int]]) -> None:
    nominal, interval = alpha_nominal(units), alpha_interval([[float(v) for v in unit] for unit in units])
    assert alpha_nominal([[f"label {v}" for v in unit[::-1]] for unit in units[::-1]]) == pytest.approx(nominal)
    assert alpha_interval([[3.0 * v - 7 for v in unit] for unit in units]) == pytest.approx(interval)
    assert alpha_nominal([*units, [9]]) == pytest.approx(nominal)
    for found in (nominal, interval):
        assert found is None or found <= 1 + 1e-12


def test_weighted_kappa_by_hand() -> None:
    """Margins 2, 1, 1 and 1, 1, 2: the expected squared differences sum to 26."""
    pairs = [(0, 0), (1, 1), (2, 2), (0, 2)]
    assert weighted_kappa(pairs) == pytest.approx(1 - 4 * 4 / 26)
    assert weighted_kappa(pairs, power=1) == pytest.approx(1 - 2 * 4 / 16)
    assert weighted_kappa([(1, 1)]) is None


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1))
def test_two_labels_need_no_weights(pairs: list[tuple[int, int]]) -> None:
    assert weighted_kappa(pairs) == pytest.approx(kappa([(str(a), str(b)) for a, b in pairs]))
