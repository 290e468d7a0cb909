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
    begun = Sweep(
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
    if begun.strategy == "rescore":
        if not (grid.settings.runs or grid.settings.record):
            raise UserError("sweep.strategy=rescore needs recorded runs to decide again on: set sweep.runs=[RUN, ...]")
        named = [str(find_run(name, settings.output_dir).path) for name in grid.settings.runs]
        runs = named or [str(folder.path / f"recorded-{number}") for number in range(len(grid.settings.record))]
        return _rescored(folder, begun.model_copy(update={"runs": tuple(runs)}))
    plans = {point.number: plan_of(point.overrides, _place(begun, point)) for point in grid.points}
    begun = begun.model_copy(update={"samples": len(plans[0].dataset.samples)})
    begun = begun.model_copy(update={"resolves": expected_resolution(begun, plans[0].spec.judges)})
    return _carried_out(folder, begun, strategy_of(grid, folder, plans[0]), partial(_made, folder, plans, ()))


def resume(folder: SweepFolder, overrides: Sequence[str]) -> int:
    """Keep finished points, resume those cut off, run missing ones, and let judges retry what they failed on."""
    from aiq.experiment.resume import ALLOWED
    from aiq.experiment.strategies import strategy_of

    compose.allowed_overrides(overrides, ALLOWED, "resume takes its config from the sweep")
    found = folder.read()
    if found.strategy == "rescore":
        return _rescored(folder, found, overrides)
    again = "runner.retry_failed=true" in overrides
    points = [
        point.model_copy(update={"status": "pending"}) if point.unjudged or (again and point.failed) else point
        for point in found.points
    ]
    begun = found.model_copy(update={"points": tuple(points), "status": "running"})
    strategy = strategy_of(split(found.overrides), folder, plan_of(points[0].overrides, _place(found, points[0])))
    return _carried_out(folder, begun, strategy, partial(_made, folder, {}, overrides))


def _place(found: Sweep, point: Point) -> SweepPlace:
    return SweepPlace(id=found.sweep_id, job=point.number, axes=point.axes)


@contextmanager
def _held(folder: SweepFolder, found: Sweep) -> Iterator[None]:
    """Lock the sweep and write it down; an interruption, even between its runs, says how to resume it."""
    folder.create()
    with folder.lock(), terminated_as_interrupted():
        folder.write(found)
        try:
            yield
        except KeyboardInterrupt:
            if (left := folder.read()).status == "running":
                folder.write(left.model_copy(update={"status": "interrupted"}))
            raise KeyboardInterrupt(resume_hint("interrupted", folder.path, "-m ")) from None


def _carried_out(
    folder: SweepFolder, found: Sweep, strategy: "Strategy", made: "Callable[[Sweep, Step], Point]"
) -> int:
    """Run the points that are left, write `sweep.json` after each, and print the results of all."""
    from aiq.analysis.sweeps import evaluate, with_results
    from aiq.site.sweep_page import write_sweep_page
    from aiq.site.sweep_tables import print_begin, print_resolves, print_sweep

    with _held(folder, found):
        print_begin(found)
        try:
            while True:
                found, step = strategy.next(found)
                folder.write(found)
                if step is None:
                    break
                first = not any(point.status == "finished" for point in found.points)
                end = made(found, step)
                found = found.with_point(with_results(end, folder.point(end.number)))
                if first and end.status == "finished":  # measured numbers are better than the bounds known before
                    found = evaluate(found, folder)
                    print_resolves(found)
                if end.status == "interrupted":
                    break
        finally:
            found = found.model_copy(update={"status": "interrupted" if found.unfinished else "finished"})
            folder.write(found)
        found = evaluate(found, folder)
        folder.write(found)
        write_sweep_page(folder, found)
        print_sweep(found, folder)
    return found.exit_code


def _made(folder: SweepFolder, plans: Plans, overrides: Sequence[str], found: Sweep, step: "Step") -> Point:
    """Run a point, or some of its samples, and return how it ended. A point that cannot start does not stop a sweep."""
    point, only = step
    part = "" if only is None else f", on {len(only)} of {found.samples} samples"
    say(f"point {point.number} of 0 to {len(found.points) - 1}: {found.label(point)}{part}")
    try:
        opened = _opened(folder.point(point.number), plans, overrides, found, point)
        outcome = run_with_progress(*opened, only)
    except UserError as error:
        say(f"aiq: {error}")
        return point.model_copy(update={"status": "failed", "exit_code": 2})
    status = outcome.summary.status
    if only is not None and outcome.error is None:
        state = read_state(folder.point(point.number))
        if all(state.attempted(key) for key in opened[0].spec.keys if key.sample_id in only):
            return point.model_copy(update={"status": "pending"})
    print_outcome(outcome, folder.point(point.number), folder.path)
    ended = "interrupted" if status == "running" else status
    return point.model_copy(update={"status": ended, "exit_code": outcome.exit_code})


def _opened(
    run: RunFolder, plans: Plans, overrides: Sequence[str], found: Sweep, point: Point
) -> "tuple[RunPlan, RunFolder, Manifest | None]":
    if not run.manifest_path.is_file():
        names = [override.get_key_element() for override in compose.parse(overrides)]
        kept = [text for text in point.overrides if text.partition("=")[0].lstrip("+~") not in names]
        return plans.get(point.number) or plan_of([*kept, *overrides], _place(found, point)), run, None
    if point.number in plans:  # the next rung of the same sweep
        return plans[point.number], run, run.read_manifest()
    return reopened(run, overrides)


def _rescored(folder: SweepFolder, found: Sweep, overrides: Sequence[str] = ()) -> int:
    """Record the runs that are missing, then work out all points without any model call."""
    from aiq.experiment.redecide import Redecision
    from aiq.experiment.strategies import Strategy, check_metric
    from aiq.site.pages import write_run

    grid = split(found.overrides)
    axes = {axis.name for axis in found.axes}
    typed = grid.points[0].overrides
    varied = [text for text in typed if text.partition("=")[0].lstrip("+") in axes]
    fixed = [text for text in typed if text not in varied]
    if not grid.settings.runs and (code := _recorded(folder, found, fixed, grid, overrides)) is not None:
        return code
    folders = [RunFolder(Path(path)) for path in found.runs]
    with closing(Redecision(folders, compose.settings_from(compose.compose(typed)))) as redecision:
        redecision.check(typed if grid.settings.runs else varied)
        check_metric(grid.settings, redecision.plan(typed, _place(found, grid.points[0])))
        redecision.check_points(grid.points, partial(_place, found))
        known: dict[object, int] = {}

        def made(_: Sweep, step: "Step") -> Point:
            point, run = step.point, folder.point(step.point.number)
            plan = redecision.plan(point.overrides, _place(found, point))
            try:
                done = redecision.write(plan, run)
            except UserError as error:
                return point.model_copy(update={"status": "failed", "exit_code": 2, "note": str(error)})
            write_run(run, plan.dataset.samples)
            first = known.setdefault(done.decisions, point.number)
            ended = {"status": "finished", "exit_code": 0, "note": str(done) or None}
            if first != point.number:
                ended |= {"status": "stopped", "same_as": first, "note": f"same decisions as point {first}"}
            return point.model_copy(update=ended)

        samples = folders[0].read_summary().n_samples
        # all points anew: each is compared with all before it
        anew = {"samples": samples, "status": "running", "points": grid.points}
        return _carried_out(folder, found.model_copy(update=anew), Strategy(folder), made)


def _recorded(
    folder: SweepFolder, found: Sweep, fixed: Sequence[str], grid: Grid, overrides: Sequence[str]
) -> int | None:
    """Make the missing runs of `sweep.record`, all checked before the first; an exit code if one does not finish."""
    from aiq.experiment.strategies import check_metric

    plans: list[tuple[str, tuple[RunPlan, RunFolder, Manifest | None]]] = []
    for run, own in zip(map(RunFolder, map(Path, found.runs)), grid.settings.record, strict=True):
        if not run.manifest_path.is_file():
            named = [text.partition("=")[0] for text in (own, *overrides)]
            others = [text for text in fixed if text.partition("=")[0] not in named]
            plans.append((own, (plan_of([*others, own, *overrides], swept=True), run, None)))
        elif run.read_manifest().status != "finished":
            plans.append((own, reopened(run, overrides)))
    for _, (plan, *_) in plans:
        check_metric(grid.settings, plan)
    with _held(folder, found):
        for own, opened in plans:
            say(f"recording {own}")
            outcome = run_with_progress(*opened)
            print_outcome(outcome, opened[1], folder.path)
            if outcome.summary.status != "finished":
                folder.write(found.model_copy(update={"status": "interrupted"}))
                return outcome.exit_code
    return None
