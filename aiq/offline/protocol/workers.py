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
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from multiprocessing.connection import Connection
from queue import LifoQueue
from typing import Any

from aiq.offline.protocol.errors import ApiError
from aiq.offline.protocol.work import Answer, Work, json_answer

FEWEST, MOST = 2, 16
"""Bounds of the number of workers: with one, a long request would hold up every other."""

_FORKS = sys.platform == "linux"
_CONTEXT: Any = multiprocessing.get_context("fork" if _FORKS else "spawn")
_DIED = ApiError("The process that worked on the request died; send it again.", status=500, kind="server_error")


class _Worker:
    """A process and the connection to it; `start` replaces one that has died."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self.start()

    def start(self) -> None:
        self.connection, theirs = _CONTEXT.Pipe()
        self.process = _CONTEXT.Process(target=_serve, args=(theirs, self._work), daemon=True)
        self.process.start()
        theirs.close()


class Workers:
    """As many workers as there are processors, within bounds; each answers one request at a time.

    Make it before the process has threads. `close` ends them; they end by themselves when this process ends.
    """

    def __init__(self, work: Work, count: int | None = None) -> None:
        count = count or min(max(os.cpu_count() or 1, FEWEST), MOST)
        self._workers = [_Worker(work) for _ in range(count)]
        self._idle: LifoQueue[_Worker] = LifoQueue()  # the last one used is warm
        for worker in self._workers:
            self._idle.put(worker)
        self._waiting = ThreadPoolExecutor(count, "worker")  # a thread waits for each process

    async def ask(self, path: str, role: str, attempt: str, body: bytes) -> Answer:
        """What a worker answers; a 500 where it dies of the request. Requests wait their turn in order of arrival."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._waiting, self._ask, (path, role, attempt, body))

    def _ask(self, request: tuple[str, str, str, bytes]) -> Answer:
        worker = self._idle.get()
        try:
            if not worker.process.is_alive():  # it died idle: not of this request
                worker.start()
            worker.connection.send(request)
            answer: Answer = worker.connection.recv()
            return answer
        except (EOFError, OSError):
            worker.process.join(1)
            return json_answer(_DIED.body, _DIED.status)
        finally:
            self._idle.put(worker)

    def close(self) -> None:
        """End the workers at once, whatever they work on."""
        self._waiting.shutdown(wait=False, cancel_futures=True)
        for worker in self._workers:
            worker.process.terminate()


def _serve(connection: Connection, work: Work) -> None:
    """A worker's whole life. It takes neither signals nor open files of the server along, and ends when that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the server, which ends its workers
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    assert parent is not None
    if _FORKS:
        kept = sorted({2, connection.fileno(), int(parent.sentinel)})
        for below, above in pairwise([*kept, 1 << 20]):
            os.closerange(below + 1, above)

    def follow() -> None:
        parent.join()
        os._exit(0)

    threading.Thread(target=follow, daemon=True).start()
    while True:
        try:
            connection.send(work.answer(*connection.recv()))
        except (EOFError, OSError):
            return
