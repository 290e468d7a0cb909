"""Tests of paired differences: exactly known p-values, and the rate of false alarms."""

import math
import random
from collections.abc import Callable

import pytest
import scipy

from aiq.stats.estimates import pass_at_k
from aiq.stats.significance import holm_corrected, paired_p


def known(p: float | None) -> float:
    assert p is not None
    return p


def test_changes_of_one_size_give_mcnemars_exact_test() -> None:
    for rises, falls in ((1, 5), (9, 2), (30, 12)):
        changes = [1.0] * rises + [-1.0] * falls + [0.0] * 20
        assert known(paired_p(changes)) == pytest.approx(scipy.stats.binomtest(rises, rises + falls).pvalue)


@pytest.mark.parametrize(("n", "near"), [(12, 1e-9), (60, 0.01), (800, 0.01)])
def test_the_other_tests_agree_with_scipys_permutations(n: int, near: float) -> None:
    draw = random.Random(n)
    changes = [draw.gauss(0.4 / math.sqrt(n), 0.3) for _ in range(n)]
    sums = scipy.stats.permutation_test(
        ([*changes], [0.0] * n), lambda a, b, axis: (a - b).sum(axis=axis), permutation_type="samples", rng=n
    )
    assert known(paired_p(changes)) == pytest.approx(sums.pvalue, abs=near)
    assert paired_p(changes) == paired_p(changes)


def test_changes_that_could_never_be_significant_are_not_tested() -> None:
    assert paired_p([]) is paired_p([0.0] * 50) is paired_p([1e-15, -1e-16] * 9) is paired_p([0.3] * 5) is None
    assert known(paired_p([0.3] * 6)) == 2 / 2**6


def shares(draw: random.Random, n: int, gain: float) -> list[float]:
    """Two runs of right and wrong answers on the same questions."""
    changes = []
    for _ in range(n):
        hard = draw.random()
        other = hard if draw.random() < 0.5 else draw.random()
        changes.append(float(other < 0.6 + gain) - float(hard < 0.6))
    return changes


def scores(draw: random.Random, n: int, gain: float) -> list[float]:
    return [gain + draw.gauss(0, 0.3) for _ in range(n)]


@pytest.mark.parametrize(("kind", "n", "least"), [(shares, 60, 0.01), (scores, 12, 0.03), (scores, 40, 0.03)])
def test_one_false_alarm_in_twenty(
    kind: Callable[[random.Random, int, float], list[float]], n: int, least: float
) -> None:
    draw = random.Random(3)
    alarms = [p is not None and p < 0.05 for p in (paired_p(kind(draw, n, 0.0)) for _ in range(500))]
    assert least <= sum(alarms) / 500 <= 0.06


def test_one_family_in_twenty_has_a_false_alarm() -> None:
    draw = random.Random(4)
    families = [{name: paired_p(scores(draw, 12, 0.0)) for name in range(8)} for _ in range(500)]
    alarms = [any(p is not None and p < 0.05 for p in holm_corrected(family).values()) for family in families]
    assert 0.03 <= sum(alarms) / 500 <= 0.06


def test_holm_by_hand() -> None:
    family = {"a": 0.01, "b": None, "c": 0.04, "d": 0.03, "e": 0.5}
    assert holm_corrected(family) == {"a": 0.04, "b": None, "c": 0.09, "d": 0.09, "e": 0.5}
    assert holm_corrected({}) == {}


def test_passes_count_the_epochs_drawn() -> None:
    assert pass_at_k([1.0, 0.0, 0.0], 3) == (1.0, 0.0)
    assert pass_at_k([1.0, 1.0, 0.0], 2) == pytest.approx((1.0, 1 / 3))
    assert pass_at_k([1.0, 0.0, 0.0, 0.0], 2) == (0.5, 0.0)
