"""Our tools as LangChain tools: each call goes through the session, so that it is logged and its sources counted.

`as_langchain` makes the tool; `call_in_session` (for a `ToolNode`) or `SessionCalls` (for `create_agent` and
deepagents) must wrap its execution: they tell the session which turn, which position and which call id it is.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.messages.tool import tool_call
from langchain_core.tools import StructuredTool, ToolException
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from aiq.core.errors import ToolError
from aiq.core.events import Recovery
from aiq.core.session import current, nested_call
from aiq.core.tools import Tool

Execute = Callable[[ToolCallRequest], Awaitable["ToolMessage | Command[Any]"]]

_call_id: ContextVar[str | None] = ContextVar("langchain_call_id", default=None)


class SessionTool(StructuredTool):
    """A LangChain tool whose work is `session.call_tool`; the session logs it under the model's call id."""


def as_langchain(tool: Tool) -> SessionTool:
    """`tool` for LangChain, async only.

    Arguments are validated by the session, once. A ToolError becomes a tool message `Error: ...` with status
    `error`; everything else (LimitReached, ModelError, RunAborted) passes through and ends the attempt.
    """

    async def run(**arguments: Any) -> str:
        try:
            result = await current().call_tool(tool.name, arguments, _call_id.get())
        except ToolError as error:
            raise ToolException(f"Error: {error}") from error
        return result.content

    return SessionTool(
        name=tool.name,
        description=tool.description,
        args_schema=tool.parameters.model_json_schema(),
        coroutine=run,
        handle_tool_error=True,
    )


async def call_in_session(request: ToolCallRequest, execute: Execute) -> "ToolMessage | Command[Any]":
    """A `ToolNode` wrapper (`awrap_tool_call=`): runs the call at its place in the session's order."""
    turn, index = position(request)
    call_id = request.tool_call["id"] or f"turn-{turn}-{index}"
    with _marked(turn, index, call_id, own=isinstance(request.tool, SessionTool)):
        return await execute(request)


class SessionCalls(AgentMiddleware[Any, Any, Any]):
    """The same wrapper as middleware; give it to every agent and subagent that holds tools."""

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Execute) -> "ToolMessage | Command[Any]":
        return await call_in_session(request, handler)


@contextmanager
def _marked(turn: int, index: int, call_id: str, *, own: bool) -> Iterator[None]:
    """Mark the running call. A session tool logs itself (`own`); any other, such as `task`, is a parent."""
    token = _call_id.set(call_id if own else None)
    try:
        with nested_call(turn, index, None if own else call_id):
            yield
    finally:
        _call_id.reset(token)


def position(request: ToolCallRequest) -> tuple[int, int]:
    """(turn, index) of a call: AI messages so far, and its place among the last one's tool calls."""
    replies = [message for message in messages_of(request.state) if isinstance(message, AIMessage)]
    if not replies:
        return 0, 0
    ids = [call["id"] for call in replies[-1].tool_calls]
    wanted = request.tool_call["id"]
    return len(replies), ids.index(wanted) if wanted in ids else len(ids)


def messages_of(state: Any) -> Sequence[AnyMessage]:
    """The messages of a graph state, whether it is a mapping, a model or the list itself."""
    if isinstance(state, list):
        return state
    found = state.get("messages", ()) if isinstance(state, dict) else getattr(state, "messages", ())
    return list(found)


def readable_calls(reply: AIMessage) -> AIMessage:
    """`reply` with unparsable tool calls turned into calls without arguments, and every call with an id of its own.

    LangChain sets such calls aside, and a graph would take the reply for a final answer. Without arguments the
    session refuses them with a message that the model can act on. Each is logged as a recovery. Ids tell which call
    of the reply is which: two calls with one id could not both be counted.
    """
    repaired = list(reply.tool_calls)
    for position_, broken in enumerate(reply.invalid_tool_calls):
        detail = f"{broken['name']}: arguments are no JSON object: {(broken['args'] or '')[:200]}"
        current().events.emit(Recovery(what="malformed_tool_arguments", detail=detail))
        call_id = broken["id"] or f"malformed-{position_}"
        repaired.append(tool_call(name=broken["name"] or "unknown", args={}, id=call_id))
    ids = [call["id"] for call in repaired]
    for place, call in enumerate(repaired):
        if not call["id"] or call["id"] in ids[:place]:
            repaired[place] = tool_call(name=call["name"], args=call["args"], id=f"{call['id'] or 'call'}-{place}")
    if repaired == reply.tool_calls and not reply.invalid_tool_calls:
        return reply
    return reply.model_copy(update={"tool_calls": repaired, "invalid_tool_calls": []})
