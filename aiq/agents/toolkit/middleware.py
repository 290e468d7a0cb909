"""Middleware of LangChain agents: system prompts, empty tool results, tool names, model retries, tool budgets."""

from collections.abc import Awaitable, Callable, Collection
from typing import Any

from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest

from aiq.agents.toolkit.langchain import (
    Execute,
    Middleware,
    ToolAnswer,
    messages_of,
    over_budget,
    position,
    readable_calls,
    replies_in,
)
from aiq.core.events import Recovery
from aiq.core.models import retrying
from aiq.core.session import current

Request = ModelRequest[Any]
Response = ModelResponse[Any]
Call = Callable[[Request], Awaitable[Response]]

EMPTY = "empty content received."
"""What a model is shown in place of a blank tool result; some endpoints refuse empty content."""

ALIASES = {"open_file": "read_file", "find": "grep", "find_file": "glob"}
"""Tools that models take for others."""

BUDGET_ANCHOR = (
    "Your search budget is used up. Reply now with what you found, in the form that your instructions ask for. "
    "Do not attempt any further tool calls."
)


class SystemPrompt(Middleware):
    """Renders the system prompt for each call, from the state; nothing of a sample stays in the graph.

    It replaces any other, so that the model gets exactly our template's text.
    """

    def __init__(self, render: Callable[[Any], str]) -> None:
        super().__init__()
        self._render = render

    async def awrap_model_call(self, request: Request, handler: Call) -> Response:
        return await handler(request.override(system_message=SystemMessage(self._render(request.state))))


class EmptyContentFix(Middleware):
    """Shows blank tool results as a placeholder; status and artifact of the message are kept."""

    async def awrap_model_call(self, request: Request, handler: Call) -> Response:
        return await handler(request.override(messages=[_filled(message) for message in request.messages]))


class ToolNameSanitization(Middleware):
    """Repairs corrupted tool names in replies, and calls whose arguments are no JSON object.

    The reply is copied with its new calls, so that token usage and response metadata stay.
    """

    async def awrap_model_call(self, request: Request, handler: Call) -> Response:
        response = await handler(request)
        valid = tool_names(request)
        response.result = [
            _with_names(readable_calls(message), valid) if isinstance(message, AIMessage) else message
            for message in response.result
        ]
        return response


class ModelRetry(Middleware):
    """Gives each model call `max_retries` sends after the first, with backoff; after the last it ends in ModelError.

    It sends nothing itself: the run's transport, the one layer that retries, is told the number. A second layer
    would multiply the attempts, wait past `Retry-After`, and hide what was sent from the books.
    """

    def __init__(self, max_retries: int) -> None:
        super().__init__()
        self._max_retries = max_retries

    async def awrap_model_call(self, request: Request, handler: Call) -> Response:
        with retrying(self._max_retries):
            return await handler(request)


class ToolBudget(Middleware):
    """At most `most` calls of these `tools`, then an anchor asks for the findings.

    An agent that goes on without them is made to answer after `2 * most + 8` turns.
    """

    def __init__(self, most: int, tools: Collection[str]) -> None:
        super().__init__()
        self._most = most
        self._tools = frozenset(tools)

    async def awrap_model_call(self, request: Request, handler: Call) -> Response:
        replies = replies_in(request.messages)
        hidden: Collection[str] = ()
        if len(replies) >= 2 * self._most + 8:
            hidden = tool_names(request)
        elif sum(map(self._calls, replies)) >= self._most:
            hidden = self._tools
        return await handler(without_tools(request, hidden, BUDGET_ANCHOR) if hidden else request)

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Execute) -> ToolAnswer:
        if request.tool_call["name"] not in self._tools:
            return await handler(request)
        *earlier, reply = replies_in(messages_of(request.state))
        before = sum(call["name"] in self._tools for call in reply.tool_calls[: position(request)[1]])
        if sum(map(self._calls, earlier)) + before < self._most:
            return await handler(request)
        reason = f"at most {self._most} searches are allowed; this one was not made"
        return over_budget(request.tool_call, reason)

    def _calls(self, reply: AIMessage) -> int:
        return sum(call["name"] in self._tools for call in reply.tool_calls)


def sanitized(name: str, valid: Collection[str]) -> str:
    """`name` as one of `valid`, where a known corruption explains it; else unchanged."""
    if name in valid:
        return name
    base = name.split("<|channel|>")[0].strip()
    parts = (base, *base.split("."))  # `functions.x`, `x.run`
    candidates = (*parts, *(ALIASES.get(part, "") for part in parts))
    return next((candidate for candidate in candidates if candidate in valid), name)


def tool_names(request: Request) -> list[str]:
    """The names of the tools that a model request lists."""
    return [name for tool in request.tools if (name := _name(tool))]


def _name(tool: Any) -> str | None:
    return tool.get("name") if isinstance(tool, dict) else tool.name


def without_tools(request: Request, names: Collection[str], anchor: str) -> Request:
    """The request with these tools withdrawn, and the anchor as its last message (not kept in the state)."""
    tools = [tool for tool in request.tools if (tool.get("name") if isinstance(tool, dict) else tool.name) not in names]
    return request.override(tools=tools, messages=[*request.messages, HumanMessage(anchor)])


def _with_names(message: AIMessage, valid: Collection[str]) -> AIMessage:
    repaired = []
    for call in message.tool_calls:
        name = sanitized(call["name"], valid)
        if name != call["name"]:
            current().events.emit(Recovery(what="tool_name", detail=f"{call['name']} -> {name}"))
        repaired.append({**call, "name": name})
    return message if repaired == message.tool_calls else message.model_copy(update={"tool_calls": repaired})


def _filled(message: AnyMessage) -> AnyMessage:
    """The message, or a placeholder for a blank tool result; an image is content without words."""
    if not isinstance(message, ToolMessage) or str(message.text).strip():
        return message
    blocks = message.content if isinstance(message.content, list) else []
    if any(isinstance(block, dict) and block.get("type") != "text" for block in blocks):
        return message
    return message.model_copy(update={"content": EMPTY})
