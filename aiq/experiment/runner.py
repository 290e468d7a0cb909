"""One run from plan to summary: workers take keys from a queue; each attempt and each score is written at once."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, get_args

from aiq.agents.base import Checked
from aiq.cassettes.recorder import Account
from aiq.core.concurrency import being_cancelled
from aiq.core.errors import LimitReached, ModelError, RunAborted, UserError, say
from aiq.core.garbage import RUN_THRESHOLD, collected_after
from aiq.core.samples import SampleKey
from aiq.core.usage import UsageLedger
from aiq.experiment.attempt import run_attempt
from aiq.experiment.judged import EarlierScores
from aiq.experiment.plan import RunPlan, check_data_sources, collections_of
from aiq.experiment.provenance import models_of, new_manifest, utc_now
from aiq.experiment.recording import begin_recording, open_recorder
from aiq.experiment.resources import Resources, open_resources
from aiq.experiment.resume import check_finished, load_state, seconds_worked
from aiq.experiment.scoring import score_failure, score_report
from aiq.experiment.sessions import Sessions
from aiq.runs.folder import RunFolder, in_use
from aiq.runs.journal import Journal
from aiq.runs.manifest import Manifest, RunStatus
from aiq.runs.reader import read_usage, row_at
from aiq.runs.rows import SampleRow, ScoreRow
from aiq.runs.state import RunState
from aiq.runs.summary import Summary, summarise

GRACE_SECONDS: Final = 10.0  # how long attempts may take to react to being cancelled
EXIT_CODE: Final = 130  # of a command that a signal ended


class Observer(Protocol):
    """Receives the progress of a run."""

    def started(self, state: RunState) -> None:
        """The run starts work; `state` has the results of earlier starts, and is updated as the run proceeds."""

    def retrying(self, key: SampleKey) -> None:
        """The agent is asked again: its last attempt was cut off, or failed and is to be retried."""

    def waiting(self, why: str, seconds: float) -> None:
        """A call failed and is retried; `seconds`: its own time and the wait before the retry."""

    def finished(self, key: SampleKey) -> None:
        """Nothing is left to do for the key."""


@dataclass(frozen=True)
class RunOutcome:
    """A run, or a shard of one, that has ended. `ended`: how this start ended; `summary` has the status of the run.

    `excess_failures`: what failed too often (see `RunState`). `error`: what stopped it, if anything. `changed`: whether
    the summary differs from before.
    """

    summary: Summary
    ended: RunStatus
    exit_code: int
    excess_failures: Sequence[str]
    error: UserError | LimitReached | None
    changed: bool


async def execute(
    plan: RunPlan,
    folder: RunFolder,
    observer: Observer,
    earlier: Manifest | None = None,
    only: Container[str] | None = None,
) -> RunOutcome:
    """Run the plan, or the plan's shard, in the folder; `earlier`: the folder's manifest, if there is one.

    `only`: the ids of the samples to do now; a run with others left is then `interrupted`, and can be resumed.
    Raises UserError before anything is written; afterwards, manifest and summary are always written.
    """
    start, shard = time.monotonic(), plan.settings.shard
    async with AsyncExitStack() as stack:
        stack.enter_context(collected_after(RUN_THRESHOLD))
        lock = stack.enter_context(ExitStack())
        if earlier is not None:
            lock.enter_context(folder.lock(shard))
        folder = folder.for_shard(shard)
        numbers = read_numbers(folder)
        state, remaining, unscored = load_state(folder, plan, shard)
        worked = max(numbers.timing.run_seconds if numbers else 0.0, seconds_worked(earlier, state) if earlier else 0.0)
        if earlier is not None and earlier.rescored is not None:
            check_finished(state, earlier.rescored.run)
        # before a replay, which starts no process, not even git
        manifest = earlier.with_judges(plan.spec.judges) if earlier else new_manifest(plan, folder.run_id)
        accounts: tuple[Account, ...] = ("judge",) if manifest.rescored else get_args(Account)
        todo = remaining if only is None else [key for key in remaining if key.sample_id in only]
        resources = await _open(plan, accounts, stack) if todo else None
        if earlier is None:
            folder.create()
            lock.enter_context(folder.lock())
        with folder.shared_lock():
            manifest = folder.read_manifest() if shard else manifest
            manifest = manifest.model_copy(update={"status": "running", "finished": None})
            folder.write_manifest(manifest)
        if resources is not None:
            begin_recording(resources.recorder, manifest)
        status: RunStatus = "failed"
        error: UserError | LimitReached | None = None
        try:
            if resources is None:
                status = "finished"
            else:
                runner = Runner(plan, resources, folder, state, unscored, observer)
                status, error = await runner.run(todo, worked + time.monotonic() - start)
                resources.recorder.describe({"structured": resources.forms.known})
                if status == "finished" and len(todo) == len(remaining):
                    prompts = {"prompts": dict(manifest.hashes.prompts)}
                    resources.recorder.finish(from_start=earlier is None, of_whole=prompts)
            if status == "finished" and len(todo) < len(remaining):
                status = "interrupted"
        except asyncio.CancelledError:
            status = "interrupted"
            raise
        finally:
            seconds = worked + time.monotonic() - start
            learned = resources.forms.learned if resources else {}
            manifest = manifest.model_copy(update={"structured": {**manifest.structured, **learned}})
            with folder.shared_lock():
                state, summary, changed = _write_status(plan, folder, manifest, state, status, seconds)
                if shard:
                    lock.close()  # before the next shard to end checks who is still at work
        exit_code, excesses = state.exit_code(status), state.excess_failures()
        return RunOutcome(summary, status, exit_code, excesses, error, changed)


def _write_status(
    plan: RunPlan, folder: RunFolder, manifest: Manifest, state: RunState, status: RunStatus, seconds: float
) -> tuple[RunState, Summary, bool]:
    """Write the status of the run; the summary too, unless other shards are still at work, which will write it.

    `seconds`: of this start and those before it. Also returns whether the summary differs from before.
    """
    if (shard := plan.settings.shard) is None:
        return _write_end(plan, folder, manifest, state, status, seconds)
    structured = manifest.structured
    manifest = folder.read_manifest()  # other shards have written meanwhile
    manifest = manifest.model_copy(update={"structured": {**manifest.structured, **structured}})
    if in_use(folder.path, excluded=shard):
        folder.write_manifest(manifest)
        return state, summarise(manifest, state, seconds), True
    previous = read_numbers(folder)
    seconds = max(seconds, previous.timing.run_seconds if previous else 0.0)
    return write_end_of_shards(plan, folder, manifest, status, seconds)


def read_numbers(folder: RunFolder) -> Summary | None:
    """The summary of earlier starts, if there is one."""
    return folder.read_summary() if folder.summary_path.exists() else None


def write_end_of_shards(
    plan: RunPlan, folder: RunFolder, manifest: Manifest, ended: RunStatus, seconds: float
) -> tuple[RunState, Summary, bool]:
    """As `_write_end`, for what all shards have written; `finished` if nothing is left to do."""
    state, remaining, _ = load_state(folder, plan)
    status: RunStatus = "finished" if not remaining else "interrupted" if ended == "finished" else ended
    return _write_end(plan, folder, manifest, state, status, seconds)


def _write_end(
    plan: RunPlan, folder: RunFolder, manifest: Manifest, state: RunState, status: RunStatus, seconds: float
) -> tuple[RunState, Summary, bool]:
    """Write the summary if it differs, and the manifest with its counts and the models of all roles that were used.

    `seconds`: wall time of all starts.
    """
    previous = read_numbers(folder)
    manifest = manifest.model_copy(update={"status": status, "finished": utc_now()})
    summary = summarise(manifest, state, seconds)
    if previous is not None and summary.model_copy(update={"timing": previous.timing}) == previous:
        summary = previous
    else:
        folder.write_summary(summary)
    roles = [role for account in summary.usage.values() for role in account.roles]
    agent_models = manifest.rescored.models if manifest.rescored else {}
    judge_errors = sum(errors.n for errors in summary.judge_errors.values())
    counts = {"attempts_planned": len(plan.spec.keys), **summary.statuses, "judge_errors": judge_errors}
    folder.write_manifest(
        manifest.model_copy(update={"models": {**models_of(plan, roles), **agent_models}, "counts": counts})
    )
    return state, summary, summary is not previous


async def _open(plan: RunPlan, accounts: Sequence[Account], stack: AsyncExitStack) -> Resources:
    """The resources for sessions; without MCP servers if no agent works.

    Raises UserError if they do not fit the questions or the agent.
    """
    settings, samples, has_agent = plan.settings, plan.dataset.samples, "agent" in accounts
    if not has_agent:
        settings = settings.changed("tools", mcp={})
    recorder = stack.enter_context(open_recorder(settings, accounts))
    resources = await stack.enter_async_context(open_resources(settings, collections_of(samples), recorder))
    if has_agent:
        check_data_sources(samples, resources.tools)
    if has_agent and isinstance(plan.agent, Checked):
        plan.agent.check(resources.tools)
    return resources


class Runner:
    """Takes every key to a finished attempt and finished scores.

    `unscored`: where the earlier rows are that only judges still have to work on.
    """

    def __init__(
        self,
        plan: RunPlan,
        resources: Resources,
        folder: RunFolder,
        state: RunState,
        unscored: Mapping[SampleKey, tuple[Path, int]],
        observer: Observer,
    ) -> None:
        self._plan, self._folder, self._state, self._observer = plan, folder, state, observer
        self._unscored = unscored
        self._earlier_scores = EarlierScores(folder, plan)
        self._samples = plan.dataset.samples
        settings, ledger = plan.settings, UsageLedger()
        if shard := settings.shard:  # it has its own part of the limits
            earlier = read_usage(folder, lambda writer: writer.turn < folder.writer.turn)
            settings = settings.model_copy(update={"limits": settings.limits.shard_share(shard.of, earlier)})
            ledger = read_usage(folder, lambda writer: writer == folder.writer)
        else:
            ledger.record("earlier starts", state.spent())
            ledger.tool_calls = state.tool_calls
        self._sessions = Sessions(settings, resources, folder, ledger, observer.waiting)
        self._sample_rows: Journal[SampleRow] = _open_journal(folder.samples_path)
        self._score_rows: Journal[ScoreRow] = _open_journal(folder.scores_path)

    async def run(
        self, keys: Sequence[SampleKey], worked: float = 0.0
    ) -> tuple[RunStatus, UserError | LimitReached | None]:
        """Work until these keys are done or something stops the run: how it ended, and what stopped it.

        Attempts in flight are then cancelled, and their rows say so. `worked`: the seconds of `limits.run_seconds`
        that are already used.
        """
        stop, limit = asyncio.Event(), self._plan.settings.limits.run_seconds
        with ExitStack() as stack:
            for files in (self._sessions, self._sample_rows, self._score_rows):
                stack.callback(files.close)
            stack.enter_context(stop_on_signal(stop, self._folder.path))
            self._observer.started(self._state)
            workers = self._workers(iter(keys))
            all_work, stop_task = asyncio.gather(*workers), asyncio.create_task(stop.wait())
            try:
                futures: set[asyncio.Future[Any]] = {all_work, stop_task}
                timeout = None if limit is None else max(0.0, limit - worked)
                done, _ = await asyncio.wait(futures, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
                if limit is not None and not done:
                    return "interrupted", LimitReached("limits.run_seconds", limit)
                if not all_work.done():
                    return "interrupted", None
                all_work.result()
                return "finished", None
            except LimitReached as error:
                return "interrupted", error
            except UserError as error:
                return "failed", error
            except ModelError as error:
                return "failed", RunAborted(str(error))
            finally:
                if not all_work.done() or all_work.cancelled() or all_work.exception():
                    self._sessions.stop()
                for task in (*workers, stop_task):
                    task.cancel()
                await asyncio.wait({*workers, stop_task}, timeout=GRACE_SECONDS)
                if all_work.done() and not all_work.cancelled():
                    all_work.exception()  # retrieved, so that asyncio does not report it

    def _workers(self, keys: Iterator[SampleKey]) -> list[asyncio.Task[None]]:
        """The workers: agents and, beside them, judges, so that a report is judged while others are written.

        Agents cannot run far ahead: at most as many rows wait for judges as there are judge workers.
        """
        settings = self._plan.settings.runner
        agents, judges = settings.concurrency, settings.judge_concurrency or settings.concurrency
        queue: asyncio.Queue[SampleRow | None] = asyncio.Queue(judges)
        tasks = [asyncio.create_task(self._make(keys, queue)) for _ in range(agents)]

        async def end() -> None:
            await asyncio.gather(*tasks)
            for _ in range(judges):
                await queue.put(None)

        return [*tasks, asyncio.create_task(end()), *(asyncio.create_task(self._score(queue)) for _ in range(judges))]

    async def _make(self, keys: Iterator[SampleKey], queue: "asyncio.Queue[SampleRow | None]") -> None:
        for key in keys:
            row = await self._attempt(key)
            if being_cancelled():
                return  # the agent swallowed the cancellation and answered: its row is kept, but nothing new starts
            await queue.put(row)

    async def _score(self, queue: "asyncio.Queue[SampleRow | None]") -> None:
        while (row := await queue.get()) is not None:
            await self._judge(row)
            self._observer.finished(row.key)

    async def _attempt(self, key: SampleKey) -> SampleRow:
        """A new attempt, or the earlier one if it only needs judging."""
        if self._state.attempted(key):
            return row_at(SampleRow, *self._unscored[key])
        earlier = self._state.attempts.get(key)
        if earlier is not None:
            self._observer.retrying(key)
        sample = self._samples.named(key.sample_id)
        attempt = earlier.attempt + 1 if earlier else 1
        with self._sessions.agent(type(self._plan.agent).__name__, sample, key.epoch, attempt) as session:
            return await run_attempt(self._plan.agent, sample, session, self._keep_attempt)

    async def _judge(self, row: SampleRow) -> None:
        """Let each judge that has not scored this attempt score it, one after the other."""
        for planned in self._plan.judges:
            if self._state.judged(row.key, planned.spec):
                continue
            sample = self._samples.named(row.sample_id)
            if not row.answered:
                self._keep_scores(score_failure(planned, sample, row))
            elif shared := self._earlier_scores.scores(planned.spec, row):
                self._keep_scores(shared)
            else:
                with self._sessions.judge(planned.spec.name, row) as session:
                    await score_report(planned, sample, row, session, self._keep_scores)

    def _keep_attempt(self, row: SampleRow) -> None:
        self._sample_rows.append(row)
        self._state.add_attempt(row)

    def _keep_scores(self, rows: list[ScoreRow]) -> None:
        self._score_rows.append(*rows)
        self._state.add_scores(rows)


def _open_journal(path: Path) -> Journal[Any]:
    journal: Journal[Any] = Journal(path)
    if journal.cut:
        say(f"{path}: cut a torn last line ({journal.cut} bytes); its work is done again")
    return journal


@contextmanager
def stop_on_signal(stop: asyncio.Event, run: Path) -> Iterator[None]:
    """While the block runs, the first Ctrl-C or SIGTERM sets `stop`, and the second ends the process at once.

    Does nothing outside the main thread, since signals reach no other.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def on_signal() -> None:
        if stop.is_set():
            # The operating system has every finished row already, and the offline stack ends with its parent.
            say(f"aiq: interrupted; finished work is kept, resume with: aiq run resume={run}")
            os._exit(EXIT_CODE)
        say("\nstopping: attempts in flight are cancelled (interrupt again to stop at once)")
        stop.set()

    loop = asyncio.get_running_loop()
    with ExitStack() as stack:
        for number in (signal.SIGINT, signal.SIGTERM):
            stack.callback(signal.signal, number, signal.getsignal(number) or signal.SIG_DFL)  # a sweep's
            loop.add_signal_handler(number, on_signal)
            stack.callback(loop.remove_signal_handler, number)
        yield
