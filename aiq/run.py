"""`python -m aiq.run` (the same as `aiq run`): one experiment, a sweep of them with -m, or an earlier run resumed.

From Python, `aiq.run(["experiment=...", ...])`: this module can be called.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from aiq.core import plugins
from aiq.core.concurrency import completed
from aiq.core.errors import LimitReached, UserError
from aiq.core.files import resolve
from aiq.experiment import compose, sweep
from aiq.runs.folder import LATEST, SWEEP_FILE, RunFolder, find_run, new_run_id, places
from aiq.runs.frames import FinishedRun
from aiq.runs.manifest import Manifest, SweepPlace
from aiq.runs.sweeps import Point, Sweep, SweepFolder, find_sweep, latest_unfinished

if TYPE_CHECKING:  # a run needs much more than `--help` does
    from aiq.experiment.plan import RunPlan
    from aiq.experiment.runner import RunOutcome
    from aiq.experiment.strategies import Step, Strategy

_RESUME = "resume="
_RESUMED_ALONE = "resume=RUN goes on with one run, or with -m one sweep; it takes neither --cfg nor a second folder"


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments, and in the help what there is to choose from."""
    parser.usage = f"{parser.prog} [-m] [--cfg] SETTING=VALUE ..."
    parser.epilog = compose.overview()
    parser.add_argument("overrides", nargs="*", metavar="SETTING=VALUE", help="a setting, or GROUP=OPTION")
    parser.add_argument("-m", "--multirun", action="store_true", help="sweep over settings with several values")
    parser.add_argument("--cfg", action="store_true", help="print the resolved config and stop")


def run(args: Namespace) -> int:
    """Do what the command line asks; the exit code. Raises UserError for what is wrong with it."""
    resumed, others = _parted(args.overrides)
    if resumed and args.cfg:
        raise UserError(_RESUMED_ALONE)
    if resumed:
        place, settings = _unfinished(resumed[0], others, sweeps=args.multirun)
        if (place / SWEEP_FILE).is_file():
            return _resume_sweep(SweepFolder(place), settings)
        return carry_out(*_reopened(RunFolder(place), settings)).exit_code
    if args.multirun:
        grid = sweep.split(others)
        return _show_config([p.overrides for p in grid.points]) if args.cfg else _new_sweep(grid, others)
    sweep.refuse(others)
    if args.cfg:
        return _show_config([others])
    return carry_out(*_new(others)).exit_code


def finished(overrides: Sequence[str]) -> FinishedRun:
    """The run that `aiq run` makes with these settings (or resumes, with `resume=RUN`), for scripts and notebooks.

    Writes its progress on stderr, and no table. Raises UserError for what is wrong with the settings and for a run that
    something stopped, KeyboardInterrupt for one that somebody did; then the message says how to go on with it.
    """
    if isinstance(overrides, str) or not all(isinstance(text, str) for text in overrides):
        raise UserError('aiq.run takes a list of texts: aiq.run(["experiment=shallow_freshqa", "limit=3"])')
    plugins.search_here()
    resumed, others = _parted(overrides)
    sweep.refuse(others)
    plan, folder, earlier = _resumed_run(resumed[0], others) if resumed else _new(others)
    outcome = _executed(plan, folder, earlier)
    if outcome.summary.status == "finished":
        return FinishedRun(folder.path, outcome.summary, outcome.exit_code)
    if outcome.error is None:
        raise KeyboardInterrupt(_go_on("interrupted", folder.path))
    raise UserError(_stopped(outcome, folder))


def _parted(overrides: Sequence[str]) -> tuple[list[str], list[str]]:
    """The folder to resume, if any, and the other settings. Raises UserError for several folders."""
    resumed = [text.removeprefix(_RESUME) for text in overrides if text.startswith(_RESUME)]
    if len(resumed) > 1:
        raise UserError(_RESUMED_ALONE)
    return resumed, [text for text in overrides if not text.startswith(_RESUME)]


