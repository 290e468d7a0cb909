"""Locks by key: one at a time, in the order of coming, and nobody is left waiting for who has gone."""

import asyncio
import gc

from aiq.core.concurrency import Locks


async def test_one_at_a_time_per_key_and_keys_do_not_wait_for_each_other() -> None:
    locks = Locks()
    inside: list[str] = []

    async def work(key: str, name: str) -> None:
        async with locks.of(key):
            inside.append(f"{name} in")
            await asyncio.sleep(0)
            inside.append(f"{name} out")

    await asyncio.gather(work("a", "1"), work("a", "2"), work("b", "3"))
    assert inside.index("1 out") < inside.index("2 in")
    assert inside.index("3 in") < inside.index("1 out")


async def test_who_waits_goes_on_when_the_holder_is_cancelled() -> None:
    locks = Locks()
    held = asyncio.Event()

    async def forever() -> None:
        async with locks.of("a"):
            held.set()
            await asyncio.sleep(3600)

    async def waiting() -> str:
        async with locks.of("a"):
            return "mine"

    first = asyncio.create_task(forever())
    await held.wait()
    second = asyncio.create_task(waiting())
    await asyncio.sleep(0)
    first.cancel()
    assert await asyncio.wait_for(second, 1) == "mine"


async def test_locks_that_nobody_needs_are_gone() -> None:
    locks = Locks()
    for number in range(100):
        async with locks.of(str(number)):
            pass
    gc.collect()
    assert len(locks._locks) == 0
