"""95 % intervals of means, ratios and paired differences that hold near a metric's bounds and for few samples.

They are score intervals (Wilson 1927, "Probable Inference"): instead of the estimated standard error they use what it
would be if the value at the interval's end were true. That takes a relation between a metric's variance and its mean
mu: proportional to mu (1 - mu) with two bounds, as for a share; to mu with a lower bound, as for a count; constant
without bounds, which gives Student's interval. The variance itself comes from the samples: the effective sample size
n_eff = mu (1 - mu) / se^2 is larger than n if scores vary less than ones and zeros.
The method `exact` uses the Clopper-Pearson interval at that size instead (Korn and Graubard 1998, "Confidence
intervals for proportions with small expected number of positive counts"): wider, and never below its level for shares.
`python -m benchmarks.intervals` measures the coverage: docs/statistics.md.
"""

import math
from array import array
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

Interval = tuple[float, float]
Method = Literal["score", "exact"]

LEVEL = 0.95
_CAUTION: Final = 1 / 6
"""How far from the normal towards Student's quantile shares stay: without it, coverage for p=0.02, n=27 is 0.899."""


class Spread(NamedTuple):
    """How uncertain a mean of n clusters is: its standard error, and the degrees of freedom of that estimate."""

    error: float
    freedom: float
    n: int


def mean_interval(
    mean: float,
    deviations: Sequence[float],
    low: float | None = None,
    high: float | None = None,
    method: Method = "score",
) -> Interval | None:
    """The interval of a mean, given the deviations of its n clusters, and its bounds, if it has any.

    None for fewer than two clusters, and for clusters without any deviation unless a bound shows what is possible.
    `method`: for metrics with two bounds; others get the score interval.
    """
    return spread_interval(mean, spread(deviations), low, high, method) if len(deviations) > 1 else None


def spread_interval(
    mean: float, uncertainty: Spread, low: float | None = None, high: float | None = None, method: Method = "score"
) -> Interval | None:
    """As `mean_interval`, from the spread of the mean, however it was computed."""
    if low is None and high is None and not uncertainty.error:
        return None
    if low is None or high is None:
        return _half_bounded(mean, uncertainty, low, high)
    span, n = high - low, uncertainty.n
    share, error = min(1.0, max(0.0, (mean - low) / span)), uncertainty.error / span
    variance = share * (1 - share)
    if error < 1e-12 or not variance:  # equal except for rounding
        size, quantile = float(n), _quantile(math.inf, 0.0)
    else:
        size, determined = variance / error**2, (n - 1) * error**2 / variance
        if method == "score":
            quantile = max(_quantile(uncertainty.freedom, determined), _quantile(n - 1, 1 - _CAUTION))
        else:
            size *= n / (n - 1)  # so that ones and zeros have size n
            quantile = _quantile(uncertainty.freedom, float(determined > 1 - 1e-9))
    ends = _wilson(share, size, quantile) if method == "score" else _clopper(share, size, quantile)
    return low + span * ends[0], low + span * ends[1]


def spread(deviations: Sequence[float]) -> Spread:
    """The spread of a mean, given the deviations of its clusters, of which there are two or more.

    The degrees of freedom are Satterthwaite's: those of a normal sample whose variance is as uncertain as the kurtosis
    implies, at most n - 1. If few clusters dominate the variance, it is very uncertain.
    """
    n = len(deviations)
    squares = array("d", (deviation * deviation for deviation in deviations))
    total = math.fsum(squares)
    if total <= 1e-24:  # rounding errors
        return Spread(0.0, n - 1, n)
    kurtosis = n * math.fsum(square * square for square in squares) / total**2
    freedom = min(n - 1, 2 * n / (kurtosis - 1)) if kurtosis > 1 + 1e-9 else n - 1
    return Spread(math.sqrt(total / (n * (n - 1))), freedom, n)


def _half_bounded(mean: float, uncertainty: Spread, low: float | None, high: float | None) -> Interval | None:
    """Solves (mean - mu)^2 = q^2 se^2 mu / mean for mu above a lower bound; for an upper one, mirrored."""
    error, n = uncertainty.error, uncertainty.n
    if low is None and high is None:
        half = _quantile(n - 1, 0.0) * error
        return mean - half, mean + half
    if low is None:
        mirrored = _half_bounded(-mean, uncertainty, -(high or 0.0), None)
        return mirrored and (-mirrored[1], -mirrored[0])
    distance, quantile = mean - low, _quantile(uncertainty.freedom, 0.0)
    if error:
        slope = (quantile * error) ** 2 / distance
    elif float(distance).is_integer():
        slope = quantile**2 / n  # equal counts: as uncertain as a Poisson variable's
    else:
        return None
    half = math.sqrt(slope * distance + slope**2 / 4)
    return low + max(0.0, distance + slope / 2 - half), low + distance + slope / 2 + half


