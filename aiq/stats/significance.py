"""Tests of paired differences, and the correction for multiple comparisons."""

import math
from collections.abc import Hashable, Mapping, Sequence
from statistics import fmean, stdev
from typing import Final, TypeVar

K = TypeVar("K", bound=Hashable)

LEVEL: Final = 0.05
_MOST_EXACT: Final = 16  # changes whose 2^16 signs are all tried
_MOST_DRAWN: Final = 500  # changes up to which signs are drawn; above, Student's test gives the same result
_DRAWS: Final = 10_000


def min_changes(level: float = LEVEL) -> int:
    """The fewest changes that can give a p-value below the level: if all have one direction."""
    return math.floor(1 - math.log2(level)) + 1


MIN_CHANGES: Final = min_changes()


def paired_p(changes: Sequence[float]) -> float | None:
    """The two-sided p-value for a true mean change of 0; None if too few clusters changed for a p-value below LEVEL.

    `changes`: one per cluster. Without a true difference, a change is as likely to be a rise as a fall of the same
    size, so signs are flipped: a randomisation test (Fisher 1935, "The Design of Experiments", section 21), exact for
    up to 16 changed clusters, with 10,000 seeded draws for up to 500, and Student's paired test above. If all changes
    have one size, as for shares with one epoch, it is McNemar's exact test. Clusters that did not change (rounding
    errors do not count) say nothing about the direction: at least six changes (TESTED) are needed.
    """
    changed = _nonzero(changes)
    if len(changed) < MIN_CHANGES:
        return None
    if step(changed) is not None:
        from scipy.special import bdtr  # scipy.stats takes seconds to import

        rises = sum(change > 0 for change in changed)
        return min(1.0, 2 * float(bdtr(min(rises, len(changed) - rises), len(changed), 0.5)))
    if len(changed) > _MOST_DRAWN:
        from scipy.special import stdtr

        n = len(changes)
        return 2 * float(stdtr(n - 1, -abs(fmean(changes)) / stdev(changes) * math.sqrt(n)))
    return _sign_flip(changed)


def step(changes: Sequence[float]) -> float | None:
    """The common size of all nonzero changes; None if their sizes differ, or if there are none."""
    sizes = [abs(change) for change in _nonzero(changes)]
    return max(sizes) if sizes and max(sizes) - min(sizes) <= 1e-9 * max(sizes) else None


def _nonzero(changes: Sequence[float]) -> list[float]:
    """The changes without those that are 0 except for rounding."""
    largest = max(map(abs, changes), default=0.0)
    return [change for change in changes if abs(change) > 1e-9 * max(1.0, largest)]


def _sign_flip(changes: Sequence[float]) -> float:
    import numpy as np

    sizes, observed = np.abs(changes), abs(math.fsum(changes)) * (1 - 1e-9)
    if len(changes) <= _MOST_EXACT:
        sums = np.zeros(1)
        for size in sizes:
            sums = np.concatenate((sums + size, sums - size))
        return float(np.mean(np.abs(sums) >= observed))
    rng = np.random.default_rng(len(changes))
    rises = np.unpackbits(np.frombuffer(rng.bytes(_DRAWS * -(-len(changes) // 8)), dtype=np.uint8))
    rise_sums = rises.reshape(_DRAWS, -1)[:, : len(changes)].astype(float) @ sizes
    return float((1 + np.count_nonzero(np.abs(2 * rise_sums - sizes.sum()) >= observed)) / (1 + _DRAWS))


def holm_corrected(values: Mapping[K, float | None]) -> dict[K, float | None]:
    """The p-values of a family, corrected by Holm's method: any false alarm below LEVEL has a probability of LEVEL.

    Holm (1979), "A simple sequentially rejective multiple test procedure". Tests without a p-value, which could never
    be below LEVEL, do not count in the family (Tarone 1990, "A modified Bonferroni method for discrete data").
    """
    family = sorted((p, place) for place, p in enumerate(values.values()) if p is not None)
    corrected: list[float | None] = [None] * len(values)
    largest = 0.0
    for rank, (p, place) in enumerate(family):
        corrected[place] = largest = max(largest, min(1.0, (len(family) - rank) * p))
    return dict(zip(values, corrected, strict=True))


def fall_p(p: float | None, change: float) -> float | None:
    """The one-sided p-value for a mean that has not fallen, from that of `paired_p`, whose tests are symmetric."""
    return None if p is None else p / 2 if change < 0 else 1 - p / 2


def holm_levels(values: Mapping[K, float | None], level: float = LEVEL) -> dict[K, float]:
    """The level with which Holm's method compares each p-value of a family; the strictest for those without one."""
    family = sorted((p, place) for place, p in enumerate(values.values()) if p is not None)
    levels = {place: level / (len(family) - rank) for rank, (_, place) in enumerate(family)}
    strictest = level / max(1, len(family))
    return {name: levels.get(place, strictest) for place, name in enumerate(values)}
