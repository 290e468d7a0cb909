"""A run, from its settings to its printed results; `python -m aiq.run` is the same as `aiq run`.

In Python, call the module itself: `aiq.run(["experiment=...", ...])`.
"""

import sys
from collections.abc import Container, Sequence
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from aiq.core import plugins
from aiq.core.concurrency import completed
from aiq.core.errors import LimitReached, RunAborted, UserError, say
from aiq.core.files import resolve
from aiq.experiment import compose
from aiq.experiment.grid import refuse_axes, refuse_sweep
from aiq.runs.folder import LATEST, SWEEP_FILE, RunFolder, find_run, new_run_id, paths_of
from aiq.runs.frames import FinishedRun
from aiq.runs.manifest import Manifest, SweepPlace
from aiq.runs.sweeps import find_sweep, latest_unfinished

if TYPE_CHECKING:  # a run imports much more than `--help` needs
    from aiq.experiment.plan import RunPlan
    from aiq.experiment.runner import RunOutcome

_RESUME = "resume="
RESUMED_ALONE = (
    "resume=RUN resumes one run, or with -m one sweep; it cannot be combined with --cfg, --dry-run or a second folder"
)


def run_experiment(overrides: Sequence[str]) -> FinishedRun:
    """Run (or, with `resume=RUN`, resume) what `aiq run` would with these settings, for scripts and notebooks.

    Prints progress on stderr, and no table. Raises UserError for invalid settings and for a run that an error stopped,
    KeyboardInterrupt for one that somebody stopped; the message of a stopped run says how to resume it.
    """
    if isinstance(overrides, str) or not all(isinstance(text, str) for text in overrides):
        raise UserError('aiq.run takes a list of strings: aiq.run(["experiment=shallow_freshqa", "limit=3"])')
    plugins.add_cwd_to_path()
    names, remaining = split_resume(overrides)
    refuse_sweep(remaining)
    plan, folder, earlier = _resumed_run(names[0], remaining) if names else new_plan(remaining)
    outcome = run_with_progress(plan, folder, earlier)
    if outcome.ended == "finished":
        return FinishedRun(folder.path, outcome.summary, outcome.exit_code)
    if outcome.error is None:
        raise KeyboardInterrupt(resume_hint("interrupted", folder.path))
    raise UserError(_stop_message(outcome, folder))


def split_resume(overrides: Sequence[str]) -> tuple[list[str], list[str]]:
    """The folder to resume, if any, and the other settings. Raises UserError for more than one folder."""
    names = [text.removeprefix(_RESUME) for text in overrides if text.startswith(_RESUME)]
    if len(names) > 1:
        raise UserError(RESUMED_ALONE)
    return names, [text for text in overrides if not text.startswith(_RESUME)]


def new_plan(overrides: Sequence[str]) -> tuple["RunPlan", RunFolder, Manifest | None]:
    """The plan of a new run, its folder, and for a shard the manifest that all shards share."""
    plan = plan_of(overrides)
    settings = plan.settings
    if settings.shard and not settings.run_id:
        raise UserError(
            f"shard={settings.shard} needs run_id=NAME, the same for all shards, which share the run's folder"
        )
    if settings.shard and settings.runner.processes > 1:
        raise UserError(
            f"shard={settings.shard} runs one process, but runner.processes={settings.runner.processes} starts all "
            "shards by itself; drop one of the two"
        )
    folder = RunFolder(Path(settings.output_dir) / settings.name / (settings.run_id or new_run_id()))
    if settings.shard:
        from aiq.experiment.shards import join_run

        plan, manifest = join_run(plan, folder)
        return plan, folder, manifest
    if folder.manifest_path.exists():
        raise UserError(
            f"{folder.path} already exists: resume it with aiq run resume={folder.path}, or choose another run_id"
        )
    return plan, folder, None


