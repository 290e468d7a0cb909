"""Bootstrap means and ratios of many metrics at once, from samples drawn with replacement."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESAMPLES: Final = 10_000
_BLOCK: Final = 2_000_000  # draws held in memory at a time


def resampled(
    numerators: "NDArray[np.float64]",
    denominators: "NDArray[np.float64]",
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> "NDArray[np.float64]":
    """Sum of numerators / sum of denominators for `resamples` draws of n samples: shape (resamples, metrics).

    Both have shape (samples, metrics), one row per sample with its epochs averaged or summed, because samples are
    what was drawn from the population (Efron 1979, "Bootstrap Methods: Another Look at the Jackknife"). A mean has
    denominators of 1, or 0 if a sample has no score. A resample is the same for all metrics, so differences between
    columns are paired. NaN if the denominators of a resample sum to 0.

    Drawing a sample k times gives it weight k: a resample is a row of counts, and all of them a matrix product.
    """
    import numpy as np

    n = len(numerators)
    rng = np.random.default_rng(seed)
    totals = np.concatenate((numerators, denominators), axis=1)
    sums = []
    rows = max(1, _BLOCK // n)
    for begin in range(0, resamples, rows):
        size = min(rows, resamples - begin)
        picks = rng.integers(0, n, size=(size, n), dtype=np.int32)
        picks += n * np.arange(size, dtype=np.int32)[:, None]
        sums.append(np.bincount(picks.ravel(), minlength=size * n).reshape(size, n) @ totals)
    numerator_sums, denominator_sums = np.split(np.concatenate(sums), 2, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(denominator_sums != 0, numerator_sums / denominator_sums, np.nan)
