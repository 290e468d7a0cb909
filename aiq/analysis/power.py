"""What a comparison of runs like these could find: the smallest difference, and the samples or epochs for another.

How much a sample changes between two runs can be seen in two runs. One run alone gives bounds: a second one finds the
same samples hard, so that they change only by chance, or has nothing in common with it (Miller 2024, "Adding Error Bars
to Evals", section 5).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from aiq.analysis.baselines import RunOrBaseline
from aiq.analysis.run_pairs import RunPair, Scored, Side, Slice, absolute_effect, pair_runs
from aiq.core.base import Record
from aiq.runs.summary import difference
from aiq.stats.power import Variances, detectable_effect, samples_needed, variances
from aiq.stats.significance import LEVEL, MIN_CHANGES

EPOCHS: Final = (1, 2, 3, 5, 10)


class Prospect(Record):
    """What a comparison finds with a power of 0.8 if samples change with the variance `steady` + `chance` / epochs.

    `resolves`: the smallest true difference, with the present samples and epochs; None if it is larger than the
    metric's range. `samples`, `epochs`: how many would find the requested effect, with the other unchanged; None for an
    effect of 0, and if no number of epochs does. `by_epochs`: `resolves` by number of epochs.
    """

    steady: float
    chance: float
    resolves: float | None
    samples: int | None
    epochs: int | None
    by_epochs: Mapping[int, float | None]


class Plan(Record):
    """A metric, or a slice of it, over `n` samples with `epochs` each (the harmonic mean).

    `between`, `within`: standard deviations between samples over infinitely many epochs (for two runs: of the changes)
    and between epochs of a sample; None if there is only one epoch to tell them apart. `least`, `most`: the prospect
    if the variance is as small, or as large, as it can be; None if that is unknown.
    """

    metric: str
    slice: Slice
    n: int
    epochs: float
    between: float | None
    within: float | None
    effect: float
    least: Prospect | None
    most: Prospect


class Planning(Record):
    """`paired`: whether it is based on changes between two runs. `family`: tests that a comparison corrects together.

    `alike`: metrics in which all samples have the same score, or change equally, so that nothing is known.
    """

    runs: tuple[str, ...]
    paired: bool
    family: int
    plans: tuple[Plan, ...]
    alike: tuple[str, ...]


def plan(folders: Sequence[RunOrBaseline], *, metrics: Sequence[str] = (), effect: float = 0.02) -> Planning:
    """What runs like this one, or like these two, can resolve, at the level of a comparison's smallest p-value.

    `metrics`, `effect`: as in `aiq.analysis.compare.compare`. Raises UserError for two runs that cannot be compared.
    """
    paired = len(folders) > 1
    if paired:
        (pair,), _ = pair_runs(folders, metrics)
    else:
        run = Side("the run", folders[0])
        pair = RunPair(run, run, tuple(metrics), False)
        pair.check()
    changes = {key: change for key, scored in pair.scores.items() if (change := difference(*scored))}
    family = max(1, sum(change.p is not None if paired else change.n >= MIN_CHANGES for change in changes.values()))
    places = [key for key in changes if key[0] in pair.metrics]
    plans = {key: _plan(pair, key, LEVEL / family, effect, paired=paired) for key in places}
    return Planning(
        runs=tuple(folder.path.name for folder in folders),
        paired=paired,
        family=family,
        plans=tuple(p for p in plans.values() if p is not None),
        alike=tuple(name for (name, tag), p in plans.items() if p is None and tag is None),
    )


class _Bound(NamedTuple):
    steady: float
    chance: float


@dataclass(frozen=True)
class _Test:
    """A metric's comparison; `span`: width of its range, `step`: size of changes in one epoch, if all have the same."""

    n: int
    level: float
    span: float | None
    step: float | None
    effect: float

    def prospect(self, bound: _Bound, epochs: float) -> Prospect:
        def spread(count: float) -> float:
            return math.sqrt(bound.steady + bound.chance / count)

        by_epochs = {count: self._resolves(spread(count), count) for count in {*EPOCHS, epochs}}
        one_epoch, max_spread = by_epochs[1], self.effect / (detectable_effect(1.0, self.n, self.level) or math.inf)
        needed = None
        if self.effect and one_epoch is not None and one_epoch <= self.effect:
            needed = 1
        elif max_spread**2 > bound.steady:
            needed = max(2, math.ceil(bound.chance / (max_spread**2 - bound.steady)))
        step = self.step if epochs == 1 else None
        return Prospect(
            **bound._asdict(),
            resolves=by_epochs[epochs],
            samples=samples_needed(spread(epochs), self.effect, self.level, step) if self.effect else None,
            epochs=needed,
            by_epochs={count: by_epochs[count] for count in EPOCHS},
        )

    def _resolves(self, spread: float, epochs: float) -> float | None:
        smallest = detectable_effect(spread, self.n, self.level, self.step if epochs == 1 else None)
        return None if smallest is None or (self.span is not None and smallest > self.span) else smallest


def _plan(pair: RunPair, key: tuple[str, Slice], level: float, effect: float, *, paired: bool) -> Plan | None:
    """The plan of a metric or slice; None if nothing varies."""
    metric, *runs = scored = pair.scores[key]
    first, second = (variances([run[sample] for sample in runs[0] if sample in runs[1]]) for run in runs)
    change = difference(*scored)
    if first is None or second is None or change is None or not (change.spread if paired else first.total):
        return None
    target_effect = absolute_effect(metric, effect, first.mean)
    test = _Test(change.n, level, metric.span, metric.span if _right_or_wrong(scored) else None, target_effect)
    epochs = _epochs(first, second)
    within = None if first.within is None or second.within is None else (first.within + second.within) / 2
    least, most = _change_bounds((change.spread or 0.0) ** 2, first, second) if paired else _one_run_bounds(first)
    between = most.steady if paired else most.steady / 2
    return Plan(
        metric=metric.name,
        slice=key[1],
        n=change.n,
        epochs=epochs,
        between=None if within is None else math.sqrt(between),
        within=None if within is None else math.sqrt(within),
        effect=target_effect,
        least=None if least is None else test.prospect(least, epochs),
        most=test.prospect(most, epochs),
    )


def _one_run_bounds(run: Variances) -> tuple[_Bound | None, _Bound]:
    """Bounds for two runs like this: samples equally hard for both, so that only chance changes them, or unrelated."""
    if run.within is None:
        return None, _Bound(2 * run.total, 0.0)
    steady = max(0.0, run.total - run.within / run.epochs)
    return _Bound(0.0, 2 * run.within), _Bound(2 * steady, 2 * run.within)


def _change_bounds(variance: float, first: Variances, second: Variances) -> tuple[_Bound, _Bound]:
    """Bounds from the samples' changes; if epochs do not show how much of them is chance, all or nothing."""
    epochs = _epochs(first, second)
    if first.within is None or second.within is None:
        return _Bound(0.0, variance * epochs), _Bound(variance, 0.0)
    chance = min(variance, first.within / first.epochs + second.within / second.epochs)
    return (_Bound(variance - chance, chance * epochs),) * 2


def _epochs(first: Variances, second: Variances) -> float:
    return round(2 / (1 / first.epochs + 1 / second.epochs), 9)


def _right_or_wrong(scored: Scored) -> bool:
    metric, *runs = scored
    values = {x for run in runs for epochs in run.values() for x, _ in epochs}
    return metric.estimator == "mean" and metric.low is not None and values <= {metric.low, metric.high}
