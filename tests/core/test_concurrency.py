"""Concurrent work: fair locks by key; bounded and ordered gathering, which the first error cancels as a whole."""

import asyncio
import gc

import pytest

from aiq.core.concurrency import Locks, completed, gather_bounded
from aiq.core.errors import JudgeError


async def test_a_lock_admits_one_at_a_time_per_key_and_keys_are_independent() -> None:
    locks = Locks()
    log: list[str] = []

    async def work(key: str, name: str) -> None:
        async with locks.of(key):
            log.append(f"{name} in")
            await asyncio.sleep(0)
            log.append(f"{name} out")

    await asyncio.gather(work("a", "1"), work("a", "2"), work("b", "3"))
    assert log.index("1 out") < log.index("2 in")
    assert log.index("3 in") < log.index("1 out")
    gc.collect()
    assert len(locks._locks) == 0  # unused locks are gone


async def test_work_is_bounded_and_results_keep_their_order() -> None:
    running, peak = 0, 0

    async def work(item: int) -> int:
        nonlocal running, peak
        running += 1
        peak = max(peak, running)
        await asyncio.sleep(0.001 * (5 - item))
        running -= 1
        return item

    assert await gather_bounded(range(5), work, 2) == [0, 1, 2, 3, 4]
    assert peak == 2


async def test_the_first_error_cancels_the_rest_before_it_is_raised() -> None:
    cancelled: list[str] = []

    async def work(item: str) -> None:
        try:
            await asyncio.sleep(0 if item == "bad" else 60)
            raise JudgeError("bad")
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            cancelled.append(item)
            raise

    with pytest.raises(JudgeError, match="bad"):
        await gather_bounded(["bad", "slow"], work, 2)
    assert cancelled == ["slow"]


def test_an_error_from_completed_work_has_no_context() -> None:
    async def work() -> None:
        raise JudgeError("no answer")

    with pytest.raises(JudgeError) as raised:
        completed(work())
    assert raised.value.__context__ is None
