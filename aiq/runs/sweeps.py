"""`sweep.json`: many runs that differ in named settings, how they differ in numbers, and the value that follows.

A sweep is the folder `results/<experiment>/<sweep_id>/`; its points are run folders in it, named by their number. What
is in `sweep.json` can be worked out again from the points' rows, except what was asked for.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final, Literal

from aiq.core.base import Record
from aiq.core.errors import UserError
from aiq.core.run_settings import Strategy
from aiq.core.usage import SpendName
from aiq.runs.folder import LATEST, MANIFEST, SWEEP_FILE, Folder, RunFolder, newest, places, read_record, write_whole
from aiq.stats.estimates import Difference, Estimate

COUNTED: Final[tuple[SpendName, ...]] = ("cost_usd", "tokens", "calls")
"""What can be held against an earlier run; not seconds, which are never the same again."""

SweepStatus = Literal["running", "finished", "interrupted"]
"""`finished`: each point has come to an end, be it a failure; `running` also where the process was killed."""

PointStatus = Literal["pending", "finished", "failed", "interrupted", "stopped"]
"""`failed`: something stopped it, or it could not start; `stopped`: by the search strategy, because it cannot win."""


class Axis(Record):
    """A setting that varies (`agent.shallow.max_tool_iterations`), and its values as overrides write them, in order."""

    name: str
    values: tuple[str, ...]


class Point(Record):
    """One run of a sweep, in the folder `<sweep>/<number>/`; its numbers are empty until it has any.

    `axes`: its value on each axis. `overrides`: the settings that it is composed of, those of the axes among them.
    `exit_code`: what `aiq run` would have ended with; None while it is pending. `failed`: attempts; `unjudged`:
    judgements that failed. `note`: why it was stopped, or what its numbers do without. `same_as`: an earlier
    point that does the same on every attempt looked at, for which this one was stopped. `metrics`, `spend`: means over
    samples with intervals; of the agent alone, and without what is not known of all samples (a cost without a price).
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
    """A metric of `point` minus that of `against`, both numbers of points, over the samples that both have scored.

    `kind`: against the neighbour before it on one axis, all others equal, or against the best point by the sweep's
    metric. `p`: that of `difference`, corrected by Holm's method over all differences of the sweep.
    """

    point: int
    against: int
    kind: Literal["neighbour", "best"]
    metric: str
    difference: Difference
    p: float | None


class MainEffect(Record):
    """A metric at one value of an axis, each sample's scores averaged over the points with this value."""

    axis: str
    value: str
    metric: str
    estimate: Estimate


class Recommendation(Record):
    """The cheapest point whose metric is within one standard error of the best point's.

    `threshold`: the best mean less the standard error of the paired difference of this point from the best (added
    where lower is better); the point's mean is at or beyond it. Where `point` is `best`, the best mean. `n`: samples
    that all compared points have scored. `chosen`: by the number of a point, the share of bootstrap resamples of
    these samples in which the same rule chooses it; points that never are chosen are absent. `reason`: in a sentence.
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

    `runs`: the folders of the recorded ones, where the strategy is `rescore`. `samples`: of a point. `metric`: the one
    that the recommendation looks at; `spend`: what counts as cheap; both None until a point has numbers.
    `higher_is_better`: by metric, for each that all points have. `resolves`: by metric, the
    smallest true difference between two points that this many samples find with a power of 0.8; before the first point
    is finished, an estimate. `main_effects`: where there are two axes or more. `front`: the numbers of the points that
    no other one beats in `metric` and `spend` at once, the cheapest first. `undecided`: why there is no recommendation,
    where there is none.
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
    resolves: Mapping[str, float] = {}
    recommendation: Recommendation | None = None
    undecided: str | None = None

    def label(self, point: Point) -> str:
        """A point in words, by the last parts of its settings' names: `max_loops=2, max_queries=4`."""
        return ", ".join(f"{self.short(name)}={value}" for name, value in point.axes.items())

    def short(self, axis: str) -> str:
        """The last part of an axis' name where no other axis has it too."""
        last = axis.rpartition(".")[2]
        return axis if sum(other.name.rpartition(".")[2] == last for other in self.axes) > 1 else last

    def with_point(self, point: Point) -> "Sweep":
        """The sweep with this point in the place of the one with its number."""
        points = tuple(point if old.number == point.number else old for old in self.points)
        return self.model_copy(update={"points": points})

    @property
    def left(self) -> tuple[Point, ...]:
        """The points that have not come to their end, or could not start."""
        return tuple(point for point in self.points if point.status not in ("finished", "stopped"))

    @property
    def unfinished(self) -> int:
        """How many points have not come to any end."""
        return sum(point.status in ("pending", "interrupted") for point in self.points)

    @property
    def exit_code(self) -> int:
        """The worst of the points': what the sweep ends with."""
        return max((point.exit_code or 0 for point in self.points), default=0)