def _resumed_run(name: str, overrides: Sequence[str]) -> tuple["RunPlan", RunFolder, Manifest]:
    path, remaining = find_unfinished(name, overrides, sweeps=False)
    if (path / SWEEP_FILE).is_file():
        raise UserError(f"{path} is a sweep; resume it with: aiq run -m resume={path}")
    return reopened(RunFolder(path), remaining)


def find_unfinished(name: str, overrides: Sequence[str], *, sweeps: bool) -> tuple[Path, list[str]]:
    """The folder of the run or sweep that `resume=NAME` means, and the overrides that were not needed to find it.

    `experiment` and `output_dir` say where to look for `latest`. `sweeps`: only a sweep counts. Raises UserError if
    there is none.
    """
    location = dict(text.split("=", 1) for text in overrides if text.startswith(("experiment=", "output_dir=")))
    results = location.get("output_dir") or "results"
    if name != LATEST:
        sweeps = sweeps or any((path / SWEEP_FILE).is_file() for path in paths_of(name, results))
        return (find_sweep if sweeps else find_run)(name, results).path, list(overrides)
    folder = latest_unfinished(results, location.get("experiment"), sweeps=sweeps)
    say(f"aiq: resuming {folder}")
    return folder, [text for text in overrides if not text.startswith(("experiment=", "output_dir="))]


def reopened(folder: RunFolder, overrides: Sequence[str]) -> tuple["RunPlan", RunFolder, Manifest]:
    """An earlier run, prepared to be resumed."""
    from aiq.experiment import resume
    from aiq.experiment.plan import make_plan

    manifest, notes = resume.migrate(folder.read_manifest())
    manifest = resume.reopened(manifest, overrides)
    for note in notes:
        say(f"aiq: {note}")
    plan = make_plan(compose.settings_from(manifest.config), manifest.overrides, manifest.sweep, manifest.options)
    for note in resume.check_same(plan, manifest, folder):
        say(f"aiq: {note}")
    return plan, folder, manifest


def run_and_report(plan: "RunPlan", folder: RunFolder, earlier: Manifest | None = None) -> "RunOutcome":
    """Run, write the page, print the results and how to resume."""
    if not plan.judges:
        say("aiq: judge=[] names no judge: the reports are written but not scored")
    outcome = run_with_progress(plan, folder, earlier)
    print_outcome(outcome, folder)
    return outcome


def print_outcome(outcome: "RunOutcome", folder: RunFolder, sweep: Path | None = None) -> None:
    """Print the results and how to resume; `sweep`: the folder of the sweep that the run belongs to, if any."""
    from aiq.site.tables import print_summary

    status = outcome.summary.status
    if outcome.ended == "finished" != status:
        say(f"aiq: this shard of {folder.path} is done, but others are not")
        return
    if status != "failed":
        print_summary(outcome.summary, folder)
    if status != "finished":
        say(f"aiq: {_stop_message(outcome, folder, sweep)}")
    elif outcome.exit_code == 3:
        for excess in outcome.excess_failures:
            say(f"aiq: {excess}, more than runner.max_error_rate allows (exit code 3)")
        _say_retries(outcome, folder)


def _say_retries(outcome: "RunOutcome", folder: RunFolder) -> None:
    """Say how to retry what failed in a finished run; attempts of a rescored run only in the run they come from."""
    if outcome.summary.unjudged:
        say(f"aiq: to retry failed judgements: aiq run resume={folder.path}")
    if "failed" in outcome.summary.statuses:
        rescored = folder.read_manifest().rescored
        run, suffix = (rescored.run, ", then rescore it again") if rescored else (folder.path, "")
        say(f"aiq: to retry failed attempts: aiq run resume={run} runner.retry_failed=true{suffix}")


def _stop_message(outcome: "RunOutcome", folder: RunFolder, sweep: Path | None = None) -> str:
    """Why the run did not finish, and how to resume it if anything is worth keeping."""
    from aiq.experiment.resume import ALLOWED

    reason = str(outcome.error or "interrupted")
    if outcome.summary.status == "interrupted":
        limit_hint = f" {outcome.error.limit}=MORE" if isinstance(outcome.error, LimitReached) else ""
        return (resume_hint(reason, sweep, "-m ") if sweep else resume_hint(reason, folder.path)) + limit_hint
    if not {"completed", "limit"} & outcome.summary.statuses.keys():
        return f"{reason}; no attempt has finished: start a new run"
    return f"{resume_hint(reason, folder.path)} (settings other than {', '.join(ALLOWED)} need a new run)"


