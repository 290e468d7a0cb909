"""The run itself: workers take keys from a queue, sample by sample; each attempt and each score is a row at once.

Ctrl-C and SIGTERM: the first asks the run to stop cleanly, the second ends the process at once.

One run from plan to summary: opens what it needs, journals, runs, and leaves a folder that says how it ended.
"""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiq.agents.base import Checked
from aiq.core.errors import LimitReached, UserError
from aiq.core.samples import Sample, SampleKey
from aiq.core.session import RunSpend
from aiq.experiment.attempt import being_cancelled, run_attempt
from aiq.experiment.plan import Plan, check_data_sources, collections_of
from aiq.experiment.provenance import models_of, new_manifest, utc_now
from aiq.experiment.resources import Resources, is_offline_model, open_resources
from aiq.experiment.resume import check_finished, load_tally
from aiq.experiment.scoring import score_failure, score_report
from aiq.experiment.sessions import Sessions
from aiq.experiment.stores import AnswerStore, PageStore
from aiq.runs.folder import RunFolder
from aiq.runs.journal import Journal
from aiq.runs.rows import Manifest, RunStatus, SampleRow, ScoreRow, Summary
from aiq.runs.state import Tally
from aiq.runs.summary import Summariser
from aiq.site.progress import Progress

GRACE_SECONDS = 10.0
"""How long attempts may take to notice that they are cancelled."""


class Runner:
    """Brings every key of a plan to a finished attempt and finished scores, and keeps the tally.

    `unscored` holds whole rows of earlier attempts that judges have yet to score.
    """

    def __init__(
        self,
        plan: Plan,
        sessions: Sessions,
        tally: Tally,
        unscored: Mapping[SampleKey, SampleRow],
        samples: Journal[SampleRow],
        scores: Journal[ScoreRow],
        progress: Progress,
    ) -> None:
        self._plan = plan
        self._sessions = sessions
        self._tally = tally
        self._unscored = dict(unscored)
        self._samples = samples
        self._scores = scores
        self._progress = progress
        self._by_id: dict[str, Sample] = {sample.id: sample for sample in plan.dataset.samples}

    async def run(self, stop: asyncio.Event) -> bool:
        """Work until everything is done (True) or `stop` is set (False).

        Raises what ended the run: UserError, or LimitReached for the run's budget. In either case the
        attempts in flight are cancelled, and their rows say so.
        """
        queue = iter([key for key in self._plan.keys if not self._tally.through(key, self._plan)])
        workers = [asyncio.create_task(self._work(queue)) for _ in range(self._plan.settings.runner.concurrency)]
        everything = asyncio.gather(*workers)
        stopped = asyncio.create_task(stop.wait())
        try:
            ends: set[asyncio.Future[Any]] = {everything, stopped}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if everything.done():
                everything.result()
                return True
            return False
        finally:
            for task in (*workers, stopped):
                task.cancel()
            await asyncio.wait({*workers, stopped}, timeout=GRACE_SECONDS)
            if everything.done() and not everything.cancelled():
                everything.exception()  # seen: asyncio need not report it

    async def _work(self, queue: Iterator[SampleKey]) -> None:
        for key in queue:
            row = await self._attempt(key)
            if being_cancelled():
                return  # the agent swallowed it and answered all the same: its row is kept, nothing new begins
            await self._judge(row)

    async def _attempt(self, key: SampleKey) -> SampleRow:
        """A new attempt, or the earlier one that is only to be judged."""
        if self._tally.finished(key, retry_failed=self._plan.settings.runner.retry_failed):
            return self._unscored.pop(key)
        earlier = self._tally.attempts.get(key)
        sample = self._by_id[key.sample_id]
        with self._sessions.agent(key, earlier.number + 1 if earlier else 1, sample) as session:
            return await run_attempt(self._plan.agent, sample, session, self._keep_attempt)

    async def _judge(self, row: SampleRow) -> None:
        """Let each judge that has not scored this attempt do so, one after the other."""
        sample = self._by_id[row.sample_id]
        for planned in self._plan.judges:
            if self._tally.judged(row.key, planned):
                continue
            if row.answered:
                with self._sessions.judge(row) as session:
                    await score_report(planned, sample, row, session, self._keep_scores)
            else:
                self._keep_scores(score_failure(planned, sample, row))
        self._progress.finished(row.key)

    def _keep_attempt(self, row: SampleRow) -> None:
        self._samples.append(row)
        self._tally.add_attempt(row)

    def _keep_scores(self, rows: list[ScoreRow]) -> None:
        self._scores.append(*rows)
        self._tally.add_scores(rows)


EXIT_CODE = 130


@contextmanager
def stop_on_signal(stop: asyncio.Event, run: Path) -> Iterator[None]:
    """Set `stop` on the first signal, while the block runs; `run` is the folder to go on with.

    Needs a running loop in the main thread.
    """

    def on_signal() -> None:
        if stop.is_set():
            # The system has every finished row already, and the offline stack ends with its parent.
            print(f"aiq: interrupted; what is finished is kept, go on with: aiq run resume={run}", file=sys.stderr)
            os._exit(EXIT_CODE)
        print("\nstopping: attempts in flight are cancelled (once more to stop at once)", file=sys.stderr)
        stop.set()

    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, on_signal)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


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
