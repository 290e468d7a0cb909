"""Run an experiment, or a sweep with -m.

aiq run experiment=shallow_freshqa limit=10
aiq run -m experiment=shallow_freshqa agent.shallow.max_tool_iterations=1,3,5
aiq run experiment=shallow_freshqa limits.sample_model_calls=20 --dry-run   its cost, at most and expected
aiq run resume=results/shallow_freshqa/RUN_ID
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from aiq import sweep
from aiq.commands import add_overrides
from aiq.core.errors import UserError
from aiq.experiment import choices, compose
from aiq.experiment.grid import refuse_sweep, refuse_unused, split
from aiq.run import RESUMED_ALONE, find_unfinished, new_plan, plan_of, reopened, run_and_report, split_resume
from aiq.runs.folder import SWEEP_FILE, RunFolder
from aiq.runs.sweeps import SweepFolder

more = choices.overview


def add_arguments(parser: ArgumentParser) -> None:
    add_overrides(parser, "[-m] [--cfg | --dry-run [--like RUN]] SETTING=VALUE ...")
    parser.add_argument("-m", "--multirun", action="store_true", help="sweep over settings with several values")
    stop = parser.add_mutually_exclusive_group()
    stop.add_argument("--cfg", action="store_true", help="print the resolved config and stop")
    stop.add_argument("--dry-run", action="store_true", help="print the cost, at most and expected, and stop")
    parser.add_argument("--like", metavar="RUN", help="with --dry-run: the earlier run to estimate from")


def run(args: Namespace) -> int:
    resumed, overrides = split_resume(args.overrides)
    if resumed and (args.cfg or args.dry_run):
        raise UserError(RESUMED_ALONE)
    if args.like and not args.dry_run:
        raise UserError("--like RUN is only for --dry-run, which estimates from it; add --dry-run, or drop --like")
    if args.dry_run:
        return _dry_run(overrides, args.like, sweep=args.multirun)
    if resumed:
        folder, settings = find_unfinished(resumed[0], overrides, sweeps=args.multirun)
        if (folder / SWEEP_FILE).is_file():
            return sweep.resume(SweepFolder(folder), settings)
        return run_and_report(*reopened(RunFolder(folder), settings)).exit_code
    if args.multirun:
        return _show_config([p.overrides for p in split(overrides).points]) if args.cfg else sweep.start(overrides)
    refuse_sweep(overrides)
    return _show_config([overrides]) if args.cfg else run_and_report(*new_plan(overrides)).exit_code


def _dry_run(overrides: Sequence[str], like: str | None, *, sweep: bool) -> int:
    from aiq.site.forecasts import print_run, print_sweep

    if not sweep:
        refuse_sweep(overrides)
        print_run(plan_of(overrides, dry=True), like)
        return 0
    grid = split(overrides)
    refuse_unused(grid, overrides)
    if grid.settings.strategy == "rescore":
        raise UserError("--dry-run is for new runs, but sweep.strategy=rescore uses recorded ones; drop one of the two")
    plans = {
        ", ".join(f"{name}={value}" for name, value in point.axes.items()): plan_of(
            point.overrides, swept=True, dry=True
        )
        for point in grid.points
    }
    print_sweep(plans, grid.settings.points if grid.settings.strategy == "optuna" else len(plans), like)
    return 0


def _show_config(jobs: Sequence[Sequence[str]]) -> int:
    from aiq.site.settings import annotated_yaml

    for job in jobs:
        print("---\n" + annotated_yaml(compose.check_settings(compose.settings_from(compose.compose(job)))), end="")
    return 0
