"""Work done together, so much at a time."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


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