def resume_hint(reason: str, path: Path, options: str = "") -> str:
    return f"{reason}; finished work is kept, resume with: aiq run {options}resume={path}"


def run_with_progress(
    plan: "RunPlan", folder: RunFolder, earlier: Manifest | None, only: Container[str] | None = None
) -> "RunOutcome":
    """Run, with progress, and write the page. A KeyboardInterrupt says how to resume."""
    from aiq.site.pages import write_run

    try:
        outcome = _execute(plan, folder, earlier, only)
        complete = plan.settings.shard is None or outcome.summary.status == "finished"
        if complete and (outcome.changed or not folder.page_path.exists()):
            write_run(folder, plan.dataset.samples)
    except KeyboardInterrupt:
        resumable = folder.manifest_path.exists()
        raise KeyboardInterrupt(resume_hint("interrupted", folder.path) if resumable else "interrupted") from None
    except RunAborted as error:  # the disk is full or the folder is gone: not even the summary could be written
        resumable = earlier is None and folder.manifest_path.exists()
        raise RunAborted(resume_hint(str(error), folder.path) if resumable else str(error)) from None
    return outcome


def _execute(plan: "RunPlan", folder: RunFolder, earlier: Manifest | None, only: Container[str] | None) -> "RunOutcome":
    """Run, with progress. The state held for each attempt is freed before the page is written."""
    from aiq.experiment.runner import execute
    from aiq.experiment.shards import run_shards
    from aiq.site.progress import Progress

    runner = plan.settings.runner
    parallel = runner.processes > 1 and plan.settings.shard is None
    if parallel and only is not None:
        say("aiq: only some of the samples are run, which takes one process whatever runner.processes says")
        parallel = False
    with closing(Progress(plan.settings.name, shown=runner.progress)) as progress:
        return completed(
            run_shards(plan, folder, progress, earlier) if parallel else execute(plan, folder, progress, earlier, only)
        )


def plan_of(
    overrides: Sequence[str], place: SweepPlace | None = None, *, swept: bool = False, dry: bool = False
) -> "RunPlan":
    """The plan of a new run; also checks what would otherwise fail only at the run's end.

    `place`: a point's place in its sweep; `swept`: whether the run belongs to a sweep without being a point. `dry`:
    nothing may be written, so documents are not indexed.
    """
    from aiq.agents.base import AsksUser
    from aiq.analysis.reliability import read_calibration
    from aiq.experiment.plan import make_plan
    from aiq.experiment.recording import as_recorded

    config, options = compose.compose_with_options(overrides)
    if place is None and not swept:
        refuse_axes(config, overrides)
    settings = as_recorded(compose.settings_from(config), place.job if place else None)
    if dry:
        settings = settings.changed("knowledge", documents=(), collection=None)
    if settings.judge_reliability is not None:
        read_calibration(resolve(settings.judge_reliability))
    plan = make_plan(settings, overrides, place, options)
    if isinstance(plan.agent, AsksUser):  # not in make_plan: runs begun before this check existed stay resumable
        plan.agent.check_user(settings.user.kind)
    return plan


def main() -> int:
    """`python -m aiq.run ARGUMENTS`; returns the exit code."""
    from aiq.__main__ import main as aiq

    return aiq(["run", *sys.argv[1:]])


class _CallableModule(ModuleType):
    """Makes `aiq.run` both the module of `python -m aiq.run` and a function to call from Python."""

    def __call__(self, overrides: Sequence[str]) -> FinishedRun:
        return run_experiment(overrides)


sys.modules[__name__].__class__ = _CallableModule

if __name__ == "__main__":
    sys.exit(main())