def _new(overrides: Sequence[str]) -> tuple["RunPlan", RunFolder, None]:
    plan = _plan(overrides)
    return plan, RunFolder(_experiment_folder(plan) / new_run_id()), None


def _experiment_folder(plan: "RunPlan") -> Path:
    return Path(plan.settings.output_dir) / plan.settings.name


def _resumed_run(name: str, overrides: Sequence[str]) -> tuple["RunPlan", RunFolder, Manifest]:
    place, settings = _unfinished(name, overrides, sweeps=False)
    if (place / SWEEP_FILE).is_file():
        raise UserError(f"{place} is a sweep, which goes on with: aiq run -m resume={place}")
    return _reopened(RunFolder(place), settings)


def _new_sweep(grid: sweep.Grid, overrides: Sequence[str]) -> int:
    """All points are composed and checked before the first one starts; the worst exit code of them."""
    from aiq.analysis.sweeps import expected
    from aiq.experiment.strategies import strategy_of

    if grid.settings.strategy == "rescore":
        return _new_rescore(grid, overrides)
    sweep_id = new_run_id()
    plans = {point.number: _plan(point.overrides, _place(sweep_id, point)) for point in grid.points}
    first = plans[0]
    begun = Sweep(
        sweep_id=sweep_id,
        experiment=first.settings.name,
        status="running",
        overrides=tuple(overrides),
        strategy=grid.settings.strategy,
        metric=grid.settings.metric,
        spend=grid.settings.spend,
        samples=len(first.dataset.samples),
        axes=grid.axes,
        points=grid.points,
    )
    begun = begun.model_copy(update={"resolves": expected(begun, first.spec.judges)})
    folder = SweepFolder(_experiment_folder(first) / sweep_id)

    def opened(point: Point) -> "tuple[RunPlan, RunFolder, Manifest | None]":
        run = folder.point(point.number)
        earlier = run.read_manifest() if run.manifest_path.is_file() else None
        return plans.get(point.number) or _plan(point.overrides, _place(sweep_id, point)), run, earlier

    return _carried_out(folder, begun, strategy_of(grid, folder, first), partial(_end, opened))


def _new_rescore(grid: sweep.Grid, overrides: Sequence[str]) -> int:
    """A sweep over what recorded runs decided, which are named or made first. The worst exit code of its points."""
    settings = compose.settings_from(compose.compose(grid.points[0].overrides))
    sweep_id = new_run_id()
    folder = SweepFolder(Path(settings.output_dir) / settings.name / sweep_id)
    if not (grid.settings.runs or grid.settings.record):
        raise UserError("sweep.strategy=rescore decides again on recorded runs: name them with sweep.runs=[RUN, ...]")
    named = [str(find_run(name, settings.output_dir).path) for name in grid.settings.runs]
    runs = named or [str(folder.path / f"recorded-{number}") for number in range(len(grid.settings.record))]
    begun = Sweep(
        sweep_id=sweep_id,
        experiment=settings.name,
        status="running",
        overrides=tuple(overrides),
        strategy="rescore",
        runs=tuple(runs),
        metric=grid.settings.metric,
        spend=grid.settings.spend,
        samples=0,
        axes=grid.axes,
        points=grid.points,
    )
    return _rescored(folder, begun, grid)


