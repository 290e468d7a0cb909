"""Rank correlations against values worked out by hand, and what must not change them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.stats.agreement import kendall, ranks, spearman

PAIRS = st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=2, max_size=20)


def test_equal_values_share_their_ranks() -> None:
    assert ranks([3, 1, 3, 2]) == [3.5, 1, 3.5, 2]


def test_a_textbook_example() -> None:
    """IQ and hours of television of ten people: the squared rank differences sum to 194."""
    iq = [106, 100, 86, 101, 99, 103, 97, 113, 112, 110]
    hours = [7, 27, 2, 50, 28, 29, 20, 12, 6, 17]
    assert spearman(iq, hours) == pytest.approx(1 - 6 * 194 / (10 * 99))


def test_ties_worked_by_hand() -> None:
    """Ranks 1, 2.5, 2.5, 4 and 1, 3.5, 2, 3.5; four pairs agree, one is tied in x, one in y."""
    x, y = [1, 2, 2, 3], [1, 3, 2, 3]
    assert spearman(x, y) == pytest.approx(3.75 / 4.5)
    assert kendall(x, y) == pytest.approx(4 / 5)


def test_constants_have_no_correlation() -> None:
    assert spearman([1, 1, 1], [1, 2, 3]) is None
    assert kendall([1, 2, 3], [2, 2, 2]) is None
    assert spearman([], []) is None


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="argument 2"):
        spearman([1, 2], [1])
    with pytest.raises(ValueError, match="argument 2"):
        kendall([1, 2], [1])


@given(PAIRS)
@pytest.mark.parametrize("measure", [spearman, kendall])
def test_only_order_counts(measure, pairs: list[tuple[int, int]]) -> None:  # type: ignore[no-untyped-def]
    x, y = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    found = measure(x, y)
    assert (found is None) == (len(set(x)) < 2 or len(set(y)) < 2)
    if found is None:
        return
    assert -1 <= found <= 1
    assert measure(y, x) == pytest.approx(found)
    assert measure([math.exp(a / 10) for a in x], y) == pytest.approx(found)
    assert measure([-a for a in x], y) == pytest.approx(-found)
    assert measure(x[::-1], y[::-1]) == pytest.approx(found)
    assert measure(x, x) == pytest.approx(1)
