"""Means, ratios and paired differences with 95 % intervals, from values that come in clusters.

A cluster is a sample: the values (or numerator and denominator) of its epochs, which are not independent. Intervals
are Student's, with clusters - 1 degrees of freedom; with one cluster there is none.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Literal

from aiq.core.base import Record

Interval = tuple[float, float]

Values = Sequence[float]
"""A sample's values, one an epoch."""

Pairs = Sequence[tuple[float, float]]
"""A sample's (numerator, denominator), one an epoch."""


class Estimate(Record):
    """`n` counts clusters (samples). `ci95` is None where n < 2."""

    mean: float
    ci95: Interval | None
    n: int
    estimator: Literal["mean", "ratio"]

    def within(self, low: float | None, high: float | None) -> "Estimate":
        """The same with its interval cut at the bounds of what is measured: Student's interval knows of none."""
        lowest, highest = -math.inf if low is None else low, math.inf if high is None else high
        cut = self.ci95 and (max(lowest, self.ci95[0]), min(highest, self.ci95[1]))
        return self.model_copy(update={"ci95": cut})


class Difference(Record):
    """Second minus first, over `n` common samples. `ci95` is None where n < 2."""

    mean: float
    ci95: Interval | None
    n: int

    @property
    def significant(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.ci95 is not None and not self.ci95[0] <= 0 <= self.ci95[1]


def mean_estimate(clusters: Sequence[Values]) -> Estimate | None:
    """Mean over samples of the mean over epochs; None without any value.

    Its standard error is s / sqrt(n) with s the standard deviation of the n cluster means: the
    cluster-robust error for clusters of equal weight (Miller 2024, "Adding Error Bars to Evals",
    section 2.2, where clusters are of equal size). It is the ratio whose denominators are 1.
    """
    return _estimate([(fmean(cluster), 1.0) for cluster in clusters if cluster], "mean")


def ratio_estimate(clusters: Sequence[Pairs]) -> Estimate | None:
    """Sum of numerators over sum of denominators; None where the denominators sum to 0.

    Linearised (delta method) variance with clusters as units: R = X / Y,
    var(R) = n / (n - 1) * sum((x_i - R y_i)^2) / Y^2 (Cochran 1977, "Sampling Techniques", 2.11 and
    6.4, without the finite population correction).
    """
    return _estimate([_sums(cluster) for cluster in clusters if cluster], "ratio")


def _estimate(totals: Pairs, estimator: Literal["mean", "ratio"]) -> Estimate | None:
    if (ratio := _ratio(totals)) is None:
        return None
    return Estimate(mean=ratio, ci95=_interval(ratio, _residuals(totals, ratio)), n=len(totals), estimator=estimator)


def paired_means(first: Mapping[str, Values], second: Mapping[str, Values]) -> Difference | None:
    """Mean over common samples of (mean over epochs in `second` - in `first`); None without common samples.

    The interval is the paired t interval over the samples' differences.
    """
    return _paired(
        *({sample: (fmean(values), 1.0) for sample, values in of.items() if values} for of in (first, second))
    )


def paired_ratios(first: Mapping[str, Pairs], second: Mapping[str, Pairs]) -> Difference | None:
    """Difference of two ratios of sums over common samples; None where a denominator sums to 0.

    Both ratios are linearised as in `ratio_estimate`, and their residuals subtracted sample by
    sample, so that what the two runs share cancels: var = n / (n - 1) * sum(d_i^2) with
    d_i = (x_i - R y_i) / Y of second - of first.
    """
    return _paired(*({sample: _sums(pairs) for sample, pairs in of.items() if pairs} for of in (first, second)))


def _paired(first: Mapping[str, tuple[float, float]], second: Mapping[str, tuple[float, float]]) -> Difference | None:
    common = sorted(first.keys() & second.keys())
    before, after = [first[sample] for sample in common], [second[sample] for sample in common]
    old, new = _ratio(before), _ratio(after)
    if old is None or new is None:
        return None
    pairs = zip(_residuals(before, old), _residuals(after, new), strict=True)
    return Difference(mean=new - old, ci95=_interval(new - old, [b - a for a, b in pairs]), n=len(common))


def _sums(pairs: Pairs) -> tuple[float, float]:
    return math.fsum(x for x, _ in pairs), math.fsum(y for _, y in pairs)


def _ratio(totals: Pairs) -> float | None:
    over, under = _sums(totals)
    return over / under if under else None


def _residuals(totals: Pairs, ratio: float) -> list[float]:
    """What each cluster adds to the ratio beyond its expectation, times the number of clusters."""
    share = math.fsum(y for _, y in totals) / len(totals)
    return [(x - ratio * y) / share for x, y in totals]


def _interval(center: float, deviations: Sequence[float]) -> Interval | None:
    """Student's interval of a mean whose n values deviate so from it: center +- t * sqrt(sum(d^2) / (n (n - 1)))."""
    n = len(deviations)
    if n < 2:
        return None
    from scipy.special import stdtrit  # half a second to import: only where a number is wanted

    half = float(stdtrit(n - 1, 0.975)) * math.sqrt(math.fsum(d * d for d in deviations) / (n * (n - 1)))
    return center - half, center + half
