"""The chat graph: intent classifier, clarifier, shallow and deep research as a LangGraph state machine.

    intent_classifier -> END (meta) | shallow_research | clarifier (deep)
    shallow_research  -> END | clarifier (escalation)
    clarifier         -> deep_research | END (the user rejected the plan)
    deep_research     -> END

Nodes find the attempt's session with `current`, so one compiled graph serves all samples of a run. How it is run
on a thread, what happens while it waits for the user, and what a turn adds to the conversation is in `threads.py`:
an answer is not verified yet when the graph ends.

AI-Q's graphs as Mermaid, drawn from the compiled graphs themselves: the text of `docs/graphs.md`.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Literal

from langchain_core.messages import HumanMessage
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from pydantic import JsonValue

from aiq.agents.ai_q.clarifier import Clarifier
from aiq.agents.ai_q.deep import SUBAGENTS, DeepResearcher
from aiq.agents.ai_q.escalation import Assessment, Escalation, by_phrases
from aiq.agents.ai_q.intent import IntentClassifier
from aiq.agents.ai_q.settings import AiqSettings
from aiq.agents.ai_q.shallow import ShallowResearcher
from aiq.agents.ai_q.states import (
    ChatResearcherState,
    DeepResearchAgentState,
    ShallowResearchAgentState,
    ShallowResult,
)
from aiq.agents.toolkit.conversation import last_answer, text_of, transcript, trimmed
from aiq.core.errors import AgentError
from aiq.core.events import Decision, StageChanged
from aiq.core.models import Models
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

    def __init__(self, settings: AiqSettings, shallow: ShallowResearcher, deep: DeepResearcher) -> None:
        self._settings = settings
        self._intent = IntentClassifier(settings.intent)
        self._escalation = Escalation(settings)
        self._clarifier = Clarifier(settings.clarifier)
        self._shallow = shallow
        self._deep = deep

    @staticmethod
    def answer(state: ChatResearcherState) -> tuple[str, str]:
        """(route, text) of a finished turn."""
        if state.user_intent is not None and state.user_intent.intent == "meta":
            return "meta", state.final_report or ""
        if state.final_report is not None:
            return ("escalated" if state.shallow_result else "deep"), state.final_report
        if state.shallow_result is not None and state.clarifier_result is None:
            return "shallow", state.shallow_result.answer
        return "rejected", REJECTED

    def extras(self, state: ChatResearcherState) -> Mapping[str, JsonValue]:
        """What steered the turn; of an escalation also what the phrases alone would have decided."""
        found: dict[str, JsonValue] = {}
        if depth := state.depth_decision:
            found |= {"depth": depth.decision, "depth_reasoning": depth.reasoning}
        if shallow := state.shallow_result:
            found["escalation"] = {
                "policy": self._escalation.policy,
                "taken": shallow.escalate,
                "cause": shallow.reason,
                "phrases": by_phrases(shallow.answer).escalate,
            }
        return found

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
        sources = None if state.data_sources is None else tuple(state.data_sources)
        found = await self._intent.classify(
            trimmed(state.messages, self._settings.max_history),
            session,
            tools=[
                {"name": tool.name, "description": tool.description}
                for tool in session.tools.select(sources)
                if tool.data_source
            ],
            user_info=state.user_info,
        )
        meta = found.result.intent == "meta"
        route = "meta" if meta else found.depth.decision
        session.events.emit(Decision(name="route", value=route, cause=found.depth_reasoning))
        if meta:
            return {"user_intent": found.result, "final_report": found.meta_response}
        query = text_of(state.messages[-1])
        return {"user_intent": found.result, "depth_decision": found.depth, "original_query": query}

    async def _research_shallow(self, state: ChatResearcherState) -> dict[str, Any]:
        """A failure ends the attempt and never escalates; its cause is recorded."""
        session = _stage("shallow_research")
        given = ShallowResearchAgentState(
            messages=trimmed(state.messages, self._settings.max_history),
            data_sources=state.data_sources,
            user_info=state.user_info,
            available_documents=state.available_documents,
        )
        try:
            with _placed("shallow_research"):
                result = await self._shallow.run(given)
        except Exception as error:
            cause = f"shallow research failed: {_root(error)}"
            session.events.emit(Decision(name="escalation", value=False, cause=cause))
            raise
        answer = last_answer(result.messages)
        query, history = state.original_query or "", transcript(self._before(state))
        if _can_search(state):
            found = await self._escalation.decide(query, answer, session, history=history)
        else:  # deep research could not do better; the answer stands
            found = Assessment(escalate=False, cause="no research tool")
        detail: dict[str, JsonValue] = {
            "policy": self._escalation.policy,
            "phrases": by_phrases(answer).cause,
            "tool_calls": result.tool_iterations,
        }
        session.events.emit(Decision(name="escalation", value=found.escalate, cause=found.cause, detail=detail))
        verdict = ShallowResult(answer=answer, escalate=found.escalate, reason=found.cause)
        return {"shallow_result": verdict}

    async def _clarify(self, state: ChatResearcherState) -> Command[Literal["deep_research", "__end__"]]:
        """Runs again from here whenever the user has answered; the clarifier goes on where it asked."""
        if not self._settings.enable_clarifier:
            return Command(goto="deep_research")
        _check_tools(state)
        with _placed("clarifier"):
            briefing = await self._clarifier.brief(
                state.original_query or "",
                history=transcript(self._before(state)),
                documents=state.available_documents or (),
                data_sources=state.data_sources,
            )
        if not briefing.rejected:
            return Command(goto="deep_research", update={"clarifier_result": briefing.text})
        current().events.emit(Decision(name="route", value="rejected", cause="the user rejected the plan"))
        return Command(goto="__end__", update={"clarifier_result": briefing.text})

    async def _research_deep(self, state: ChatResearcherState) -> dict[str, Any]:
        _stage("deep_research")
        given = DeepResearchAgentState(
            messages=[*self._before(state), HumanMessage(state.original_query or "")],
            data_sources=state.data_sources,
            user_info=state.user_info,
            clarifier_result=state.clarifier_result,
            available_documents=state.available_documents,
        )
        with _placed("deep_research"):
            result = await self._deep.run(given)
        return {"final_report": last_answer(result.messages)}

    def _before(self, state: ChatResearcherState) -> list[Any]:
        """The conversation before this turn's question."""
        return trimmed(state.messages, self._settings.max_history)[:-1]


