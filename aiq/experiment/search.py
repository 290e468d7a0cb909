"""Search strategies other than the grid: which of its points to run, and on how many samples.

Each is a function of the results so far and of a seed, so that a sweep that was cut off resumes as if it had not been.
Here a point is given by its places on the axes.
"""

import math
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from aiq.core.errors import ConfigError
from aiq.core.reports import Metric
from aiq.core.seeds import derive
from aiq.core.usage import SpendName
from aiq.runs.state import RunState
from aiq.runs.summary import difference, estimate
from aiq.stats.estimates import Difference

Places = tuple[int, ...]
"""For each axis, in order, the index of a point's value among the axis' values, from 0."""

SAME: Final = 0.1
"""Points that differ on a smaller share of the samples may be treated as the same."""

_SAME_SPEND: Final[tuple[SpendName, ...]] = ("tokens", "calls")
_REPEATS: Final = 20  # suggestions of known points after which a point is drawn at random


def random_points(sizes: Sequence[int], n: int, seed: int) -> list[Places]:
    """`n` different points, all equally likely, in grid order; all points if there are no more than `n`.

    `sizes`: the number of values on each axis.
    """
    total = math.prod(sizes)
    numbers = random.Random(derive("sweep.random", seed)).sample(range(total), min(n, total))
    return [_places(number, sizes) for number in sorted(numbers)]


def _places(number: int, sizes: Sequence[int]) -> Places:
    """The places of a point from its number in the grid, whose last axis varies fastest."""
    places = []
    for size in reversed(sizes):
        number, place = divmod(number, size)
        places.append(place)
    return tuple(reversed(places))


@dataclass(frozen=True)
class TriedPoint:
    """A point that was run. `numbers`: its metric and its spend per sample; None for a failure."""

    places: Places
    numbers: tuple[float, float] | None


def check_optuna() -> None:
    """Raises ConfigError if the package is not installed."""
    try:
        import optuna  # noqa: F401
    except ImportError:
        raise ConfigError("sweep.strategy=optuna needs more packages: pip install 'aiq-bench[optuna]'") from None


