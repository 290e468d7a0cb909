"""One run from plan to summary: opens what it needs, journals, runs, and leaves a folder that says how it ended."""

import asyncio
import sys
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiq.agents.base import Checked
from aiq.core.errors import LimitReached, UserError
from aiq.core.session import RunSpend
from aiq.experiment.answers import AnswerStore
from aiq.experiment.documents import check_data_sources, collections_of
from aiq.experiment.folder import RunFolder
from aiq.experiment.interrupt import EXIT_CODE, stop_on_signal
from aiq.experiment.journal import Journal
from aiq.experiment.manifest import models_of, new_manifest, utc_now
from aiq.experiment.pages import PageStore
from aiq.experiment.plan import Plan
from aiq.experiment.progress import Progress
from aiq.experiment.records import Manifest, RunStatus, SampleRow, ScoreRow, Summary
from aiq.experiment.resources import Resources, is_offline_model, open_resources
from aiq.experiment.resume import check_finished, load_tally
from aiq.experiment.runner import Runner
from aiq.experiment.sessions import Sessions
from aiq.experiment.summary import Summariser
from aiq.experiment.tally import Tally


@dataclass(frozen=True)
class Ending:
    """How a run ended. `error`: what stopped it, where something did."""

    status: RunStatus
    error: UserError | LimitReached | None = None


@dataclass(frozen=True)
class Outcome:
    """A run that ended: its plan, folder, numbers and tally. `changed`: whether the numbers differ from before."""

    plan: Plan
    folder: RunFolder
    summary: Summary
    tally: Tally
    ending: Ending
    changed: bool = True

    @property
    def exit_code(self) -> int:
        """0, 3 when too many attempts or judgements failed, 2 when something stopped the run, 130 when interrupted."""
        if self.ending.status == "interrupted":
            return EXIT_CODE
        if self.ending.status == "failed":
            return 2
        allowed = self.plan.settings.runner.max_error_rate * self.summary.n_attempts
        unjudged = max((errors.n for errors in self.summary.judge_errors.values()), default=0)
        return 3 if max(self.summary.n_errors, unjudged) > allowed else 0


async def execute(plan: Plan, folder: RunFolder, earlier: Manifest | None = None) -> Outcome:
    """Run the plan in the folder; `earlier` is the folder's manifest when the run is resumed.

    Raises UserError before anything is written when the endpoint, the folder or an earlier start
    does not fit. Whatever happens later leaves manifest and summary behind.
    """
    async with AsyncExitStack() as held:
        if earlier is not None:
            held.enter_context(folder.lock())
        run = _Run(plan, folder, earlier)
        collections = collections_of(plan.dataset.samples)
        resources = await held.enter_async_context(open_resources(plan.settings, collections)) if run.left else None
        if resources is not None:
            check_data_sources(plan.dataset.samples, resources.tools)
            if isinstance(plan.agent, Checked):
                plan.agent.check(resources.tools)
        if earlier is None:
            folder.create()
            held.enter_context(folder.lock())
        return await run.go(resources)


class _Run:
    """The state of one start of a run."""

    def __init__(self, plan: Plan, folder: RunFolder, earlier: Manifest | None) -> None:
        self._plan = plan
        self._folder = folder
        self._start = time.monotonic()
        self._before = folder.read_summary() if folder.summary_path.exists() else None
        self._tally, self._unscored = load_tally(folder, plan)
        if earlier is not None and earlier.rescored is not None:
            check_finished(plan, self._tally, earlier.rescored.run)
        self._manifest = earlier or new_manifest(plan, folder.path.name, offline=is_offline_model(plan.settings))

    @property
    def left(self) -> bool:
        """Whether anything is left to do; else the run needs no model and no web."""
        return not all(self._tally.through(key, self._plan) for key in self._plan.keys)

    async def go(self, resources: Resources | None) -> Outcome:
        self._manifest = self._manifest.model_copy(update={"status": "running", "finished": None})
        self._folder.write_manifest(self._manifest)
        ending = Ending("failed")
        try:
            ending = Ending("finished") if resources is None else await self._work(resources)
        finally:
            summary, changed = self._finish(ending)
        return Outcome(self._plan, self._folder, summary, self._tally, ending, changed)

    async def _work(self, resources: Resources) -> Ending:
        stop = asyncio.Event()
        async with AsyncExitStack() as opened:
            pages, answers = PageStore(resources.web, self._folder), AnswerStore(self._folder)
            opened.callback(pages.close)
            opened.callback(answers.close)
            spend = RunSpend(self._tally.spent())
            sessions = Sessions(self._plan.settings, resources, self._folder, spend, pages, answers)
            samples: Journal[SampleRow] = _open_journal(self._folder.samples_path, opened)
            scores: Journal[ScoreRow] = _open_journal(self._folder.scores_path, opened)
            progress = opened.enter_context(Progress(self._plan, self._tally))
            opened.enter_context(stop_on_signal(stop, self._folder.path))
            runner = Runner(self._plan, sessions, self._tally, self._unscored, samples, scores, progress)
            try:
                done = await runner.run(stop)
            except LimitReached as error:
                return Ending("interrupted", error)
            except UserError as error:
                return Ending("failed", error)
        return Ending("finished" if done else "interrupted")

    def _finish(self, ending: Ending) -> tuple[Summary, bool]:
        """Write the summary, then the manifest that says the run has ended; whether the summary is another one."""
        summary = Summariser(self._plan, self._tally).summary(
            run_id=self._manifest.run_id,
            status=ending.status,
            offline=self._manifest.offline,
            run_seconds=(self._before.timing.run_seconds if self._before else 0.0) + time.monotonic() - self._start,
        )
        changed = self._before is None or summary.model_copy(update={"timing": self._before.timing}) != self._before
        if changed or self._before is None:
            self._folder.write_summary(summary)
        else:
            summary = self._before
        roles = tuple(role for account in summary.usage.values() for role in account.roles)
        counts = {"attempts_planned": len(self._plan.keys), **summary.statuses}
        unjudged = sum(errors.n for errors in summary.judge_errors.values())
        agents = self._manifest.rescored.models if self._manifest.rescored else {}
        self._manifest = self._manifest.model_copy(
            update={
                "status": ending.status,
                "finished": utc_now(),
                "models": {**models_of(self._plan, roles), **agents},
                "counts": {**counts, "judge_errors": unjudged},
            }
        )
        self._folder.write_manifest(self._manifest)
        return summary, changed


def _open_journal(path: Path, opened: AsyncExitStack) -> Journal[Any]:
    journal: Journal[Any] = Journal(path)
    opened.callback(journal.close)
    if journal.cut:
        print(f"{path}: cut a torn last line ({journal.cut} bytes); its work is done again", file=sys.stderr)
    return journal