def difference_interval(
    difference: float,
    deviations: Sequence[float],
    changes: Sequence[float],
    span: float | None,
    method: Method = "score",
    level: float = LEVEL,
) -> Interval | None:
    """The interval of the mean difference between two runs of the same n clusters; each end is a one-sided bound.

    `deviations`: each cluster's difference minus the mean difference; `changes`: the differences themselves; `span`:
    the largest possible difference (the width of the metric's range), None for Student's interval if it is unbounded.
    With a span the interval is Tango's (1998, "Equivalence test and confidence interval for the difference in
    proportions for the paired-sample design"), with the sums of rises and of falls as the two kinds of discordant
    pairs, at the effective sample size; with `exact`, what the exact intervals of both sums, each at half the error,
    leave possible. None for fewer than two clusters, and for equal differences without a span.
    """
    n = len(deviations)
    if n < 2:
        return None
    uncertainty = spread(deviations)
    if span is None:
        half = _quantile(n - 1, 0.0, level) * uncertainty.error
        return (difference - half, difference + half) if uncertainty.error else None
    rise = math.fsum(change for change in changes if change > 0) / n / span
    fall = -math.fsum(change for change in changes if change < 0) / n / span
    error, mean = uncertainty.error / span, rise - fall
    variance = rise + fall - mean**2
    size, quantile = float(n), _quantile(math.inf, 0.0, level)
    if error and variance > 0:
        size = variance / error**2
        if method == "score":
            quantile = _quantile(uncertainty.freedom, (n - 1) / size, level)
    if method == "score":
        lowest, highest = _tango(rise, fall, size, quantile)
    else:
        size = min(n, size * n / (n - 1))
        rises, falls = (
            _clopper(min(1.0, share), size, _quantile(math.inf, 0.0), (1 + level) / 2) for share in (rise, fall)
        )
        lowest, highest = rises[0] - falls[1], rises[1] - falls[0]
    return span * lowest, span * highest


def _quantile(freedom: float, determined: float, level: float = LEVEL) -> float:
    """A quantile between Student's and the normal, since the part of the variance that the mean fixes is known.

    `determined`: the variance as a share of that of ones and zeros with this mean: 1 for shares.
    """
    from scipy.special import ndtri, stdtrit  # half a second to import: only when a number is needed

    normal = float(ndtri((1 + level) / 2))
    student = normal if math.isinf(freedom) else float(stdtrit(freedom, (1 + level) / 2))
    return normal + (student - normal) * (1 - min(1.0, determined))


def _clopper(share: float, size: float, quantile: float, level: float = LEVEL) -> Interval:
    """The Clopper-Pearson interval, at a size reduced by as much as the quantile exceeds the normal one."""
    from scipy.special import betaincinv

    size *= (_quantile(math.inf, 0.0) / quantile) ** 2
    right, wrong, tail = share * size, (1 - share) * size, (1 - level) / 2
    lowest = float(betaincinv(right, wrong + 1, tail)) if right > 1e-9 else 0.0
    highest = float(betaincinv(right + 1, wrong, 1 - tail)) if wrong > 1e-9 else 1.0
    return lowest, highest


def _wilson(share: float, n: float, quantile: float) -> Interval:
    square = quantile**2 / n
    center = (share + square / 2) / (1 + square)
    half = math.sqrt(square * share * (1 - share) + square**2 / 4) / (1 + square)
    return max(0.0, center - half), min(1.0, center + half)


def _tango(rise: float, fall: float, n: float, quantile: float) -> Interval:
    """For a difference between -1 and 1. `rise`, `fall`: the shares of pairs that became better and worse."""
    from scipy.optimize import brentq

    def score(difference: float) -> float:
        linear = -rise - fall + (2 - rise + fall) * difference
        constant = -fall * difference * (1 - difference)
        estimate = (math.sqrt(max(0.0, linear**2 - 8 * constant)) - linear) / 4
        variance = max(1e-15, 2 * estimate + difference * (1 - difference))
        return (rise - fall - difference) * math.sqrt(n / variance)

    diff, edge = rise - fall, 1 - 1e-9
    lowest = brentq(lambda d: score(d) - quantile, -edge, diff) if diff > -edge and score(-edge) > quantile else -1.0
    highest = brentq(lambda d: score(d) + quantile, diff, edge) if diff < edge and score(edge) < -quantile else 1.0
    return float(lowest), float(highest)
