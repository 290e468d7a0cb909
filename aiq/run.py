"""`python -m aiq.run` (the same as `aiq run`): one experiment, a sweep of them with -m, or an earlier run resumed.

From Python, `aiq.run(["experiment=...", ...])`: this module can be called.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from aiq.analysis.sweeps import JobEnd
from aiq.core import plugins
from aiq.core.concurrency import completed
from aiq.core.errors import LimitReached, UserError
from aiq.core.files import resolve
from aiq.experiment import compose, sweep
from aiq.runs.folder import LATEST, RunFolder, find_run, latest_unfinished, new_run_id
from aiq.runs.frames import FinishedRun
from aiq.runs.manifest import Manifest, SweepPlace

if TYPE_CHECKING:  # a run needs much more than `--help` does
    from aiq.experiment.plan import RunPlan
    from aiq.experiment.runner import RunOutcome

_RESUME = "resume="
_RESUMED_ALONE = "resume=RUN goes on with one run; it takes neither -m nor --cfg nor a second folder"


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
    if resumed and (args.multirun or args.cfg):
        raise UserError(_RESUMED_ALONE)
    if not args.multirun:
        sweep.refuse(others)
    jobs = sweep.split(others) if args.multirun else [sweep.Job(tuple(others), {})]
    if args.cfg:
        return _show_config(jobs)
    if args.multirun:
        return _sweep(jobs)
    return carry_out(*_chosen(resumed, others)).exit_code


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
    plan, folder, earlier = _chosen(resumed, others)
    outcome = _executed(plan, folder, earlier)
    if outcome.summary.status == "finished":
        return FinishedRun(folder.path, outcome.summary, outcome.exit_code)
    if outcome.error is None:
        raise KeyboardInterrupt(_go_on("interrupted", folder))
    raise UserError(_stopped(outcome, folder))


def _parted(overrides: Sequence[str]) -> tuple[list[str], list[str]]:
    """The folder to resume, if any, and the other settings. Raises UserError for several folders."""
    resumed = [text.removeprefix(_RESUME) for text in overrides if text.startswith(_RESUME)]
    if len(resumed) > 1:
        raise UserError(_RESUMED_ALONE)
    return resumed, [text for text in overrides if not text.startswith(_RESUME)]


def _chosen(resumed: Sequence[str], overrides: Sequence[str]) -> tuple["RunPlan", RunFolder, Manifest | None]:
    """The run to resume, or else a new one."""
    if resumed:
        return _reopened(resumed[0], overrides)
    plan = _plan(overrides)
    return plan, _folder(plan, new_run_id()), None


def _show_config(jobs: Sequence[sweep.Job]) -> int:
    from aiq.site.settings import explained

    for job in jobs:
        print("---\n" + explained(compose.checked(compose.settings_from(compose.compose(job.overrides)))), end="")
    return 0


def _sweep(jobs: Sequence[sweep.Job]) -> int:
    """All jobs are composed and checked before the first one starts; the worst exit code of them."""
    from aiq.site.analysis_tables import print_sweep

    sweep_id = new_run_id()
    plans = [
        _plan(job.overrides, SweepPlace(id=sweep_id, job=number, axes=job.axes)) for number, job in enumerate(jobs)
    ]
    ends: list[JobEnd] = []
    for number, (job, plan) in enumerate(zip(jobs, plans, strict=True)):
        print(f"job {number + 1} of {len(jobs)}: {', '.join(f'{k}={v}' for k, v in job.axes.items())}", file=sys.stderr)
        try:
            outcome = carry_out(plan, _folder(plan, f"{sweep_id}.{number}"))
        except UserError as error:
            print(f"aiq: {error}", file=sys.stderr)
            ends.append(JobEnd(job.axes, 2))
            continue
        ends.append(JobEnd(job.axes, outcome.exit_code, outcome.summary, outcome.state))
        if outcome.summary.status == "interrupted":
            print(f"the sweep stops here; {len(jobs) - number - 1} jobs were not started", file=sys.stderr)
            break
    print_sweep(ends)
    return max(end.exit_code for end in ends)


def _unfinished(name: str, overrides: Sequence[str]) -> tuple[RunFolder, list[str]]:
    """The run that `resume=NAME` means, and the overrides that are not there to find it.

    `experiment` and `output_dir` say where `latest` is looked for. Raises UserError for no such run.
    """
    places = [text for text in overrides if text.startswith(("experiment=", "output_dir="))]
    where = dict(text.split("=", 1) for text in places)
    results = where.get("output_dir") or "results"
    if name != LATEST:
        return find_run(name, results), list(overrides)
    folder = latest_unfinished(results, where.get("experiment"))
    print(f"aiq: going on with {folder.path}", file=sys.stderr)
    return folder, [text for text in overrides if text not in places]


def _reopened(name: str, overrides: Sequence[str]) -> tuple["RunPlan", RunFolder, Manifest]:
    """An earlier run as it goes on."""
    from aiq.experiment import resume
    from aiq.experiment.plan import make_plan

    folder, overrides = _unfinished(name, overrides)
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
        return _go_on(why, folder) + more
    if not {"completed", "limit"} & outcome.summary.statuses.keys():
        return f"{why}; nothing is finished: start anew"
    return f"{_go_on(why, folder)} (settings other than {', '.join(ALLOWED)} take a new run)"


def _go_on(why: str, folder: RunFolder) -> str:
    return f"{why}; what is finished is kept, go on with: aiq run resume={folder.path}"


def _executed(plan: "RunPlan", folder: RunFolder, earlier: Manifest | None) -> "RunOutcome":
    """Run, with progress, and write the page. A KeyboardInterrupt says how to go on."""
    from aiq.experiment.runner import execute
    from aiq.site.progress import Progress
    from aiq.site.run_page import write_page

    with closing(Progress(plan.settings.name, shown=plan.settings.runner.progress)) as progress:
        try:
            outcome = completed(execute(plan, folder, progress, earlier))
        except KeyboardInterrupt:
            begun = folder.manifest_path.exists()
            raise KeyboardInterrupt(_go_on("interrupted", folder) if begun else "interrupted") from None
    if outcome.changed or not folder.page_path.exists():
        write_page(folder, plan.spec.keys)
    return outcome


def _plan(overrides: Sequence[str], place: SweepPlace | None = None) -> "RunPlan":
    """What a new run will do, checked with all that would only come to light at its end."""
    from aiq.agents.base import AsksUser
    from aiq.analysis.reliability import read_calibration
    from aiq.experiment.plan import make_plan
    from aiq.experiment.recording import as_recorded

    settings = as_recorded(compose.settings_from(compose.compose(overrides)), place.job if place else None)
    if settings.judge_reliability is not None:
        read_calibration(resolve(settings.judge_reliability))
    plan = make_plan(settings, overrides, place, compose.chosen_options(overrides))
    if isinstance(plan.agent, AsksUser):  # not in make_plan: a run that began before this was checked can be resumed
        plan.agent.check_user(settings.user.kind)
    return plan


def _folder(plan: "RunPlan", run_id: str) -> RunFolder:
    return RunFolder(Path(plan.settings.output_dir) / plan.settings.name / run_id)


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
