"""`sweep.json`: many runs that differ in named settings, how their numbers differ, and the point recommended.

A sweep is the folder `results/<experiment>/<sweep_id>/`; its points are run folders in it, named by number. All of
`sweep.json` can be computed again from the points' rows, except what was requested.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final, Literal

from aiq.core.base import Record
from aiq.core.errors import UserError
from aiq.core.run_settings import Strategy
from aiq.core.usage import SpendName
from aiq.runs.folder import LATEST, MANIFEST, SWEEP_FILE, Folder, RunFolder, newest, paths_of, read_record, write_atomic
from aiq.stats.estimates import Difference, Estimate

COUNTED: Final[tuple[SpendName, ...]] = ("cost_usd", "tokens", "calls")
"""Spend that can be compared with an earlier run; not seconds, which always differ."""

SweepStatus = Literal["running", "finished", "interrupted"]
"""`finished`: each point has ended, even if it failed; `running` also if the process was killed."""

PointStatus = Literal["pending", "finished", "failed", "interrupted", "stopped"]
"""`failed`: an error stopped it, or it could not start; `stopped`: by the search strategy, because it cannot win."""


class Axis(Record):
    """A setting that varies (`agent.shallow.max_tool_iterations`), and its values in order, as written in overrides."""

    name: str
    values: tuple[str, ...]


class Point(Record):
    """One run of a sweep, in the folder `<sweep>/<number>/`; `metrics` and `spend` are empty until it has any.

    `axes`: its value on each axis. `overrides`: the settings that it is composed of, including those of the axes.
    `exit_code`: that of `aiq run`; None while it is pending. `failed`: the number of failed attempts; `unjudged`: of
    failed judgements. `note`: why it was stopped, or what its numbers lack. `same_as`: an earlier point that did the
    same on every attempt examined, so that this one was stopped. `metrics`, `spend`: means over samples, with
    intervals; spend is the agent's alone, without what is unknown for any sample (a cost without a price).
    """

    number: int
    axes: Mapping[str, str]
    overrides: tuple[str, ...]
    status: PointStatus = "pending"
    exit_code: int | None = None
    n_samples: int = 0
    failed: int = 0
    unjudged: int = 0
    note: str | None = None
    same_as: int | None = None
    metrics: Mapping[str, Estimate] = {}
    spend: Mapping[SpendName, Estimate] = {}


class PointDifference(Record):
    """A metric of `point` minus that of `against` (both numbers of points), over the samples scored in both.

    `kind`: against the preceding neighbour on one axis, all others equal, or against the best point by the sweep's
    metric. `p`: that of `difference`, corrected by Holm's method over all differences of the sweep.
    """

    point: int
    against: int
    kind: Literal["neighbour", "best"]
    metric: str
    difference: Difference
    p: float | None


class MainEffect(Record):
    """A metric at one value of an axis, with each sample's scores averaged over the points that have this value."""

    axis: str
    value: str
    metric: str
    estimate: Estimate


class Recommendation(Record):
    """The cheapest point whose metric is within one standard error of the best point's.

    `threshold`: the best mean minus (plus, if lower is better) the standard error of the paired difference between
    this point and the best; the point's mean reaches it. If `point` is `best`, the best mean. `n`: samples scored in
    all compared points. `chosen`: by the number of a point, the share of bootstrap resamples of these samples in which
    the same rule chooses it; points that are never chosen are absent. `reason`: a sentence.
    """

    point: int
    best: int
    metric: str
    spend: SpendName
    threshold: float
    n: int
    chosen: Mapping[int, float]
    reason: str


class Sweep(Record):
    """`sweep.json`. `overrides`: as they were typed; those of the axes may be in the config instead.

    `runs`: the folders of the recorded runs, if the strategy is `rescore`. `samples`: of a point. `metric`: the one
    that the recommendation uses; `spend`: what makes a point cheap; both None until a point has numbers.
    `higher_is_better`: by metric, for each that all points have. `resolves`: by metric, the smallest true difference
    between two points that this many samples detect with a power of 0.8, None if they detect none; an estimate until
    the first point has finished. `main_effects`: if there are two axes or more. `front`: the numbers of the points that
    no other point beats in both `metric` and `spend`, cheapest first. `undecided`: why there is no recommendation.
    """

    schema_version: Literal[1] = 1
    sweep_id: str
    experiment: str
    status: SweepStatus
    overrides: tuple[str, ...]
    strategy: Strategy = "grid"
    runs: tuple[str, ...] = ()
    metric: str | None = None
    spend: SpendName | None = None
    samples: int
    axes: tuple[Axis, ...]
    points: tuple[Point, ...]
    higher_is_better: Mapping[str, bool] = {}
    differences: tuple[PointDifference, ...] = ()
    main_effects: tuple[MainEffect, ...] = ()
    front: tuple[int, ...] = ()
    resolves: Mapping[str, float | None] = {}
    recommendation: Recommendation | None = None
    undecided: str | None = None

    def label(self, point: Point) -> str:
        """A point's values, with the last parts of its settings' names: `max_loops=2, max_queries=4`."""
        return ", ".join(f"{self.short_name(name)}={value}" for name, value in point.axes.items())

    def short_name(self, axis: str) -> str:
        """The last part of an axis' name, or the whole name if another axis has the same last part."""
        last = axis.rpartition(".")[2]
        return axis if sum(other.name.rpartition(".")[2] == last for other in self.axes) > 1 else last

    def with_point(self, point: Point) -> "Sweep":
        """The sweep with this point replacing the one of the same number."""
        points = tuple(point if old.number == point.number else old for old in self.points)
        return self.model_copy(update={"points": points})

    @property
    def remaining(self) -> tuple[Point, ...]:
        """The points that have not finished, including those that could not start."""
        return tuple(point for point in self.points if point.status not in ("finished", "stopped"))

    @property
    def unfinished(self) -> int:
        """How many points are pending or interrupted."""
        return sum(point.status in ("pending", "interrupted") for point in self.points)

    @property
    def exit_code(self) -> int:
        """The worst exit code of the points, which is that of the sweep."""
        return max((point.exit_code or 0 for point in self.points), default=0)


