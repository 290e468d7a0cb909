"""Middleware for agents of LangChain and deepagents."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Any

from langchain.agents.middleware.types import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from aiq.agents.toolkit.compaction import PruningSettings, shortened
from aiq.agents.toolkit.langchain import (
    TASK,
    Execute,
    ToolAnswer,
    answer_of,
    ask_with_repair,
    call_in_session,
    calls_before,
    fill_blank,
    normalise_reply,
    over_budget,
    position,
    replies_in,
)
from aiq.agents.toolkit.subagents import as_agent
from aiq.core.events import Recovery
from aiq.core.models import retrying
from aiq.core.session import current

Middleware = AgentMiddleware[Any, Any, Any]
Request = ModelRequest[Any]
Response = ModelResponse[Any]
Call = Callable[[Request], Awaitable[Response]]

ALIASES = {"open_file": "read_file", "find": "grep", "find_file": "glob"}
"""Wrong names that models use for tools, and the tools that they mean."""

BUDGET_ANCHOR = (
    "Your search budget is used up. Reply now with what you found, in the form that your instructions ask for. "
    "Do not attempt any further tool calls."
)


class SessionCalls(Middleware):
    """Runs calls in the session; for every agent and subagent of `create_agent` and deepagents that has tools."""

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Execute) -> ToolAnswer:
        return await call_in_session(request, handler)


class EmptyContentFix(Middleware):
    """Shows blank tool results as a placeholder; status and artifact of the message are kept."""

    async def awrap_model_call(self, request: Request, handler: Call) -> Response:
        return await handler(request.override(messages=[*map(fill_blank, request.messages)]))


class CallRepair(Middleware):
    """Asks once more after a reply that is a call that nobody runs; otherwise an agent would end there, or never."""

    async def awrap_model_call(self, request: Request, handler: Call) -> Response:
        async def ask(*extra: AnyMessage) -> AIMessage:
            response = await handler(request.override(messages=[*request.messages, *extra]))
            return replies_in(response.result)[-1]

        return ModelResponse(result=[await ask_with_repair(ask, bool(request.tools))])


class ToolNameSanitization(Middleware):
    """Removes thoughts from replies; repairs corrupted tool names and calls whose arguments are not a JSON object."""

    async def awrap_model_call(self, request: Request, handler: Call) -> Response:
        replies, valid = replies_in((await handler(request)).result), tool_names(request)
        return ModelResponse(result=[_repair_names(reply, valid) for reply in replies])


@dataclass(eq=False)
class ModelRetry(Middleware):
    """Retries each failed model call up to `retries` times, with backoff; the last failure is a ModelError.

    It instructs the run's transport, the only layer that retries: a second one would multiply the attempts, ignore
    `Retry-After`, and hide requests from the usage.
    """

    retries: int

    async def awrap_model_call(self, request: Request, handler: Call) -> Response:
        with retrying(self.retries):
            return await handler(request)


@dataclass(eq=False)
class ToolBudget(Middleware):
    """Allows `max_calls` of these tools, then an anchor asks for findings; no tools after `2 * max_calls + 8` turns."""

    max_calls: int
    budgeted: Collection[str]

    async def awrap_model_call(self, request: Request, handler: Call) -> Response:
        replies = replies_in(request.messages)
        names: Collection[str] = ()
        if len(replies) >= 2 * self.max_calls + 8:
            names = tool_names(request)
        elif sum(call["name"] in self.budgeted for reply in replies for call in reply.tool_calls) >= self.max_calls:
            names = self.budgeted
        return await handler(without_tools(request, names, BUDGET_ANCHOR) if names else request)

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Execute) -> ToolAnswer:
        if request.tool_call["name"] not in self.budgeted or calls_before(request, self.budgeted) < self.max_calls:
            return await handler(request)
        return over_budget(request.tool_call, f"at most {self.max_calls} searches are allowed; this one was not made")


@dataclass(eq=False)
class ToolResultPruning(Middleware):
    """Shows all but the last `keep_last` tool results in at most `max_chars` characters each.

    Results of the tools in `exempt` are neither shortened nor counted: what they say cannot be retrieved again.
    """

    settings: PruningSettings
    exempt: Collection[str] = ()

    async def awrap_model_call(self, request: Request, handler: Call) -> Response:
        max_chars, keep_last = self.settings.max_chars, self.settings.keep_last
        messages = shortened(request.messages, "pruning", keep_last, max_chars, 0, {}, self.exempt)
        return await handler(request.override(messages=messages))


class SubagentStatus(Middleware):
    """For a deepagents orchestrator: one entry in the state's `subagents` and two events per dispatch."""

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Execute) -> ToolAnswer:
        call = request.tool_call
        if call["name"] != TASK:
            return await handler(request)
        name, task = (str(call["args"].get(key, "")) for key in ("subagent_type", "description"))
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


def sanitized(name: str, valid: Collection[str]) -> str:
    """`name` as one of `valid` if a known corruption explains it; else unchanged."""
    base = name.split("<|channel|>")[0].strip()
    parts = (name, base, *base.split("."))  # `functions.x`, `x.run`
    candidates = (*parts, *(ALIASES.get(part, "") for part in parts))
    return next((candidate for candidate in candidates if candidate in valid), name)


def tool_names(request: Request) -> list[str]:
    """The names of the tools that a model request lists."""
    return [tool.name for tool in request.tools if not isinstance(tool, dict)]


def without_tools(request: Request, names: Collection[str], anchor: str) -> Request:
    """The request with these tools withdrawn, and the anchor as its last message (not kept in the state)."""
    tools = [tool for tool in request.tools if isinstance(tool, dict) or tool.name not in names]
    return request.override(tools=tools, messages=[*request.messages, HumanMessage(anchor)])


def _repair_names(reply: AIMessage, valid: Collection[str]) -> AIMessage:
    reply = normalise_reply(reply)
    calls = [{**call, "name": sanitized(call["name"], valid)} for call in reply.tool_calls]
    for call, repaired in zip(reply.tool_calls, calls, strict=True):
        if call != repaired:
            current().events.emit(Recovery(what="tool_name", detail=f"{call['name']} -> {repaired['name']}"))
    return reply.model_copy(update={"tool_calls": calls})
