"""A sweep, from its first point (or where it was cut off) to the recommendation: `aiq run -m`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from aiq.core.errors import UserError, say
from aiq.core.interrupts import terminated_as_interrupted
from aiq.experiment import compose
from aiq.experiment.grid import Grid, refuse_unused, split
from aiq.run import plan_of, print_outcome, reopened, resume_hint, run_with_progress
from aiq.runs.folder import RunFolder, find_run, new_run_id
from aiq.runs.manifest import Manifest, SweepPlace
from aiq.runs.reader import read_state
from aiq.runs.sweeps import Point, Sweep, SweepFolder

if TYPE_CHECKING:
    from aiq.experiment.plan import RunPlan
    from aiq.experiment.strategies import Step, Strategy

Plans = Mapping[int, "RunPlan"]
"""By point number; made before the first point starts, so that editing the config later changes nothing."""


def start(overrides: Sequence[str]) -> int:
    """Run a new sweep and return the worst exit code of its points; all are checked before the first one starts."""
    from aiq.analysis.sweeps import expected_resolution
    from aiq.experiment.strategies import strategy_of

    grid = split(overrides)
    refuse_unused(grid, overrides)
    settings = compose.settings_from(compose.compose(grid.points[0].overrides))
    folder = SweepFolder(Path(settings.output_dir) / settings.name / new_run_id())
    sweep = Sweep(
        sweep_id=folder.path.name,
        experiment=settings.name,
        status="running",
        overrides=tuple(overrides),
        strategy=grid.settings.strategy,
        metric=grid.settings.metric,
        spend=grid.settings.spend,
        samples=0,
        axes=grid.axes,
        points=grid.points,
    )
    if sweep.strategy == "rescore":
        if not (grid.settings.runs or grid.settings.record):
            raise UserError("sweep.strategy=rescore needs recorded runs to decide again on: set sweep.runs=[RUN, ...]")
        paths = [str(find_run(name, settings.output_dir).path) for name in grid.settings.runs]
        runs = paths or [str(folder.path / f"recorded-{number}") for number in range(len(grid.settings.record))]
        return _rescore(folder, sweep.model_copy(update={"runs": tuple(runs)}))
    plans = {point.number: plan_of(point.overrides, _place(sweep, point)) for point in grid.points}
    sweep = sweep.model_copy(update={"samples": len(plans[0].dataset.samples)})
    sweep = sweep.model_copy(update={"resolves": expected_resolution(sweep, plans[0].spec.judges)})
    return _run_points(folder, sweep, strategy_of(grid, folder, plans[0]), partial(_run_point, folder, plans, ()))


def resume(folder: SweepFolder, overrides: Sequence[str]) -> int:
    """Keep finished points, resume those cut off, run missing ones, and let judges retry what they failed on."""
    from aiq.experiment.resume import ALLOWED
    from aiq.experiment.strategies import strategy_of

    compose.allowed_overrides(overrides, ALLOWED, "resume takes its config from the sweep")
    previous = folder.read()
    if previous.strategy == "rescore":
        return _rescore(folder, previous, overrides)
    retry_failed = "runner.retry_failed=true" in overrides
    points = [
        point.model_copy(update={"status": "pending"}) if point.unjudged or (retry_failed and point.failed) else point
        for point in previous.points
    ]
    sweep = previous.model_copy(update={"points": tuple(points), "status": "running"})
    strategy = strategy_of(split(previous.overrides), folder, plan_of(points[0].overrides, _place(previous, points[0])))
    return _run_points(folder, sweep, strategy, partial(_run_point, folder, {}, overrides))


def _place(sweep: Sweep, point: Point) -> SweepPlace:
    return SweepPlace(id=sweep.sweep_id, job=point.number, axes=point.axes)


@contextmanager
def _lock_sweep(folder: SweepFolder, sweep: Sweep) -> Iterator[None]:
    """Lock the sweep and write it down; an interruption, even between its runs, says how to resume it."""
    folder.create()
    with folder.lock(), terminated_as_interrupted():
        folder.write(sweep)
        try:
            yield
        except KeyboardInterrupt:
            if (current := folder.read()).status == "running":
                folder.write(current.model_copy(update={"status": "interrupted"}))
            raise KeyboardInterrupt(resume_hint("interrupted", folder.path, "-m ")) from None


def _run_points(
    folder: SweepFolder, sweep: Sweep, strategy: "Strategy", run_point: "Callable[[Sweep, Step], Point]"
) -> int:
    """Run the points that are left, write `sweep.json` after each, and print the results of all."""
    from aiq.analysis.sweeps import evaluate, with_results
    from aiq.site.sweep_page import write_sweep_page
    from aiq.site.sweep_tables import print_begin, print_resolves, print_sweep

    with _lock_sweep(folder, sweep):
        print_begin(sweep)
        try:
            while True:
                sweep, step = strategy.next(sweep)
                folder.write(sweep)
                if step is None:
                    break
                is_first = not any(point.status == "finished" for point in sweep.points)
                result = run_point(sweep, step)
                sweep = sweep.with_point(with_results(result, folder.point(result.number)))
                if is_first and result.status == "finished":  # measured numbers are better than the bounds known before
                    sweep = evaluate(sweep, folder)
                    print_resolves(sweep)
                if result.status == "interrupted":
                    break
        finally:
            sweep = sweep.model_copy(update={"status": "interrupted" if sweep.unfinished else "finished"})
            folder.write(sweep)
        sweep = evaluate(sweep, folder)
        folder.write(sweep)
        write_sweep_page(folder, sweep)
        print_sweep(sweep, folder)
    return sweep.exit_code


def _run_point(folder: SweepFolder, plans: Plans, overrides: Sequence[str], sweep: Sweep, step: "Step") -> Point:
    """Run a point, or some of its samples, and return how it ended. A point that cannot start does not stop a sweep."""
    point, sample_ids = step
    scope = "" if sample_ids is None else f", on {len(sample_ids)} of {sweep.samples} samples"
    say(f"point {point.number} of 0 to {len(sweep.points) - 1}: {sweep.label(point)}{scope}")
    try:
        run = _open_run(folder.point(point.number), plans, overrides, sweep, point)
        outcome = run_with_progress(*run, sample_ids)
    except UserError as error:
        say(f"aiq: {error}")
        return point.model_copy(update={"status": "failed", "exit_code": 2})
    status = outcome.summary.status
    if sample_ids is not None and outcome.error is None:
        state = read_state(folder.point(point.number))
        if all(state.attempted(key) for key in run[0].spec.keys if key.sample_id in sample_ids):
            return point.model_copy(update={"status": "pending"})
    print_outcome(outcome, folder.point(point.number), folder.path)
    point_status = "interrupted" if status == "running" else status
    return point.model_copy(update={"status": point_status, "exit_code": outcome.exit_code})


def _open_run(
    run: RunFolder, plans: Plans, overrides: Sequence[str], sweep: Sweep, point: Point
) -> "tuple[RunPlan, RunFolder, Manifest | None]":
    if not run.manifest_path.is_file():
        names = [override.get_key_element() for override in compose.parse(overrides)]
        kept = [text for text in point.overrides if text.partition("=")[0].lstrip("+~") not in names]
        return plans.get(point.number) or plan_of([*kept, *overrides], _place(sweep, point)), run, None
    if point.number in plans:  # the next rung of the same sweep
        return plans[point.number], run, run.read_manifest()
    return reopened(run, overrides)


def _rescore(folder: SweepFolder, sweep: Sweep, overrides: Sequence[str] = ()) -> int:
    """Record the runs that are missing, then work out all points without any model call."""
    from aiq.experiment.redecide import Redecision
    from aiq.experiment.strategies import Strategy, check_metric
    from aiq.site.pages import write_run

    grid = split(sweep.overrides)
    axes = {axis.name for axis in sweep.axes}
    point_overrides = grid.points[0].overrides
    varied = [text for text in point_overrides if text.partition("=")[0].lstrip("+") in axes]
    fixed = [text for text in point_overrides if text not in varied]
    if not grid.settings.runs and (code := _record_missing(folder, sweep, fixed, grid, overrides)) is not None:
        return code
    folders = [RunFolder(Path(path)) for path in sweep.runs]
    with closing(Redecision(folders, compose.settings_from(compose.compose(point_overrides)))) as redecision:
        redecision.check(point_overrides if grid.settings.runs else varied)
        check_metric(grid.settings, redecision.plan(point_overrides, _place(sweep, grid.points[0])))
        redecision.check_points(grid.points, partial(_place, sweep))
        first_points: dict[object, int] = {}

        def redecide_point(_: Sweep, step: "Step") -> Point:
            point, run = step.point, folder.point(step.point.number)
            plan = redecision.plan(point.overrides, _place(sweep, point))
            try:
                decided = redecision.write(plan, run)
            except UserError as error:
                return point.model_copy(update={"status": "failed", "exit_code": 2, "note": str(error)})
            write_run(run, plan.dataset.samples)
            first = first_points.setdefault(decided.decisions, point.number)
            update = {"status": "finished", "exit_code": 0, "note": str(decided) or None}
            if first != point.number:
                update |= {"status": "stopped", "same_as": first, "note": f"same decisions as point {first}"}
            return point.model_copy(update=update)

        samples = folders[0].read_summary().n_samples
        # all points anew: each is compared with all before it
        changes = {"samples": samples, "status": "running", "points": grid.points}
        return _run_points(folder, sweep.model_copy(update=changes), Strategy(folder), redecide_point)


def _record_missing(
    folder: SweepFolder, sweep: Sweep, fixed: Sequence[str], grid: Grid, overrides: Sequence[str]
) -> int | None:
    """Make the missing runs of `sweep.record`, all checked before the first; an exit code if one does not finish."""
    from aiq.experiment.strategies import check_metric

    plans: list[tuple[str, tuple[RunPlan, RunFolder, Manifest | None]]] = []
    for run, setting in zip(map(RunFolder, map(Path, sweep.runs)), grid.settings.record, strict=True):
        if not run.manifest_path.is_file():
            names = [text.partition("=")[0] for text in (setting, *overrides)]
            kept = [text for text in fixed if text.partition("=")[0] not in names]
            plans.append((setting, (plan_of([*kept, setting, *overrides], swept=True), run, None)))
        elif run.read_manifest().status != "finished":
            plans.append((setting, reopened(run, overrides)))
    for _, (plan, *_) in plans:
        check_metric(grid.settings, plan)
    with _lock_sweep(folder, sweep):
        for setting, planned_run in plans:
            say(f"recording {setting}")
            outcome = run_with_progress(*planned_run)
            print_outcome(outcome, planned_run[1], folder.path)
            if outcome.summary.status != "finished":
                folder.write(sweep.model_copy(update={"status": "interrupted"}))
                return outcome.exit_code
    return None
