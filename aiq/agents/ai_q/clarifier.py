"""The clarifier: asks the user what would change the research, then makes the plan and has it approved."""

from typing import Any, Literal

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph.types import Command
from pydantic import BaseModel

from aiq.agents.ai_q.settings import ClarifierSettings
from aiq.agents.ai_q.states import FALLBACK, ClarifierState, Plan
from aiq.agents.ai_q.user_replies import is_skip, may_be_a_question, read_decision
from aiq.agents.toolkit.conversation import ask_user
from aiq.agents.toolkit.langchain import reply_to, tool_node
from aiq.agents.toolkit.structured import StructuredCall, read_object
from aiq.agents.toolkit.toolset import research_tools
from aiq.core.events import Decision, StageChanged
from aiq.core.prompts import Prompts
from aiq.core.session import current

ROLE = "aiq.clarifier"
PLANNER_ROLE = "aiq.clarifier_planner"

NUDGE = (
    "You have not searched yet. Search before you ask: look the subject up with the tools, so that your question is "
    "about what the sources leave open. If the search settles it, no question is needed."
)
"""Sent at most once in a run of the clarifier, and not kept in its conversation."""

JSON_ONLY = "With these results, reply with the JSON object only, or search once more."
"""Reminds the model of the reply's format after tool results."""

CHOICES = "Reply **approve** to proceed, **reject** to cancel, or say what to change."
UNCLEAR = '"{reply}" can be understood both ways: **approve** or **reject**?\n\n'
NEW_QUESTION = (
    'Replace the plan by this new question? "{question}"\n\n'
    "**yes**: the plan is dropped and the question is answered. **no**: it is a remark, and the plan is changed by it."
)


class NextQuestion(BaseModel):
    needs_clarification: bool
    clarification_question: str | None = None


