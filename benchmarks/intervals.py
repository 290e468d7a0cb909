"""`python -m benchmarks.intervals`: how often the printed 95 % intervals hold, in simulated experiments.

For each kind of number and each n: the mean coverage over its distributions, the lowest of them and where, and the mean
width relative to another method: for shares the mid-P interval, for corrected means the interval of the labels alone,
else Student's. For shares, the exact coverage at every p is also computed from the binomial distribution: the limit of
infinitely many experiments. The exit code is 1 if a promise of docs/statistics.md is broken.
--rivals tries Student's and two bootstrap intervals on bounded scores instead.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import Any, get_args

import numpy as np
from scipy import optimize, stats
from scipy.special import stdtrit

from aiq.stats.estimates import ratio_estimate
from aiq.stats.intervals import Interval, Method, difference_interval, mean_interval
from aiq.stats.labels import labels_alone, ppi_estimate, rates, rogan_gladen

SIZES = (8, 12, 20, 40, 100, 500)
SHARES = tuple(number / 100 for number in range(2, 99, 4))
MEAN_COVERAGE = (0.94, 0.97)
LEAST_COVERAGE, LEAST_FROM = 0.90, 12
LEAST_EXACT = 0.95
MOST_WIDTH = 1.15
UNREACHED = MEAN_COVERAGE[0]  # kinds with a lower mean coverage are listed at the end
EVERY_P = np.linspace(0.02, 0.98, 1921)
COMPARED = 200  # experiments per distribution in which widths are compared
QUICK, QUICK_SIZES = 100, (20, 40)

Draw = np.random.Generator
Sampled = tuple[np.ndarray[Any, Any], ...]  # the numbers, or numerators and denominators, or two runs
Size = tuple[int, int]  # experiments, clusters
Distribution = tuple[Callable[[Draw, Size], Sampled], float]  # draws the clusters of experiments; the true value


@dataclass(frozen=True)
class Kind:
    """A kind of number: its distributions by name (how to draw n clusters, and the true value), and its interval."""

    name: str
    distributions: Mapping[str, Distribution]
    interval: Callable[[Sampled], Interval | None]
    other: Callable[[Sampled], Interval]
    shares: bool = False
    promise: tuple[float, float] | None = None  # promised range of the mean coverage
    least: float = 0.0  # promised least coverage, from n = 12 on
    sizes: tuple[int, ...] = SIZES


def of_mean(low: float | None, high: float | None, method: Method = "score") -> Callable[[Sampled], Interval | None]:
    def interval(sampled: Sampled) -> Interval | None:
        mean = float(sampled[0].mean())
        return mean_interval(mean, (sampled[0] - mean).tolist(), low, high, method)

    return interval


def of_ratio(sampled: Sampled) -> Interval | None:
    estimate = ratio_estimate([[pair] for pair in zip(*(part.tolist() for part in sampled), strict=True)], 0.0, 1.0)
    return estimate.ci95 if estimate else None


def of_labels(sampled: Sampled) -> Interval | None:
    """PPI++: human labels of the first samples, the judge's scores for these, and for the others."""
    return ppi_estimate(list(zip(sampled[0].tolist(), sampled[1].tolist(), strict=True)), sampled[2].tolist())[1]


def labels_only(sampled: Sampled) -> Interval:
    return labels_alone([(label, label) for label in sampled[0].tolist()])[1] or (0.0, 1.0)


def of_other_labels(sampled: Sampled) -> Interval | None:
    judge_rates = rates(list(zip(sampled[0].tolist(), sampled[1].tolist(), strict=True)))
    estimate = rogan_gladen(sampled[2].tolist(), judge_rates) if judge_rates else None
    return estimate[1] if estimate else (0.0, 1.0)  # the command prints no interval: the labels say too little


def of_difference(sampled: Sampled) -> Interval | None:
    changes = sampled[1] - sampled[0]
    mean = float(changes.mean())
    return difference_interval(mean, (changes - mean).tolist(), changes.tolist(), 1.0)


def students(sampled: Sampled) -> Interval:
    """Student's interval of the mean, the paired difference, or (linearised) the ratio."""
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

    bracket = 1e-12, 1 - 1e-12
    return (
        optimize.brentq(above, *bracket) if right else 0.0,
        optimize.brentq(below, *bracket) if right < n else 1.0,
    )


