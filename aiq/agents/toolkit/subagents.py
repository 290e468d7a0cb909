"""Subagents, which work on tasks of their own: start and finish events, and several at once with results in order."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from aiq.core.concurrency import gather_bounded
from aiq.core.events import AgentFinished, AgentStarted
from aiq.core.session import current, nested_call

T = TypeVar("T")


async def as_agent(name: str, task: str, work: Awaitable[T], output: Callable[[T], str] = str) -> T:
    """The result of `work`, with one event at its start and one at its end that has `output` of the result."""
    current().events.emit(AgentStarted(agent=name, task=task))
    result = await work
    current().events.emit(AgentFinished(agent=name, output=output(result)))
    return result


async def gather_ordered(works: Sequence[Callable[[], Awaitable[T]]], at_once: int, turn: int) -> list[T]:
    """The results in the order of `works`, at most `at_once` of which run at a time.

    Each is call number i of `turn` in the session's order, so that sources are numbered alike whichever ends first.
    The first error cancels the rest.
    """

    async def run(index: int) -> T:
        with nested_call(turn, index, None):
            return await works[index]()

    return await gather_bounded(range(len(works)), run, at_once)
