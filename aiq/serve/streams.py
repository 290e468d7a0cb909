"""Server-sent events: the events of tasks, and the open streams that pass them on.

Streams read the store and not the task, so a slow reader holds up nobody and there is no queue to overflow. Each event
has its number as id: a reader continues after `Last-Event-ID` without loss or repetition.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from aiq.serve.errors import Refused
from aiq.serve.events import NewEvent
from aiq.serve.settings import ServeSettings
from aiq.serve.store import Store, Task

_RETRY_MS = 2000
_HEARTBEAT = b":\n\n"
_BATCH = 64  # events sent at once


class Streams:
    """The streams of all tasks, and what wakes them. `stopping`: the server is about to end."""

    def __init__(self, store: Store, settings: ServeSettings) -> None:
        self._store, self._settings = store, settings
        self._changed: dict[str, asyncio.Event] = {}  # by unfinished task
        self._open: Counter[str] = Counter()
        self.stopping = False

    def begin(self, task_id: str) -> None:
        self._changed[task_id] = asyncio.Event()

    def has_ended(self, task: Task) -> bool:
        """Whether the task has ended for its clients."""
        return task.id not in self._changed

    def publish(self, task: Task, *events: NewEvent, **changes: Any) -> None:
        """Change the task and publish the events."""
        with self._store.transaction():
            self._store.update(task, **changes)
            self._store.add_events(task, task.attempt, events)
        self.wake(task)

    def wake(self, task: Task) -> None:
        """Make the task's streams look at the store again."""
        if (changed := self._changed.get(task.id)) is not None:
            self._changed[task.id] = asyncio.Event()
            changed.set()

    def end(self, task: Task) -> None:
        """Note that the task's last event has been published."""
        self._changed.pop(task.id).set()

    def stop(self) -> None:
        """End all streams where they are; their readers continue at the next start."""
        self.stopping = True
        for changed in self._changed.values():
            changed.set()

    @contextmanager
    def count_stream(self, owner: str) -> Iterator[None]:
        """Count a stream while it is open. Raises Refused if there are too many."""
        if self._open[owner] >= self._settings.key.streams:
            raise Refused(429, "too_many_streams", "this key has too many open streams", retry=10)
        if self._open.total() >= self._settings.streams:
            raise Refused(503, "too_many_streams", "too many streams are open", retry=10)
        self._open[owner] += 1
        try:
            yield
        finally:
            self._open[owner] -= 1

    async def events(self, task: Task, after: int) -> AsyncIterator[list[tuple[int, str, str]]]:
        """Number, type and JSON of each event after a number, in batches as they come; empty batches are heartbeats.

        Ends with the last event of the task, or when the server stops.
        """
        while True:
            changed = self._changed.get(task.id)
            batch = self._store.events(task, after, _BATCH)
            if batch:
                yield batch
                after, last_type, _ = batch[-1]
                if last_type == "STREAM_END":
                    return
            elif changed is None or self.stopping:
                return
            else:
                try:
                    async with asyncio.timeout(self._settings.heartbeat_seconds):
                        await changed.wait()
                except TimeoutError:
                    yield []


class EventStream(Response):
    """Sends batches of events (number, type, JSON) as they come; `lease` is a context open as long as the stream.

    A reader that takes nothing for `stall_seconds` is cut off.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        batches: AsyncIterator[Iterable[tuple[int, str, str]]],
        lease: AbstractContextManager[None],
        stall_seconds: float,
    ) -> None:
        super().__init__(headers={"X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._batches, self._lease, self._stall = batches, lease, stall_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._lease:
            sending = asyncio.ensure_future(self._send_all(send))
            leaving = asyncio.ensure_future(_wait_disconnect(receive))
            try:
                await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (sending, leaving):
                    task.cancel()
                results = await asyncio.gather(sending, leaving, return_exceptions=True)
        if results[0] is None:  # only now, so that a reader can open its next stream as soon as this one has ended
            with suppress(TimeoutError):
                await self._send(send, b"", more=False)

    async def _send_all(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await self._send(send, f"retry: {_RETRY_MS}\n\n".encode())
        async for batch in self._batches:
            text = "".join(f"id: {seq}\nevent: {kind}\ndata: {data}\n\n" for seq, kind, data in batch)
            await self._send(send, text.encode() or _HEARTBEAT)

    async def _send(self, send: Send, body: bytes, *, more: bool = True) -> None:
        """Raises TimeoutError if the reader's connection stays full."""
        async with asyncio.timeout(self._stall):
            await send({"type": "http.response.body", "body": body, "more_body": more})


async def _wait_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
