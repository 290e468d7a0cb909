"""What concurrent work needs: context variables set for a while, one lock per key, bounded concurrency."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from aiq.core.interrupts import interrupted_by

T = TypeVar("T")
U = TypeVar("U")


@contextmanager
def binding(variable: ContextVar[Any], value: T) -> Iterator[T]:
    """Set the variable to this value inside the block, and in tasks that are started there."""
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)


class Locks:
    """One lock per key, which exists for as long as somebody holds it or waits for it."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def of(self, key: str) -> asyncio.Lock:
        """The key's lock; waiters get it in the order of arrival, also when a holder fails or is cancelled."""
        return self._locks.setdefault(key, asyncio.Lock())


async def gather_bounded(items: Sequence[T], work: Callable[[T], Awaitable[U]], at_once: int) -> list[U]:
    """Do `work` on every item, at most `at_once` at a time; returns the results in the order of `items`.

    The first error cancels the rest and is raised unchanged, once they have ended and booked what they spent.
    """
    slots = asyncio.Semaphore(at_once)

    async def bounded(item: T) -> U:
        async with slots:
            return await work(item)

    tasks = [asyncio.ensure_future(bounded(item)) for item in items]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def being_cancelled() -> bool:
    """Whether the running task has been asked to end, even if it has caught the CancelledError."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def completed(work: Coroutine[Any, Any, T]) -> T:
    """Run the coroutine to its end; in a thread if an event loop is already running here, as in a notebook."""
    if not _in_a_loop():
        return _run(work)
    running: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = Future()

    async def stoppable() -> T:
        running.set_result((asyncio.get_running_loop(), asyncio.current_task()))
        return await work

    with ThreadPoolExecutor(1) as pool, interruptible():
        future = pool.submit(_run, stoppable())
        try:
            return future.result()
        except KeyboardInterrupt:
            loop, task = running.result()
            if task is not None:
                loop.call_soon_threadsafe(task.cancel)
            wait([future])
            raise


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False  # nothing is run in this block: every traceback from it would show the RuntimeError as context
    return True


def _run(work: Coroutine[Any, Any, T]) -> T:
    """Like `asyncio.run`, but a SystemExit in a task reaches only whoever awaits the task: the loop goes on.

    An agent or a tool that calls sys.exit must fail, whichever of its tasks does so.
    """

    async def wait_for(task: asyncio.Task[T]) -> None:
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait([task])
            raise

    with asyncio.Runner() as runner:
        task = runner.get_loop().create_task(work)
        while not task.done():
            with suppress(SystemExit):  # the loop raises it too, but can be run again
                runner.run(wait_for(task))
        return task.result()


def interruptible() -> AbstractContextManager[None]:
    """Ctrl-C raises KeyboardInterrupt in code that blocks an event loop, instead of only cancelling its task."""
    return interrupted_by(signal.SIGINT)
