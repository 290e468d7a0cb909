"""The order of a sweep's work: what to do next, given its points and the results of their runs.

A strategy can be rebuilt for a sweep that was cut off: it requests nothing that its points' folders already have.
"""

from typing import NamedTuple

from aiq.core.errors import ConfigError
from aiq.core.reports import Metric
from aiq.core.run_settings import SweepSettings
from aiq.experiment.grid import Grid
from aiq.experiment.plan import RunPlan
from aiq.experiment.search import Halving, TriedPoint, check_optuna, suggest_point
from aiq.runs.reader import read_state
from aiq.runs.sweeps import Point, Sweep, SweepFolder, pick_spend


class Step(NamedTuple):
    """A point to work on. `samples`: the ids of the samples to do now; None: all that are left."""

    point: Point
    samples: frozenset[str] | None = None


class Strategy:
    """Each point once, in order: for a grid, and for points drawn from it."""

    def __init__(self, folder: SweepFolder) -> None:
        self._folder = folder
        self._begun: set[int] = set()

    def next(self, sweep: Sweep) -> tuple[Sweep, Step | None]:
        """The sweep with any decisions about its points, and the next step; None if there is none."""
        for point in sweep.remaining:
            if point.number not in self._begun:
                self._begun.add(point.number)
                return sweep, Step(point)
        return sweep, None


class OptunaStrategy(Strategy):
    """Some points that were drawn, then one at a time that Optuna suggests from all finished points."""

    def __init__(self, folder: SweepFolder, grid: Grid, seed: int, metric: Metric) -> None:
        super().__init__(folder)
        self._grid, self._seed, self._metric = grid, seed, metric

    def next(self, sweep: Sweep) -> tuple[Sweep, Step | None]:
        sweep, step = super().next(sweep)
        if step is not None or len(sweep.points) >= self._grid.settings.points:
            return sweep, step
        places = suggest_point(
            [axis.values for axis in sweep.axes],
            self._tried(sweep),
            self._seed,
            higher_is_better=self._metric.higher_is_better,
        )
        if places is None:
            return sweep, None
        point = self._grid.point(len(sweep.points), places)
        return super().next(sweep.model_copy(update={"points": (*sweep.points, point)}))

    def _tried(self, sweep: Sweep) -> list[TriedPoint]:
        spend = self._grid.settings.spend or pick_spend([point for point in sweep.points if point.metrics]) or "calls"
        tried = []
        for point in sweep.points:
            places = tuple(axis.values.index(point.axes[axis.name]) for axis in sweep.axes)
            merit, cost = point.metrics.get(self._metric.name), point.spend.get(spend)
            tried.append(TriedPoint(places, (merit.mean, cost.mean) if merit and cost else None))
        return tried


class HalvingStrategy(Strategy):
    """All points on the samples of a rung, then on the next rung those that can still win."""

    def __init__(self, folder: SweepFolder, halving: Halving, metric: str) -> None:
        super().__init__(folder)
        self._halving, self._metric, self._rung = halving, metric, 0

    def next(self, sweep: Sweep) -> tuple[Sweep, Step | None]:
        rungs = self._halving.rungs
        while self._rung < len(rungs):
            sweep, step = super().next(sweep)
            if step is not None:
                return sweep, Step(step.point, rungs[self._rung] if self._rung + 1 < len(rungs) else None)
            sweep = self._without_losers(sweep)
            self._begun = {point.number for point in sweep.points if point.status == "failed"}
            self._rung += 1
        return sweep, None

    def _without_losers(self, sweep: Sweep) -> Sweep:
        """The sweep with points that cannot win stopped; points that failed as a whole are not compared."""
        running = [point for point in sweep.points if point.status in ("pending", "finished")]
        states = {point.number: read_state(self._folder.point(point.number)) for point in running}
        metric = next(iter(states.values())).spec.metrics[self._metric] if states else None
        losers = self._halving.eliminated(self._rung, metric, states) if metric else {}
        twins = self._halving.duplicates(self._rung, {n: state for n, state in states.items() if n not in losers})
        for point in (point for point in running if point.status == "pending"):
            if (elimination := losers.get(point.number)) is not None:
                update: dict[str, object] = {"status": "stopped", "note": str(elimination)}
            elif (twin := twins.get(point.number)) is not None:
                n = len(self._halving.rungs[self._rung])
                update = {"status": "stopped", "same_as": twin, "note": f"as point {twin} on all of {n} samples"}
            else:
                continue
            sweep = sweep.with_point(point.model_copy(update=update))
        return sweep


def strategy_of(grid: Grid, folder: SweepFolder, plan: RunPlan) -> Strategy:
    """The strategy from the config's section `sweep`; `plan`: of the first point. Raises ConfigError for its metric."""
    settings, seed = grid.settings, plan.settings.seed
    check_metric(settings, plan)
    if settings.strategy not in ("halving", "optuna"):
        return Strategy(folder)
    metric = settings.metric or next(iter(plan.spec.metrics), None)
    if metric is None:
        raise ConfigError(f"sweep.strategy={settings.strategy}: no judge has a metric; name one in judge=[...]")
    if settings.strategy == "optuna":
        check_optuna()
        return OptunaStrategy(folder, grid, seed, plan.spec.metrics[metric])
    samples = plan.dataset.samples.ids
    return HalvingStrategy(folder, Halving(samples, len(grid.points), settings.rungs, settings.error, seed), metric)


def check_metric(settings: SweepSettings, plan: RunPlan) -> None:
    """Raises ConfigError if no judge has the metric that the recommendation is to use."""
    if settings.metric is not None and settings.metric not in plan.spec.metrics:
        names = ", ".join(plan.spec.metrics) or "none"
        raise ConfigError(f"sweep.metric={settings.metric}: the judges have no such metric; they have {names}")
