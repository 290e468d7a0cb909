"""Tests of paired differences, and the correction for multiple tests."""

import math
from collections.abc import Hashable, Mapping, Sequence
from statistics import fmean, stdev
from typing import Final, TypeVar

K = TypeVar("K", bound=Hashable)

LEVEL: Final = 0.05
_EXACT: Final = 16  # changes whose 2^16 signs are all tried
_DRAWN: Final = 500  # changes up to which signs are drawn; above, Student's test says the same
_DRAWS: Final = 10_000


def fewest(level: float = LEVEL) -> int:
    """The fewest changes that can have a p-value below the level, if all go in one direction."""
    return math.floor(1 - math.log2(level)) + 1


TESTED: Final = fewest()


def paired_p(changes: Sequence[float]) -> float | None:
    """The two-sided p-value of a mean change that is truly 0; None if too few changed for one below LEVEL.

    `changes`: one per cluster. Without a difference a change is as likely to be a rise as a fall of the same size, so
    the signs are flipped: a randomisation test (Fisher 1935, "The Design of Experiments", section 21), exact for up to
    16 clusters that changed, with 10,000 seeded draws for up to 500, above that Student's paired test. Changes of one
    size, like those of shares with one epoch, make it McNemar's exact test. Clusters that did not change say nothing
    about the direction, and rounding errors are not changes: at least six (TESTED) are needed.
    """
    changed = _changed(changes)
    if len(changed) < TESTED:
        return None
    if step(changed) is not None:
        from scipy.special import bdtr  # scipy.stats takes seconds to import

        rises = sum(change > 0 for change in changed)
        return min(1.0, 2 * float(bdtr(min(rises, len(changed) - rises), len(changed), 0.5)))
    if len(changed) > _DRAWN:
        from scipy.special import stdtr

        n = len(changes)
        return 2 * float(stdtr(n - 1, -abs(fmean(changes)) / stdev(changes) * math.sqrt(n)))
    return _sign_flip(changed)


def step(changes: Sequence[float]) -> float | None:
    """The size of all changes that are not 0; None if sizes differ, or if there are no changes."""
    sizes = [abs(change) for change in _changed(changes)]
    return max(sizes) if sizes and max(sizes) - min(sizes) <= 1e-9 * max(sizes) else None


def _changed(changes: Sequence[float]) -> list[float]:
    """The changes that are not 0, apart from rounding."""
    largest = max(map(abs, changes), default=0.0)
    return [change for change in changes if abs(change) > 1e-9 * max(1.0, largest)]


def _sign_flip(changes: Sequence[float]) -> float:
    import numpy as np

    sizes, found = np.abs(changes), abs(math.fsum(changes)) * (1 - 1e-9)
    if len(changes) <= _EXACT:
        sums = np.zeros(1)
        for size in sizes:
            sums = np.concatenate((sums + size, sums - size))
        return float(np.mean(np.abs(sums) >= found))
    draw = np.random.default_rng(len(changes))
    rises = np.unpackbits(np.frombuffer(draw.bytes(_DRAWS * -(-len(changes) // 8)), dtype=np.uint8))
    risen = rises.reshape(_DRAWS, -1)[:, : len(changes)].astype(float) @ sizes
    return float((1 + np.count_nonzero(np.abs(2 * risen - sizes.sum()) >= found)) / (1 + _DRAWS))


def corrected(values: Mapping[K, float | None]) -> dict[K, float | None]:
    """The p-values of a family by Holm's method: below LEVEL, the chance that any of them is a false alarm is LEVEL.

    Holm (1979), "A simple sequentially rejective multiple test procedure". A test without a p-value, because it could
    never be below LEVEL, does not count in the family (Tarone 1990, "A modified Bonferroni method for discrete data").
    """
    family = sorted((p, place) for place, p in enumerate(values.values()) if p is not None)
    found: list[float | None] = [None] * len(values)
    largest = 0.0
    for rank, (p, place) in enumerate(family):
        found[place] = largest = max(largest, min(1.0, (len(family) - rank) * p))
    return dict(zip(values, found, strict=True))


def fall_p(p: float | None, change: float) -> float | None:
    """The one-sided p-value of a mean that has not fallen, from that of `paired_p`, whose tests are symmetric."""
    return None if p is None else p / 2 if change < 0 else 1 - p / 2


def holm_levels(values: Mapping[K, float | None], level: float = LEVEL) -> dict[K, float]:
    """The level that Holm's method compares each p-value of a family with; for one without, the strictest."""
    family = sorted((p, place) for place, p in enumerate(values.values()) if p is not None)
    levels = {place: level / (len(family) - rank) for rank, (_, place) in enumerate(family)}
    strictest = level / max(1, len(family))
    return {name: levels.get(place, strictest) for place, name in enumerate(values)}
