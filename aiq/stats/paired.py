"""The difference of two runs on the samples both have: paired, so that hard samples do not count as noise."""

import math
from collections.abc import Mapping

from aiq.core.base import Record
from aiq.stats.estimates import Pairs, Values, mean_estimate, mean_of, sums
from aiq.stats.quantiles import t_quantile


class Difference(Record):
    """Second minus first, over `n` common samples. `ci95` is None where n < 2."""

    mean: float
    ci95: tuple[float, float] | None
    n: int

    @property
    def significant(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.ci95 is not None and not self.ci95[0] <= 0 <= self.ci95[1]


def paired_means(first: Mapping[str, Values], second: Mapping[str, Values]) -> Difference | None:
    """Mean over common samples of (mean over epochs in `second` - in `first`); None without common samples.

    The interval is the paired t interval over the samples' differences.
    """
    common = sorted(sample for sample in first if first[sample] and second.get(sample))
    estimate = mean_estimate([[mean_of(second[sample]) - mean_of(first[sample])] for sample in common])
    return Difference(mean=estimate.mean, ci95=estimate.ci95, n=estimate.n) if estimate else None


def paired_ratios(first: Mapping[str, Pairs], second: Mapping[str, Pairs]) -> Difference | None:
    """Difference of two ratios of sums over common samples; None where a denominator sums to 0.

    Both ratios are linearised as in `ratio_estimate`, and their residuals subtracted sample by
    sample, so that what the two runs share cancels: d_i = (x_i - R y_i) / Y of second - of first,
    var = n / (n - 1) * sum(d_i^2).
    """
    common = sorted(sample for sample in first if first[sample] and second.get(sample))
    before, after = [sums(first[s]) for s in common], [sums(second[s]) for s in common]
    (x0, y0), (x1, y1) = sums(before), sums(after)
    if y0 == 0 or y1 == 0:
        return None
    r0, r1, n = x0 / y0, x1 / y1, len(common)
    if n < 2:
        return Difference(mean=r1 - r0, ci95=None, n=n)
    residuals = [(b[0] - r1 * b[1]) / y1 - (a[0] - r0 * a[1]) / y0 for a, b in zip(before, after, strict=True)]
    error = math.sqrt(n / (n - 1) * math.fsum(d * d for d in residuals))
    half = t_quantile(n - 1) * error
    return Difference(mean=r1 - r0, ci95=(r1 - r0 - half, r1 - r0 + half), n=n)
