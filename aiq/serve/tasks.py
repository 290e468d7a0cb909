"""Tasks from request to end: a bounded queue, workers, cancelling, restarts.

A task is one sample of the server's run; each start of it is one attempt.
"""

import asyncio
import sqlite3
import uuid
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any

from pydantic import JsonValue

from aiq.core.errors import ConfigError, UserError
from aiq.core.events import Event, ModelCalled
from aiq.experiment.plan import blank_question
from aiq.experiment.resources import open_resources
from aiq.runs.journal import read_lines
from aiq.runs.reader import row_at
from aiq.runs.rows import SampleRow
from aiq.serve.agents import Agents
from aiq.serve.approvals import Approvals, Watcher
from aiq.serve.attempts import Attempts
from aiq.serve.errors import Refused
from aiq.serve.events import NewEvent, as_new_event
from aiq.serve.keys import Keys
from aiq.serve.run import ServedRun, mark_ended
from aiq.serve.settings import ServeSettings, Setup, is_loopback
from aiq.serve.store import DATABASE, Request, Store, Task, utc_now
from aiq.serve.streams import Streams
from aiq.serve.views import error_of, row_fields, summary_of, usage_of
from aiq.serve.wire import UNFINISHED, ApiError, TaskStatus, TaskView

_STORE_SECONDS = 1.0  # between two tries to store an end
GRACE_SECONDS = 10.0  # how long an attempt may take to notice that it is cancelled


@asynccontextmanager
async def running_service(setup: Setup) -> AsyncIterator["Service"]:
    """The running service.

    Raises UserError, one line, if another server uses the folder, or models, tools or agents do not fit.
    """
    agents, api, home = Agents(setup.agents), setup.api, setup.home
    seconds = setup.run.limits.sample_seconds or api.task_seconds
    settings = setup.run.changed("limits", sample_seconds=seconds)
    home.create()
    async with AsyncExitStack() as stack:
        stack.enter_context(home.lock())
        store = Store(home.path / DATABASE)
        stack.callback(store.close)
        if not store.all_keys() and not is_loopback(api.host):
            reason = "is reached from elsewhere, so it needs keys; make one with aiq serve --add-key NAME"
            raise ConfigError(f"serve.host={api.host} {reason}")
        blank = blank_question(settings.knowledge)
        resources = await stack.enter_async_context(open_resources(settings))
        agents.check(resources.tools)
        mark_ended(home.path)
        run = ServedRun(settings, setup.overrides, agents, resources, home.path)
        stack.callback(run.close)
        attempts = Attempts(agents, settings, run, resources, blank, live=setup.live)
        service = Service(agents, api, store, run, attempts)
        stack.push_async_callback(service.stop)
        service.start(settings.runner.concurrency)
        yield service