class Clarifier:
    """Keeps one compiled graph, which uses the checkpointer of the graph that it runs in."""

    def __init__(self, settings: ClarifierSettings, prompts: Prompts) -> None:
        self._settings, self._prompts = settings, prompts
        self._planning = StructuredCall(PLANNER_ROLE, Plan, prompts, "clarifier_plan")
        self._graph = self.build().compile(name="clarifier")

    async def run(self, state: ClarifierState) -> ClarifierState:
        """Ask, plan and have the plan approved; without `approval` it was rejected, or dropped for `new_question`.

        Raises ModelError, LimitReached, RunAborted.
        """
        settings = self._settings
        steps = 2 * (settings.max_turns + settings.max_searches) + 3 * settings.max_plan_iterations + 10
        return ClarifierState.model_validate(await self._graph.ainvoke(state, {"recursion_limit": steps}))

    def build(self) -> "StateGraph[ClarifierState, Any, Any, Any]":
        """The graph before compilation."""
        graph = StateGraph(ClarifierState)
        graph.add_node("agent", self._agent)
        graph.add_node("tools", self._search)
        graph.add_node("force_search", self._force_search)
        graph.add_node("ask_for_clarification", self._ask)
        graph.add_node("plan", self._plan)
        graph.add_node("plan_preview", self._preview)
        graph.add_node("new_question", self._new_question)
        graph.add_edge(START, "agent")
        graph.add_edge("tools", "agent")
        return graph

    async def _agent(
        self, state: ClarifierState
    ) -> Command[Literal["tools", "force_search", "ask_for_clarification", "plan"]]:
        if not (state.asked or state.messages):
            current().events.emit(StageChanged(stage="clarifier"))
        return await self._step(state)

    async def _force_search(self, state: ClarifierState) -> Command[Literal["tools", "ask_for_clarification", "plan"]]:
        return await self._step(state.model_copy(update={"nudged": True}), HumanMessage(NUDGE))

    async def _step(self, state: ClarifierState, *extra: AnyMessage) -> Command[Any]:
        """Make one model call and go where it leads; without questions left, go to the plan without a call."""
        if state.asked >= self._settings.max_turns:
            return Command(goto="plan")
        tools = research_tools(state.data_sources)
        if sum(isinstance(message, ToolMessage) for message in state.messages) >= self._settings.max_searches:
            tools = ()
        reply = await reply_to([*self._messages(state), *extra], ROLE, tools)
        if reply.tool_calls:
            return Command(goto="tools", update={"messages": [reply], "nudged": state.nudged})
        question = next_question(str(reply.text), state.query)
        if question is None:
            return Command(goto="plan")
        if tools and not state.nudged and not state.messages:
            return Command(goto="force_search")
        return Command(goto="ask_for_clarification", update={"question": question, "nudged": state.nudged})

    def _messages(self, state: ClarifierState) -> list[AnyMessage]:
        request = self._prompts.render(
            "clarifier_request.j2",
            current_datetime=current().now.isoformat(),
            remaining_questions=self._settings.max_turns - state.asked,
            available_documents=state.available_documents or (),
            history=state.history,
            query=state.query,
            dialogue=state.qa_text,
        )
        reminder = [HumanMessage(JSON_ONLY)] if state.messages else []  # then they end with tool results
        system = SystemMessage(self._prompts.render("clarifier.j2"))
        return [system, HumanMessage(request), *state.messages, *reminder]

    async def _search(self, state: ClarifierState, config: RunnableConfig) -> Any:
        """Answer every call of the last reply with the tools of the question's data sources."""
        tools = research_tools(state.data_sources)
        return await tool_node(tools, self._settings.max_searches).ainvoke(state, config)

    def _ask(self, state: ClarifierState) -> Command[Literal["agent", "plan"]]:
        question = state.question or ""
        answer = ask_user("question", question)
        update: dict[str, Any] = {"asked": state.asked + 1, "question": None}
        if is_skip(answer):
            return Command(goto="plan", update=update)
        return Command(goto="agent", update={**update, "dialogue": [f"Q: {question}", f"A: {answer}"]})

    async def _plan(self, state: ClarifierState) -> Command[Literal["plan_preview", "__end__"]]:
        plan = await self._planning.ask(query=state.query, dialogue=state.qa_text, feedback=state.feedback) or FALLBACK
        if self._settings.enable_plan_approval:
            return Command(goto="plan_preview", update={"plan": plan})
        return Command(goto="__end__", update={"plan": plan, "approval": "not shown to the user"})

    def _preview(self, state: ClarifierState) -> Command[Literal["plan", "plan_preview", "new_question", "__end__"]]:
        limit = self._settings.max_plan_iterations
        if state.reviews >= limit:
            cause = f"clarifier.max_plan_iterations={limit}"
            current().events.emit(Decision(name="plan_auto_approved", value=True, cause=cause))
            return Command(
                goto="__end__", update={"approval": "approved automatically after the last round of feedback"}
            )
        answer = ask_user("plan", f"{state.unclear}**Research Plan Preview**\n\n{state.plan.text()}\n\n{CHOICES}")
        update: dict[str, Any] = {"reviews": state.reviews + 1, "unclear": ""}
        match read_decision(answer):
            case "yes":
                return Command(goto="__end__", update={"approval": "approved by the user"})
            case "no":
                return Command(goto="__end__")
            case "open":
                unclear = UNCLEAR.format(reply=answer) if answer else ""
                return Command(goto="plan_preview", update={**update, "unclear": unclear})
        if may_be_a_question(answer):
            return Command(goto="new_question", update={**update, "question": answer})
        return Command(goto="plan", update={**update, "feedback": [answer]})

    def _new_question(self, state: ClarifierState) -> Command[Literal["plan", "__end__"]]:
        """Only a clear yes drops the plan; otherwise, as for a user who skips all questions, it was feedback."""
        question = state.question or ""
        answer = ask_user("question", NEW_QUESTION.format(question=question))
        if read_decision(answer) == "yes":
            return Command(goto="__end__", update={"new_question": question})
        remarks = [answer] if read_decision(answer) == "remark" else []
        return Command(goto="plan", update={"question": None, "feedback": [question, *remarks]})


def next_question(reply: str, query: str) -> str | None:
    """The model's question, a general one if the reply is unusable, or None if no question is needed."""
    parsed = read_object(reply, NextQuestion)
    if parsed is not None and not parsed.needs_clarification:
        return None
    question = (parsed.clarification_question or "").strip() if parsed else ""
    return question or f"What should research on \"{query[:80]}\" concentrate on? (type 'skip' to leave it open)"
