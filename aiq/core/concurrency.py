"""What work that runs at the same time needs: values set for a while, a lock a key, so much done at once."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar
from weakref import WeakValueDictionary

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
