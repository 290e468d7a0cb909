"""Processes that answer requests, so that neither a long prompt nor a long regex holds up the server.

They are forked where that is safe and fast: from a server that has no thread yet, a few milliseconds each and most
memory shared. macOS does not allow it (its libraries break in a forked process), so there they start anew.
"""

import asyncio
import multiprocessing
import os
import signal
import sys
import threading
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from aiq.offline.protocol.errors import ApiError
from aiq.offline.protocol.work import Answer, Work, json_answer

FEWEST, MOST = 2, 16
"""Bounds of the number of workers: with one, a long request would hold up every other."""

SMALL_BYTES = 65_536
"""A body up to this size is handed over at once; a longer one is written by a thread, as fast as the worker reads."""

_FORKS = sys.platform == "linux"
_CONTEXT: Any = multiprocessing.get_context("fork" if _FORKS else "spawn")


class _Worker:
    """One process, started again when it has died."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self.start()

    def start(self) -> None:
        self._connection: Connection
        self._connection, theirs = _CONTEXT.Pipe()
        self.process: BaseProcess = _CONTEXT.Process(target=_serve, args=(theirs, self._work), daemon=True)
        self.process.start()
        theirs.close()

    async def ask(self, request: tuple[str, str, str, bytes]) -> Answer:
        """Raises EOFError or OSError when the process is gone."""
        if len(request[-1]) <= SMALL_BYTES:
            self._connection.send(request)
        else:
            await asyncio.to_thread(self._connection.send, request)
        await _readable(self._connection.fileno())
        answer = self._connection.recv()
        assert isinstance(answer, Answer)
        return answer

    def restart(self) -> None:
        self.end()
        self.start()

    def end(self) -> None:
        self.process.terminate()
        self.process.join(timeout=1)
        self._connection.close()


async def _readable(file: int) -> None:
    """Wait until there is something to read, be it the end."""
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[None] = loop.create_future()

    def readable() -> None:
        if not answered.done():
            answered.set_result(None)

    loop.add_reader(file, readable)
    try:
        await answered
    finally:
        loop.remove_reader(file)


class Workers:
    """As many workers as there are processors, within bounds; each answers one request at a time.

    Make it before the process has threads. `close` ends them; they end by themselves when this process ends.
    """

    def __init__(self, work: Work, count: int | None = None) -> None:
        self._workers = [_Worker(work) for _ in range(count or min(max(os.cpu_count() or 1, FEWEST), MOST))]
        self._idle: asyncio.LifoQueue[_Worker] = asyncio.LifoQueue()  # the last one used is warm
        for worker in self._workers:
            self._idle.put_nowait(worker)

    async def ask(self, path: str, role: str, attempt: str, body: bytes) -> Answer:
        """What a worker answers; a 500 where it dies of the request. Requests wait their turn in order of arrival."""
        worker = await self._idle.get()
        try:
            if not worker.process.is_alive():  # it died idle: not of this request
                worker.restart()
            return await worker.ask((path, role, attempt, body))
        except asyncio.CancelledError:
            worker.restart()  # or its answer would go to the next request
            raise
        except (EOFError, OSError):
            worker.restart()
            error = ApiError(500, "The process that worked on the request died; send it again.", kind="server_error")
            return json_answer(error.body, 500)
        finally:
            self._idle.put_nowait(worker)

    def close(self) -> None:
        """End the workers at once, whatever they work on."""
        for worker in self._workers:
            worker.end()


def _serve(connection: Connection, work: Work) -> None:
    """A worker's whole life."""
    _stand_alone(connection.fileno())
    while True:
        try:
            connection.send(work.answer(*connection.recv()))
        except (EOFError, OSError):
            return


def _stand_alone(connection: int) -> None:
    """Take nothing of the server's along: neither its signals nor its open files, and end when it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the server, which ends its workers
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    assert parent is not None
    if _FORKS:
        kept = sorted({0, 1, 2, connection, int(parent.sentinel)})
        for below, above in zip(kept, [*kept[1:], 1 << 20], strict=True):
            os.closerange(below + 1, above)
        quiet = os.open(os.devnull, os.O_RDWR)
        os.dup2(quiet, 0)
        os.dup2(quiet, 1)
        os.close(quiet)

    def follow() -> None:
        parent.join()
        os._exit(0)

    threading.Thread(target=follow, daemon=True).start()
