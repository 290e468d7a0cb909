"""95 % intervals of means, ratios and paired differences that hold near the bounds of a metric and for few samples.

They are score intervals (Wilson 1927, "Probable Inference"): the standard error is not taken as it was estimated, but
as it would be if the value at the interval's end were the true one. For that one must know how the variance of a
metric goes with its mean: as mu (1 - mu) where it has two bounds, as a share has; as mu where it has a lower one, as a
count has; not at all where it has none, which makes it Student's interval. The variance itself is what the samples
say: the effective sample size n_eff = mu (1 - mu) / se^2 is larger than n where scores vary less than ones and zeros.
`python -m benchmarks.intervals` measures how often they hold: docs/statistics.md.
"""

import math
from collections.abc import Sequence

Interval = tuple[float, float]

LEVEL = 0.95


def mean_interval(
    mean: float, deviations: Sequence[float], low: float | None = None, high: float | None = None
) -> Interval | None:
    """Of a mean whose n clusters deviate so from it, and that lies between the bounds, where there are any.

    None for less than two clusters, and for clusters without any deviation where no bound tells what could be.
    """
    n, error = len(deviations), _error(deviations)
    if n < 2 or (low is None and high is None and not error):
        return None
    if low is None or high is None:
        return _half_bounded(mean, error, n, low, high)
    span = high - low
    share, error = min(1.0, max(0.0, (mean - low) / span)), error / span
    spread = share * (1 - share)
    quantile = _quantile(n, (n - 1) * error**2 / spread if error and spread else 1.0)
    effective = spread / error**2 if error and spread else n
    lowest, highest = _wilson(share, effective, quantile)
    return low + span * lowest, low + span * highest


def _half_bounded(mean: float, error: float, n: int, low: float | None, high: float | None) -> Interval | None:
    """Solves (mean - mu)^2 = q^2 se^2 mu / mean for mu above the bound; below an upper one, the same mirrored."""
    quantile = _quantile(n, 0.0)
    if low is None and high is None:
        return mean - quantile * error, mean + quantile * error
    if low is None:
        mirrored = _half_bounded(-mean, error, n, -(high or 0.0), None)
        return mirrored and (-mirrored[1], -mirrored[0])
    above = mean - low
    if error:
        slope = (quantile * error) ** 2 / above
    elif float(above).is_integer():
        slope = quantile**2 / n  # equal counts: no less uncertain than a Poisson variable's
    else:
        return None
    half = math.sqrt(slope * above + slope**2 / 4)
    return low + max(0.0, above + slope / 2 - half), low + above + slope / 2 + half


def difference_interval(
    difference: float,
    deviations: Sequence[float],
    changes: Sequence[float],
    span: float | None,
    level: float = LEVEL,
) -> Interval | None:
    """Of the mean difference between two runs of the same n clusters; each of its ends is a one-sided bound.

    `deviations`: of each cluster's difference from the mean one; `changes`: the differences themselves; `span`: the
    largest that can be (the width of the metric's range), None where there is no such: then it is Student's interval.
    With a span it is Tango's (1998, "Equivalence test and confidence interval for the difference in proportions for
    the paired-sample design"), whose two kinds of discordant pairs are the sums of rises and falls, at the effective
    sample size. None for less than two clusters, and for equal differences where no span tells what could be.
    """
    n, error = len(deviations), _error(deviations)
    if n < 2 or (span is None and not error):
        return None
    if span is None:
        half = _quantile(n, 0.0, level) * error
        return difference - half, difference + half
    rise = math.fsum(change for change in changes if change > 0) / n / span
    fall = -math.fsum(change for change in changes if change < 0) / n / span
    error, mean = error / span, rise - fall
    spread = rise + fall - mean**2
    quantile = _quantile(n, (n - 1) * error**2 / spread if error and spread > 0 else 1.0, level)
    effective = spread / error**2 if error and spread > 0 else n
    lowest, highest = _tango(rise, fall, effective, quantile)
    return span * lowest, span * highest


def _error(deviations: Sequence[float]) -> float:
    """The standard error of a mean whose clusters deviate so from it; 0 for what rounding may have made."""
    n = len(deviations)
    squares = math.fsum(deviation * deviation for deviation in deviations)
    return math.sqrt(squares / (n * (n - 1))) if n > 1 and squares > 1e-24 else 0.0


def _quantile(n: int, determined: float, level: float = LEVEL) -> float:
    """Between Student's and the normal distribution's: what the mean determines of the variance is not estimated.

    `determined`: the share of the variance that ones and zeros of this mean would have: 1 for shares.
    """
    from scipy.special import ndtri, stdtrit  # half a second to import: only where a number is wanted

    normal, student = float(ndtri((1 + level) / 2)), float(stdtrit(n - 1, (1 + level) / 2))
    return normal + (student - normal) * (1 - min(1.0, determined))


def _wilson(share: float, n: float, quantile: float) -> Interval:
    square = quantile**2 / n
    center = (share + square / 2) / (1 + square)
    half = math.sqrt(square * share * (1 - share) + square**2 / 4) / (1 + square)
    return max(0.0, center - half), min(1.0, center + half)


def _tango(rise: float, fall: float, n: float, quantile: float) -> Interval:
    """`rise` and `fall`: the shares of pairs that became better and worse; of a difference between -1 and 1."""
    from scipy.optimize import brentq

    def score(difference: float) -> float:
        linear = -rise - fall + (2 - rise + fall) * difference
        constant = -fall * difference * (1 - difference)
        likely = (math.sqrt(max(0.0, linear**2 - 8 * constant)) - linear) / 4
        variance = max(1e-15, 2 * likely + difference * (1 - difference))
        return (rise - fall - difference) * math.sqrt(n / variance)

    found, edge = rise - fall, 1 - 1e-9
    lowest = brentq(lambda d: score(d) - quantile, -edge, found) if found > -edge and score(-edge) > quantile else -1.0
    highest = brentq(lambda d: score(d) + quantile, found, edge) if found < edge and score(edge) < -quantile else 1.0
    return float(lowest), float(highest)