def _root(error: BaseException) -> BaseException:
    """The error at the bottom: libraries wrap ours in their own."""
    return error if error.__cause__ is None else _root(error.__cause__)


def _stage(name: str) -> Session:
    """Log that the stage begins; the attempt's session."""
    session = current()
    session.events.emit(StageChanged(stage=name))
    return session


def _placed(stage: str) -> AbstractContextManager[None]:
    """What the stage brings stands behind what earlier stages of the attempt brought."""
    return nested_call(ORDER.index(stage), 0, None)


def _can_search(state: ChatResearcherState) -> bool:
    """Whether the turn's data sources leave any tool of the run."""
    sources = None if state.data_sources is None else tuple(state.data_sources)
    return any(tool.data_source for tool in current().tools.select(sources))


def _check_tools(state: ChatResearcherState) -> None:
    """Raises AgentError where deep research would have nothing to search with: before the user is asked anything."""
    if not _can_search(state):
        raise AgentError(
            f"deep research has no research tool: data_sources={state.data_sources} leaves none of the run's"
        )


HEAD = """# Graphs of AI-Q

Written by `aiq graphs --out docs/graphs.md` (`make graphs`) from the compiled LangGraph graphs; a test compares. Dotted
edges are conditional.
"""

TEXTS = {
    "chat": "`agent.entry=chat`, in `chat.py`. Each of the other graphs runs inside the node of its name.",
    "clarifier": "In `clarifier.py`. `ask_for_clarification` and `plan_preview` interrupt it until the user answers.",
    "shallow_research": "In `shallow.py`.",
    "deep_research": (
        "The orchestrator, in `deep.py`, as deepagents and LangChain compile it. Middleware that only wraps calls of\n"
        "models and tools has no node. `tools` runs `task`, which dispatches a subagent, itself a graph of this kind:\n"
    ),
}


def graphs(settings: AiqSettings, models: Models) -> Mapping[str, Any]:
    """The compiled graphs by name. No model is asked anything."""
    shallow, deep = ShallowResearcher(settings.shallow), DeepResearcher(settings.deep)
    return {
        "chat": ChatResearcher(settings, shallow, deep).build().compile(),
        "clarifier": Clarifier(settings.clarifier).build().compile(),
        "shallow_research": shallow.graph(()),
        "deep_research": deep.graph(models, ()),
    }


def page(settings: AiqSettings, models: Models) -> str:
    """All graphs as one Markdown page."""
    return "\n".join([HEAD, *(_section(name, graph) for name, graph in graphs(settings, models).items())])


def _section(name: str, graph: Any) -> str:
    dispatched = "".join(f"\n* `{agent}`: {does}" for agent, does, _ in SUBAGENTS) if name == "deep_research" else ""
    drawn = graph.get_graph().draw_mermaid().replace("\t", "    ").strip()
    return f"## {name}\n\n{TEXTS[name]}\n{dispatched}\n\n```mermaid\n{drawn}\n```\n".replace("\n\n\n", "\n\n")
