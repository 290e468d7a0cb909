"""AI-Q's shallow researcher: one model with tools in a tight loop, bounded in tool calls and in turns.

The graph has two nodes, `agent` and `tools`. When the budget is used up, or on the last turn, the model is
asked once more, without tools and with the synthesis anchor. Verification of the answer is the caller's.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from aiq.agents.ai_q.settings import ShallowSettings
from aiq.agents.ai_q.states import ShallowResearchAgentState
from aiq.agents.langchain_tools import Execute, SessionTool, as_langchain, call_in_session, position, readable_calls
from aiq.core.errors import ToolErrorKind
from aiq.core.events import Decision, ToolCalled, ToolReturned
from aiq.core.prompts import Prompts
from aiq.core.session import current
from aiq.core.tools import Tool

ROLE = "aiq.shallow_researcher"

SYNTHESIS_ANCHOR = (
    "You have exhausted your research budget. Synthesize the final answer now using the citations [1], [2] and the "
    "'## References' format. Do not attempt any further tool calls."
)

PROMPT = "shallow_researcher.j2"

Graph = CompiledStateGraph[ShallowResearchAgentState, Any, Any, Any]


class ShallowResearcher:
    """Serves all samples of a run at once; keeps one compiled graph per set of tools and nothing of a sample."""

    def __init__(self, settings: ShallowSettings) -> None:
        self._settings = settings
        self._prompts = Prompts(Path(__file__).parent / "prompts")
        self._graphs: dict[tuple[str, ...], Graph] = {}

    async def run(self, state: ShallowResearchAgentState) -> ShallowResearchAgentState:
        """Research until there is an answer: the text of the last message, which may be empty.

        The tools are those of `state.data_sources` (None: all). Raises ModelError, LimitReached, RunAborted.
        """
        sources = None if state.data_sources is None else tuple(state.data_sources)
        tools = current().tools.select(sources)
        config: Any = {"recursion_limit": self._settings.max_llm_turns * 2 + 10}
        result = await self._graph(tools).ainvoke(state, config)
        return ShallowResearchAgentState.model_validate(result)

    def _graph(self, tools: Sequence[Tool]) -> Graph:
        """The compiled graph for these tools. The tools act on the bound session, so names identify them."""
        names = tuple(tool.name for tool in tools)
        if names not in self._graphs:
            self._graphs[names] = self._compile(tools)
        return self._graphs[names]

    def _compile(self, tools: Sequence[Tool]) -> Graph:
        bound = [as_langchain(tool) for tool in tools]

        async def agent(state: ShallowResearchAgentState) -> dict[str, Any]:
            return await self._agent(state, tools, bound)

        graph = StateGraph(ShallowResearchAgentState)
        graph.add_node("agent", agent)
        graph.add_node("tools", ToolNode(bound, awrap_tool_call=self._within_budget))
        graph.add_edge(START, "agent")
        graph.add_conditional_edges("agent", tools_condition)
        graph.add_edge("tools", "agent")
        return graph.compile()

    async def _agent(
        self, state: ShallowResearchAgentState, tools: Sequence[Tool], bound: list[SessionTool]
    ) -> dict[str, Any]:
        """One model turn: with tools while the budget lasts, else with the anchor and without tools."""
        messages: list[AnyMessage] = [SystemMessage(self._system(state, tools)), *state.messages]
        model = current().models.chat(ROLE)
        if cause := self._why_last(state):
            used = {"tool_calls": state.tool_iterations}
            current().events.emit(Decision(name="synthesis_anchor", value=True, cause=cause, detail=used))
            reply = await model.ainvoke([*messages, HumanMessage(SYNTHESIS_ANCHOR)])
            return {"messages": [_without_calls(reply)]}
        if bound:
            reply = await model.bind_tools(bound, parallel_tool_calls=self._settings.parallel_tool_calls).ainvoke(
                messages
            )
        else:
            reply = await model.ainvoke(messages)
        reply = readable_calls(reply)
        return {"messages": [reply], "tool_iterations": state.tool_iterations + len(reply.tool_calls)}

    def _why_last(self, state: ShallowResearchAgentState) -> str | None:
        """The setting that makes this turn the last one, or None."""
        if state.tool_iterations >= self._settings.max_tool_iterations:
            return "max_tool_iterations"
        if turns_taken(state.messages) + 1 >= self._settings.max_llm_turns:
            return "max_llm_turns"
        return None

    def _system(self, state: ShallowResearchAgentState, tools: Sequence[Tool]) -> str:
        listed = state.tools_info
        if listed is None:
            listed = [{"name": tool.name, "description": tool.description} for tool in tools]
        return self._prompts.render(
            PROMPT,
            tools=listed,
            web_search=any("web_search" in tool["name"] for tool in listed),
            user_info=state.user_info,
            current_datetime=current().now.isoformat(),
            available_documents=state.available_documents,
        )

    async def _within_budget(self, request: ToolCallRequest, execute: Execute) -> "ToolMessage | Command[Any]":
        """Run a call, or refuse it where the reply asked for more than the budget had left."""
        state: ShallowResearchAgentState = request.state
        requested = len(_last_reply(state.messages).tool_calls)
        left = self._settings.max_tool_iterations - (state.tool_iterations - requested)
        _, index = position(request)
        if index < left:
            return await call_in_session(request, execute)
        return _refused(request, self._settings.max_tool_iterations)


def turns_taken(messages: Sequence[AnyMessage]) -> int:
    """Model turns since the question, the last human message."""
    turns = 0
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            break
        turns += isinstance(message, AIMessage)
    return turns


def _last_reply(messages: Sequence[AnyMessage]) -> AIMessage:
    return next(message for message in reversed(messages) if isinstance(message, AIMessage))


def _without_calls(reply: AIMessage) -> AIMessage:
    """The final reply: tool calls that a model makes although it was offered no tools are dropped."""
    return reply.model_copy(update={"tool_calls": [], "invalid_tool_calls": []})


def _refused(request: ToolCallRequest, budget: int) -> ToolMessage:
    """The answer to a call beyond the budget; logged like a call that was made."""
    call = request.tool_call
    text = f"Error: over budget: at most {budget} tool calls are allowed; this one was not made"
    events, call_id = current().events, call["id"] or ""
    events.emit(ToolCalled(call_id=call_id, tool=call["name"], arguments=call["args"]))
    events.emit(
        ToolReturned(call_id=call_id, tool=call["name"], success=False, error=ToolErrorKind.OVER_BUDGET, content=text)
    )
    return ToolMessage(text, name=call["name"], tool_call_id=call_id, status="error")
