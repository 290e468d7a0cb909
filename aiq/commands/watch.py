"""Follow a run or a sweep of another process, by what it writes into its folder, until it ends.

aiq watch                           the one started last
aiq watch RUN                       a folder, an id below results/, or an experiment (its latest run)

Shows the run's own progress bar, then its results, and ends with its exit code. Ctrl-C ends only the watching.
"""

import sys
import time
from argparse import ArgumentParser, Namespace
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aiq.commands import add_results
from aiq.core.errors import RunAborted, UserError
from aiq.runs.folder import LATEST, MANIFEST, SWEEP_FILE, RunFolder, find_run, in_use, newest, paths_of

if TYPE_CHECKING:
    from aiq.runs.sweeps import SweepFolder

_EVERY_SECONDS: Final = 1.0
_GONE: Final = "cut off, since its process is gone"
_MEANINGS: Final = {
    0: "done",
    2: "an error stopped it, which its own terminal shows",
    3: "more failed than runner.max_error_rate allows",
    130: "interrupted",
}
"""By exit code; docs/running.md explains them."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", default=LATEST, metavar="RUN", help="a run or sweep (the one started last)")
    add_results(parser)


def run(args: Namespace) -> int:
    from aiq.runs.sweeps import SweepFolder

    folder = _folder(args.run, args.results)
    code = _sweep(SweepFolder(folder)) if (folder / SWEEP_FILE).is_file() else _run(RunFolder(folder))
    print(f"aiq: {folder} ended with exit code {code}: {_MEANINGS[code]}", file=sys.stderr)
    return code


def _folder(name: str, results: str) -> Path:
    """The folder of the run or sweep; for `latest`, the last one still running, else the last one."""
    if name == LATEST:
        files = (Path(results).glob(f"*/*/{file}") for file in (MANIFEST, SWEEP_FILE))
        if not (folders := list(newest(chain(*files)))):
            raise UserError(f"there are no runs in {results}/; name a run folder, or the results folder with --results")
        return next(filter(in_use, folders), folders[0])
    sweeps = (path for path in paths_of(name, results) if (path / SWEEP_FILE).is_file())
    return next(sweeps, None) or find_run(name, results).path


def _follow(folder: RunFolder) -> None:
    """Show its progress bar until it ends."""
    from aiq.experiment.shards import notify
    from aiq.runs.follow import FollowedRun
    from aiq.site.progress import Progress

    followed = FollowedRun(folder)
    with closing(Progress(folder.read_manifest().experiment, shown=True)) as progress:
        progress.follow(followed.state, followed.total, followed.poll()[0])
        is_running = True
        while is_running:
            is_running = in_use(folder.path)  # before polling, so that the last poll sees everything
            notify(followed, progress)
            time.sleep(_EVERY_SECONDS if is_running else 0)


def _run(folder: RunFolder) -> int:
    from aiq.experiment.runner import RunOutcome
    from aiq.run import print_outcome
    from aiq.runs.reader import read_state
    from aiq.runs.summary import summarise

    if in_use(folder.path):
        _follow(folder)
    manifest, state = folder.read_manifest(), read_state(folder)
    error: UserError | None
    if manifest.status == "running":
        manifest = manifest.model_copy(update={"status": "interrupted"})
        summary, error = summarise(manifest, state, 0.0), UserError(_GONE)
    else:
        summary = folder.read_summary()
        error = RunAborted(_MEANINGS[2]) if manifest.status == "failed" else None
    status = manifest.status
    outcome = RunOutcome(summary, status, state.exit_code(status), state.excess_failures(), error, changed=False)
    print_outcome(outcome, folder)
    return outcome.exit_code


def _sweep(folder: "SweepFolder") -> int:
    from aiq.run import resume_hint
    from aiq.site.sweep_tables import print_sweep

    while in_use(folder.path):
        sweep = folder.read()
        labels = {str(point.number): f": {sweep.label(point)}" for point in sweep.points}
        runs = (path.parent for path in folder.path.glob(f"*/{MANIFEST}"))
        if (point := next(filter(in_use, runs), None)) is None:
            time.sleep(_EVERY_SECONDS)
            continue
        print(f"point {point.name} of 0 to {len(labels) - 1}{labels.get(point.name, '')}", file=sys.stderr)
        _follow(RunFolder(point))
    sweep = folder.read()
    print_sweep(sweep, folder)
    if sweep.status == "finished":
        return sweep.exit_code
    print(
        f"aiq: {resume_hint(_GONE if sweep.status == 'running' else sweep.status, folder.path, '-m ')}", file=sys.stderr
    )
    return 130