class Service:
    """Everything that the routes need."""

    def __init__(
        self, agents: Agents, settings: ServeSettings, store: Store, run: ServedRun, attempts: Attempts
    ) -> None:
        self.agents, self.settings, self.store, self.run = agents, settings, store, run
        self.keys = Keys(store, settings.key)
        self.streams = Streams(store, settings)
        self.approvals = Approvals(self.streams, settings.approval_seconds)
        self._attempts = attempts
        self._queue: deque[str] = deque()
        self._queued = asyncio.Event()
        self._work: dict[str, asyncio.Task[None]] = {}
        self._cancelled: set[str] = set()
        self._workers: list[asyncio.Task[None]] = []

    # from start to stop

    def start(self, workers: int) -> None:
        """Take over what the last server left unfinished, and start to work."""
        self._recover()
        self._workers = [asyncio.create_task(self._worker()) for _ in range(workers)]

    @property
    def ready(self) -> bool:
        """Whether tasks sent now will be worked on."""
        return not self.streams.stopping and any(not worker.done() for worker in self._workers)

    async def stop(self) -> None:
        """Cut off what is under way, to be continued at the next start."""
        self.streams.stop()
        self.run.sessions.stop()
        tasks = {*self._workers, *self._work.values()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=GRACE_SECONDS)

    def _recover(self) -> None:
        """Queue the unfinished tasks. One whose row is written is finished; any other that was begun starts again."""
        rows: dict[str, dict[tuple[str, int], tuple[int, SampleRow]]] = {}
        for task in self.store.unfinished():
            self.streams.begin(task.id)
            if task.run is not None and task.run not in rows:
                entries = read_lines(
                    self.run.rows(task.run), SampleRow.model_validate_json, self.store.last_place(task.run)
                )
                rows[task.run] = {(row.sample_id, row.attempt): (place, row) for row, place in entries}
            place, row = rows.get(task.run or "", {}).get((task.id, task.attempt), (0, None))
            if row is not None and row.status != "cancelled":
                self._finish(task, row, place)
                continue
            if task.started is not None:
                self._begin_again(task)
            self._enqueue(task.id)

    def _begin_again(self, task: Task) -> None:
        origin, attempt = "checkpoint" if self._attempts.can_resume(task) else "start", task.attempt + 1
        payload: dict[str, JsonValue] = {"what": "restart", "attempt": attempt, "from": origin}
        event = NewEvent(
            "ERROR_RECOVERY", f"the server was restarted; attempt {attempt} begins from the {origin}", payload
        )
        new_task = task.model_copy(update={"attempt": attempt})
        self.streams.publish(new_task, event, status="queued", attempt=attempt, approval=None)

    # what clients ask for

    def submit(self, owner: str, request: Request, idempotency: str | None) -> tuple[Task, bool]:
        """The task, and whether it is new: the same request with the same idempotency key is one task.

        Raises Refused.
        """
        if idempotency is not None and (earlier := self.store.repeated(owner, idempotency)) is not None:
            if earlier.request != request:
                raise Refused(409, "idempotency_conflict", "this Idempotency-Key belongs to another request")
            return earlier, False
        if self.streams.stopping:
            raise Refused(503, "stopping", "the server is being restarted", retry=5)
        if len(self._queue) >= self.settings.queue:
            raise Refused(503, "queue_full", "too many tasks are waiting", retry=30)
        limit = self.settings.key.tasks
        if self.store.unfinished_of(owner) >= limit:
            raise Refused(429, "too_many_tasks", f"this key has {limit} unfinished tasks", retry=30)
        self.keys.check_budget(owner)
        try:
            self.agents.agent(request.agent, request.chosen)
        except UserError as error:
            raise Refused(422, "invalid_request", str(error)) from None
        task = self.store.add(uuid.uuid4().hex, owner, idempotency, request)
        self.streams.begin(task.id)
        self._enqueue(task.id)
        return task, True

    def task(self, owner: str, task_id: str) -> Task:
        """Raises Refused for a task that does not exist or is not the owner's; clients cannot tell which."""
        with suppress(KeyError):
            task = self.store.task(task_id)
            if task.owner == owner:
                return task
        raise Refused(404, "not_found", "there is no such task")

    def view(self, task: Task) -> TaskView:
        """The task, with its report if there is one."""
        fields = dict(summary_of(task), context=task.request.chosen, turns=task.request.turns)
        fields |= {"approval": task.approval, "error": task.error, "run": task.run}
        if task.run is not None and task.place is not None:
            fields |= row_fields(row_at(SampleRow, self.run.rows(task.run), task.place))
        return TaskView(**fields)

    async def cancel(self, task: Task) -> Task:
        """End the task, whatever it is doing; one that has ended stays as it is."""
        if task.status in UNFINISHED and task.id not in self._cancelled:
            if (work := self._work.get(task.id)) is None:
                with suppress(ValueError):  # the server's shutdown has cut it off
                    self._queue.remove(task.id)
            else:
                self._cancelled.add(task.id)
                cancellation = asyncio.create_task(_cancel(work))
                await asyncio.wait({cancellation}, timeout=GRACE_SECONDS)
            self._end(task, "cancelled")
        return self.store.task(task.id)

    # work

    def _enqueue(self, task_id: str) -> None:
        self._queue.append(task_id)
        self._queued.set()

    async def _worker(self) -> None:
        while not self.streams.stopping:
            while not self._queue:
                self._queued.clear()
                await self._queued.wait()
            task = self.store.task(self._queue.popleft())
            ends: list[Callable[[], None]] = []
            work = self._work[task.id] = asyncio.create_task(self._attempt(task, ends))
            try:
                await asyncio.wait({work})
                await self._ensure_end(task, ends, None if work.cancelled() else work.exception())
            finally:
                self._work.pop(task.id, None)
                self._cancelled.discard(task.id)

    async def _ensure_end(self, task: Task, ends: list[Callable[[], None]], error: BaseException | None) -> None:
        """End a task that its attempt has not ended, as soon as that can be stored: the disk may be full.

        `ends`: ends it with its row, if there is one.
        """
        if error is not None and not isinstance(error, UserError):
            asyncio.get_running_loop().call_exception_handler({"message": "a task broke", "exception": error})
        while not (self.streams.has_ended(task) or self.streams.stopping):
            try:
                if ends:
                    ends[0]()
                elif task.id in self._cancelled:
                    self._end(task, "cancelled")
                elif isinstance(error, UserError):
                    self._end(task, "failed", error=ApiError(code="not_served", message=str(error)))
                else:
                    message = type(error).__name__ if error else "the result could not be written"
                    self._end(task, "failed", error=ApiError(code="internal", message=message))
            except sqlite3.OperationalError:
                await asyncio.sleep(_STORE_SECONDS)

    async def _attempt(self, task: Task, ends: list[Callable[[], None]]) -> None:
        """One attempt at the task, with its row; a task that the server's shutdown cuts off stays unfinished.

        What ends the task with its row is added to `ends` and called.
        """

        def keep(row: SampleRow, place: int) -> None:
            if row.status != "cancelled" or not self.streams.stopping or task.id in self._cancelled:
                ends.append(partial(self._finish, task, row, place))
                ends[0]()

        started = task.started or utc_now()
        self.store.update(task, status="running", run=self.run.folder.run_id, started=started)
        user, spend, usd = Watcher(self.approvals, task), self.keys.ledger(task.owner), self.keys.usd(task.owner)
        await self._attempts.run(task, user, spend, usd, self._listener(task), keep)

    def _listener(self, task: Task) -> Callable[[Event], None]:
        loop = asyncio.get_running_loop()

        def on_event(event: Event) -> None:
            if self.streams.has_ended(task):
                return
            with self.store.transaction():
                if isinstance(event, ModelCalled) and event.usage is not None and event.usage.counted_usd:
                    self.store.spend(task, event.usage.counted_usd)
                if (new_event := as_new_event(event)) is not None:
                    self.store.add_events(task, task.attempt, [new_event])
            loop.call_soon_threadsafe(self.streams.wake, task)  # a LangGraph node may run in a thread

        return on_event

    def _finish(self, task: Task, row: SampleRow, place: int) -> None:
        """End the task with this row."""
        status: TaskStatus = row.status
        if task.id in self._cancelled:
            status = "cancelled"  # whatever the agent made of it
        elif status == "cancelled":
            status = "failed"  # by an error that would have ended a run: no such model, the key's budget
        payload = {"route": row.route, "citation_status": row.citation_status, "usage": usage_of(row.spent)}
        self._end(task, status, error_of(row) if status in ("failed", "limit") else None, payload, place=place)

    def _end(
        self,
        task: Task,
        status: TaskStatus,
        error: ApiError | None = None,
        payload: Mapping[str, Any] | None = None,
        **changes: Any,
    ) -> None:
        """Publish the end of a task, once."""
        if self.streams.has_ended(task):
            return
        events = [
            NewEvent("WORKFLOW_COMPLETED", status, {"status": status, **(payload or {})}),
            NewEvent("STREAM_END", ""),
        ]
        if error is not None:
            events.insert(0, NewEvent("ERROR_OCCURRED", error.message, {"code": error.code}))
        changes |= {"status": status, "finished": utc_now(), "error": error, "approval": None}
        self.streams.publish(task, *events, **changes)
        self.streams.end(task)


async def _cancel(work: asyncio.Task[None]) -> None:
    """Cancel until the work has ended: an agent may catch a cancellation, and gets another at each of its waits."""
    while not work.done():
        work.cancel()
        await asyncio.wait({work}, timeout=1)