def _rescored(folder: SweepFolder, found: Sweep, grid: sweep.Grid) -> int:
    """Make what is not recorded yet, and then the points, without a model call."""
    from aiq.experiment.redecide import Redecision
    from aiq.experiment.strategies import Strategy
    from aiq.site.run_page import write_page

    axes = {axis.name for axis in found.axes}
    fixed = [text for text in grid.points[0].overrides if text.partition("=")[0].lstrip("+") not in axes]
    if not grid.settings.runs:
        for run, override in zip(map(RunFolder, map(Path, found.runs)), grid.settings.record, strict=True):
            begun = run.manifest_path.is_file()
            if begun and run.read_manifest().status == "finished":
                continue
            others = [text for text in fixed if text.partition("=")[0] != override.partition("=")[0]]
            plan = _reopened(run, []) if begun else (_plan([*others, override], swept=True), run, None)
            print(f"recording {override}", file=sys.stderr)
            if (outcome := carry_out(*plan)).summary.status != "finished":
                return outcome.exit_code
    folders = [RunFolder(Path(path)) for path in found.runs]
    redecision = Redecision(folders, compose.settings_from(compose.compose(grid.points[0].overrides)))
    if grid.settings.runs:
        redecision.check(fixed)
    known: dict[object, int] = {}

    def made(_: Sweep, step: "Step") -> Point:
        point, run = step.point, folder.point(step.point.number)
        plan = redecision.plan(point.overrides, _place(found.sweep_id, point))
        try:
            done = redecision.write(plan, run)
        except UserError as error:
            print(f"aiq: point {point.number}: {error}", file=sys.stderr)
            return point.model_copy(update={"status": "failed", "exit_code": 2})
        write_page(run, plan.spec.keys)
        first = known.setdefault(done.decisions, point.number)
        ended = {"status": "finished", "exit_code": 0, "note": str(done) or None}
        if first != point.number:
            ended |= {"status": "stopped", "same_as": first, "note": f"decides as point {first} on every attempt"}
        return point.model_copy(update=ended)

    found = found.model_copy(update={"samples": folders[0].read_summary().n_samples, "status": "running"})
    return _carried_out(folder, found, Strategy(folder), made)


def _place(sweep_id: str, point: Point) -> SweepPlace:
    return SweepPlace(id=sweep_id, job=point.number, axes=point.axes)


def _resume_sweep(folder: SweepFolder, overrides: Sequence[str]) -> int:
    """Finished points are kept, those cut off go on, missing ones are made; judges get what they have left."""
    from aiq.experiment.resume import ALLOWED
    from aiq.experiment.strategies import strategy_of

    allowed = compose.allowed_overrides(overrides, ALLOWED, "resume takes its config from the sweep")
    names = [name for name, _ in allowed]
    again = "runner.retry_failed=true" in overrides

    def opened(point: Point) -> "tuple[RunPlan, RunFolder, Manifest | None]":
        run = folder.point(point.number)
        if run.manifest_path.is_file():
            return _reopened(run, overrides)
        kept = [text for text in point.overrides if text.partition("=")[0].lstrip("+~") not in names]
        return _plan([*kept, *overrides], _place(found.sweep_id, point)), run, None

    found = folder.read()
    if found.strategy == "rescore":
        return _rescored(folder, found, sweep.split(found.overrides))
    points = [
        point.model_copy(update={"status": "pending"}) if point.unjudged or (again and point.failed) else point
        for point in found.points
    ]
    begun = found.model_copy(update={"points": tuple(points), "status": "running"})
    strategy = strategy_of(sweep.split(found.overrides), folder, _plan(points[0].overrides, _place("", points[0])))
    return _carried_out(folder, begun, strategy, partial(_end, opened))


def _carried_out(
    folder: SweepFolder, found: Sweep, strategy: "Strategy", made: "Callable[[Sweep, Step], Point]"
) -> int:
    """Make the points that are left, write `sweep.json` after each, and print what all of them show."""
    from aiq.analysis.sweeps import evaluated, measured
    from aiq.site.sweep_page import write_sweep_page
    from aiq.site.sweep_tables import print_begin, print_resolves, print_sweep

    folder.create()
    with folder.lock():
        folder.write(found)
        print_begin(found)
        try:
            while True:
                found, step = strategy.next(found)
                folder.write(found)
                if step is None:
                    break
                before = found.points
                end = made(found, step)
                found = found.with_point(measured(end, folder.point(end.number)))
                if end.status == "finished" and not any(
                    old.status == "finished" for old in before
                ):  # the first one with numbers: they say more than bounds
                    found = evaluated(found, folder)
                    print_resolves(found)
                if end.status == "interrupted":
                    break
        except KeyboardInterrupt:
            raise KeyboardInterrupt(_go_on("interrupted", folder.path, "-m ")) from None
        finally:
            ended = not any(point.status in ("pending", "interrupted") for point in found.points)
            found = found.model_copy(update={"status": "finished" if ended else "interrupted"})
            folder.write(found)
        found = evaluated(found, folder)
        folder.write(found)
        write_sweep_page(folder, found)
    print_sweep(found, folder)
    if found.status == "interrupted":
        print(f"aiq: {_go_on('the sweep stops here', folder.path, '-m ')}", file=sys.stderr)
    return found.exit_code


