"""Parts of an agent that work on tasks of their own: start and finish events, and several at once, in order."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from langchain_core.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from aiq.agents.toolkit.langchain import TASK, Execute, Middleware, ToolAnswer, answer_of, position
from aiq.core.concurrency import gather_bounded
from aiq.core.events import AgentFinished, AgentStarted
from aiq.core.session import current, nested_call

T = TypeVar("T")


async def as_agent(name: str, task: str, work: Awaitable[T], output: Callable[[T], str] = str) -> T:
    """The result of `work`, with an event at its start and one at its end, which has the result as text."""
    current().events.emit(AgentStarted(agent=name, task=task))
    result = await work
    current().events.emit(AgentFinished(agent=name, output=output(result)))
    return result


async def gather_ordered(works: Sequence[Callable[[], Awaitable[T]]], at_once: int, turn: int) -> list[T]:
    """The results in the order of `works`, at most `at_once` of which run at a time.

    Each is call number i of `turn` in the session's order, so that sources are numbered alike whichever ends first.
    The first error ends the rest.
    """

    async def one(index: int) -> T:
        with nested_call(turn, index, None):
            return await works[index]()

    return await gather_bounded(range(len(works)), one, at_once)


class SubagentStatus(Middleware):
    """For an orchestrator of deepagents: one entry in the state's `subagents` and two events a dispatch."""

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Execute) -> ToolAnswer:
        call = request.tool_call
        if call["name"] != TASK:
            return await handler(request)
        name, task = (str(call["args"].get(part, "")) for part in ("subagent_type", "description"))
        result = await as_agent(name, task, handler(request), lambda result: str(answer_of(result).text))
        answer, (turn, index) = answer_of(result), position(request)
        update: dict[str, Any] = {} if isinstance(result, ToolMessage) else dict(result.update or {})
        entry = {
            "name": name,
            "turn": turn,
            "index": index,
            "task": task,
            "status": "completed" if update and answer.status != "error" else "failed",
        }
        return Command(update={"messages": [answer], **update, "subagents": [entry]})
