"""AI-Q's shallow researcher: one model with tools in a tight loop, bounded in tool calls and in turns."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import tools_condition

from aiq.agents.ai_q.settings import ShallowSettings
from aiq.agents.ai_q.states import ShallowResearchAgentState
from aiq.agents.toolkit.compaction import compacted
from aiq.agents.toolkit.conversation import last_answer
from aiq.agents.toolkit.langchain import (
    SessionTool,
    as_langchain,
    readable_calls,
    replies_in,
    since_question,
    tool_node,
)
from aiq.agents.toolkit.toolset import listing, tools_for
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

Graph = CompiledStateGraph[ShallowResearchAgentState, Any, Any, Any]


class ShallowResearcher:
    """Serves all samples of a run at once; keeps one compiled graph per set of tools and nothing of a sample."""

    def __init__(self, settings: ShallowSettings, prompts: Prompts) -> None:
        self._settings, self._prompts = settings, prompts
        self._graphs: dict[tuple[str, ...], Graph] = {}

    async def run(self, state: ShallowResearchAgentState) -> ShallowResearchAgentState:
        """Research until there is an answer: the text of the last message, which may be empty.

        Raises ConfigError for an unknown data source, ModelError, LimitReached, RunAborted.
        """
        tools = tools_for(state.data_sources, self._settings.tools)
        config: Any = {"recursion_limit": 2 * self._settings.max_llm_turns + 10}  # two steps a turn, and headroom
        result = ShallowResearchAgentState.model_validate(await self.graph(tools).ainvoke(state, config))
        current().keep_draft(last_answer(result.messages))
        return result

    def graph(self, tools: Sequence[Tool]) -> Graph:
        """The compiled graph for these tools. The tools act on the bound session, so names identify them."""
        names = tuple(tool.name for tool in tools)
        if names not in self._graphs:
            self._graphs[names] = self._compile(tools)
        return self._graphs[names]

    def _compile(self, tools: Sequence[Tool]) -> Graph:
        bound, most = [as_langchain(tool) for tool in tools], self._settings.max_tool_iterations
        execute = tool_node(bound, most)

        async def agent(state: ShallowResearchAgentState) -> dict[str, Any]:
            return {"messages": [await self._turn(state, tools, bound)]}

        async def run_tools(state: ShallowResearchAgentState, config: RunnableConfig) -> dict[str, Any]:
            made = state.tool_iterations + len(replies_in(state.messages)[-1].tool_calls)
            return {**await execute.ainvoke(state, config), "tool_iterations": min(made, most)}

        graph = StateGraph(ShallowResearchAgentState)
        graph.add_node("agent", agent)
        graph.add_node("tools", run_tools)
        graph.add_edge(START, "agent")
        graph.add_conditional_edges("agent", tools_condition)
        graph.add_edge("tools", "agent")
        return graph.compile(checkpointer=False)  # the chat graph keeps conversations

    async def _turn(
        self, state: ShallowResearchAgentState, tools: Sequence[Tool], bound: list[SessionTool]
    ) -> AIMessage:
        """One model call: with tools while the budget lasts, else with the anchor and without tools."""
        shown, made = compacted(state.messages, self._settings.compaction), state.tool_iterations
        turn = 1 + len(replies_in(since_question(state.messages)))
        if self._settings.verbose:
            size = sum(len(message.text) for message in shown)
            detail: dict[str, Any] = {"turn": turn, "tool_calls": made, "characters": size}
            current().events.emit(StageChanged(stage="shallow_research_turn", detail=detail))
        messages: list[AnyMessage] = [SystemMessage(self._system(state, tools)), *shown]
        model = current().models.chat(ROLE)
        if cause := self._why_last(turn, made):
            used: dict[str, Any] = {"tool_calls": made}
            current().events.emit(Decision(name="synthesis_anchor", value=True, cause=cause, detail=used))
            reply = await model.ainvoke([*messages, HumanMessage(SYNTHESIS_ANCHOR)])
            # a model may call tools although it was offered none
            return reply.model_copy(update={"tool_calls": [], "invalid_tool_calls": []})
        parallel = self._settings.parallel_tool_calls
        runnable = model.bind_tools(bound, parallel_tool_calls=parallel) if bound else model
        return readable_calls(await runnable.ainvoke(messages))

    def _why_last(self, turn: int, made: int) -> str | None:
        """The setting that makes this turn the last one, or None."""
        if made >= self._settings.max_tool_iterations:
            return "max_tool_iterations"
        if turn >= self._settings.max_llm_turns:
            return "max_llm_turns"
        config = get_config()
        spent = config["metadata"]["langgraph_step"] + STEPS_TO_SPARE > config["recursion_limit"]
        return "recursion_limit" if spent else None

    def _system(self, state: ShallowResearchAgentState, tools: Sequence[Tool]) -> str:
        listed = listing(tools) if state.tools_info is None else state.tools_info
        web = {t.name for t in tools if t.data_source == "web" and "query" in t.parameters.model_fields}
        return self._prompts.render(
            "shallow_researcher.j2",
            tools=listed,
            web_search=any(tool["name"] in web for tool in listed),
            user_info=state.user_info,
            current_datetime=current().now.isoformat(),
            available_documents=state.available_documents,
        )
