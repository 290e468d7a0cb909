"""The chat graph: intent classifier, clarifier, shallow and deep research as a LangGraph state machine.

    intent_classifier -> END (meta) | shallow_research | clarifier (deep)
    shallow_research  -> END | clarifier (escalation)
    clarifier         -> deep_research | END (the user rejected the plan)
    deep_research     -> END

Nodes find the attempt's session with `current`, so one compiled graph serves all samples of a run. An answer is not
verified yet when the graph ends.
"""

from contextlib import AbstractContextManager
from typing import Any, Literal

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from pydantic import JsonValue

from aiq.agents.ai_q.clarifier import Clarifier
from aiq.agents.ai_q.deep import DeepResearcher
from aiq.agents.ai_q.escalation import Assessment, Escalation, by_phrases
from aiq.agents.ai_q.intent import IntentClassifier
from aiq.agents.ai_q.settings import AiqSettings
from aiq.agents.ai_q.shallow import ShallowResearcher
from aiq.agents.ai_q.states import (
    ChatResearcherState,
    ClarifierState,
    DeepResearchAgentState,
    ResearchState,
    ShallowResearchAgentState,
    ShallowResult,
)
from aiq.agents.toolkit.conversation import last_answer, transcript, trimmed
from aiq.agents.toolkit.finish import Draft
from aiq.agents.toolkit.toolset import listing, research_tools
from aiq.core.errors import AgentError
from aiq.core.events import Decision, StageChanged
from aiq.core.prompts import Prompts
from aiq.core.session import Session, current, nested_call

REJECTED = "The research plan was rejected; no research was done."

ORDER = ("shallow_research", "clarifier", "deep_research")
"""The stages that bring sources, which are numbered in this order: a stage's place is the first part of their path."""


def route_after_orchestration(state: ChatResearcherState) -> Literal["clarifier", "shallow_research", "__end__"]:
    """Meta ends; deep goes to the clarifier; anything else, a missing depth included, is shallow."""
    if state.user_intent is not None and state.user_intent.intent == "meta":
        return "__end__"
    deep = state.depth_decision is not None and state.depth_decision.decision == "deep"
    return "clarifier" if deep else "shallow_research"


def should_escalate(state: ChatResearcherState) -> Literal["clarifier", "__end__"]:
    """Escalation goes through the clarifier, so that the user can review a plan first."""
    wanted = state.shallow_result is not None and state.shallow_result.escalate
    return "clarifier" if wanted else "__end__"


