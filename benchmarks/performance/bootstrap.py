"""`python -m benchmarks.performance.bootstrap`: what 10,000 resamples of a run cost, compared with a plain loop.

It prints a table and exits with 1 if the promise of README.md is broken.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from aiq.stats.bootstrap import resampled

SAMPLES, METRICS, RESAMPLES = 1_000, 12, 10_000
MOST_SECONDS = 1.0
ROUNDS = 5

Array = np.ndarray[Any, Any]


def plain(over: Array, under: Array, *, resamples: int, seed: int) -> Array:
    """The plain loop: draw, add up, divide, for each resample and metric."""
    draw = np.random.default_rng(seed)
    ratios = np.empty((resamples, over.shape[1]))
    for row in ratios:
        picks = draw.integers(0, len(over), len(over))
        for metric in range(over.shape[1]):
            row[metric] = over[picks, metric].sum() / under[picks, metric].sum()
    return ratios


def measured(over: Array, under: Array, resamples: int, rounds: int) -> dict[str, tuple[float, Array]]:
    """By implementation: the median of its processor seconds, measured in turns, and its standard errors."""
    ways: dict[str, Callable[..., Array]] = {"aiq": resampled, "plain loop": plain}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    errors = {}
    for _ in range(rounds):
        for name, way in ways.items():
            begin = process_time()
            errors[name] = way(over, under, resamples=resamples, seed=1).std(axis=0)
            seconds[name].append(process_time() - begin)
    return {name: (median(seconds[name]), errors[name]) for name in ways}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.performance.bootstrap", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="does it run? small sizes, no promises")
    quick = parser.parse_args(arguments).quick
    samples, resamples, rounds = (50, 500, 1) if quick else (SAMPLES, RESAMPLES, ROUNDS)
    draw = np.random.default_rng(0)
    denominators = 1.0 + draw.poisson(8, (samples, METRICS))
    numerators = draw.binomial(denominators.astype(int), 0.7).astype(float)
    results = measured(numerators, denominators, resamples, rounds)
    print(f"{resamples:,} resamples x {samples:,} samples x {METRICS} metrics")
    print(f"{'':12} {'seconds':>8}  standard errors")
    for name, (seconds, errors) in results.items():
        print(f"{name:12} {seconds:8.3f}  {errors.min():.5f} to {errors.max():.5f}")
    agree = np.allclose(results["aiq"][1], results["plain loop"][1], rtol=0.2 if quick else 0.05)
    broken = not agree or (not quick and results["aiq"][0] > MOST_SECONDS)
    print("the promise is broken" if broken else f"{results['plain loop'][0] / results['aiq'][0]:.0f} times as fast")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