def kinds() -> Iterator[Kind]:
    """Every kind of number in a run."""
    share = of_mean(0, 1)
    exact, least = of_mean(0, 1, "exact"), LEAST_COVERAGE
    single = {f"p={p:g}": (_repeated(p, 1), p) for p in SHARES}
    yield Kind("shares", single, share, mid_p, shares=True, promise=MEAN_COVERAGE, least=least)
    yield Kind("shares, exact", single, exact, mid_p)
    for epochs in (2, 3, 5):
        for alike in (0.0, 0.5):
            name = f"shares, {epochs} epochs{' alike' if alike else ''}"
            repeated = {f"p={p:g}": (_repeated(p, epochs, alike), p) for p in SHARES}
            yield Kind(name, repeated, share, students, promise=MEAN_COVERAGE, least=least)
            if epochs == 5:
                yield Kind(f"{name}, exact", repeated, exact, students)
    ratios = {f"p={p:g}": (_ratio(p), p) for p in SHARES}
    yield Kind("ratios", ratios, of_ratio, linearised, promise=MEAN_COVERAGE, least=least)
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
    judges = [(p, *judge) for p in (0.05, 0.2, 0.5, 0.8, 0.95) for judge in ((0.9, 0.8), (0.8, 0.7))]
    ppi = {f"p={p:g}, judge {se:g}/{sp:g}": (_labels(p, se, sp, p), p) for p, se, sp in judges}
    yield Kind("corrected by n labels", ppi, of_labels, labels_only, sizes=(20, 40, 100))
    lee = {f"p={p:g}, judge {se:g}/{sp:g}": (_labels(p, se, sp, 0.5), p) for p, se, sp in judges}
    yield Kind("corrected by n other labels", lee, of_other_labels, labels_only, sizes=(20, 40, 100))


def linearised(sampled: Sampled) -> Interval:
    """Student's interval of a ratio."""
    numerators, denominators = sampled
    ratio = float(numerators.sum() / denominators.sum())
    low, high = students(((numerators - ratio * denominators) / denominators.mean(),))
    return ratio + low, ratio + high


def _beta(mean: float, strength: float) -> Callable[[Draw, Size], Sampled]:
    return lambda draw, n: (draw.beta(mean * strength, (1 - mean) * strength, n),)


def _zeros(share: float) -> Callable[[Draw, Size], Sampled]:
    return lambda draw, n: (draw.beta(4, 4, n) * (draw.random(n) >= share),)


def _poisson(mean: float, shape: float | None) -> Callable[[Draw, Size], Sampled]:
    """With a shape, the means vary too (a negative binomial distribution)."""
    return lambda draw, n: (
        draw.poisson(mean if shape is None else draw.gamma(shape, mean / shape, n), n).astype(float),
    )


def _lognormal(spread: float) -> Callable[[Draw, Size], Sampled]:
    return lambda draw, n: (draw.lognormal(1, spread, n),)


def _repeated(share: float, epochs: int, alike: float = 0.0) -> Callable[[Draw, Size], Sampled]:
    """Cluster means over epochs; `alike`: the correlation of a sample's epochs (intra-class correlation)."""

    def draw_means(draw: Draw, n: Size) -> Sampled:
        strength = (1 - alike) / alike if alike else 0.0
        shares = draw.beta(share * strength, (1 - share) * strength, n) if alike else np.full(n, share)
        return (draw.binomial(epochs, shares) / epochs,)

    return draw_means


def _ratio(share: float) -> Callable[[Draw, Size], Sampled]:
    """Reports of 1 to about 30 citations, each correct with a probability specific to the report."""

    def draw_counts(draw: Draw, n: Size) -> Sampled:
        totals = 1 + draw.poisson(draw.gamma(2, 4, n))
        return draw.binomial(totals, draw.beta(10 * share, 10 * (1 - share), n)).astype(float), totals.astype(float)

    return draw_counts


def _paired(first: float, second: float) -> Callable[[Draw, Size], Sampled]:
    """Two runs on the same questions, half of which are equally hard for both."""

    def draw_runs(draw: Draw, n: Size) -> Sampled:
        difficulty = draw.random(n)
        other_difficulty = np.where(draw.random(n) < 0.5, difficulty, draw.random(n))
        return (difficulty < first).astype(float), (other_difficulty < second).astype(float)

    return draw_runs


