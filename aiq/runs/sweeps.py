"""`sweep.json`: many runs that differ in named settings, how they differ in numbers, and the value that follows.

A sweep is the folder `results/<experiment>/<sweep_id>/`; its points are run folders in it, named by their number. What
is in `sweep.json` can be worked out again from the points' rows, except what was asked for.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal

from aiq.core.base import Record
from aiq.runs.folder import SWEEP_FILE, RunFolder, lock_folder, read_record, write_whole
from aiq.runs.state import SpendName
from aiq.stats.estimates import Difference, Estimate

SweepStatus = Literal["running", "finished", "interrupted"]
"""`finished`: each point has come to an end, be it a failure; `running` also where the process was killed."""

PointStatus = Literal["pending", "finished", "failed", "interrupted", "stopped"]
"""`failed`: something stopped it, or it could not start; `stopped`: by the search strategy, because it cannot win."""

Strategy = Literal["grid", "random", "halving", "optuna", "rescore"]


class Axis(Record):
    """A setting that varies (`agent.shallow.max_tool_iterations`), and its values as overrides write them, in order."""

    name: str
    values: tuple[str, ...]


class Point(Record):
    """One run of a sweep, in the folder `<sweep>/<number>/`; its numbers are empty until it has any.

    `axes`: its value on each axis. `overrides`: the settings that it is composed of, those of the axes among them.
    `exit_code`: what `aiq run` would have ended with; None while it is pending. `failed`: attempts; `unjudged`:
    judgements that failed. `metrics`, `spend`: means over samples with intervals; of the agent alone, and without what
    is not known for all samples, as a cost without a price.
    """

    number: int
    axes: Mapping[str, str]
    overrides: tuple[str, ...]
    status: PointStatus = "pending"
    exit_code: int | None = None
    n_samples: int = 0
    failed: int = 0
    unjudged: int = 0
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
    """`sweep.json`. `overrides`: as they were typed, with several values for the settings that vary.

    `metric`: the one that the recommendation looks at; `spend`: what counts as cheap. Both None until a point has
    numbers. `higher_is_better`: by metric, for each that a point has. `resolves`: by metric, the smallest true
    difference between two points that this many samples find with a power of 0.8; before the first point is finished,
    an estimate. `main_effects`: where there are two axes or more. `front`: the numbers of the points
    that no other one beats in `metric` and `spend` at once, the cheapest first. `undecided`: why there is no
    recommendation, where there is none.
    """

    schema_version: Literal[1] = 1
    sweep_id: str
    experiment: str
    status: SweepStatus
    overrides: tuple[str, ...]
    strategy: Strategy = "grid"
    metric: str | None = None
    spend: SpendName | None = None
    axes: tuple[Axis, ...]
    points: tuple[Point, ...]
    higher_is_better: Mapping[str, bool] = {}
    differences: tuple[PointDifference, ...] = ()
    main_effects: tuple[MainEffect, ...] = ()
    front: tuple[int, ...] = ()
    resolves: Mapping[str, float] = {}
    recommendation: Recommendation | None = None
    undecided: str | None = None

    @property
    def exit_code(self) -> int:
        """The worst of the points': what the sweep ends with."""
        return max((point.exit_code or 0 for point in self.points), default=0)


class SweepFolder:
    """The paths of a sweep. Making the object touches nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sweep_path = path / SWEEP_FILE
        self.page_path = path / "index.html"

    def lock(self) -> AbstractContextManager[Any]:
        """As of a run: taken now. Raises UserError where another process carries the sweep out."""
        return lock_folder(self.path)

    def point(self, number: int) -> RunFolder:
        """The folder of the run that is this point; it need not exist yet."""
        return RunFolder(self.path / str(number))

    def read(self) -> Sweep:
        """Raises UserError when there is none or it is not one of ours."""
        return read_record(self.sweep_path, Sweep, f"{self.path} is no sweep: it holds no {SWEEP_FILE}")

    def write(self, sweep: Sweep) -> None:
        """Replaces what is there at once, so that a reader or a crash never meets half a file."""
        self.path.mkdir(parents=True, exist_ok=True)
        write_whole(self.sweep_path, sweep.model_dump_json(indent=2) + "\n")
