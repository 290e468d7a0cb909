"""The computed power of paired tests matches the tests in simulation."""

import random
from collections.abc import Callable

import pytest

from aiq.stats.power import POWER, detectable_effect, power, samples_needed
from aiq.stats.significance import paired_p

Change = Callable[[random.Random], float]


def score(mean: float, spread: float) -> Change:
    return lambda draw: draw.gauss(mean, spread)


def share(rises: float, falls: float) -> Change:
    def change(draw: random.Random) -> float:
        place = draw.random()
        return float(place < rises) - float(rises <= place < rises + falls)

    return change


@pytest.mark.parametrize(
    ("change", "difference", "spread", "step"),
    [
        (score(0.2, 0.3), 0.2, 0.3, None),
        (score(0.4, 0.3), 0.4, 0.3, None),
        (share(0.2, 0.1), 0.1, 0.29**0.5, 1.0),
        (share(0.3, 0.05), 0.25, (0.35 - 0.0625) ** 0.5, 1.0),
        (share(0.05, 0.0), 0.05, 0.0, 1.0),
    ],
)
@pytest.mark.parametrize("level", [0.05, 0.005])
def test_the_samples_needed_find_the_difference_with_the_stated_power(
    change: Change, difference: float, spread: float, step: float | None, level: float
) -> None:
    draw = random.Random(5)
    n = samples_needed(spread, difference, level, step)
    p_values = [paired_p([change(draw) for _ in range(n)]) for _ in range(300)]
    found = sum(p is not None and p < level for p in p_values) / 300
    assert found == pytest.approx(power(difference, spread, n, level, step), abs=0.06)
    assert found == pytest.approx(POWER, abs=0.08)


@pytest.mark.parametrize("step", [None, 1.0])
def test_the_smallest_resolvable_difference_needs_that_many_samples(step: float | None) -> None:
    for n in (20, 100, 1000):
        found = detectable_effect(0.4, n, 0.05, step)
        assert found is not None
        assert samples_needed(0.4, found, 0.05, step) == pytest.approx(n, rel=0.05)


def test_fewer_than_six_samples_find_nothing() -> None:
    assert detectable_effect(0.3, 5) is detectable_effect(0.3, 5, step=1.0) is None
    assert detectable_effect(0.3, 6) is not None
    assert power(10.0, 0.1, 5) == 0
    assert samples_needed(0.001, 10.0) == samples_needed(0.0, 1.0, step=1.0) == 6
    with pytest.raises(ValueError, match="difference of 0"):
        samples_needed(0.3, 0.0)
