"""How well predicted labels and scores agree with given ones: accuracy, kappa, bootstrap intervals.

Krippendorff's alpha: agreement of any number of raters beyond chance, ratings may be missing.

Rank correlation with ties: Spearman's rho and Kendall's tau-b, -1 to 1.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from itertools import combinations
from random import Random
from typing import Literal, TypeVar

T = TypeVar("T")

Pair = tuple[str, str]
"""(label that is given, label that was predicted)"""


def accuracy(pairs: Sequence[Pair]) -> float | None:
    """The share of pairs that are equal; None without any."""
    return sum(given == predicted for given, predicted in pairs) / len(pairs) if pairs else None


def kappa(pairs: Sequence[Pair]) -> float | None:
    """Agreement beyond chance (Cohen 1960): 1 perfect, 0 as by chance; None where chance alone agrees fully."""
    if not pairs:
        return None
    given, predicted = Counter(pair[0] for pair in pairs), Counter(pair[1] for pair in pairs)
    chance = sum(given[label] * predicted[label] for label in sorted(given)) / len(pairs) ** 2
    return None if chance == 1 else (sum(a == b for a, b in pairs) / len(pairs) - chance) / (1 - chance)


def weighted_kappa(pairs: Sequence[tuple[int, int]], *, power: Literal[1, 2] = 2) -> float | None:
    """Kappa of ordered labels: a disagreement weighs |difference| ** power (Cohen 1968; 1 linear, 2 quadratic).

    1 - sum of observed weights / sum of those expected from both margins. None where chance alone agrees fully.
    """
    given, predicted = Counter(pair[0] for pair in pairs), Counter(pair[1] for pair in pairs)
    observed = sum(abs(a - b) ** power for a, b in pairs)
    chance = sum(n * m * abs(a - b) ** power for a, n in given.items() for b, m in predicted.items())
    return 1 - observed * len(pairs) / chance if chance else None


def bootstrap95(
    clusters: Sequence[Sequence[T]], measure: Callable[[Sequence[T]], float | None], *, draws: int = 1000, seed: int = 0
) -> tuple[float, float] | None:
    """The middle 95 % of a measure over resampled clusters (Efron 1979); None where too few draws have a value."""
    random = Random(seed)
    values = []
    for _ in range(draws):
        drawn = [item for _ in clusters for item in clusters[int(random.random() * len(clusters))]]
        if (value := measure(drawn)) is not None:
            values.append(value)
    if len(values) < draws // 2 or len(clusters) < 2:
        return None
    values.sort()
    return values[int(0.025 * len(values))], values[min(len(values) - 1, int(0.975 * len(values)))]


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


def ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    found = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for at in order[start : end + 1]:
            found[at] = (start + end) / 2 + 1
        start = end + 1
    return found


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Pearson's correlation of the ranks (Spearman 1904; with ties: Kendall and Gibbons 1990, section 3.8).

    None where one of both has no two different values. Raises ValueError for unequal lengths.
    """
    x, y = ranks(first), ranks(second)
    middle = (len(x) + 1) / 2
    shared = math.fsum((a - middle) * (b - middle) for a, b in zip(x, y, strict=True))
    own = math.fsum((a - middle) ** 2 for a in x) * math.fsum((b - middle) ** 2 for b in y)
    return max(-1.0, min(1.0, shared / math.sqrt(own))) if own > 0 else None


def kendall(first: Sequence[float], second: Sequence[float]) -> float | None:
    """tau-b = (concordant - discordant) / sqrt(pairs untied in x * pairs untied in y) (Kendall 1945).

    Looks at all pairs. None where one of both has no two different values.
    """
    agree = untied_x = untied_y = 0
    for (a, b), (c, d) in combinations(zip(first, second, strict=True), 2):
        x, y = (a > c) - (a < c), (b > d) - (b < d)
        agree += x * y
        untied_x += x * x
        untied_y += y * y
    return agree / math.sqrt(untied_x * untied_y) if untied_x and untied_y else None
