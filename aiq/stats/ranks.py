"""Rank correlation with ties: Spearman's rho and Kendall's tau-b, -1 to 1."""

import math
from collections.abc import Sequence
from itertools import combinations


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
