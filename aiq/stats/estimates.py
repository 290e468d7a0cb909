"""Means, ratios and paired differences with 95 % intervals, from clustered values.

A cluster is a sample: the values (or numerators and denominators) of its epochs, which are not independent. With one
cluster there is no interval.
"""

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev
from typing import Literal

from aiq.core.base import Record
from aiq.stats.intervals import LEVEL, Interval, Method, difference_interval, mean_interval
from aiq.stats.significance import paired_p, step

Values = Sequence[float]
"""A sample's values, one per epoch."""

Pairs = Sequence[tuple[float, float]]
"""A sample's (numerator, denominator) pairs, one per epoch."""


Columns = tuple["array[float]", "array[float]"]
"""Numerators and denominators, one per cluster."""


class Estimate(Record):
    """`n` counts clusters (samples). `ci95` is None if n < 2, and if nothing shows how they vary."""

    mean: float
    ci95: Interval | None
    n: int
    estimator: Literal["mean", "ratio"]


class Difference(Record):
    """Second minus first, over `n` common samples. `ci95` as in `Estimate`.

    `p`: for no difference, uncorrected; None if too few samples changed for a test. `spread`: the standard deviation
    of a sample's change; None for one sample. `step`: the size that all changes have, if it is the same.
    """

    mean: float
    ci95: Interval | None
    n: int
    p: float | None
    spread: float | None
    step: float | None = None

    @property
    def is_zero(self) -> bool:
        """Whether no sample changed."""
        return abs(self.mean) < 1e-9 and (self.spread or 0.0) < 1e-9


def mean_estimate(
    clusters: Iterable[Values], low: float | None = None, high: float | None = None, method: Method = "score"
) -> Estimate | None:
    """Mean over samples of the mean over epochs; None without values. `low`, `high`: bounds of the values.

    The standard error is s / sqrt(n), with s the standard deviation of the n cluster means: the
    cluster-robust error for clusters of equal weight (Miller 2024, "Adding Error Bars to Evals",
    section 2.2, where clusters have equal size). It is a ratio whose denominators are 1.
    """
    return _estimate(_columns((fmean(cluster), 1.0) for cluster in clusters if cluster), "mean", low, high, method)


def ratio_estimate(
    clusters: Iterable[Pairs], low: float | None = None, high: float | None = None, method: Method = "score"
) -> Estimate | None:
    """Sum of numerators / sum of denominators; None if the denominators sum to 0.

    The variance is the jackknife's with clusters as units: R = X / Y, var(R) = (n - 1) / n * sum(d_i^2) with
    d_i = R - (R without cluster i) = (x_i - R y_i) / (Y - y_i). The linearised variance (Cochran 1977, "Sampling
    Techniques", 6.4), which divides by Y, is too small for few clusters of unequal size.
    """
    return _estimate(_columns(_sums(cluster) for cluster in clusters if cluster), "ratio", low, high, method)


def _estimate(
    totals: Columns, estimator: Literal["mean", "ratio"], low: float | None, high: float | None, method: Method
) -> Estimate | None:
    if (ratio := _ratio(totals)) is None:
        return None
    interval = mean_interval(ratio, _residuals(totals, ratio), low, high, method)
    return Estimate(mean=ratio, ci95=interval, n=len(totals[0]), estimator=estimator)


def paired_means(
    first: Mapping[str, Values],
    second: Mapping[str, Values],
    span: float | None = None,
    method: Method = "score",
    level: float = LEVEL,
) -> Difference | None:
    """Mean over common samples of (mean over epochs in `second` - in `first`); None without common samples.

    `span`: the width of the range of values, if they have one. `level`: the level of `ci95` if not 95 %; then there
    is no `p`.
    """
    before, after = (
        {sample: (fmean(values), 1.0) for sample, values in run.items() if values} for run in (first, second)
    )
    return _paired(before, after, span, method, level)


def paired_ratios(
    first: Mapping[str, Pairs],
    second: Mapping[str, Pairs],
    span: float | None = None,
    method: Method = "score",
    level: float = LEVEL,
) -> Difference | None:
    """Difference of two ratios of sums over common samples; None if a denominator sums to 0.

    The jackknife deviations of both (`ratio_estimate`) are subtracted sample by sample, so that what the two runs share
    cancels out. `p` tests the change of a sample's excess: its numerator minus its denominator times the ratio of both
    runs together. Without a true difference a sample's two runs are exchangeable, which only flips the sign of that
    change; and the sum of all changes has the sign of the difference of the ratios.
    """
    before, after = ({sample: _sums(pairs) for sample, pairs in run.items() if pairs} for run in (first, second))
    return _paired(before, after, span, method, level)


def pass_at_k(values: Values, k: int) -> tuple[float, float]:
    """The probability that any of k of a sample's epochs (each 0 or 1) is right (pass@k), and that all are (pass^k).

    Both are unbiased (Chen 2021, "Evaluating Large Language Models Trained on Code", and Yao 2024, "tau-bench").
    """
    n, right = len(values), round(math.fsum(values))
    return 1 - math.comb(n - right, k) / math.comb(n, k), math.comb(right, k) / math.comb(n, k)


def _paired(
    first: Mapping[str, tuple[float, float]],
    second: Mapping[str, tuple[float, float]],
    span: float | None,
    method: Method,
    level: float,
) -> Difference | None:
    common = sorted(first.keys() & second.keys())
    before, after = (_columns(run[sample] for sample in common) for run in (first, second))
    old, new = _ratio(before), _ratio(after)
    if old is None or new is None:
        return None
    mean, residuals = new - old, zip(_residuals(before, old), _residuals(after, new), strict=True)
    deviations = [b - a for a, b in residuals]
    changes = [mean + deviation for deviation in deviations]
    interval = difference_interval(mean, deviations, changes, span, method, level)
    spread = stdev(changes) if len(changes) > 1 else None
    p = paired_p(_excess_changes(before, after)) if level == LEVEL else None
    return Difference(mean=mean, ci95=interval, n=len(common), p=p, spread=spread, step=step(changes))


def _excess_changes(before: Columns, after: Columns) -> list[float]:
    """Each sample's change, less the part due to its denominators: for means (denominators 1), simply the change."""
    (x, y), (over, under) = before, after
    joint_ratio = (math.fsum(x) + math.fsum(over)) / (math.fsum(y) + math.fsum(under))
    return [d - c - joint_ratio * (w - v) for c, v, d, w in zip(x, y, over, under, strict=True)]


def _sums(pairs: Pairs) -> tuple[float, float]:
    return math.fsum(x for x, _ in pairs), math.fsum(y for _, y in pairs)


def _columns(totals: Iterable[tuple[float, float]]) -> Columns:
    numerators, denominators = array("d"), array("d")
    for x, y in totals:
        numerators.append(x)
        denominators.append(y)
    return numerators, denominators


def _ratio(totals: Columns) -> float | None:
    numerator, denominator = map(math.fsum, totals)
    return numerator / denominator if denominator else None


def _residuals(totals: Columns, ratio: float) -> "array[float]":
    """The ratio minus the ratio without each cluster, times n - 1.

    For clusters of equal weight, this is each one's deviation from the mean.
    """
    n, total = len(totals[0]), math.fsum(totals[1])
    return array(
        "d", ((x - ratio * y) / (total - y) * (n - 1) if total != y else 0.0 for x, y in zip(*totals, strict=True))
    )
