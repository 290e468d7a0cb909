"""Means of a judge's scores, corrected with a few human labels, with 95 % intervals.

For labels of the same run: prediction-powered inference with a tuned weight of the judge (PPI++: Angelopoulos, Duchi
and Zrnic 2023, arXiv 2311.01453), whose coverage does not depend on how good the judge is: with a useless one the
interval is as wide as that of the labels alone. The interval is Wilson's at the effective sample size, as for every
mean here: the paper's normal interval covers too rarely near 0 and 1. For labels of other runs: the judge's
sensitivity and specificity there (Lee et al. 2025, "How to correctly report LLM-as-a-judge evaluations",
arXiv 2511.21140). Both assume that the labelled samples were drawn at random: from the run, or elsewhere from the
wrong and from the right answers.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist, fmean, variance
from typing import Final, Literal, NamedTuple

from aiq.core.base import Record
from aiq.stats.intervals import Interval, Spread, mean_interval, spread, spread_interval

_NORMAL: Final = NormalDist().inv_cdf(0.975)

Labelled = Sequence[tuple[float, float]]
"""For each labelled sample, the label and the judge's score."""


class Corrected(Record):
    """A mean corrected with `labels` labels, over `n` samples, beside the means of judge alone and labels alone.

    `weight`: of the judge's scores, 0 to 1, if it is tuned. `sensitivity`, `specificity`: how often the judge calls
    right what people call right, and wrong what they call wrong. `failed`: samples whose worst value needs no judge;
    they are included in all of these means except that of the labels of other runs.
    """

    metric: str
    method: Literal["ppi++", "lee"]
    mean: float
    ci95: Interval | None
    n: int
    labels: int
    failed: int
    judge: float
    labels_alone: float
    labels_ci95: Interval | None
    weight: float | None = None
    sensitivity: float | None = None
    specificity: float | None = None


class Bounded(NamedTuple):
    """The bounds of a metric, if it has any."""

    low: float | None = 0.0
    high: float | None = 1.0

    def clamp(self, value: float) -> float:
        """The value, limited to the bounds."""
        value = value if self.low is None else max(self.low, value)
        return value if self.high is None else min(self.high, value)


class Mean(NamedTuple):
    """A corrected mean with the spread for its interval."""

    mean: float
    spread: Spread
    weight: float


def ppi(labelled: Labelled, unlabelled: Sequence[float]) -> Mean:
    """The judge's mean over unlabelled samples, plus its error according to the labels; takes two or more labels.

    mean = w mean(f unlabelled) + mean(y - w f labelled), with the weight w in 0 .. 1 that minimises the variance:
    cov(y, f) / (var(f) (1 + n / N)) for n labels and N other samples.
    """
    n, n_unlabelled = len(labelled), len(unlabelled)
    scores = [score for _, score in labelled]
    score_variance = variance([*scores, *unlabelled])
    weight = 0.0
    if n_unlabelled > 1 and score_variance > 1e-12:
        mean_label, mean_score = fmean(label for label, _ in labelled), fmean(scores)
        covariance = math.fsum((label - mean_label) * (score - mean_score) for label, score in labelled) / n
        weight = min(1.0, max(0.0, covariance / (score_variance * (1 + n / n_unlabelled))))
    errors = [label - weight * score for label, score in labelled]
    mean = fmean(errors) + (weight * fmean(unlabelled) if weight else 0.0)
    error_spread = spread([error - fmean(errors) for error in errors])
    error = math.sqrt(error_spread.error**2 + (weight**2 * variance(unlabelled) / n_unlabelled if weight else 0.0))
    return Mean(mean, Spread(error, error_spread.freedom, n), weight)


def ppi_estimate(
    labelled: Labelled, unlabelled: Sequence[float], bounds: Bounded | None = None
) -> tuple[float, Interval | None, float]:
    """PPI++ over the judged samples of a run: mean, interval and the judge's weight."""
    bounds = bounds or Bounded()
    mean, uncertainty, weight = ppi(labelled, unlabelled)
    mean = bounds.clamp(mean)
    return mean, spread_interval(mean, uncertainty, *bounds), weight


def with_failed(
    mean: float, interval: Interval | None, share: float, n: int, worst: float, bounds: Bounded | None = None
) -> tuple[float, Interval | None]:
    """Mean and interval over all n samples: a `share` with this mean and interval, the rest with the value `worst`.

    The two are strata whose sizes are uncertain as well: the distance to an interval's end is the root of the sum of
    the squares of both parts (Zou and Donner 2008, "Construction of confidence limits about effect measures").
    """
    clamp, total = (bounds or Bounded()).clamp, share * mean + (1 - share) * worst
    if interval is None:
        return total, None
    size_error = _NORMAL * (mean - worst) * math.sqrt(share * (1 - share) / n)
    low, high = (math.hypot(share * (end - mean), size_error) for end in interval)
    return total, (clamp(total - low), clamp(total + high))


def labels_alone(labelled: Labelled, bounds: Bounded | None = None) -> tuple[float, Interval | None]:
    """The mean of the labels and its interval."""
    values = [label for label, _ in labelled]
    mean = fmean(values)
    return mean, mean_interval(mean, [value - mean for value in values], *(bounds or Bounded()))


class Rates(NamedTuple):
    """How often a judge is right on `right` samples that people call right, and on `wrong` ones that they do not."""

    sensitivity: float
    specificity: float
    right: int
    wrong: int


def rates(labelled: Labelled) -> Rates | None:
    """The rates from labels and scores that are 0 or 1; None without labels of both kinds."""
    right = [score for label, score in labelled if label == 1]
    wrong = [1 - score for label, score in labelled if label == 0]
    return Rates(fmean(right), fmean(wrong), len(right), len(wrong)) if right and wrong else None


def rogan_gladen(judged: Sequence[float], known: Rates) -> tuple[float, Interval] | None:
    """The share of right samples among those that the judge gave 0 or 1; None for a judge no better than chance.

    (p + specificity - 1) / (sensitivity + specificity - 1), limited to 0 .. 1; the interval adds z^2 / 2 to the counts
    of the run and one to those of the labels, and shifts the middle for skewness, as in the paper.
    """
    n, share, z = len(judged), fmean(judged), _NORMAL
    youden = known.sensitivity + known.specificity - 1
    if youden <= 0:
        return None
    clamp = Bounded().clamp
    mean = clamp((share + known.specificity - 1) / youden)
    p, size = (n * share + z**2 / 2) / (n + z**2), n + z**2
    q0, m0 = (known.wrong * known.specificity + 1) / (known.wrong + 2), known.wrong + 2
    q1, m1 = (known.right * known.sensitivity + 1) / (known.right + 2), known.right + 2
    if q0 + q1 <= 1:
        return None
    middle = (p + q0 - 1) / (q0 + q1 - 1)
    wrong, right = q0 * (1 - q0) / m0, q1 * (1 - q1) / m1
    shift = 2 * z**2 * (middle * right - (1 - middle) * wrong)
    half = z * math.sqrt(p * (1 - p) / size + (1 - middle) ** 2 * wrong + middle**2 * right) / (q0 + q1 - 1)
    return mean, (clamp(middle + shift - half), clamp(middle + shift + half))
