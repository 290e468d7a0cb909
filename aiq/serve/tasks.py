"""Tasks from request to row: a bounded queue, workers, approvals, limits of keys, cancelling, restarts.

A task is one sample of the server's run, and each time it is begun an attempt at it: the same code as in evaluations
lets the agent work and writes the row. Streams read the store, so that a slow reader holds up nobody and there is no
queue to overflow.
"""

import asyncio
import math
import secrets
import uuid
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import JsonValue

from aiq.agents.base import Agent, Resumable
from aiq.core.errors import AiqError, ConfigError, UserError
from aiq.core.events import Event, ModelCalled
from aiq.core.reports import Report
from aiq.core.run_settings import RunSettings
from aiq.core.samples import Question, Sample
from aiq.core.session import Session
from aiq.core.text import whole
from aiq.core.usage import Usage, UsageLedger
from aiq.experiment.attempt import run_attempt
from aiq.experiment.plan import with_documents
from aiq.experiment.resources import Resources, open_resources
from aiq.runs.folder import RunFolder, lock_folder, make_folder
from aiq.runs.rows import SampleRow
from aiq.serve.agents import Agents
from aiq.serve.events import Told, told
from aiq.serve.keys import Rate
from aiq.serve.run import ServedRun, end_cut_off, row_at, rows_after
from aiq.serve.settings import ServeSettings, is_loopback
from aiq.serve.store import DATABASE, Request, Store, Task, utc_now
from aiq.serve.views import error_of, of_row, summary_of, usage_of
from aiq.serve.wire import UNFINISHED, ApiError, Asked, TaskStatus, TaskView

GRACE_SECONDS = 10.0  # how long an attempt may take to notice that it is cancelled
_BATCH = 64  # events that a stream sends at once


class Refused(Exception):
    """A request that is not carried out: the HTTP status, a code and one line. `retry`: seconds, where later may do."""

    def __init__(self, status: int, code: str, message: str, retry: float | None = None) -> None:
        super().__init__(message)
        self.status, self.error = status, ApiError(code=code, message=message)
        self.headers = {} if retry is None else {"Retry-After": str(math.ceil(retry))}


@asynccontextmanager
async def serving(
    agents: Agents, settings: RunSettings, api: ServeSettings, overrides: Sequence[str], *, live: bool
) -> AsyncIterator["Service"]:
    """The service, at work. `live`: agents are told the time of the task, not the run's clock.

    Raises UserError, one line, where the folder is another server's, or the models, tools or agents do not fit.
    """
    home = Path(settings.output_dir) / settings.name
    make_folder(home)
    async with AsyncExitStack() as held:
        held.enter_context(lock_folder(home))
        store = Store(home / DATABASE)
        held.callback(store.close)
        if not store.all_keys() and not is_loopback(api.host):
            why = "is reached from elsewhere, so it needs keys; make one with aiq serve --add-key NAME"
            raise ConfigError(f"serve.host={api.host} {why}")
        blank = Question(text="", collection_name=settings.knowledge.collection)
        (sample,) = with_documents((Sample(id="task", question=blank),), settings.knowledge)
        resources = await held.enter_async_context(open_resources(settings))
        agents.check(resources.tools)
        first = agents.agent(agents.names[0], {})
        end_cut_off(home)
        run = ServedRun(settings, overrides, first, resources, home)
        held.callback(run.close)
        service = Service(agents, settings, api, store, run, resources, sample.question, live=live)
        held.push_async_callback(service.stop)
        service.start()
        yield service


