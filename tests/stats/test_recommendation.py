"""The Pareto front, and the cheapest point within one standard error of the best."""

import numpy as np
import pytest

from aiq.stats.recommendation import one_standard_error, pareto_front
from tests.cases import table

each = table(__file__)


@each("merits")
def test_the_front_holds_every_undominated_point(merits: list[float], spends: list[float], front: list[int]) -> None:
    assert pareto_front(merits, spends) == front


def samples(n: int = 200) -> np.ndarray:
    """Right and wrong answers at four points; of every 100, the third point loses 2 of the best one's and gains 1."""
    hard = np.arange(n) % 100
    return np.column_stack([hard < 20, hard < 60, (hard < 88) | (hard == 95), hard < 90]).astype(float)


def test_the_cheapest_point_within_one_standard_error_is_chosen() -> None:
    scores = samples()
    spends = np.ones_like(scores) * [1, 2, 3, 9]
    found = one_standard_error(scores, np.ones_like(scores), spends)
    assert (found.place, found.best) == (2, 3)
    error = (scores[:, 3] - scores[:, 2]).std(ddof=1) / np.sqrt(len(scores))
    assert found.threshold == pytest.approx(0.9 - error)
    assert set(found.shares) == {2, 3}
    assert found.shares[2] > 0.4
    assert sum(found.shares.values()) == pytest.approx(1)
    assert one_standard_error(1 - scores, np.ones_like(scores), spends, higher_is_better=False).place == 2


def test_a_certain_difference_is_worth_its_cost() -> None:
    scores = samples()
    found = one_standard_error(scores[:, :2], np.ones((200, 2)), np.ones((200, 2)) * [1, 50])
    assert (found.place, found.best, found.shares) == (1, 1, {1: 1.0})


def test_the_better_of_equally_cheap_points_is_chosen() -> None:
    scores = samples()
    assert one_standard_error(scores, np.ones_like(scores), np.ones_like(scores)).place == 3


def test_a_ratio_is_weighted_by_its_denominators() -> None:
    over, under = np.array([[1.0, 9], [1, 1]] * 50), np.array([[1.0, 9], [10, 10]] * 50)
    found = one_standard_error(over, under, np.ones_like(over) * [1, 2])
    assert found.best == 1  # 10 of 19 against 2 of 11
