"""AI-Q's shallow researcher: one model with tools in a tight loop, bounded in tool calls and in turns."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import tools_condition

from aiq.agents.ai_q.settings import ShallowSettings
from aiq.agents.ai_q.states import ShallowResearchAgentState
from aiq.agents.toolkit.compaction import compacted
from aiq.agents.toolkit.conversation import last_answer
from aiq.agents.toolkit.langchain import replies_in, reply_to, since_question, steps_left, tool_node
from aiq.agents.toolkit.toolset import listing, parameter_schemas, tools_for
from aiq.core.events import Decision, StageChanged
from aiq.core.prompts import Prompts
from aiq.core.session import current
from aiq.core.tools import Tool

ROLE = "aiq.shallow_researcher"

SYNTHESIS_ANCHOR = (
    "You have exhausted your research budget. Synthesize the final answer now using the citations [1], [2] and the "
    "'## References' format. Do not attempt any further tool calls."
)

STEPS_TO_SPARE = 3
"""Graph steps that a turn with tools needs beyond its own: the tools, a turn that answers, and the end."""


class ShallowResearcher:
    """Serves all samples of a run concurrently; keeps only its compiled graph."""

    def __init__(self, settings: ShallowSettings, prompts: Prompts) -> None:
        self._settings, self._prompts = settings, prompts
        self.graph = self._compile()

    async def run(self, state: ShallowResearchAgentState) -> ShallowResearchAgentState:
        """Research until there is an answer: the text of the last message, which may be empty.

        Raises ConfigError for an unknown data source, ModelError, LimitReached, RunAborted.
        """
        config: Any = {"recursion_limit": 2 * self._settings.max_llm_turns + 10}  # two steps per turn, and headroom
        result = ShallowResearchAgentState.model_validate(await self.graph.ainvoke(state, config))
        current().keep_draft(last_answer(result.messages))
        return result

    def _compile(self) -> CompiledStateGraph[ShallowResearchAgentState, Any, Any, Any]:
        graph = StateGraph(ShallowResearchAgentState)
        graph.add_node("agent", self._turn)
        graph.add_node("tools", self._run_tools)
        graph.add_edge(START, "agent")
        graph.add_conditional_edges("agent", tools_condition)
        graph.add_edge("tools", "agent")
        return graph.compile(checkpointer=False)  # the chat graph keeps conversations

    def _tools(self, state: ShallowResearchAgentState) -> Sequence[Tool]:
        return tools_for(state.data_sources, self._settings.tools)

    async def _run_tools(self, state: ShallowResearchAgentState, config: RunnableConfig) -> dict[str, Any]:
        limit = self._settings.max_tool_iterations
        calls = state.tool_iterations + len(replies_in(state.messages)[-1].tool_calls)
        update = await tool_node(self._tools(state), limit).ainvoke(state, config)
        return {**update, "tool_iterations": min(calls, limit)}

    async def _turn(self, state: ShallowResearchAgentState) -> dict[str, Any]:
        """One model call: with tools while the budget lasts, else with the anchor and without tools."""
        tools = self._tools(state)
        history, calls = compacted(state.messages, self._settings.compaction), state.tool_iterations
        turn = 1 + len(replies_in(since_question(state.messages)))
        if self._settings.verbose:
            size = sum(len(message.text) for message in history)
            detail: dict[str, Any] = {"turn": turn, "tool_calls": calls, "characters": size}
            current().events.emit(StageChanged(stage="shallow_research_turn", detail=detail))
        messages: list[AnyMessage] = [SystemMessage(self._system(state, tools)), *history]
        if cause := self._why_last(turn, calls):
            counts: dict[str, Any] = {"tool_calls": calls}
            current().events.emit(Decision(name="synthesis_anchor", value=True, cause=cause, detail=counts))
            return {"messages": [await reply_to([*messages, HumanMessage(SYNTHESIS_ANCHOR)], ROLE, ())]}
        parallel = self._settings.parallel_tool_calls
        return {"messages": [await reply_to(messages, ROLE, tools, parallel_tool_calls=parallel)]}

    def _why_last(self, turn: int, calls: int) -> str | None:
        """The setting or limit that makes this turn the last one, or None."""
        if spent := current().spent():
            return spent
        if calls >= self._settings.max_tool_iterations:
            return "max_tool_iterations"
        if turn >= self._settings.max_llm_turns:
            return "max_llm_turns"
        return "recursion_limit" if steps_left() < STEPS_TO_SPARE else None

    def _system(self, state: ShallowResearchAgentState, tools: Sequence[Tool]) -> str:
        tools_info = listing(tools) if state.tools_info is None else state.tools_info
        web_names = {t.name for t in tools if t.data_source == "web" and "query" in parameter_schemas(t.parameters)}
        return self._prompts.render(
            "shallow_researcher.j2",
            tools=tools_info,
            web_search=any(tool["name"] in web_names for tool in tools_info),
            user_info=state.user_info,
            current_datetime=current().now.isoformat(),
            available_documents=state.available_documents,
        )
