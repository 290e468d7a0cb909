"""`python -m benchmarks.false_alarms`: false alarms and power of comparisons and gates.

Runs are simulated sample by sample and go through `aiq compare`, `aiq gate` and `aiq power` like recorded runs. The
exit code is 1 if a promise of docs/statistics.md is broken.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtr

from aiq.analysis.baselines import Attempt, Baseline, BaselineFile
from aiq.analysis.compare import compare
from aiq.analysis.gate import GateLimits, GateSettings, gate
from aiq.analysis.power import Prospect, plan
from aiq.core.reports import Metric
from aiq.core.usage import Usage
from aiq.runs.manifest import DatasetIdentity, Hashes, JudgeSpec
from aiq.stats.power import POWER
from aiq.stats.significance import LEVEL

MOST_ALARMS = 0.06
LEAST_ALARMS = 0.03  # if no test is discrete and metrics are independent
POWER_WITHIN = 0.05

Array = np.ndarray[Any, Any]
Draw = np.random.Generator


@dataclass(frozen=True)
class Simulated(BaselineFile):
    """A run in memory."""

    held: Baseline

    @property
    def content(self) -> Baseline:
        return self.held


@dataclass(frozen=True)
class World:
    """What runs are drawn from. Each sample has a difficulty, of which two runs share the part `alike` (0 to 1).

    `kinds` of metrics: `right`, `score` (0 to 1), `cited` (a ratio), `sources` (a count); `apart`: each metric has its
    own difficulties. `tags`: samples are in slices.
    """

    kinds: tuple[str, ...]
    n: int
    epochs: int = 1
    alike: float = 0.7
    apart: bool = False
    tags: bool = False

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return tuple(_METRICS[kind].model_copy(update={"name": f"{kind}{i}"}) for i, kind in enumerate(self.kinds))

    def runs(self, draw: Draw, *gains: float) -> list[BaselineFile]:
        """A run for each gain, on the same samples; all its metrics except counts are better by the gain."""
        difficulty = draw.normal(size=(len(self.kinds), self.n))
        difficulty = difficulty if self.apart else np.broadcast_to(difficulty[0], difficulty.shape)
        judge = JudgeSpec(name="j", version="1", hash="h", metrics=self.metrics)
        baselines: list[BaselineFile] = []
        for name, gain in zip("ABCDEFGH", gains, strict=False):
            own = draw.normal(size=(len(self.kinds), self.n))
            own = self.alike**0.5 * difficulty + (1 - self.alike) ** 0.5 * (own if self.apart else own[0])
            scores = [_DRAWS[kind](draw, level, gain, self.epochs) for kind, level in zip(self.kinds, own, strict=True)]
            attempts = (self._attempt(scores, index, epoch) for index in range(self.n) for epoch in range(self.epochs))
            baseline = _EMPTY.model_copy(update={"judges": (judge,), "attempts": tuple(attempts)})
            baselines.append(Simulated(Path(f"{name}.json"), baseline))
        return baselines

    def _attempt(self, scores: Sequence[tuple[Array, Array | None]], index: int, epoch: int) -> Attempt:
        numbers = [
            float(num[index, epoch]) if den is None else (float(num[index, epoch]), float(den[index, epoch]))
            for num, den in scores
        ]
        return Attempt(
            sample=f"s{index}",
            epoch=epoch + 1,
            hash=f"h{index}",
            report="r",
            tags={"hops": f"{index % 3}", "split": f"{index % 2}"} if self.tags else {},
            spend=Usage(calls=1, input_tokens=100),
            scores={metric.name: number for metric, number in zip(self.metrics, numbers, strict=True)},
        )


_METRICS = {
    "right": Metric.share("right"),
    "score": Metric.share("score"),
    "cited": Metric.share("cited", estimator="ratio", worst=None),
    "sources": Metric.count("sources", worst=None),
}
_EMPTY = Baseline(
    experiment="simulated",
    settings=(),
    clock="2026-01-01",
    offline=False,
    dataset=DatasetIdentity(name="simulated", fingerprint="f", size=0, samples=0),
    hashes=Hashes(config="c", agent="a", judges={}, prompts={}),
    models={},
    agent_failures="worst",
    config={},
    judges=(),
    attempts=(),
)


def _right(draw: Draw, level: Array, gain: float, epochs: int) -> tuple[Array, None]:
    chance = 0.15 + 0.6 * ndtr(level) + gain
    return (draw.random((len(level), epochs)) < chance[:, None]).astype(float), None


def _score(draw: Draw, level: Array, gain: float, epochs: int) -> tuple[Array, None]:
    scores = 0.45 + gain + 0.08 * level[:, None] + 0.06 * draw.normal(size=(len(level), epochs))
    return np.clip(scores, 0, 1), None


def _cited(draw: Draw, level: Array, gain: float, epochs: int) -> tuple[Array, Array]:
    trials = 1 + draw.poisson(8, size=(len(level), epochs))
    return draw.binomial(trials, (0.15 + 0.6 * ndtr(level) + gain)[:, None]), trials


def _sources(draw: Draw, level: Array, gain: float, epochs: int) -> tuple[Array, None]:
    return draw.poisson(np.exp(1 + 0.4 * level)[:, None], size=(len(level), epochs)), None


_DRAWS: dict[str, Callable[[Draw, Array, float, int], tuple[Array, Array | None]]] = {
    "right": _right,
    "score": _score,
    "cited": _cited,
    "sources": _sources,
}
_ALL = ("right", "score", "cited", "sources")
WORLDS = {
    "a score": World(("score",), 40),
    "8 scores": World(("score",) * 8, 40, apart=True),
    "right or wrong": World(("right",), 100),
    "a ratio": World(("cited",), 40),
    "a count": World(("sources",), 40),
    "4 metrics, slices": World(_ALL, 60, tags=True),
    "4 metrics, 3 epochs": World(_ALL, 40, epochs=3),
}


def alarmed(runs: Sequence[BaselineFile]) -> bool:
    """Whether a comparison finds any difference."""
    comparison = compare(runs)
    return any(change.p is not None and change.p < LEVEL for pair in comparison.pairs for change in pair.changes)


def fails(runs: Sequence[BaselineFile], margin: float) -> bool:
    """Whether the gate fails because a metric became worse."""
    limits = GateLimits(errors=None, rise=None, cost_usd=None, tokens=None, calls=None, metrics={})
    settings = GateSettings(margin=margin, margins={}, level=LEVEL, inconclusive="pass", limits=limits)
    return not gate(runs[0], runs[1], settings).passed


WAYS: Mapping[str, Callable[[Sequence[BaselineFile]], bool]] = {
    "compare": lambda runs: alarmed(runs[:2]),
    "4 runs": alarmed,
    "gate": lambda runs: fails(runs, 0.0),  # the strictest margin
}


def alarms(world: World, experiments: int) -> dict[str, float]:
    """By way, the share of experiments without any true difference in which one is found."""
    draw, counts = np.random.default_rng(world.n), Counter[str]()
    for _ in range(experiments):
        runs = world.runs(draw, 0.0, 0.0, 0.0, 0.0)
        counts.update(name for name, test in WAYS.items() if test(runs))
    return {name: counts[name] / experiments for name in WAYS}


def power(world: World, gain: float, experiments: int) -> float:
    """The share of experiments in which a comparison finds the gain."""
    draw = np.random.default_rng(world.n)
    return sum(alarmed(world.runs(draw, 0.0, gain)) for _ in range(experiments)) / experiments


def planned(world: World, gain: float, runs: int = 2) -> tuple[Prospect | None, Prospect]:
    """The plans that `aiq power` makes from a pilot without the gain: least and most."""
    pilot = plan(world.runs(np.random.default_rng(1), *[0.0] * runs), effect=gain).plans[0]
    return pilot.least, pilot.most


def power_rows(experiments: int) -> Iterator[tuple[str, str, float, bool]]:
    """The effect to find, the planned size, the share of experiments that find it, and whether that is as promised."""
    margin = POWER_WITHIN + 2 * (POWER * (1 - POWER) / experiments) ** 0.5  # plus two standard errors of the simulation
    pilots = (("right", 0.1, 1), ("right", 0.25, 1), ("score", 0.03, 1), ("cited", 0.08, 1), ("right", 0.1, 3))
    for kind, gain, epochs in pilots:
        world = World((kind,), 800, epochs)
        _, most = planned(world, gain)
        share = power(replace(world, n=most.samples or 2), gain, experiments)
        name = f"{kind}, +{gain:g}, {epochs} epochs" if epochs > 1 else f"{kind}, +{gain:g}"
        exceeds = epochs > 1 and share > POWER  # planned for Holm's first step of three tests, with pass@k and pass^k
        yield name, f"{most.samples} samples", share, exceeds or abs(share - POWER) <= margin
    world = World(("right",), 400, epochs=2, alike=0.9)
    _, most = planned(world, 0.06)
    share = power(replace(world, epochs=most.epochs or 1), 0.06, experiments)
    yield "right, +0.06, 400 samples", f"{most.epochs} epochs", share, share >= POWER - margin
    for alike in (1.0, 0.0):
        world = World(("score",), 800, 3, alike=alike)
        least, most = planned(world, 0.03, runs=1)
        bound = least if alike and least else most
        share = power(replace(world, n=bound.samples or 2), 0.03, experiments)
        name = f"score, +0.03, one run, {'same' if alike else 'other'} difficulties"
        yield name, f"{bound.samples} samples", share, abs(share - POWER) <= margin


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.false_alarms", description=__doc__)
    parser.add_argument("--experiments", type=int, default=1000, help="per row (%(default)s)")
    options = parser.parse_args(arguments)
    broken = 0
    print(f"false alarms in {options.experiments:,} experiments without any true difference")
    print(f"{'':24}", *WAYS, sep="  ")
    for name, world in WORLDS.items():
        shares = alarms(world, options.experiments)
        print(f"{name:24}", *(f"{shares[way]:{len(way)}.3f}" for way in WAYS), sep="  ", flush=True)
        noise = 2 * (LEVEL * (1 - LEVEL) / options.experiments) ** 0.5  # two standard errors of the simulation itself
        broken += sum(shares[way] > (LEVEL if way == "gate" else MOST_ALARMS) + noise for way in WAYS)
        broken += set(world.kinds) == {"score"} and shares["compare"] < LEAST_ALARMS - noise
    print(f"\npower, planned to be {POWER}")
    for name, size, share, kept in power_rows(options.experiments):
        print(f"{name:44} {size:>14} {share:8.3f}", flush=True)
        broken += not kept
    print(f"{broken} promises broken" if broken else "every promise is kept")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
