"""The simulation of docs/statistics.md, with few experiments."""

from dataclasses import replace

import pytest

from benchmarks.false_alarms import World, alarms, planned, power


def test_comparisons_and_gates_are_seldom_wrong() -> None:
    assert max(alarms(World(("right", "score", "cited"), 16), 8).values()) <= 0.25


@pytest.mark.parametrize(("kind", "gain"), [("right", 0.25), ("score", 0.06)])
def test_a_planned_comparison_finds_what_it_was_planned_for(kind: str, gain: float) -> None:
    world = World((kind,), 100)
    _, most = planned(world, gain)
    assert most.samples is not None
    assert power(replace(world, n=most.samples), gain, 10) >= 0.5
