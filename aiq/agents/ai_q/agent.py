"""AI-Q as one agent: its entries (chat, shallow or deep), the chat graph, the report and the cost of each stage."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from pydantic import JsonValue

from aiq.agents.ai_q.clarifier import Clarifier
from aiq.agents.ai_q.escalation import Assessment, Escalation
from aiq.agents.ai_q.intent import IntentClassifier
from aiq.agents.ai_q.recorded import redecided, usage_by_stage
from aiq.agents.ai_q.settings import AiqSettings
from aiq.agents.ai_q.shallow import ShallowResearcher
from aiq.agents.ai_q.states import (
    CHECKPOINTED,
    ChatResearcherState,
    ClarifierState,
    DeepResearchAgentState,
    ShallowResearchAgentState,
    ShallowResult,
)
from aiq.agents.base import Drawing, Recorded, Redecided
from aiq.agents.toolkit.conversation import Threads, conversation, last_answer, transcript, trimmed
from aiq.agents.toolkit.finish import LeakFilter, finish
from aiq.agents.toolkit.toolset import check_tools, documents_of, listing, research_tools, sources_of
from aiq.core.errors import AgentError, ConfigError, message_of
from aiq.core.events import Decision, StageChanged
from aiq.core.models import Models
from aiq.core.reports import Report
from aiq.core.samples import Question
from aiq.core.session import Session, current, nested_call
from aiq.core.tools import Toolbox

if TYPE_CHECKING:
    from aiq.agents.ai_q.deep import DeepResearcher

REJECTED = "The research plan was rejected; no research was done."

ORDER = ("shallow_research", "clarifier", "deep_research")
"""The stages that retrieve sources, in numbering order: a stage's index is the first part of its sources' paths."""


def route_after_orchestration(state: ChatResearcherState) -> Literal["clarifier", "shallow_research", "__end__"]:
    """Meta ends; deep goes to the clarifier; anything else, a missing depth included, is shallow."""
    if state.user_intent and state.user_intent.intent == "meta":
        return "__end__"
    deep = state.depth_decision and state.depth_decision.decision == "deep"
    return "clarifier" if deep else "shallow_research"


def should_escalate(state: ChatResearcherState) -> Literal["clarifier", "__end__"]:
    """Escalation goes through the clarifier, so that the user can review a plan first."""
    return "clarifier" if state.shallow_result and state.shallow_result.escalate else "__end__"


class AiqAgent:
    """One instance serves all samples of a run concurrently; it keeps only compiled graphs."""

    Settings: ClassVar[type[AiqSettings]] = AiqSettings
    deciding: ClassVar[tuple[str, ...]] = ("enable_escalation", "escalation.*")

    def __init__(self, settings: AiqSettings) -> None:
        prompts = settings.prompts()
        self._settings, self._prompts = settings, prompts
        self._leaks = LeakFilter(prompts)
        self._intent = IntentClassifier(settings.intent, prompts)
        self._escalation = Escalation(settings, prompts)
        self._clarifier = Clarifier(settings.clarifier, prompts)
        self._shallow = ShallowResearcher(settings.shallow, prompts)
        self._threads = Threads(self._chat(), ChatResearcherState, CHECKPOINTED, last="deep_research")

    @cached_property
    def _deep(self) -> "DeepResearcher":
        from aiq.agents.ai_q.deep import DeepResearcher  # deepagents is slow to import, and most runs do not need it

        return DeepResearcher(self._settings.deep, self._prompts)

    def check(self, tools: Toolbox) -> None:
        """Raise ConfigError if a setting names a data source or a tool that the run does not have."""
        check_tools(tools, "agent.data_sources", data_sources=self._settings.data_sources)
        check_tools(tools, "agent.shallow.tools", self._settings.shallow.tools)
        check_tools(tools, "agent.deep.tools", self._settings.deep.tools)

    def check_user(self, kind: str) -> None:
        """Raise ConfigError for a user who only reviews plans if these settings show none."""
        settings = self._settings
        requirements = {
            "agent.entry=chat": settings.entry == "chat",
            "agent.enable_clarifier=true": settings.enable_clarifier,
            "agent.clarifier.enable_plan_approval=true": settings.clarifier.enable_plan_approval,
        }
        missing = [setting for setting, is_set in requirements.items() if not is_set]
        if kind in ("reject", "feedback") and missing:
            raise ConfigError(f"user.kind={kind}: this user reviews plans and is shown none; set {' '.join(missing)}")

    async def research(self, question: Question, session: Session) -> Report:
        """Answer a question and verify researched answers. Raises AgentError, ModelError, LimitReached, RunAborted."""
        sources = sources_of(question, self._settings.data_sources)
        inputs: dict[str, Any] = {
            "messages": conversation(question, self._settings.max_history),
            "data_sources": sources,
            "user_info": question.user_info,
            "available_documents": documents_of(question, sources),
        }
        if self._settings.entry == "chat":
            state = await self._threads.run(ChatResearcherState(**inputs), question.thread_id, session)
            return await self._end_turn(state, question.thread_id, session)
        if self._settings.entry == "shallow":
            shallow = await self._shallow.run(ShallowResearchAgentState(**inputs))
            return self._report(last_answer(shallow.messages), "shallow", session)
        deep = await self._deep.run(DeepResearchAgentState(**inputs))
        return self._report(last_answer(deep.messages), "deep", session, partial=deep.partial)

    def redecide(self, recorded: Sequence[Recorded]) -> Redecided | str:
        """How these settings decide on escalating a recorded shallow answer; see `Redecides`."""
        return redecided(self._escalation, recorded)

    @property
    def threads(self) -> Threads[ChatResearcherState] | None:
        """The conversations of the chat graph; None for a researcher alone, which keeps none."""
        return self._threads if self._settings.entry == "chat" else None

    async def resume(self, thread_id: str, session: Session) -> Report | None:
        """Resume a turn that waits for its user (`session.user`) or was cut short; None if there is none."""
        state = await self._threads.resume(thread_id, session)
        return None if state is None else await self._end_turn(state, thread_id, session)

    def graphs(self, models: Models) -> Sequence[Drawing]:
        """The chat graph and the graphs that run inside its nodes."""
        from aiq.agents.ai_q.deep import SUBAGENTS

        subagents = "".join(f"\n* `{name}`: {description}" for name, description in SUBAGENTS.items())
        chat = "`agent.entry=chat`, in `agent.py`. Each of the other graphs runs inside the node of the same name."
        clarifier = "In `clarifier.py`. `ask_for_clarification` and `plan_preview` interrupt it until the user answers."
        deep = (
            "The orchestrator, in `deep.py`, as deepagents and LangChain compile it. Middleware that only wraps model\n"
            "and tool calls has no node. `tools` runs `task`, which dispatches a subagent, a graph of this kind:\n"
        )
        return (
            Drawing("chat", chat, self._chat().compile()),
            Drawing("clarifier", clarifier, self._clarifier.build().compile()),
            Drawing("shallow_research", "In `shallow.py`.", self._shallow.graph),
            Drawing("deep_research", deep + subagents, self._deep.graph(models, ())),
        )

    async def _end_turn(self, state: ChatResearcherState, thread: str | None, session: Session) -> Report:
        """The report of a finished turn; a thread stores it as the user is shown it."""
        extras: dict[str, JsonValue] = {}
        if shallow := state.shallow_result:
            assessment = Assessment(shallow.escalate, shallow.reason)
            extras["escalation"] = self._escalation.recorded(assessment, shallow.answer)
        if state.user_intent and state.user_intent.intent == "meta":
            answer, route = state.final_report or "", "meta"
        elif state.final_report is not None:
            answer, route = state.final_report, "escalated" if shallow else "deep"
        elif shallow and state.clarifier_result is None:
            answer, route = shallow.answer, "shallow"
        else:
            answer, route = REJECTED, "rejected"
        report = self._report(answer, route, session, partial=state.partial, **extras)
        if thread is not None:
            await self._threads.keep(thread, report.text, session)
        return report

    def _report(
        self, answer: str, route: str, session: Session, *, partial: bool = False, **extras: JsonValue
    ) -> Report:
        """The answer as a report, verified if it was researched."""
        researched = route not in ("meta", "rejected")
        outcome = "rejected" if route == "rejected" else "partial" if partial else "ok"
        extras["stages"] = usage_by_stage(session.usage.by_role())
        return finish(answer, route, self._leaks, session, researched, outcome=outcome, extras=extras)

    def _chat(self) -> "StateGraph[ChatResearcherState, Any, Any, Any]":
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
        events = current().events
        events.emit(StageChanged(stage="intent_classifier"))
        tools = listing(research_tools(state.data_sources))
        classification = await self._intent.classify(self._recent(state), tools, state.user_info)
        is_meta = classification.result.intent == "meta"
        route = "meta" if is_meta else classification.depth.decision
        events.emit(Decision(name="route", value=route, cause=classification.depth_reasoning))
        if is_meta:
            return {"user_intent": classification.result, "final_report": classification.meta_response}
        query = str(state.messages[-1].text)
        return {"user_intent": classification.result, "depth_decision": classification.depth, "original_query": query}

    async def _research_shallow(self, state: ChatResearcherState) -> dict[str, Any]:
        """A failure ends the attempt and never escalates; its cause is recorded."""
        events = current().events
        events.emit(StageChanged(stage="shallow_research"))
        try:
            with nested_call(ORDER.index("shallow_research"), 0, None):
                inputs = ShallowResearchAgentState(messages=self._recent(state), **state.shared())
                result = await self._shallow.run(inputs)
        except Exception as error:
            events.emit(Decision(name="escalation", value=False, cause=f"shallow research failed: {message_of(error)}"))
            raise
        answer = last_answer(result.messages)
        if spent := current().spent():
            escalate, cause = False, spent
        elif self._deep_searches(state):
            query, history = state.original_query or "", transcript(self._recent(state)[:-1])
            escalate, cause = await self._escalation.decide(query, answer, history)
        else:  # deep research could not do better; the answer is final
            escalate, cause = False, "no research tool"
        detail: dict[str, JsonValue] = {
            "policy": self._escalation.policy,
            "phrases": self._escalation.phrases(answer).cause,
            "tool_calls": result.tool_iterations,
        }
        events.emit(Decision(name="escalation", value=escalate, cause=cause, detail=detail))
        return {"shallow_result": ShallowResult(answer=answer, escalate=escalate, reason=cause)}

    async def _clarify(
        self, state: ChatResearcherState
    ) -> Command[Literal["intent_classifier", "deep_research", "__end__"]]:
        """Reruns from the start after each answer of the user. Raises AgentError if there is no tool to search with."""
        if not self._deep_searches(state):
            sources, tools = state.data_sources, self._settings.deep.tools
            reason = f"data_sources={sources} and agent.deep.tools={tools} leave none of the run's tools"
            raise AgentError(f"deep research has no research tool: {reason}")
        if not self._settings.enable_clarifier:
            return Command(goto="deep_research")
        history = transcript(self._recent(state)[:-1])
        with nested_call(ORDER.index("clarifier"), 0, None):
            inputs = ClarifierState(query=state.original_query or "", history=history, **state.shared())
            result = await self._clarifier.run(inputs)
        if result.new_question:
            current().events.emit(Decision(name="plan_replaced", value=True, cause="the user asked a new question"))
            new_state = ChatResearcherState(messages=[HumanMessage(result.new_question)], **state.shared())
            return Command(goto="intent_classifier", update=dict(new_state))
        if not result.approval:
            current().events.emit(Decision(name="route", value="rejected", cause="the user rejected the plan"))
        goto: Any = "deep_research" if result.approval else "__end__"
        return Command(goto=goto, update={"clarifier_result": result.briefing})

    def _deep_searches(self, state: ChatResearcherState) -> bool:
        """Whether deep research has a tool to search with."""
        return bool(research_tools(state.data_sources, self._settings.deep.tools))

    async def _research_deep(self, state: ChatResearcherState) -> dict[str, Any]:
        current().events.emit(StageChanged(stage="deep_research"))
        messages = [*self._recent(state)[:-1], HumanMessage(state.original_query or "")]
        inputs = DeepResearchAgentState(messages=messages, clarifier_result=state.clarifier_result, **state.shared())
        with nested_call(ORDER.index("deep_research"), 0, None):
            result = await self._deep.run(inputs)
        return {"final_report": last_answer(result.messages), "partial": result.partial}

    def _recent(self, state: ChatResearcherState) -> list[AnyMessage]:
        """The last `max_history` messages of the conversation; the very last is this turn's question."""
        return trimmed(state.messages, self._settings.max_history)