def cheap(points: Sequence[Point]) -> SpendName | None:
    """What counts as cheap where nothing is asked for: the first of COUNTED that all points know.

    And that one of them spends at all.
    """
    known = (name for name in COUNTED if all(name in point.spend for point in points))
    return next((name for name in known if any(point.spend[name].mean for point in points)), None)


class SweepFolder(Folder):
    """The paths of a sweep."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.sweep_path = path / SWEEP_FILE

    def point(self, number: int) -> RunFolder:
        """The folder of the run that is this point; it need not exist yet."""
        return RunFolder(self.path / str(number))

    def read(self) -> Sweep:
        """Raises UserError when there is none or it is not one of ours."""
        return read_record(self.sweep_path, Sweep, f"{self.path} is no sweep: it holds no {SWEEP_FILE}")

    def write(self, sweep: Sweep) -> None:
        """Replaces what is there at once, so that a reader or a crash never meets half a file."""
        write_whole(self.sweep_path, sweep.model_dump_json(indent=2) + "\n")


def find_sweep(name: str, results: str = "results") -> SweepFolder:
    """The sweep at a path or at one below `results`, the `latest` there, or an experiment's latest.

    Raises UserError for none.
    """
    found = [path for path in places(name, results) if (path / SWEEP_FILE).is_file()]
    if not found and "/" not in name:
        found = list(newest(Path(results).glob(f"{'*' if name == LATEST else name}/*/{SWEEP_FILE}")))
    if not found and name == LATEST:
        raise UserError(f"there are no sweeps in {results}/; name a sweep, or the results folder with --results")
    if not found:
        there = f"nor is there a sweep or an experiment with one of that name in {results}/"
        raise UserError(f"{name} is no sweep (a folder with a {SWEEP_FILE}), {there}")
    return SweepFolder(found[0])


def latest_unfinished(results: str, experiment: str | None, *, sweeps: bool = False) -> Path:
    """The folder of the last run or sweep, or of an experiment's, that was cut off, or else that judges left a part of.

    `sweeps`: no single run counts. Points of sweeps do not count by themselves. Raises UserError where there is none.
    """
    below = Path(results).glob
    files = (below(f"{experiment or '*'}/*/{file}") for file in ((SWEEP_FILE,) if sweeps else (MANIFEST, SWEEP_FILE)))
    folders = list(newest(chain(*files)))
    if (found := next(chain(filter(_cut_off, folders), filter(_unjudged, folders)), None)) is not None:
        return found
    runs = "sweep" if sweeps else "run"
    runs += f" of {experiment}" if experiment else ""
    failed = next(filter(_failed, folders), None)
    again = f"; to try failed attempts again: resume={failed} runner.retry_failed=true" if failed else ""
    raise UserError(f"there is no unfinished {runs} in {results}/{again}")


def _cut_off(path: Path) -> bool:
    if (path / SWEEP_FILE).is_file():
        return bool(SweepFolder(path).read().left)
    return RunFolder(path).read_manifest().status != "finished"


def _unjudged(path: Path) -> bool:
    if (path / SWEEP_FILE).is_file():
        return any(point.unjudged for point in SweepFolder(path).read().points)
    return RunFolder(path).read_summary().unjudged


def _failed(path: Path) -> bool:
    if (path / SWEEP_FILE).is_file():
        return any(point.failed for point in SweepFolder(path).read().points)
    return bool({"failed", "limit"} & RunFolder(path).read_summary().statuses.keys())
