"""Middleware that the orchestrator and every subagent share: prompts, empty tool results, tool names, retries.

Pruning of old tool results is in `window.py`, registration of sources in `aiq.agents.toolkit.langchain.SessionCalls`.
"""

from collections.abc import Awaitable, Callable, Collection
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest

from aiq.agents.toolkit.langchain import readable_calls
from aiq.core.errors import ToolErrorKind
from aiq.core.events import Recovery, ToolCalled, ToolReturned
from aiq.core.models import retrying
from aiq.core.session import current

Request = ModelRequest[Any]
Response = ModelResponse[Any]
Call = Callable[[Request], Awaitable[Response]]

EMPTY = "empty content received."
"""What a model is shown in place of a blank tool result; some endpoints refuse empty content."""

ALIASES = {"open_file": "read_file", "find": "grep", "find_file": "glob"}
"""Tools that models take for others (specification 3.6)."""


class SystemPrompt(AgentMiddleware[Any, Any, Any]):
    """Renders the system prompt for each call, from the state; nothing of a sample stays in the graph.

    It replaces whatever stands there, so that the model gets exactly our template's text.
    """

    def __init__(self, render: Callable[[Any], str]) -> None:
        super().__init__()
        self._render = render

    async def awrap_model_call(self, request: Request, handler: Call) -> Response:
        return await handler(request.override(system_message=SystemMessage(self._render(request.state))))


class EmptyContentFix(AgentMiddleware[Any, Any, Any]):
    """Shows blank tool results as a placeholder; status and artifact of the message are kept."""

    async def awrap_model_call(self, request: Request, handler: Call) -> Response:
        if not any(_is_blank(message) for message in request.messages):
            return await handler(request)
        return await handler(request.override(messages=[_filled(message) for message in request.messages]))


class ToolNameSanitization(AgentMiddleware[Any, Any, Any]):
    """Repairs corrupted tool names in replies, and calls whose arguments are no JSON object.

    The reply is copied with its new calls, so that token usage and response metadata stay.
    """

    async def awrap_model_call(self, request: Request, handler: Call) -> Response:
        response = await handler(request)
        valid = [name for tool in request.tools if (name := tool_name(tool))]
        response.result = [
            _with_names(readable_calls(message), valid) if isinstance(message, AIMessage) else message
            for message in response.result
        ]
        return response


class ModelRetry(AgentMiddleware[Any, Any, Any]):
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


def sanitized(name: str, valid: Collection[str]) -> str:
    """`name` as one of `valid`, where a known corruption explains it; else unchanged."""
    if name in valid:
        return name
    base = name.split("<|channel|>")[0].strip()
    parts = (base, *base.split("."))  # `functions.x`, `x.run`
    candidates = (*parts, *(ALIASES.get(part, "") for part in parts))
    return next((candidate for candidate in candidates if candidate in valid), name)


def tool_name(tool: Any) -> str | None:
    """The name of a tool as a model request lists it."""
    return tool.get("name") if isinstance(tool, dict) else tool.name


def without_tools(request: Request, names: Collection[str], anchor: str) -> Request:
    """The request with these tools withdrawn, and the anchor as its last message (not kept in the state)."""
    tools = [tool for tool in request.tools if tool_name(tool) not in names]
    return request.override(tools=tools, messages=[*request.messages, HumanMessage(anchor)])


def over_budget(request: ToolCallRequest, reason: str) -> ToolMessage:
    """The answer to a call that is not executed, logged like one that was."""
    call = request.tool_call
    call_id, text = call["id"] or "", f"Error: over budget: {reason}"
    events = current().events
    events.emit(ToolCalled(call_id=call_id, tool=call["name"], arguments=call["args"]))
    events.emit(
        ToolReturned(call_id=call_id, tool=call["name"], success=False, error=ToolErrorKind.OVER_BUDGET, content=text)
    )
    return ToolMessage(text, name=call["name"], tool_call_id=call_id, status="error")


def _with_names(message: AIMessage, valid: Collection[str]) -> AIMessage:
    repaired = []
    for call in message.tool_calls:
        name = sanitized(call["name"], valid)
        if name != call["name"]:
            current().events.emit(Recovery(what="tool_name", detail=f"{call['name']} -> {name}"))
        repaired.append({**call, "name": name})
    if repaired == message.tool_calls:
        return message
    return message.model_copy(update={"tool_calls": repaired})


def _is_blank(message: AnyMessage) -> bool:
    return isinstance(message, ToolMessage) and not str(message.text).strip() and not _has_media(message)


def _has_media(message: ToolMessage) -> bool:
    """Content blocks other than text, such as an image, are content without words."""
    blocks = message.content if isinstance(message.content, list) else []
    return any(isinstance(block, dict) and block.get("type") != "text" for block in blocks)


def _filled(message: AnyMessage) -> AnyMessage:
    return message.model_copy(update={"content": EMPTY}) if _is_blank(message) else message
