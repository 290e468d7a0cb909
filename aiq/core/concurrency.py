"""What work that runs at the same time needs: values set for a while, a lock a key, so much done at once."""

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
def holding(variable: ContextVar[Any], value: T) -> Iterator[T]:
    """The variable has this value inside, and in tasks that are started there."""
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)


class Locks:
    """A lock a key, which exists for as long as somebody holds it or waits for it."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def of(self, key: str) -> asyncio.Lock:
        """The key's lock; who waits gets it in the order of coming, also when a holder fails or is cancelled."""
        return self._locks.setdefault(key, asyncio.Lock())


async def gather_bounded(items: Sequence[T], work: Callable[[T], Awaitable[U]], at_once: int) -> list[U]:
    """`work` on every item, at most `at_once` at a time; results in the order of `items`.

    The first error ends the rest and is raised as it is, once they have ended and booked what they spent.
    """
    slots = asyncio.Semaphore(at_once)

    async def one(item: T) -> U:
        async with slots:
            return await work(item)

    tasks = [asyncio.ensure_future(one(item)) for item in items]
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
    """Do it to its end; in a thread where an event loop is running here, as it is in a notebook."""
    if not _in_a_loop():
        return _run(work)
    place: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = Future()

    async def stoppable() -> T:
        place.set_result((asyncio.get_running_loop(), asyncio.current_task()))
        return await work

    with ThreadPoolExecutor(1) as pool, interruptible():
        done = pool.submit(_run, stoppable())
        try:
            return done.result()
        except KeyboardInterrupt:
            loop, task = place.result()
            if task is not None:
                loop.call_soon_threadsafe(task.cancel)
            wait([done])
            raise


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False  # and nothing is done in here: it would be the context of each error within, in every traceback
    return True


def _run(work: Coroutine[Any, Any, T]) -> T:
    """As `asyncio.run`, but a SystemExit in a task reaches only who awaits the task: the loop goes on.

    An agent or a tool that calls sys.exit is to fail, whichever task of its own it does so in.
    """

    async def ended(task: asyncio.Task[T]) -> None:
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait([task])
            raise

    with asyncio.Runner() as runner:
        task = runner.get_loop().create_task(work)
        while not task.done():
            with suppress(SystemExit):  # raised by the loop too, which can run on
                runner.run(ended(task))
        return task.result()


def interruptible() -> AbstractContextManager[None]:
    """Ctrl-C raises KeyboardInterrupt in a block of an event loop, which would only cancel the task that blocks it."""
    return interrupted_by(signal.SIGINT)
