"""One number with its 95 % interval from values that come in clusters: epochs of one sample are not independent.

A cluster is a sample: the values (or numerator and denominator) of its epochs. The interval is Student's,
with clusters - 1 degrees of freedom; with one cluster there is none.
"""

import math
from collections.abc import Sequence
from typing import Literal

from aiq.core.base import Record
from aiq.stats.quantiles import t_quantile

Values = Sequence[float]
"""A sample's values, one an epoch."""

Pairs = Sequence[tuple[float, float]]
"""A sample's (numerator, denominator), one an epoch."""


class Estimate(Record):
    """`n` counts clusters (samples). `ci95` is None where n < 2."""

    mean: float
    ci95: tuple[float, float] | None
    n: int
    estimator: Literal["mean", "ratio"]

    def within(self, low: float | None, high: float | None) -> "Estimate":
        """The same with its interval cut at the bounds of what is measured: Student's interval knows of none."""
        if self.ci95 is None:
            return self
        first, last = self.ci95
        cut = (first if low is None else max(low, first), last if high is None else min(high, last))
        return self.model_copy(update={"ci95": cut})


def mean_of(values: Values) -> float:
    """Arithmetic mean, summed without rounding error so that the order of values cannot matter."""
    return math.fsum(values) / len(values)


def mean_estimate(clusters: Sequence[Values]) -> Estimate | None:
    """Mean over samples of the mean over epochs; None without any value.

    Its standard error is s / sqrt(n) with s the standard deviation of the n cluster means: the
    cluster-robust error for clusters of equal weight (Miller 2024, "Adding Error Bars to Evals",
    section 2.2, where clusters are of equal size).
    """
    means = [mean_of(cluster) for cluster in clusters if cluster]
    if not means:
        return None
    mean = mean_of(means)
    n = len(means)
    if n < 2:
        return Estimate(mean=mean, ci95=None, n=n, estimator="mean")
    variance = math.fsum((x - mean) ** 2 for x in means) / (n - 1)
    return Estimate(mean=mean, ci95=_interval(mean, math.sqrt(variance / n), n), n=n, estimator="mean")


def ratio_estimate(clusters: Sequence[Pairs]) -> Estimate | None:
    """Sum of numerators over sum of denominators; None where the denominators sum to 0.

    Linearised (delta method) variance with clusters as units: R = X / Y,
    var(R) = n / (n - 1) * sum((x_i - R y_i)^2) / Y^2 (Cochran 1977, "Sampling Techniques", 2.11 and
    6.4, without the finite population correction).
    """
    totals = [sums(cluster) for cluster in clusters if cluster]
    over, under = sums(totals)
    if under == 0:
        return None
    ratio = over / under
    n = len(totals)
    if n < 2:
        return Estimate(mean=ratio, ci95=None, n=n, estimator="ratio")
    squares = math.fsum((x - ratio * y) ** 2 for x, y in totals)
    error = math.sqrt(n / (n - 1) * squares) / abs(under)
    return Estimate(mean=ratio, ci95=_interval(ratio, error, n), n=n, estimator="ratio")


def sums(pairs: Pairs) -> tuple[float, float]:
    """Sum of the first and sum of the second members."""
    return math.fsum(x for x, _ in pairs), math.fsum(y for _, y in pairs)


def _interval(center: float, error: float, n: int) -> tuple[float, float]:
    half = t_quantile(n - 1) * error
    return center - half, center + half