def _labels(share: float, sensitivity: float, specificity: float, labelled: float) -> Callable[[Draw, Size], Sampled]:
    """Labels of n samples with a share `labelled` right, and 400 samples with `share` right; a judge scores both."""

    def judge(draw: Draw, right: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
        uniform = draw.random(right.shape)
        return np.asarray(np.where(right, uniform < sensitivity, uniform >= specificity), dtype=float)

    def draw_labels(draw: Draw, n: Size) -> Sampled:
        right, unlabelled = draw.random(n) < labelled, draw.random((n[0], 400)) < share
        return right.astype(float), judge(draw, right), judge(draw, unlabelled)

    return draw_labels


def _paired_scores(draw: Draw, n: Size) -> Sampled:
    difficulty = draw.normal(0, 1, n)
    first, second = (1 / (1 + np.exp(-(difficulty + draw.normal(0, 0.5, n)))) for _ in range(2))
    return first, second


def measured(kind: Kind, n: int, experiments: int) -> tuple[float, float, str, float]:
    """Mean and least coverage over the kind's distributions, where it is least, and mean width relative to `other`."""
    draw, coverage = np.random.default_rng(n), {}
    widths: list[float] = []
    other_widths: list[float] = []
    for name, (sample, truth) in kind.distributions.items():
        hits = 0
        for number, sampled in enumerate(zip(*sample(draw, (experiments, n)), strict=True)):
            interval = kind.interval(sampled)
            if interval is None:
                continue
            hits += interval[0] - 1e-12 <= truth <= interval[1] + 1e-12
            if number < COMPARED:
                widths.append(interval[1] - interval[0])
                other_widths.append(float(np.ptp(kind.other(sampled))))
        coverage[name] = hits / experiments
    least = min(coverage, key=lambda name: coverage[name])
    return fmean(coverage.values()), coverage[least], least, fmean(widths) / fmean(other_widths)


def _measured(row: tuple[int, int, int]) -> tuple[float, float, str, float]:
    """`measured` in a separate process, given the kind by its position, n and the number of experiments."""
    index, n, experiments = row
    return measured(list(kinds())[index], n, experiments)


def at_every_p(n: int, method: Method) -> tuple[float, float, float]:
    """Exact coverage for a share of n samples: mean and least over every p from 0.02 to 0.98, and p of the least."""
    intervals = [_share_interval(right, n, method) for right in range(n + 1)]
    coverage = sum(
        stats.binom.pmf(right, n, EVERY_P) * ((low <= EVERY_P + 1e-12) & (high >= EVERY_P - 1e-12))
        for right, (low, high) in enumerate(intervals)
    )
    worst = int(np.argmin(coverage))
    return float(np.mean(coverage)), float(coverage[worst]), float(EVERY_P[worst])


def _share_interval(right: int, n: int, method: Method) -> Interval:
    share = right / n
    interval = mean_interval(share, [1 - share] * right + [-share] * (n - right), 0, 1, method)
    assert interval is not None
    return interval


def rivals(n: int, experiments: int) -> Iterator[tuple[str, str, float, float, float]]:
    """Kind of score, method, mean and least coverage, and mean width, for ours, Student's and two bootstraps."""
    methods: dict[str, Callable[[Sampled, Draw], Interval | None]] = {
        "score interval": lambda sampled, draw: of_mean(0, 1)(sampled),
        "Student's": lambda sampled, draw: students(sampled),
        "studentised bootstrap": lambda sampled, draw: _bootstrap(sampled[0], draw)[0],
        "BCa bootstrap": lambda sampled, draw: _bootstrap(sampled[0], draw)[1],
    }
    for kind in [kind for kind in kinds() if kind.name.endswith("scores") and "paired" not in kind.name]:
        for method, interval in methods.items():
            coverage, widths = [], []
            for sample, truth in kind.distributions.values():
                draw = np.random.default_rng(n)
                samples = zip(*sample(draw, (experiments, n)), strict=True)
                bounds = [interval(experiment, draw) or (0.0, 0.0) for experiment in samples]
                clipped = [(max(0.0, low), min(1.0, high)) for low, high in bounds]
                coverage.append(fmean(low - 1e-12 <= truth <= high + 1e-12 for low, high in clipped))
                widths.append(fmean(high - low for low, high in clipped))
            yield kind.name, method, fmean(coverage), min(coverage), fmean(widths)


def _bootstrap(values: "np.ndarray[Any, Any]", draw: Draw, resamples: int = 1000) -> tuple[Interval, Interval]:
    """Efron's (1987) studentised and bias-corrected accelerated intervals; of zero width if all values are equal."""
    mean, spread = float(values.mean()), float(values.std(ddof=1))
    if not spread:
        return (mean, mean), (mean, mean)
    resampled = values[draw.integers(0, len(values), (resamples, len(values)))]
    means, spreads = resampled.mean(axis=1), resampled.std(axis=1, ddof=1)
    low, high = np.quantile((means - mean)[spreads > 0] / spreads[spreads > 0], (0.025, 0.975))
    studentised = mean - high * spread, mean - low * spread
    share_below = float(np.mean(means < mean) + np.mean(means == mean) / 2)
    bias = float(stats.norm.ppf(min(1 - 1e-6, max(1e-6, share_below))))
    deviations = values - mean
    acceleration = float((deviations**3).sum() / (6 * (deviations**2).sum() ** 1.5))
    quantiles = [bias + sign * 1.959964 for sign in (-1, 1)]
    ranks = [stats.norm.cdf(bias + z / (1 - acceleration * z)) for z in quantiles]
    low_end, high_end = np.quantile(means, ranks)
    return (float(studentised[0]), float(studentised[1])), (float(low_end), float(high_end))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.intervals", description=__doc__)
    parser.add_argument("--experiments", type=int, default=2000, help="per distribution and n (%(default)s)")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} experiments, fewer n; promises are not checked")
    parser.add_argument("--rivals", action="store_true", help="try other methods on bounded scores, with n of 8 to 40")
    options = parser.parse_args(arguments)
    experiments = QUICK if options.quick else options.experiments
    if options.rivals:
        print(f"{'kind':20} {'n':>4} {'method':22} {'coverage':>9} {'least':>6} {'width':>6}")
        for n in (8, 12, 20, 40):
            for kind_name, method, mean, least, width in rivals(n, experiments):
                print(f"{kind_name:20} {n:4} {method:22} {mean:9.3f} {least:6.3f} {width:6.3f}", flush=True)
        return 0
    print(f"{'kind':30} {'n':>4} {'coverage':>9} {'least':>6} {'width':>6}  least at")
    broken, unreached = [], []
    rows = [
        (i, n, experiments) for i, kind in enumerate(kinds()) for n in (QUICK_SIZES if options.quick else kind.sizes)
    ]
    all_kinds = list(kinds())
    with ProcessPoolExecutor() as pool:
        for (i, n, _), (mean, least, where, width) in zip(rows, pool.map(_measured, rows), strict=True):
            kind = all_kinds[i]
            print(f"{kind.name:30} {n:4} {mean:9.3f} {least:6.3f} {width:6.2f}  {where}", flush=True)
            broken += [f"{kind.name}, n={n}: {problem}" for problem in _broken(kind, n, mean, least, width)]
            unreached += [f"{kind.name}, n={n}: {mean:.2f} ({least:.2f})"] if mean < UNREACHED else []
    for method in get_args(Method):
        for n in SIZES:
            mean, least, p = at_every_p(n, method)
            print(f"{f'shares, {method}, every p':30} {n:4} {mean:9.3f} {least:6.3f} {'':6}  p={p:.4f}")
            low = LEAST_EXACT if method == "exact" else LEAST_COVERAGE if n >= LEAST_FROM else 0.0
            broken += [f"shares, {method}, n={n}: {least:.4f} at p={p:.4f}"] if least < low - 1e-9 else []
    if unreached:
        print(f"not reached, because few samples of a skewed number say too little: {'; '.join(unreached)}")
    if options.quick:
        return 0
    print("\n".join(broken) if broken else "every promise is kept")
    return 1 if broken else 0


def _broken(kind: Kind, n: int, mean: float, least: float, width: float) -> Iterator[str]:
    if kind.promise and not kind.promise[0] <= round(mean, 3) <= kind.promise[1]:
        yield f"mean coverage {mean:.3f}"
    if least < kind.least and n >= LEAST_FROM:
        yield f"least coverage {least:.3f}"
    if kind.shares and width > MOST_WIDTH:
        yield f"width {width:.2f}"


if __name__ == "__main__":
    sys.exit(main())