def suggest_point(
    axes: Sequence[Sequence[str]], tried: Sequence[TriedPoint], seed: int, *, higher_is_better: bool
) -> Places | None:
    """The point that Optuna would try next, optimising metric and spend together; None if all have been tried.

    `axes`: the values of each axis. If they are all numbers they are ordered, so that the sampler knows neighbours.
    The sampler is a tree-structured Parzen estimator (Bergstra et al. 2011, "Algorithms for Hyper-Parameter
    Optimization"); it is rebuilt for each point from the points so far, so that a resumed sweep needs nothing else.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    orders = [sorted(range(len(values)), key=lambda place: _number(values[place])) for values in axes]
    space: dict[str, Any] = {str(axis): _distribution(values) for axis, values in enumerate(axes)}
    point_seed = derive("sweep.optuna", seed, len(tried))
    sampler = optuna.samplers.TPESampler(seed=point_seed, n_startup_trials=1)
    study = optuna.create_study(
        sampler=sampler, directions=["maximize" if higher_is_better else "minimize", "minimize"]
    )
    for point in tried:
        params = {
            str(axis): order.index(place) for axis, (order, place) in enumerate(zip(orders, point.places, strict=True))
        }
        study.add_trial(
            optuna.trial.create_trial(
                state=optuna.trial.TrialState.COMPLETE if point.numbers else optuna.trial.TrialState.FAIL,
                params=params,
                distributions=space,
                values=point.numbers,
            )
        )
    known, sizes = {point.places for point in tried}, [len(values) for values in axes]
    total = math.prod(sizes)
    if len(known) >= total:
        return None
    for _ in range(_REPEATS):
        trial = study.ask(space)
        places = tuple(order[trial.params[str(axis)]] for axis, order in enumerate(orders))
        if places not in known:
            return places
        study.tell(trial, state=optuna.trial.TrialState.FAIL)
    rng = random.Random(point_seed)
    while (places := _places(rng.randrange(total), sizes)) in known:
        pass
    return places


def _number(value: str) -> float:
    """The value as a number, or 0, which keeps the order of other values in a sort."""
    try:
        return float(value)
    except ValueError:
        return 0.0


def _distribution(values: Sequence[str]) -> Any:
    from optuna.distributions import CategoricalDistribution, IntDistribution

    try:
        [float(value) for value in values]
    except ValueError:
        return CategoricalDistribution(range(len(values)))
    return IntDistribution(0, len(values) - 1)


class Elimination(NamedTuple):
    """Why a point is stopped: its difference from the leader, and the probability of that if the point could win."""

    leader: int
    difference: Difference
    p: float

    def __str__(self) -> str:
        change = f"{self.difference.mean:+.3f} from point {self.leader}"
        return f"{change} after {self.difference.n} samples (p = {self.p:.2g}, one-sided)"


class Halving:
    """Successive halving: all points run on a share of the samples, which doubles from rung to rung, and points that
    cannot win are stopped.

    The samples of a rung are drawn at random and include those of the rung before. After every rung but the last,
    each point is compared with the leader by the paired test of `stats.significance`, one-sided. Since the best point
    could lose to any other at any rung, each test has the level `error` / (points - 1) / (rungs tested) (Bonferroni):
    the best point is stopped with a probability of at most `error`, whatever the others are.

    Of points that did the same on every sample of a rung (scores, tokens and calls) only one continues, once the rung
    is so large that points differing on a share SAME of all samples would have differed with probability 1 - `error`.

    `rungs`: the last has all samples, each before it half as many; rungs too small for any point to lose are left out.
    """

    def __init__(self, samples: Collection[str], points: int, rungs: int, error: float, seed: int) -> None:
        order = list(samples)
        random.Random(derive("sweep.halving", seed)).shuffle(order)
        sizes = [math.ceil(len(order) / 2**halvings) for halvings in reversed(range(rungs))]
        tests = max(1, points - 1)
        while len(sizes) > 1 and 0.5 ** sizes[0] > error / tests / (len(sizes) - 1):
            sizes.pop(0)
        self.rungs = tuple(frozenset(order[:size]) for size in sizes)
        self._error = error
        self.level = error / tests / max(1, len(sizes) - 1)

    def eliminated(self, rung: int, metric: Metric, states: Mapping[int, RunState]) -> dict[int, Elimination]:
        """By number, the points that cannot win, judging by their scores on the samples of a rung (from 0)."""
        if rung + 1 == len(self.rungs):
            return {}
        sign = 1.0 if metric.higher_is_better else -1.0
        scores = {
            number: state.by_sample(metric.name, [key for key in state.spec.keys if key.sample_id in self.rungs[rung]])
            for number, state in states.items()
        }
        means = {
            number: score.mean
            for number, values in scores.items()
            if (score := estimate(metric, values.values())) is not None
        }
        if not means:
            return {}
        leader = max(means, key=lambda number: (sign * means[number], -number))
        eliminations = {}
        for number in means.keys() - {leader}:
            change = difference(metric, scores[leader], scores[number])
            if change is not None and change.p is not None and sign * change.mean < 0 and change.p / 2 <= self.level:
                eliminations[number] = Elimination(leader, change, change.p / 2)
        return dict(sorted(eliminations.items()))

    def duplicates(self, rung: int, states: Mapping[int, RunState]) -> dict[int, int]:
        """By number, the points that did the same as an earlier one on all samples of a rung, with its number."""
        if rung + 1 == len(self.rungs) or (1 - SAME) ** len(self.rungs[rung]) > self._error:
            return {}
        numbers: dict[str, int] = {}
        twins = {}
        for number, state in states.items():
            keys = [key for key in state.spec.keys if key.sample_id in self.rungs[rung]]
            spend = [state.spend_by_sample(name, keys) for name in _SAME_SPEND]
            results = [*spend, *(state.by_sample(metric, keys) for metric in state.spec.metrics)]
            if (first := numbers.setdefault(repr(results), number)) != number:
                twins[number] = first
        return twins
