"""The power of paired tests: how many samples a difference takes, and what difference n samples can detect."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from statistics import fmean, variance
from typing import Final, NamedTuple

from aiq.stats.significance import LEVEL, min_changes

POWER: Final = 0.8
_POINTS: Final = 20  # numbers of changed samples that represent all possible ones


def power(difference: float, spread: float, n: int, level: float = LEVEL, step: float | None = None) -> float:
    """The probability that `paired_p` of n samples is below the level if the mean change is `difference`.

    `spread`: the standard deviation of a sample's change. The test is approximated by Student's, which is hardly more
    powerful than the randomisation test; its power is from Guenther (1981), "Sample Size Formulas for Normal Theory T
    Tests". `step`: the size of all nonzero changes, if it is the same (1 for right and wrong with one epoch). Then the
    test is McNemar's exact test, which is the more conservative, the fewer samples change; its power is from the
    binomial distributions of how many change, and how many of these improve (Duffy 1984, "Asymptotic and Exact Power
    for the McNemar Test").
    """
    if step is not None:
        return _mcnemar(min(1.0, abs(difference) / step), spread / step, n, level)
    from scipy.special import ndtr, ndtri

    if n < min_changes(level):
        return 0.0
    quantile = float(-ndtri(level / 2))
    shift = abs(difference) * math.sqrt(max(0.0, n - quantile**2 / 2))
    return float(ndtr(shift / spread - quantile)) if spread else float(shift > 0)


def samples_needed(spread: float, difference: float, level: float = LEVEL, step: float | None = None) -> int:
    """The number of samples that detect a true difference with a probability of POWER; arguments as for `power`.

    Raises ValueError for a difference of 0, which no number of samples detects.
    """
    if not difference:
        raise ValueError("no number of samples detects a difference of 0")

    def is_enough(n: int) -> bool:
        return power(difference, spread, n, level, step) >= POWER

    upper = max(min_changes(level), math.ceil((spread / difference) ** 2))  # the order of magnitude
    while not is_enough(upper):
        upper *= 2
    return bisect_left(range(upper), True, lo=0 if upper == min_changes(level) else upper // 2, key=is_enough)


def detectable_effect(spread: float, n: int, level: float = LEVEL, step: float | None = None) -> float | None:
    """The smallest true difference that n samples detect with a probability of POWER; arguments as for `power`.

    None if they can detect none, such as fewer than six at a level of 0.05. It may exceed a metric's range.
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri

    if step is not None:

        def shortfall(difference: float) -> float:
            return POWER - power(difference, spread, n, level, step)

        return float(brentq(shortfall, 0.0, step, xtol=1e-6 * step)) if shortfall(step) < 0 else None
    if n < min_changes(level):
        return None
    quantile = float(-ndtri(level / 2))
    return spread * (quantile + float(ndtri(POWER))) / math.sqrt(n - quantile**2 / 2)


class Variances(NamedTuple):
    """`total`: the variance of the samples' means over epochs; `within`: of a sample's epochs (None if all have one).

    `mean`: over all samples. `epochs`: how many a sample has (harmonic mean).
    """

    mean: float
    total: float
    within: float | None
    epochs: float


def variances(clusters: Sequence[Sequence[tuple[float, float]]]) -> Variances | None:
    """The variances from the (numerator, denominator) of each sample's epochs; linearised for ratios.

    None for fewer than two samples, and if the denominators sum to 0.
    """
    denominator = fmean(fmean(y for _, y in cluster) for cluster in clusters) if len(clusters) > 1 else 0.0
    if not denominator:
        return None
    ratio = fmean(fmean(x for x, _ in cluster) for cluster in clusters) / denominator
    values = [[(x - ratio * y) / denominator for x, y in cluster] for cluster in clusters]
    repeated = [cluster for cluster in values if len(cluster) > 1]
    squares = math.fsum(variance(cluster) * (len(cluster) - 1) for cluster in repeated)
    within = squares / sum(len(cluster) - 1 for cluster in repeated) if repeated else None
    epochs = 1 / fmean(1 / len(cluster) for cluster in clusters)
    return Variances(ratio, variance(map(fmean, values)), within, epochs)


def _mcnemar(gain: float, spread: float, n: int, level: float) -> float:
    """`gain`, `spread`: in steps. At least as many samples must change as the gain requires."""
    import numpy as np
    from scipy.special import bdtr, bdtrc, bdtrik

    rate = min(1.0, max(gain, spread**2 + gain**2))
    if not rate:
        return 0.0
    quantiles = (np.arange(_POINTS) + 0.5) / _POINTS
    counts = np.ceil(bdtrik(quantiles, n, rate) - 1e-9).astype(int) if rate < 1 else np.array([n])
    counts = counts[counts >= min_changes(level)]  # fewer changes never give a p-value below the level
    critical = np.ceil(bdtrik(level / 2, counts, 0.5))
    critical -= 2 * bdtr(critical, counts, 0.5) >= level
    rise_rate = (1 + gain / rate) / 2
    powers = bdtr(critical, counts, rise_rate) + bdtrc(counts - critical - 1, counts, rise_rate)
    return float(np.sum(powers) / (_POINTS if rate < 1 else 1))
