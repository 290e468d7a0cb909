"""Work done together: bounded, in order, and ended as a whole by the first error."""

import asyncio

import pytest

from aiq.core.concurrency import gather_bounded
from aiq.core.errors import JudgeError


async def test_work_is_bounded_and_keeps_its_order() -> None:
    running, most = 0, 0

    async def work(item: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001 * (5 - item))
        running -= 1
        return item

    assert await gather_bounded(range(5), work, 2) == [0, 1, 2, 3, 4]
    assert most == 2


async def test_the_first_error_ends_the_rest() -> None:
    ended: list[int] = []

    async def work(item: int) -> None:
        if item == 0:
            raise JudgeError("first")
        try:
            await asyncio.sleep(10)
        finally:
            ended.append(item)

    with pytest.raises(JudgeError, match="first"):
        await gather_bounded([0, 1], work, 2)
    await asyncio.sleep(0)
    assert ended == [1]


async def test_what_an_error_ends_has_ended_when_it_is_raised() -> None:
    ended: list[str] = []

    async def work(item: str) -> None:
        try:
            await asyncio.sleep(0 if item == "bad" else 60)
            raise JudgeError("bad")
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            ended.append(item)
            raise

    with pytest.raises(JudgeError):
        await gather_bounded(["bad", "slow"], work, 2)
    assert ended == ["slow"]
