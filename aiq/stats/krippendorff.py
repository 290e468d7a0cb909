"""Krippendorff's alpha: agreement of any number of raters beyond chance, ratings may be missing."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

H = TypeVar("H", bound=Hashable)


def alpha_nominal(units: Sequence[Sequence[Hashable]]) -> float | None:
    """For labels; see `alpha_interval`."""
    return _alpha(units, lambda values: math.fsum(n * (len(values) - n) for n in Counter(values).values()))


def alpha_interval(units: Sequence[Sequence[float]]) -> float | None:
    """For numbers. A unit holds the ratings that it has, whoever gave them.

    alpha = 1 - D_o / D_e; D_o is the mean difference of ratings within units, where a unit of m
    ratings weighs m, D_e that of all pairable ratings; differences are squared (Krippendorff 2011,
    "Computing Krippendorff's Alpha-Reliability"). 1 perfect, 0 as by chance, less than 0 is
    systematic disagreement. Units with one rating do not count; None without two that differ.
    """
    return _alpha(units, _squared)


def _alpha(units: Sequence[Sequence[H]], differences: Callable[[Sequence[H]], float]) -> float | None:
    """`differences`: the sum over all ordered pairs of values."""
    pairable = [unit for unit in units if len(unit) > 1]
    values = [value for unit in pairable for value in unit]
    expected = differences(values) if values else 0.0
    if expected <= 0:
        return None
    observed = math.fsum(differences(unit) / (len(unit) - 1) for unit in pairable)
    return 1 - (len(values) - 1) * observed / expected


def _squared(values: Sequence[float]) -> float:
    """sum over ordered pairs of (a - b)^2 = 2 n sum (a - mean)^2, which is exact where numbers lie close together."""
    mean = math.fsum(values) / len(values)
    return 2 * len(values) * math.fsum((value - mean) ** 2 for value in values)
