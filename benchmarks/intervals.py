"""`python -m benchmarks.intervals`: how often the printed 95 % intervals hold, in simulated experiments.

For each kind of number and each n: the mean coverage over its distributions, the least of them and where, and the mean
width as a multiple of another method's: for shares of the mid-P interval's, else of Student's. The exit code is 1
where a promise of docs/statistics.md is broken.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import Any

import numpy as np
from scipy import optimize, stats
from scipy.special import stdtrit

from aiq.stats.intervals import Interval, difference_interval, mean_interval

SIZES = (8, 12, 20, 40, 100, 500)
SHARES = tuple(number / 100 for number in range(2, 99, 4))
MEAN_COVERAGE = (0.94, 0.97)
LEAST_COVERAGE, LEAST_FROM = 0.90, 12
MOST_WIDTH = 1.15

Draw = np.random.Generator
Sampled = tuple[np.ndarray[Any, Any], ...]  # the clusters' numbers, or numerators and denominators, or two runs
Distribution = tuple[Callable[[Draw, int], Sampled], float]  # draws n clusters; the truth


@dataclass(frozen=True)
class Kind:
    """A kind of number: its distributions by name (what to draw for n clusters, and the truth), and its interval."""

    name: str
    distributions: Mapping[str, Distribution]
    interval: Callable[[Sampled], Interval | None]
    other: Callable[[Sampled], Interval]
    shares: bool = False


def of_mean(low: float | None, high: float | None) -> Callable[[Sampled], Interval | None]:
    def interval(sampled: Sampled) -> Interval | None:
        (values,) = sampled
        return mean_interval(float(values.mean()), list(values - values.mean()), low, high)

    return interval


def of_ratio(sampled: Sampled) -> Interval | None:
    over, under = sampled
    ratio = float(over.sum() / under.sum())
    return mean_interval(ratio, list((over - ratio * under) / under.mean()), 0, 1)


def of_difference(sampled: Sampled) -> Interval | None:
    changes = sampled[1] - sampled[0]
    mean = float(changes.mean())
    return difference_interval(mean, list(changes - mean), list(changes), 1.0)


def students(sampled: Sampled) -> Interval:
    """Of the mean, the paired difference, or (linearised) the ratio."""
    values = sampled[0] if len(sampled) == 1 else sampled[1] - sampled[0]
    half = stdtrit(len(values) - 1, 0.975) * values.std(ddof=1) / len(values) ** 0.5
    return float(values.mean() - half), float(values.mean() + half)


def mid_p(sampled: Sampled) -> Interval:
    return _mid_p(int(sampled[0].sum()), len(sampled[0]))


@cache
def _mid_p(right: int, n: int) -> Interval:
    def above(share: float) -> float:
        return float(stats.binom.sf(right, n, share) + stats.binom.pmf(right, n, share) / 2 - 0.025)

    def below(share: float) -> float:
        return float(stats.binom.cdf(right - 1, n, share) + stats.binom.pmf(right, n, share) / 2 - 0.025)

    ends = 1e-12, 1 - 1e-12
    return (
        optimize.brentq(above, *ends) if right else 0.0,
        optimize.brentq(below, *ends) if right < n else 1.0,
    )


def kinds() -> Iterator[Kind]:
    """Every kind of number that runs have."""
    share = of_mean(0, 1)
    yield Kind("shares", {f"p={p:g}": (_repeated(p, 1), p) for p in SHARES}, share, mid_p, shares=True)
    for epochs in (3, 5):
        for alike in (0.0, 0.5):
            name = f"shares, {epochs} epochs{' alike' if alike else ''}"
            yield Kind(name, {f"p={p:g}": (_repeated(p, epochs, alike), p) for p in SHARES}, share, students)
    yield Kind("ratios", {f"p={p:g}": (_ratio(p), p) for p in SHARES}, of_ratio, linearised)
    scores = {f"beta({20 * m:g}, {20 - 20 * m:g})": (_beta(m, 20), m) for m in (0.05, 0.2, 0.5, 0.8, 0.95)}
    scores |= {f"{zeros:.0%} zeros": (_zeros(zeros), (1 - zeros) / 2) for zeros in (0.1, 0.5, 0.9)}
    yield Kind("scores", scores, share, students)
    skewed = {f"beta({2 * m:g}, {2 - 2 * m:g})": (_beta(m, 2), m) for m in (0.05, 0.1, 0.5, 0.9)}
    yield Kind("very skewed scores", skewed, share, students)
    counts: dict[str, Distribution] = {f"Poisson({mean:g})": (_poisson(mean, None), mean) for mean in (1.0, 3.0, 10.0)}
    counts["negative binomial, mean 2"] = _poisson(2.0, 1.0), 2.0
    yield Kind("counts", counts, of_mean(0, None), students)
    yield Kind(
        "skewed counts",
        {f"lognormal({spread:g})": (_lognormal(spread), float(np.exp(1 + spread**2 / 2))) for spread in (0.5, 1)},
        of_mean(0, None),
        students,
    )
    pairs = ((0.5, 0.5), (0.8, 0.8), (0.6, 0.8), (0.9, 0.85))
    runs = {f"{p:g} and {q:g}": (_paired(p, q), q - p) for p, q in pairs}
    yield Kind("paired differences of shares", runs, of_difference, students)
    yield Kind("paired differences of scores", {"equal": (_paired_scores, 0.0)}, of_difference, students)


def linearised(sampled: Sampled) -> Interval:
    """Student's interval of a ratio."""
    over, under = sampled
    ratio = float(over.sum() / under.sum())
    low, high = students(((over - ratio * under) / under.mean(),))
    return ratio + low, ratio + high