def _end(opened: "Callable[[Point], tuple[RunPlan, RunFolder, Manifest | None]]", found: Sweep, step: "Step") -> Point:
    """Run a point, or a part of its samples: how it ended. One that cannot start stops nothing."""
    point, only = step
    part = "" if only is None else f", on {len(only)} of {found.samples} samples"
    print(f"point {point.number} of 0 to {len(found.points) - 1}: {found.label(point)}{part}", file=sys.stderr)
    try:
        outcome = carry_out(*opened(point)) if only is None else _executed(*opened(point), only)
    except UserError as error:
        print(f"aiq: {error}", file=sys.stderr)
        return point.model_copy(update={"status": "failed", "exit_code": 2})
    status = outcome.summary.status
    if only is not None and outcome.error is None:
        keys = [key for key in outcome.state.spec.keys if key.sample_id in only]
        if all(map(outcome.state.attempted, keys)):
            return point.model_copy(update={"status": "pending"})
    ended = "interrupted" if status == "running" else status
    return point.model_copy(update={"status": ended, "exit_code": outcome.exit_code})


def _show_config(jobs: Sequence[Sequence[str]]) -> int:
    from aiq.site.settings import explained

    for job in jobs:
        print("---\n" + explained(compose.checked(compose.settings_from(compose.compose(job)))), end="")
    return 0


def _unfinished(name: str, overrides: Sequence[str], *, sweeps: bool) -> tuple[Path, list[str]]:
    """The folder of the run or sweep that `resume=NAME` means, and the overrides that are not there to find it.

    `experiment` and `output_dir` say where `latest` is looked for. `sweeps`: a single run will not do. Raises UserError
    for no such run.
    """
    where = dict(text.split("=", 1) for text in overrides if text.startswith(("experiment=", "output_dir=")))
    results = where.get("output_dir") or "results"
    if name != LATEST:
        sweeps = sweeps or any((path / SWEEP_FILE).is_file() for path in places(name, results))
        return (find_sweep if sweeps else find_run)(name, results).path, list(overrides)
    folder = latest_unfinished(results, where.get("experiment"), sweeps=sweeps)
    print(f"aiq: going on with {folder}", file=sys.stderr)
    return folder, [text for text in overrides if not text.startswith(("experiment=", "output_dir="))]


def _reopened(folder: RunFolder, overrides: Sequence[str]) -> tuple["RunPlan", RunFolder, Manifest]:
    """An earlier run as it goes on."""
    from aiq.experiment import resume
    from aiq.experiment.plan import make_plan

    manifest, changes = resume.brought_up_to_date(folder.read_manifest())
    manifest = resume.reopened(manifest, overrides)
    for note in changes:
        print(f"aiq: {note}", file=sys.stderr)
    plan = make_plan(compose.settings_from(manifest.config), manifest.overrides, manifest.sweep, manifest.options)
    for note in resume.check_same(plan, manifest, folder):
        print(f"aiq: {note}", file=sys.stderr)
    return plan, folder, manifest