def pick_spend(points: Sequence[Point]) -> SpendName | None:
    """The default measure of cost: the first of COUNTED that is known for all points and not always zero."""
    known = (name for name in COUNTED if all(name in point.spend for point in points))
    return next((name for name in known if any(point.spend[name].mean for point in points)), None)


class SweepFolder(Folder):
    """The paths of a sweep."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.sweep_path = path / SWEEP_FILE

    def point(self, number: int) -> RunFolder:
        """The folder of this point's run; it need not exist yet."""
        return RunFolder(self.path / str(number))

    def read(self) -> Sweep:
        """Raises UserError if there is none or it cannot be read."""
        return read_record(self.sweep_path, Sweep, f"{self.path} is not a sweep: it has no {SWEEP_FILE}")

    def write(self, sweep: Sweep) -> None:
        """Replaces the file in one step, so that neither a reader nor a crash ever sees half a file."""
        write_atomic(self.sweep_path, sweep.model_dump_json(indent=2) + "\n")


def find_sweep(name: str, results: str = "results") -> SweepFolder:
    """The sweep at a path, as it is or below `results`; the `latest` there; or an experiment's latest.

    Raises UserError if there is no such sweep.
    """
    paths = [path for path in paths_of(name, results) if (path / SWEEP_FILE).is_file()]
    if not paths and "/" not in name:
        paths = list(newest(Path(results).glob(f"{'*' if name == LATEST else name}/*/{SWEEP_FILE}")))
    if not paths and name == LATEST:
        raise UserError(f"there are no sweeps in {results}/; name a sweep, or the results folder with --results")
    if not paths:
        detail = f"and there is no sweep of that name, nor an experiment with a sweep, in {results}/"
        raise UserError(f"{name} is not a sweep (a folder with a {SWEEP_FILE}), {detail}")
    return SweepFolder(paths[0])


def latest_unfinished(results: str, experiment: str | None, *, sweeps: bool = False) -> Path:
    """The folder of the latest run or sweep (of an experiment) that was cut off, else of one with failed judgements.

    `sweeps`: only sweeps count. Points of sweeps do not count by themselves. Raises UserError if there is none.
    """
    glob = Path(results).glob
    files = (glob(f"{experiment or '*'}/*/{file}") for file in ((SWEEP_FILE,) if sweeps else (MANIFEST, SWEEP_FILE)))
    folders = list(newest(chain(*files)))
    if (found := next(chain(filter(_is_cut_off, folders), filter(_has_unjudged, folders)), None)) is not None:
        return found
    kind = "sweep" if sweeps else "run"
    kind += f" of {experiment}" if experiment else ""
    hint = ""
    if (failed := next(filter(_has_failed, folders), None)) is not None:
        flag = "-m " if (failed / SWEEP_FILE).is_file() else ""
        hint = f"; to retry failed attempts: aiq run {flag}resume={failed} runner.retry_failed=true"
    raise UserError(f"there is no unfinished {kind} in {results}/{hint}")


def _is_cut_off(path: Path) -> bool:
    if (path / SWEEP_FILE).is_file():
        return bool(SweepFolder(path).read().remaining)
    return RunFolder(path).read_manifest().status != "finished"


def _has_unjudged(path: Path) -> bool:
    if (path / SWEEP_FILE).is_file():
        return any(point.unjudged for point in SweepFolder(path).read().points)
    return RunFolder(path).read_summary().unjudged


def _has_failed(path: Path) -> bool:
    if (path / SWEEP_FILE).is_file():
        return any(point.failed for point in SweepFolder(path).read().points)
    run = RunFolder(path)
    return run.read_manifest().rescored is None and bool({"failed", "limit"} & run.read_summary().statuses.keys())