def _beta(mean: float, strength: float) -> Callable[[Draw, int], Sampled]:
    return lambda draw, n: (draw.beta(mean * strength, (1 - mean) * strength, n),)


def _zeros(share: float) -> Callable[[Draw, int], Sampled]:
    return lambda draw, n: (draw.beta(4, 4, n) * (draw.random(n) >= share),)


def _poisson(mean: float, shape: float | None) -> Callable[[Draw, int], Sampled]:
    """With a shape the means vary themselves (a negative binomial distribution)."""
    return lambda draw, n: (
        draw.poisson(mean if shape is None else draw.gamma(shape, mean / shape, n), n).astype(float),
    )


def _lognormal(spread: float) -> Callable[[Draw, int], Sampled]:
    return lambda draw, n: (draw.lognormal(1, spread, n),)


def _repeated(share: float, epochs: int, alike: float = 0.0) -> Callable[[Draw, int], Sampled]:
    """Cluster means over epochs; `alike`: how strongly a sample's epochs go together (the intra-class correlation)."""

    def draw_means(draw: Draw, n: int) -> Sampled:
        strength = (1 - alike) / alike if alike else 0.0
        own = draw.beta(share * strength, (1 - share) * strength, n) if alike else np.full(n, share)
        return (draw.binomial(epochs, own) / epochs,)

    return draw_means


def _ratio(share: float) -> Callable[[Draw, int], Sampled]:
    """Reports of 1 to some 30 citations, each right with its report's own probability."""

    def draw_counts(draw: Draw, n: int) -> Sampled:
        under = 1 + draw.poisson(draw.gamma(2, 4, n))
        return draw.binomial(under, draw.beta(10 * share, 10 * (1 - share), n)).astype(float), under.astype(float)

    return draw_counts


def _paired(first: float, second: float) -> Callable[[Draw, int], Sampled]:
    """Two runs on the same questions, half of which both find as hard."""

    def draw_runs(draw: Draw, n: int) -> Sampled:
        hard = draw.random(n)
        other = np.where(draw.random(n) < 0.5, hard, draw.random(n))
        return (hard < first).astype(float), (other < second).astype(float)

    return draw_runs


def _paired_scores(draw: Draw, n: int) -> Sampled:
    hard = draw.normal(0, 1, n)
    first, second = (1 / (1 + np.exp(-(hard + draw.normal(0, 0.5, n)))) for _ in range(2))
    return first, second


def measured(kind: Kind, n: int, experiments: int) -> tuple[float, float, str, float]:
    """Mean and least coverage over the kind's distributions, which that is, and the mean width against the other's."""
    draw, coverage = np.random.default_rng(n), {}
    widths: list[float] = []
    others: list[float] = []
    for name, (sample, truth) in kind.distributions.items():
        covered = 0
        for _ in range(experiments):
            sampled = sample(draw, n)
            found = kind.interval(sampled)
            if found is None:
                continue
            covered += found[0] - 1e-12 <= truth <= found[1] + 1e-12
            widths.append(found[1] - found[0])
            others.append(float(np.ptp(kind.other(sampled))))
        coverage[name] = covered / experiments
    least = min(coverage, key=lambda name: coverage[name])
    return fmean(coverage.values()), coverage[least], least, fmean(widths) / fmean(others)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.intervals", description=__doc__)
    parser.add_argument("--experiments", type=int, default=2000, help="of each distribution and n (%(default)s)")
    options = parser.parse_args(arguments)
    broken = 0
    print(f"{'kind':30} {'n':>4} {'coverage':>9} {'least':>6} {'width':>6}  least at")
    for kind in kinds():
        for n in SIZES:
            mean, least, where, width = measured(kind, n, options.experiments)
            print(f"{kind.name:30} {n:4} {mean:9.3f} {least:6.3f} {width:6.2f}  {where}", flush=True)
            if kind.shares:
                broken += not MEAN_COVERAGE[0] <= mean <= MEAN_COVERAGE[1]
                broken += least < LEAST_COVERAGE and n >= LEAST_FROM
                broken += width > MOST_WIDTH
    print(f"{broken} promises broken" if broken else "every promise for shares is kept")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
