"""Judge noise: worked out by hand, and what it must not depend on."""

import math
from statistics import stdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiq.stats.noise import Judgement, Noise, noise_of, pooled

VALUES = st.floats(min_value=0, max_value=1)


def judged(member: str, order: str, *values: float) -> list[Judgement]:
    return [Judgement(member, order, value) for value in values]


def test_votes_orders_and_members_worked_by_hand() -> None:
    noise = noise_of(
        [
            *judged("a", "first", 0.6, 0.8),
            *judged("a", "swapped", 0.4, 0.4),
            *judged("b", "first", 0.5, 0.5),
            *judged("b", "swapped", 0.3, 0.1),
        ]
    )
    assert noise is not None
    assert noise.judgements == 8
    assert noise.sd == pytest.approx(stdev([0.6, 0.8, 0.4, 0.4, 0.5, 0.5, 0.3, 0.1]))
    assert noise.votes == pytest.approx(math.sqrt((0.02 + 0 + 0 + 0.02) / 4))
    assert noise.order_gap == pytest.approx(0.6 - 0.3)
    assert noise.orders == pytest.approx(0.3 / math.sqrt(2))
    assert noise.members == pytest.approx((0.55 - 0.35) / math.sqrt(2))


def test_a_component_that_did_not_vary_has_no_figure() -> None:
    assert noise_of(judged("m", "first", 0.5)) is None
    assert pooled([]) is None
    noise = noise_of(judged("a", "first", 0.5, 0.7))
    assert noise == Noise(judgements=2, sd=stdev([0.5, 0.7]), votes=noise.votes if noise else None)
    alone = noise_of([*judged("a", "swapped", 0.5), *judged("b", "swapped", 0.7)])
    assert alone is not None
    assert (alone.votes, alone.orders, alone.order_gap) == (None, None, None)
    assert alone.members == pytest.approx(stdev([0.5, 0.7]))


def test_a_run_pools_its_reports() -> None:
    run = pooled(
        [Noise(judgements=4, sd=0.2, votes=0.1, order_gap=0.1), Noise(judgements=2, sd=0.1, votes=0.3, order_gap=-0.3)]
    )
    assert run is not None
    assert (run.reports, run.judgements, run.members) == (2, 6, None)
    assert run.sd == pytest.approx(math.sqrt((0.04 + 0.01) / 2))
    assert run.votes == pytest.approx(math.sqrt((0.01 + 0.09) / 2))
    assert run.order_gap == pytest.approx(-0.1)
    assert run.standard_error == pytest.approx(math.sqrt(0.04 / 4 + 0.01 / 2) / 2)


@settings(max_examples=40)
@given(st.lists(VALUES, min_size=2, max_size=8), VALUES)
def test_a_shift_of_all_judgements_is_not_noise(values: list[float], shift: float) -> None:
    raw, moved = noise_of(judged("a", "first", *values)), noise_of(judged("a", "first", *(v + shift for v in values)))
    assert raw is not None
    assert moved is not None
    assert raw.sd == pytest.approx(moved.sd, abs=1e-9)
    assert raw.votes == pytest.approx(raw.sd)