class ChatResearcher:
    """Owns the graph's nodes and edges; keeps nothing of a conversation."""

    def __init__(
        self, settings: AiqSettings, prompts: Prompts, shallow: ShallowResearcher, deep: DeepResearcher
    ) -> None:
        self._settings = settings
        self._intent = IntentClassifier(settings.intent, prompts)
        self._escalation = Escalation(settings, prompts)
        self.clarifier = Clarifier(settings.clarifier, prompts)
        self._shallow = shallow
        self._deep = deep

    def draft(self, state: ChatResearcherState) -> Draft:
        """The answer of a finished turn, with what steered it; of an escalation also what the phrases alone said."""
        extras: dict[str, JsonValue] = {}
        if depth := state.depth_decision:
            extras |= {"depth": depth.decision, "depth_reasoning": depth.reasoning}
        if shallow := state.shallow_result:
            extras["escalation"] = {
                "policy": self._escalation.policy,
                "taken": shallow.escalate,
                "cause": shallow.reason,
                "phrases": by_phrases(shallow.answer).escalate,
            }
        if state.user_intent is not None and state.user_intent.intent == "meta":
            return Draft(state.final_report or "", "meta", researched=False, extras=extras)
        if state.final_report is not None:
            return Draft(state.final_report, "escalated" if shallow else "deep", extras=extras)
        if shallow and state.clarifier_result is None:
            return Draft(shallow.answer, "shallow", extras=extras)
        return Draft(REJECTED, "rejected", outcome="rejected", researched=False, extras=extras)

    def build(self) -> "StateGraph[ChatResearcherState, Any, Any, Any]":
        """The graph before compilation: four nodes and their conditional edges."""
        graph = StateGraph(ChatResearcherState)
        graph.add_node("intent_classifier", self._classify)
        graph.add_node("clarifier", self._clarify)
        graph.add_node("shallow_research", self._research_shallow)
        graph.add_node("deep_research", self._research_deep)
        graph.add_edge(START, "intent_classifier")
        graph.add_conditional_edges("intent_classifier", route_after_orchestration)
        graph.add_conditional_edges("shallow_research", should_escalate)
        graph.add_edge("deep_research", END)
        return graph

    async def _classify(self, state: ChatResearcherState) -> dict[str, Any]:
        session = _stage("intent_classifier")
        found = await self._intent.classify(
            trimmed(state.messages, self._settings.max_history),
            tools=listing(research_tools(state.data_sources)),
            user_info=state.user_info,
        )
        meta = found.result.intent == "meta"
        route = "meta" if meta else found.depth.decision
        session.events.emit(Decision(name="route", value=route, cause=found.depth_reasoning))
        if meta:
            return {"user_intent": found.result, "final_report": found.meta_response}
        query = str(state.messages[-1].text)
        return {"user_intent": found.result, "depth_decision": found.depth, "original_query": query}

    async def _research_shallow(self, state: ChatResearcherState) -> dict[str, Any]:
        """A failure ends the attempt and never escalates; its cause is recorded."""
        session = _stage("shallow_research")
        messages = trimmed(state.messages, self._settings.max_history)
        try:
            with _placed("shallow_research"):
                result = await self._shallow.run(ShallowResearchAgentState(messages=messages, **_told(state)))
        except Exception as error:
            cause = f"shallow research failed: {_root(error)}"
            session.events.emit(Decision(name="escalation", value=False, cause=cause))
            raise
        answer = last_answer(result.messages)
        if research_tools(state.data_sources):
            query, history = state.original_query or "", transcript(self._before(state))
            found = await self._escalation.decide(query, answer, history)
        else:  # deep research could not do better; the answer is final
            found = Assessment(escalate=False, cause="no research tool")
        detail: dict[str, JsonValue] = {
            "policy": self._escalation.policy,
            "phrases": by_phrases(answer).cause,
            "tool_calls": result.tool_iterations,
        }
        session.events.emit(Decision(name="escalation", value=found.escalate, cause=found.cause, detail=detail))
        return {"shallow_result": ShallowResult(answer=answer, escalate=found.escalate, reason=found.cause)}

    async def _clarify(self, state: ChatResearcherState) -> Command[Literal["deep_research", "__end__"]]:
        """Runs again from here whenever the user has answered; the clarifier goes on where it asked.

        Raises AgentError where deep research would have nothing to search with: before the user is asked anything.
        """
        if not self._settings.enable_clarifier:
            return Command(goto="deep_research")
        if not research_tools(state.data_sources):
            raise AgentError(
                f"deep research has no research tool: data_sources={state.data_sources} leaves none of the run's"
            )
        history = transcript(self._before(state))
        with _placed("clarifier"):
            briefing = await self.clarifier.brief(
                ClarifierState(query=state.original_query or "", history=history, **_told(state))
            )
        if not briefing.rejected:
            return Command(goto="deep_research", update={"clarifier_result": briefing.text})
        current().events.emit(Decision(name="route", value="rejected", cause="the user rejected the plan"))
        return Command(goto="__end__", update={"clarifier_result": briefing.text})

    async def _research_deep(self, state: ChatResearcherState) -> dict[str, Any]:
        _stage("deep_research")
        messages = [*self._before(state), HumanMessage(state.original_query or "")]
        given = DeepResearchAgentState(messages=messages, clarifier_result=state.clarifier_result, **_told(state))
        with _placed("deep_research"):
            result = await self._deep.run(given)
        return {"final_report": last_answer(result.messages)}

    def _before(self, state: ChatResearcherState) -> list[AnyMessage]:
        """The conversation before this turn's question."""
        return trimmed(state.messages, self._settings.max_history)[:-1]


def _told(state: ResearchState) -> dict[str, Any]:
    """What each stage is told of the question beside messages."""
    return {name: getattr(state, name) for name in ResearchState.model_fields if name != "messages"}


def _root(error: BaseException) -> BaseException:
    """The error at the bottom: libraries wrap ours in their own."""
    return error if error.__cause__ is None else _root(error.__cause__)


def _stage(name: str) -> Session:
    """Log that the stage begins; the attempt's session."""
    session = current()
    session.events.emit(StageChanged(stage=name))
    return session


def _placed(stage: str) -> AbstractContextManager[None]:
    """What the stage brings comes after what earlier stages of the attempt brought."""
    return nested_call(ORDER.index(stage), 0, None)