def carry_out(plan: "RunPlan", folder: RunFolder, earlier: Manifest | None = None) -> "RunOutcome":
    """Run, write the page, print what came out and how to go on."""
    from aiq.site.tables import print_summary

    if not plan.judges:
        print("aiq: judge=[] names no judge: the reports are made, and nothing scores them", file=sys.stderr)
    outcome = _executed(plan, folder, earlier)
    status = outcome.summary.status
    if status != "failed":
        print_summary(outcome.summary, folder)
    if status != "finished":
        print(f"aiq: {_stopped(outcome, folder)}", file=sys.stderr)
    elif outcome.exit_code == 3:
        for excess in outcome.state.excesses():
            print(f"aiq: {excess}, more than runner.max_error_rate allows (exit code 3)", file=sys.stderr)
        for what, setting in _again(outcome):
            print(f"aiq: {what} again with: aiq run resume={folder.path}{setting}", file=sys.stderr)
    return outcome


def _again(outcome: "RunOutcome") -> Iterator[tuple[str, str]]:
    """What of a finished run can be tried again, and the setting that this takes."""
    if outcome.summary.unjudged:
        yield "what is not judged is tried", ""
    if "failed" in outcome.summary.statuses:
        yield "failed attempts are made", " runner.retry_failed=true"


def _stopped(outcome: "RunOutcome", folder: RunFolder) -> str:
    """Why the run did not come to its end, and how to go on where that is worth it."""
    from aiq.experiment.resume import ALLOWED

    why = str(outcome.error or "interrupted")
    if outcome.summary.status == "interrupted":
        more = f" {outcome.error.limit}=MORE" if isinstance(outcome.error, LimitReached) else ""
        return _go_on(why, folder.path) + more
    if not {"completed", "limit"} & outcome.summary.statuses.keys():
        return f"{why}; nothing is finished: start anew"
    return f"{_go_on(why, folder.path)} (settings other than {', '.join(ALLOWED)} take a new run)"


def _go_on(why: str, path: Path, options: str = "") -> str:
    return f"{why}; what is finished is kept, go on with: aiq run {options}resume={path}"


def _executed(
    plan: "RunPlan", folder: RunFolder, earlier: Manifest | None, only: Container[str] | None = None
) -> "RunOutcome":
    """Run, with progress, and write the page. A KeyboardInterrupt says how to go on."""
    from aiq.experiment.runner import execute
    from aiq.site.progress import Progress
    from aiq.site.run_page import write_page

    with closing(Progress(plan.settings.name, shown=plan.settings.runner.progress)) as progress:
        try:
            outcome = completed(execute(plan, folder, progress, earlier, only))
        except KeyboardInterrupt:
            begun = folder.manifest_path.exists()
            raise KeyboardInterrupt(_go_on("interrupted", folder.path) if begun else "interrupted") from None
    if outcome.changed or not folder.page_path.exists():
        write_page(folder, plan.spec.keys)
    return outcome


def _plan(overrides: Sequence[str], place: SweepPlace | None = None, *, swept: bool = False) -> "RunPlan":
    """What a new run will do, checked with all that would only come to light at its end.

    `place`: of a point in its sweep; `swept`: whether it is part of one without being a point.
    """
    from aiq.agents.base import AsksUser
    from aiq.analysis.reliability import read_calibration
    from aiq.experiment.plan import make_plan
    from aiq.experiment.recording import as_recorded

    config = compose.compose(overrides)
    if place is None and not swept:
        sweep.refuse_axes(config, overrides)
    settings = as_recorded(compose.settings_from(config), place.job if place else None)
    if settings.judge_reliability is not None:
        read_calibration(resolve(settings.judge_reliability))
    plan = make_plan(settings, overrides, place, compose.chosen_options(overrides))
    if isinstance(plan.agent, AsksUser):  # not in make_plan: a run that began before this was checked can be resumed
        plan.agent.check_user(settings.user.kind)
    return plan


def main() -> int:
    """`python -m aiq.run ARGUMENTS`; the exit code."""
    from aiq.__main__ import main as aiq

    return aiq(["run", *sys.argv[1:]])


class _CallableModule(ModuleType):
    """Makes `aiq.run` both: the module of `python -m aiq.run`, and the function of Python code."""

    def __call__(self, overrides: Sequence[str]) -> FinishedRun:
        return finished(overrides)


sys.modules[__name__].__class__ = _CallableModule

if __name__ == "__main__":
    sys.exit(main())
