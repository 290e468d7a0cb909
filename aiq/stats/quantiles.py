"""Quantiles of Student's t distribution, exact enough (1e-9) without a numerical library."""

import math
from functools import lru_cache
from statistics import NormalDist

_SERIES_UP_TO = 200  # beyond, the expansion is as good as the series and needs no loop


def _central_probability(t: float, df: int) -> float:
    """P(-t < T < t), by the finite series for whole df (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4)."""
    angle = math.atan2(t, math.sqrt(df))
    sine, cosine = math.sin(angle), math.cos(angle)
    if df == 1:
        return 2 * angle / math.pi
    term = cosine if df % 2 else 1.0
    total = term
    for k in range(2 + df % 2, df - 1, 2):
        term *= cosine * cosine * (k - 1) / k
        total += term
    if df % 2:
        return 2 / math.pi * (angle + sine * total)
    return sine * total


def _expansion(z: float, df: int) -> float:
    """Cornish-Fisher expansion of the t quantile around the normal one (Abramowitz and Stegun, 26.7.5)."""
    g1 = (z**3 + z) / 4
    g2 = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    g3 = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + g1 / df + g2 / df**2 + g3 / df**3


@lru_cache(maxsize=1024)
def t_quantile(df: int, confidence: float = 0.95) -> float:
    """The t for which P(-t < T < t) = `confidence`, with `df` >= 1 degrees of freedom."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    if df > _SERIES_UP_TO:
        return _expansion(z, df)
    low, high = 0.0, 2.0 * z
    while _central_probability(high, df) < confidence:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        if _central_probability(middle, df) < confidence:
            low = middle
        else:
            high = middle
    return (low + high) / 2