class Service:
    """All that the routes ask for. `blank`: a question without its text.

    `keyless`: no key is asked for, as there was none at the start.
    """

    def __init__(
        self,
        agents: Agents,
        settings: RunSettings,
        api: ServeSettings,
        store: Store,
        run: ServedRun,
        resources: Resources,
        blank: Question,
        *,
        live: bool,
    ) -> None:
        self.agents, self.settings, self.store, self.run = agents, api, store, run
        self.keyless = not store.all_keys()
        self.rate = Rate(api.key.requests_per_minute)
        self._run_settings, self._checkpointer, self._blank, self._live = settings, resources.checkpointer, blank, live
        self._kept = settings.checkpointer.kind != "memory"
        self._queue: deque[str] = deque()
        self._queued = asyncio.Event()
        self._changed: dict[str, asyncio.Event] = {}
        self._work: dict[str, asyncio.Task[None]] = {}
        self._cancelled: set[str] = set()
        self._decisions: dict[str, asyncio.Future[str]] = {}
        self._open: Counter[str] = Counter()
        self._ledgers: dict[str, UsageLedger] = {}
        self._workers: list[asyncio.Task[None]] = []
        self.stopping = False

    # from start to stop

    def start(self) -> None:
        """Take up what the last server left, and begin to work."""
        self._recover()
        self._workers = [asyncio.create_task(self._worker()) for _ in range(self._run_settings.runner.concurrency)]

    @property
    def ready(self) -> bool:
        """Whether tasks that are asked for now will be worked on."""
        return not self.stopping and any(not worker.done() for worker in self._workers)

    def stop_streams(self) -> None:
        """End all streams where they are, and take no more tasks; their readers go on at the next start."""
        self.stopping = True
        for changed in self._changed.values():
            changed.set()

    async def stop(self) -> None:
        """Cut off what is under way, to go on at the next start."""
        self.stop_streams()
        self.run.sessions.stop()
        tasks = {*self._workers, *self._work.values()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=GRACE_SECONDS)

    def _recover(self) -> None:
        """Queue the unfinished tasks. One whose row is written is finished; another that was begun is begun again."""
        rows: dict[str, dict[tuple[str, int], tuple[int, SampleRow]]] = {}
        for task in self.store.unfinished():
            self._changed[task.id] = asyncio.Event()
            if task.run is not None and task.run not in rows:
                folder = self._folder(task.run)
                found = rows_after(folder, self.store.last_place(task.run))
                rows[task.run] = {(row.sample_id, row.attempt): (place, row) for place, row in found}
            place, row = rows.get(task.run or "", {}).get((task.id, task.attempt), (0, None))
            if row is not None and row.status != "cancelled":
                self._finish(task, row, place)
                continue
            if task.started is not None:
                self._begin_again(task)
            self._enqueue(task.id)

    def _begin_again(self, task: Task) -> None:
        how = "checkpoint" if self._resumes(task) else "start"
        payload: dict[str, JsonValue] = {"what": "restart", "attempt": task.attempt + 1, "from": how}
        with self.store.transaction():
            self.store.update(task, status="queued", attempt=task.attempt + 1, approval=None)
            message = f"the server was restarted; attempt {task.attempt + 1} begins from the {how}"
            self.store.tell(task, task.attempt + 1, [Told("ERROR_RECOVERY", message, payload)])

    def _resumes(self, task: Task) -> bool:
        """Whether what the task has come to is in the checkpointer; of several turns the last alone would be."""
        with suppress(UserError):
            agent = self.agents.agent(task.request.agent, task.request.chosen)
            return self._kept and not task.request.turns and isinstance(agent, Resumable) and agent.threads is not None
        return False

    # what clients ask for

    def submit(self, owner: str, request: Request, idempotency: str | None) -> tuple[Task, bool]:
        """The task, and whether it is new: the same request with the same idempotency key is one task.

        Raises Refused.
        """
        if idempotency is not None and (earlier := self.store.repeated(owner, idempotency)) is not None:
            if earlier.request != request:
                raise Refused(409, "idempotency_conflict", "this Idempotency-Key belongs to another request")
            return earlier, False
        if self.stopping:
            raise Refused(503, "stopping", "the server is being restarted", retry=5)
        if len(self._queue) >= self.settings.queue:
            raise Refused(503, "queue_full", "too many tasks wait", retry=30)
        most = self.settings.key.tasks
        if self.store.unfinished_of(owner) >= most:
            raise Refused(429, "too_many_tasks", f"{most} tasks of this key are not finished", retry=30)
        limit = self._usd(owner)
        if limit is not None and self._ledger(owner).total().counted_usd >= limit:
            raise Refused(402, "budget_used_up", f"the budget of this key, ${limit:g}, is used up")
        try:
            self.agents.agent(request.agent, request.chosen)
        except UserError as error:
            raise Refused(422, "invalid_request", str(error)) from None
        task = self.store.add(uuid.uuid4().hex, owner, idempotency, request)
        self._changed[task.id] = asyncio.Event()
        self._enqueue(task.id)
        return task, True

    def task(self, owner: str, task_id: str) -> Task:
        """Raises Refused for a task that is not there or not the owner's, which look the same."""
        with suppress(KeyError):
            task = self.store.task(task_id)
            if task.owner == owner:
                return task
        raise Refused(404, "not_found", "there is no such task")

    async def cancel(self, task: Task) -> Task:
        """End the task, whatever it does; one that has ended stays as it is."""
        if task.status in UNFINISHED and task.id not in self._cancelled:
            work = self._work.get(task.id)
            if work is not None:
                self._cancelled.add(task.id)
                insisting = asyncio.create_task(_cancel(work))
                await asyncio.wait({insisting}, timeout=GRACE_SECONDS)
            self._ended(task, "cancelled")
        return self.store.task(task.id)

    def decide(self, task: Task, approval_id: str, approved: bool, feedback: str) -> None:
        """Give the answer to who waits for it. Raises Refused."""
        decision = self._decisions.get(approval_id)
        if task.approval is None or task.approval.approval_id != approval_id or decision is None or decision.done():
            raise Refused(409, "not_waiting", "the task does not wait for this approval")
        words = feedback.strip()
        if task.approval.kind == "plan":
            decision.set_result("approve" if approved else words or "reject")
        else:
            decision.set_result(words if approved and words else "skip")

    def view(self, task: Task) -> TaskView:
        """The task with its report, as far as there is one."""
        shown = dict(summary_of(task), context=task.request.chosen, turns=task.request.turns)
        shown |= {"approval": task.approval, "error": task.error, "run": task.run}
        if task.run is not None and task.place is not None:
            row = row_at(self._folder(task.run), task.place)
            shown |= of_row(row)
        return TaskView(**shown)

    @contextmanager
    def streaming(self, owner: str) -> Iterator[None]:
        """Counts a stream while it is open. Raises Refused."""
        if self._open[owner] >= self.settings.key.streams:
            raise Refused(429, "too_many_streams", "too many streams of this key are open", retry=10)
        if self._open.total() >= self.settings.streams:
            raise Refused(503, "too_many_streams", "too many streams are open", retry=10)
        self._open[owner] += 1
        try:
            yield
        finally:
            self._open[owner] -= 1
            if not self._open[owner]:
                del self._open[owner]

    async def events(self, task: Task, after: int) -> AsyncIterator[list[tuple[int, str, str]]]:
        """Number, type and JSON of each event after a number, in batches, as they come; empty ones say that it lives.

        It ends with the last event of the task, and where the server stops.
        """
        while True:
            changed = self._changed.get(task.id)
            batch = list(self.store.events(task, after, _BATCH))
            if batch:
                yield batch
                after, last, _ = batch[-1]
                if last == "STREAM_END":
                    return
            elif changed is None or self.stopping:
                return
            else:
                try:
                    async with asyncio.timeout(self.settings.heartbeat_seconds):
                        await changed.wait()
                except TimeoutError:
                    yield []

    # work

    def _enqueue(self, task_id: str) -> None:
        self._queue.append(task_id)
        self._queued.set()

    async def _worker(self) -> None:
        while not self.stopping:
            while not self._queue:
                self._queued.clear()
                await self._queued.wait()
            task = self.store.task(self._queue.popleft())
            if task.status != "queued":
                continue  # cancelled meanwhile
            work = self._work[task.id] = asyncio.create_task(self._attempt(task))
            try:
                await asyncio.wait({work})
                if not work.cancelled() and (error := work.exception()) is not None:
                    raise error
            except Exception as error:
                self._ended(task, "failed", error=ApiError(code="internal", message=type(error).__name__))
                asyncio.get_running_loop().call_exception_handler({"message": "a task broke", "exception": error})
            finally:
                self._work.pop(task.id, None)
                self._cancelled.discard(task.id)

    async def _attempt(self, task: Task) -> None:
        """One attempt at the task, with its row; a task that the server's end cuts off stays unfinished."""
        try:
            agent = self.agents.agent(task.request.agent, task.request.chosen)
        except UserError as error:
            self._ended(task, "failed", error=ApiError(code="not_served", message=str(error)))
            return
        if task.attempt > 1 and self._resumes(task):
            agent = cast("Agent", _Resuming(agent))
        sample = self._sample(task)
        self.store.update(task, status="running", run=self.run.folder.run_id, started=task.started or utc_now())
        self.run.ask(sample)
        limits = self._run_settings.limits
        seconds = limits.sample_seconds or self.settings.task_seconds
        own: dict[str, Any] = {
            "user": _TaskUser(self, task),
            "spend": self._ledger(task.owner),
            "limits": limits.model_copy(update={"run_usd": self._usd(task.owner), "sample_seconds": seconds}),
            "memory": "",
        }
        own |= {"now": datetime.now(UTC)} if self._live else {}

        def keep(row: SampleRow) -> None:
            place = self.run.keep(row)
            if row.status != "cancelled" or not self.stopping or task.id in self._cancelled:
                self._finish(task, row, place)

        with (
            self.run.sessions.agent(task.request.agent, sample, 1, task.attempt, self._hearing(task), **own) as session,
            suppress(AiqError),  # the row has it; what ends a run does not end a server
        ):
            try:
                await run_attempt(agent, sample, session, keep)
            finally:
                await self._forget(sample)

    def _sample(self, task: Task) -> Sample:
        request = task.request
        thread = f"{task.id}.{task.attempt}" if request.turns else task.id if self._kept else None
        question = self._blank.model_copy(update={"text": request.query, "thread_id": thread})
        return Sample(id=task.id, question=question, turns=request.turns, tags={"agent": request.agent})

    async def _forget(self, sample: Sample) -> None:
        """What a checkpointer in memory holds of a conversation that is over."""
        if not self._kept and self._checkpointer is not None and sample.question.thread_id:
            await self._checkpointer.adelete_thread(sample.question.thread_id)

    def _hearing(self, task: Task) -> Callable[[Event], None]:
        loop = asyncio.get_running_loop()

        def heard(event: Event) -> None:
            if task.id not in self._changed:
                return  # it has ended for its clients
            with self.store.transaction():
                if isinstance(event, ModelCalled) and event.usage is not None and event.usage.counted_usd:
                    self.store.spend(task, event.usage.counted_usd)
                if (seen := told(event)) is not None:
                    self.store.tell(task, task.attempt, [seen])
            loop.call_soon_threadsafe(self._wake, task)  # a node of LangGraph's may be in a thread

        return heard

    def tell(self, task: Task, event: Told, **changes: Any) -> None:
        """Change the task and tell its streams of it."""
        with self.store.transaction():
            self.store.update(task, **changes)
            self.store.tell(task, task.attempt, [event])
        self._wake(task)

    def _wake(self, task: Task) -> None:
        if (changed := self._changed.get(task.id)) is not None:
            self._changed[task.id] = asyncio.Event()
            changed.set()

    def _finish(self, task: Task, row: SampleRow, place: int) -> None:
        """The task has ended in this row."""
        status: TaskStatus = row.status
        if task.id in self._cancelled:
            status = "cancelled"  # whatever the agent made of that
        elif status == "cancelled":
            status = "failed"  # by what would have ended a run: no such model, the key's budget
        used = sum(row.usage.values(), Usage())
        payload = {"route": row.route, "citation_status": row.citation_status, "usage": usage_of(used)}
        self._ended(task, status, error_of(row) if status in ("failed", "limit") else None, payload, place=place)

    def _ended(
        self,
        task: Task,
        status: TaskStatus,
        error: ApiError | None = None,
        payload: Mapping[str, Any] | None = None,
        **changes: Any,
    ) -> None:
        """The end of a task, told once."""
        if task.id not in self._changed:
            return
        events = [Told("WORKFLOW_COMPLETED", status, {"status": status, **(payload or {})}), Told("STREAM_END", "")]
        if error is not None:
            events.insert(0, Told("ERROR_OCCURRED", error.message, {"code": error.code}))
        with self.store.transaction():
            changes |= {"status": status, "finished": utc_now(), "error": error, "approval": None}
            self.store.update(task, **changes)
            self.store.tell(task, task.attempt, events)
        self._changed.pop(task.id).set()

    # money

    def _ledger(self, owner: str) -> UsageLedger:
        """What all tasks of the owner have spent, those of earlier starts too."""
        if owner not in self._ledgers:
            self._ledgers[owner] = UsageLedger()
            self._ledgers[owner].record("earlier starts", Usage(cost_usd=self.store.spent(owner)))
        return self._ledgers[owner]

    def _usd(self, owner: str) -> float | None:
        own = next((key.usd for key in self.store.all_keys() if key.name == owner), None)
        return self.settings.key.usd if own is None else own

    # people

    async def ask(self, task: Task, kind: Literal["plan", "question"], prompt: str, otherwise: str) -> str:
        """Put a plan or question to whoever watches the task; `otherwise` is the answer where nobody gives one."""
        asked = Asked(approval_id=secrets.token_hex(8), kind=kind, prompt=whole(prompt))
        decision = self._decisions[asked.approval_id] = asyncio.get_running_loop().create_future()
        payload = asked.model_dump(exclude={"prompt"})
        self.tell(task, Told("APPROVAL_REQUESTED", asked.prompt, payload), status="waiting", approval=asked)
        answer = otherwise
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(self.settings.approval_seconds):
                    answer = await decision
        finally:
            del self._decisions[asked.approval_id]
            if task.id in self._changed:
                self.tell(task, Told("APPROVAL_DECISION", answer, payload), status="running", approval=None)
        return answer

    def _folder(self, run: str) -> RunFolder:
        return RunFolder(self.run.folder.path.parent / run)


class _TaskUser:
    """Whoever watches a task, as its agent's user."""

    def __init__(self, service: Service, task: Task) -> None:
        self._service, self._task = service, task

    async def answer(self, question: str) -> str:
        return await self._service.ask(self._task, "question", question, "skip")

    async def review(self, plan: str) -> str:
        return await self._service.ask(self._task, "plan", plan, "reject")


class _Resuming:
    """An agent that goes on with the conversation of an earlier attempt, where it has begun one."""

    def __init__(self, agent: Any) -> None:
        self._agent: Resumable = agent

    async def research(self, question: Question, session: Session) -> Report:
        report = await self._agent.resume(str(question.thread_id), session)
        return await self._agent.research(question, session) if report is None else report


async def _cancel(work: asyncio.Task[None]) -> None:
    """Cancel until it has ended: an agent may catch one, and each of its waits gets another."""
    while not work.done():
        work.cancel()
        await asyncio.wait({work}, timeout=1)
