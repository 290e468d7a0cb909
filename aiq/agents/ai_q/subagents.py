"""What the harness adds around subagents: their status and events, and their search budget."""

from collections.abc import Collection, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from aiq.agents.ai_q.middleware import Call, Request, Response, over_budget, tool_name, without_tools
from aiq.agents.ai_q.rounds import TASK
from aiq.agents.langchain_tools import Execute, messages_of, position
from aiq.core.events import AgentFinished, AgentStarted
from aiq.core.session import current

PLANNER = "planner-agent"

BUDGET_ANCHOR = (
    "Your search budget is used up. Reply now with what you found, in the form that your instructions ask for. "
    "Do not attempt any further tool calls."
)


class SubagentStatus(AgentMiddleware[Any, Any, Any]):
    """Orchestrator only: one status entry and two events a dispatch."""

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Execute) -> "ToolMessage | Command[Any]":
        call = request.tool_call
        if call["name"] != TASK:
            return await handler(request)
        name, task = str(call["args"].get("subagent_type", "")), str(call["args"].get("description", ""))
        current().events.emit(AgentStarted(agent=name, task=task))
        result = await handler(request)
        update: dict[str, Any] = dict(result.update or {}) if isinstance(result, Command) else {"messages": [result]}
        answers = [message for message in update["messages"] if isinstance(message, ToolMessage)]
        output = str(answers[-1].text) if answers else ""
        current().events.emit(AgentFinished(agent=name, output=output))
        failed = not isinstance(result, Command) or (bool(answers) and answers[-1].status == "error")
        turn, index = position(request)
        entry = {
            "name": name,
            "turn": turn,
            "index": index,
            "task": task,
            "status": "failed" if failed else "completed",
        }
        update["subagents"] = [entry]
        return Command(update=update)


class SearchBudget(AgentMiddleware[Any, Any, Any]):
    """Subagents only: at most `searches` calls of the research `tools`, then an anchor asks for the findings.

    A subagent that goes on without searching is made to answer after `2 * searches + 8` turns.
    """

    def __init__(self, searches: int, tools: Collection[str]) -> None:
        super().__init__()
        self._searches = searches
        self._tools = frozenset(tools)
        self._turns = 2 * searches + 8

    async def awrap_model_call(self, request: Request, handler: Call) -> Response:
        replies = [message for message in request.messages if isinstance(message, AIMessage)]
        hidden: Collection[str] = ()
        if len(replies) >= self._turns:
            hidden = [name for tool in request.tools if (name := tool_name(tool))]
        elif self._made(replies) >= self._searches:
            hidden = self._tools
        if hidden:
            request = without_tools(request, hidden, BUDGET_ANCHOR)
        return await handler(request)

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Execute) -> "ToolMessage | Command[Any]":
        if request.tool_call["name"] not in self._tools:
            return await handler(request)
        *earlier, reply = [m for m in messages_of(request.state) if isinstance(m, AIMessage)]
        _, index = position(request)
        same_reply = sum(call["name"] in self._tools for call in reply.tool_calls[:index])
        if self._made(earlier) + same_reply >= self._searches:
            return over_budget(request, f"at most {self._searches} searches are allowed; this one was not made")
        return await handler(request)

    def _made(self, replies: Sequence[AIMessage]) -> int:
        return sum(call["name"] in self._tools for reply in replies for call in reply.tool_calls)


def file_data(text: str) -> dict[str, str]:
    """A file of the virtual file system as deepagents keeps it, dated by the run's clock."""
    moment = current().now.isoformat()
    return {"content": text, "encoding": "utf-8", "created_at": moment, "modified_at": moment}
