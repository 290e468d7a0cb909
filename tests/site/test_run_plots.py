"""Plots of a run: the bins of histograms."""

from collections import Counter

import pytest

from aiq.site.run_plots import histogram


@pytest.mark.parametrize(
    ("numbers", "first", "last", "bins"),
    [
        ([0, 1, 1], "0", "1", 2),
        ([n / 40 for n in range(41)], "0 to 0.05", "0.95 to 1", 20),
        ([0.391 + n / 10 for n in range(58)], "0 to 0.5", "6 to 6.5", 13),
        ([2325 + 100 * n for n in range(120)], "2,000 to 3,000", "14,000 to 15,000", 13),
        ([-n / 10 for n in range(30)], "-3 to -2.8", "-0.2 to 0", 15),
    ],
)
def test_bins_of_a_histogram_end_at_round_numbers(numbers: list[float], first: str, last: str, bins: int) -> None:
    values = histogram("seconds", Counter(numbers)).values
    assert (values[0]["name"], values[-1]["name"], len(values)) == (first, last, bins)
    assert sum(value["count"] for value in values) == len(numbers)
