"""The clarifier: asks the user what would change the research, then makes the plan and has it approved.

    agent -> tools -> agent | force_search | ask_for_clarification | plan
    ask_for_clarification -> agent | plan
    plan -> plan_preview | END
    plan_preview -> plan (feedback) | END (approved, rejected)

Questions and plans leave the graph as interrupts (`awaited`), so that a run can wait for a person, also
through a restart. The result, dialogue and plan as text, goes into the orchestrator's prompt.

The plan of a report before its research: made by a model, shown to the user, judged by the user's words.
"""

import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from pydantic import BaseModel, ValidationError

from aiq.agents.ai_q.settings import ClarifierSettings
from aiq.agents.ai_q.states import ClarifierState, Plan
from aiq.agents.toolkit.langchain import as_langchain, readable_calls
from aiq.agents.toolkit.structured import parse, schema_of
from aiq.core.base import Record
from aiq.core.errors import ToolError
from aiq.core.events import Approval, Decision, StageChanged
from aiq.core.models import Message
from aiq.core.prompts import Prompts
from aiq.core.samples import Document
from aiq.core.session import Session, current, nested_call
from aiq.core.tools import Tool

ROLE = "aiq.clarifier"

_SKIP = {"跳过", "跳過", "略过", "略過", "继续", "繼續"}
SKIP = frozenset({"", "skip", "pass", "done", "continue", "proceed", "go ahead"} | _SKIP)
"""Answers that end the questions. `no` is not among them: it may be the true answer to a yes-or-no question."""

NUDGE = (
    "You have not searched yet. Search before you ask: look the subject up with the tools, so that your question is "
    "about what the sources leave open. If the search settles it, no question is needed."
)
"""Said once in a run of the clarifier, and not kept in its conversation."""

JSON_ONLY = "With these results, reply with the JSON object only, or search once more."
"""Reminds the model of its form after tool results."""

Next = Literal["tools", "force_search", "ask_for_clarification", "plan"]


class NextQuestion(BaseModel):
    needs_clarification: bool
    clarification_question: str | None = None


class Briefing(Record):
    """What the clarifier found out: the text for the deep researcher, or the user's rejection."""

    text: str
    rejected: bool = False


class Clarifier:
    """Keeps one compiled graph, which takes its checkpointer from the graph that it runs in."""

    def __init__(self, settings: ClarifierSettings) -> None:
        self._settings = settings
        self._prompts = Prompts(Path(__file__).parent / "prompts")
        self._planner = Planner()
        self._graph = self.build().compile(name="clarifier")

    async def brief(
        self,
        query: str,
        *,
        history: str = "",
        documents: Sequence[Document] = (),
        data_sources: Sequence[str] | None = None,
    ) -> Briefing:
        """Ask, plan, have it approved. Raises ModelError, LimitReached, RunAborted, and langgraph's GraphInterrupt.

        `history`: the conversation so far, as text.
        """
        asked, searches, reviews = (
            self._settings.max_turns,
            self._settings.max_searches,
            self._settings.max_plan_iterations,
        )
        state = ClarifierState(
            query=query,
            history=history,
            available_documents=list(documents) or None,
            data_sources=None if data_sources is None else list(data_sources),
        )
        steps = 2 * asked + 2 * searches + 2 * reviews + 10
        result = await self._graph.ainvoke(state, {"recursion_limit": steps})
        return _briefing(ClarifierState.model_validate(result))

    def build(self) -> "StateGraph[ClarifierState, Any, Any, Any]":
        """The graph before compilation."""
        graph = StateGraph(ClarifierState)
        graph.add_node("agent", self._agent)
        graph.add_node("tools", self._search)
        graph.add_node("force_search", self._force_search)
        graph.add_node("ask_for_clarification", self._ask)
        graph.add_node("plan", self._plan)
        graph.add_node("plan_preview", self._preview)
        graph.add_edge(START, "agent")
        graph.add_edge("tools", "agent")
        return graph

    async def _agent(self, state: ClarifierState) -> Command[Next]:
        if not (state.asked or state.messages):
            current().events.emit(StageChanged(stage="clarifier"))
        return await self._step(state)

    async def _force_search(self, state: ClarifierState) -> Command[Literal["tools", "ask_for_clarification", "plan"]]:
        return await self._step(state.model_copy(update={"nudged": True}), HumanMessage(NUDGE))

    async def _step(self, state: ClarifierState, *added: AnyMessage) -> Command[Any]:
        """One model call, and where it leads. Without questions left there is none."""
        if state.asked >= self._settings.max_turns:
            return Command(goto="plan")
        tools = self._tools(state)
        reply = await self._reply(state, tools, added)
        if reply.tool_calls and tools:
            return Command(goto="tools", update={"messages": [reply], "nudged": state.nudged})
        question = next_question(str(reply.text), state.query)
        if question is None:
            return Command(goto="plan")
        if tools and not state.nudged and not state.messages:
            return Command(goto="force_search")
        return Command(goto="ask_for_clarification", update={"question": question, "nudged": state.nudged})

    async def _reply(self, state: ClarifierState, tools: Sequence[Tool], added: Sequence[AnyMessage]) -> AIMessage:
        variable = self._prompts.render(
            "clarifier_request.j2",
            current_datetime=current().now.isoformat(),
            remaining_questions=self._settings.max_turns - state.asked,
            available_documents=state.available_documents or (),
            history=state.history,
            query=state.query,
            dialogue="\n".join(state.dialogue),
        )
        messages = [SystemMessage(self._prompts.render("clarifier.j2")), HumanMessage(variable), *state.messages]
        if isinstance(messages[-1], ToolMessage):
            messages.append(HumanMessage(JSON_ONLY))
        model = current().models.chat(ROLE)
        bound = model.bind_tools([as_langchain(tool) for tool in tools]) if tools else model
        return readable_calls(await bound.ainvoke([*messages, *added]))

    def _tools(self, state: ClarifierState) -> tuple[Tool, ...]:
        """The research tools of the question's data sources, while the budget lasts."""
        used = sum(isinstance(message, ToolMessage) for message in state.messages)
        if used >= self._settings.max_searches:
            return ()
        sources = None if state.data_sources is None else tuple(state.data_sources)
        return tuple(tool for tool in current().tools.select(sources) if tool.data_source)

    async def _search(self, state: ClarifierState) -> dict[str, Any]:
        """Answer every call of the last reply, in order; those beyond the budget without making them."""
        offered = {tool.name for tool in self._tools(state)}
        used = sum(isinstance(message, ToolMessage) for message in state.messages)
        turn = sum(isinstance(message, AIMessage) for message in state.messages)
        reply = state.messages[-1]
        assert isinstance(reply, AIMessage)
        results: list[AnyMessage] = []
        for index, call in enumerate(reply.tool_calls):
            call_id = call["id"] or f"turn-{turn}-{index}"
            if used + index >= self._settings.max_searches:
                text = f"Error: over budget: at most {self._settings.max_searches} calls; this one was not made"
            elif call["name"] not in offered:
                text = f"Error: there is no tool {call['name']} here; there are: {', '.join(sorted(offered))}"
            else:
                with nested_call(turn, index, None):
                    text = await _found(call["name"], call["args"], call_id)
            results.append(ToolMessage(text, name=call["name"], tool_call_id=call_id))
        return {"messages": results}

    def _ask(self, state: ClarifierState) -> Command[Literal["agent", "plan"]]:
        question = state.question or ""
        answer = awaited("question", question)
        update: dict[str, Any] = {"asked": state.asked + 1, "question": None}
        if word(answer) in SKIP:
            return Command(goto="plan", update=update)
        return Command(goto="agent", update={**update, "dialogue": [f"Q: {question}", f"A: {answer}"]})

    async def _plan(self, state: ClarifierState) -> Command[Literal["plan_preview", "__end__"]]:
        plan = await self._planner.plan(state.query, state.dialogue, state.feedback, current())
        if not self._settings.enable_plan_approval:
            return Command(goto="__end__", update={"plan": plan, "approval": "not shown to the user"})
        if state.reviews < self._settings.max_plan_iterations:
            return Command(goto="plan_preview", update={"plan": plan})
        cause = f"clarifier.max_plan_iterations={self._settings.max_plan_iterations}"
        current().events.emit(Decision(name="plan_auto_approved", value=True, cause=cause))
        approval = "approved automatically after the last round of feedback"
        return Command(goto="__end__", update={"plan": plan, "approval": approval})

    def _preview(self, state: ClarifierState) -> Command[Literal["plan", "__end__"]]:
        assert state.plan is not None
        answer = awaited("plan", preview(state.plan))
        if word(answer) in APPROVE:
            return Command(goto="__end__", update={"approval": "approved by the user"})
        if word(answer) in REJECT:
            return Command(goto="__end__", update={"rejected": True})
        update = {"reviews": state.reviews + 1, "feedback": [answer] if answer else []}
        return Command(goto="plan", update=update)


def awaited(kind: Literal["question", "plan"], prompt: str) -> str:
    """The user's answer. Interrupts the graph until there is one; the node then runs again from its start."""
    answer = str(interrupt({"kind": kind, "prompt": prompt})).strip()
    current().events.emit(Approval(kind=kind, prompt=prompt, answer=answer))
    return answer


def next_question(reply: str, query: str) -> str | None:
    """The model's question, or None for none. An unparsable reply counts as wanting to ask."""
    found = parse(reply, NextQuestion, "needs_clarification")
    if found is not None and not found.needs_clarification:
        return None
    asked = (found.clarification_question or "").strip() if found else ""
    return asked or f"What should research on \"{query[:80]}\" concentrate on? (type 'skip' to leave it open)"


async def _found(tool: str, arguments: dict[str, Any], call_id: str) -> str:
    """What a tool brought, or why it brought nothing."""
    try:
        return (await current().call_tool(tool, arguments, call_id)).content or "no results"
    except ToolError as error:
        return f"Error: {error}"


def _briefing(state: ClarifierState) -> Briefing:
    dialogue = "\n".join(state.dialogue)
    if state.rejected or state.plan is None:
        return Briefing(text=dialogue, rejected=True)
    return Briefing(text=f"{dialogue}\n\nPlan ({state.approval}):\n{state.plan.text()}".strip())


PLANNER_ROLE = "aiq.clarifier_planner"

_YES = {"批准", "同意", "好", "好的", "可以", "行", "是", "是的", "确认", "確認", "没问题", "沒問題"}
_NO = {"拒绝", "拒絕", "取消", "不", "不行", "不要", "不同意", "否", "停止"}
APPROVE = frozenset({"approve", "approved", "yes", "y", "ok", "okay", "proceed", "go ahead"} | _YES)
REJECT = frozenset({"reject", "rejected", "no", "n", "cancel", "stop"} | _NO)

FALLBACK = Plan(title="Research Report", sections=["Introduction", "Background", "Analysis", "Findings", "Conclusion"])
"""What stands where the model gave no usable plan (specification 3.3)."""

_SCHEMA = schema_of(Plan, "plan")


class Planner:
    """Asks for a title and sections, as the task, the answers and the feedback want them."""

    def __init__(self) -> None:
        self._prompts = Prompts(Path(__file__).parent / "prompts")

    async def plan(self, query: str, dialogue: Sequence[str], feedback: Sequence[str], session: Session) -> Plan:
        """The next plan. Raises ModelError, LimitReached, RunAborted."""
        variable = self._prompts.render(
            "clarifier_plan_request.j2",
            current_datetime=session.now.isoformat(),
            query=query,
            dialogue="\n".join(dialogue),
            feedback=feedback,
        )
        messages = (
            Message(role="system", content=self._prompts.render("clarifier_planner.j2")),
            Message(role="user", content=variable),
        )
        reply = await session.models.complete(PLANNER_ROLE, messages, json_schema=_SCHEMA)
        return _usable(parse(reply.text, Plan, "sections")) or FALLBACK


def preview(plan: Plan) -> str:
    """The plan as it is put to the user."""
    return (
        f"**Research Plan Preview**\n\n{plan.text()}\n\n"
        "Reply **approve** to proceed, **reject** to cancel, or say what to change."
    )


def word(answer: str) -> str:
    """An answer for comparison with a list of words: half width, lower case, without punctuation around it."""
    return unicodedata.normalize("NFKC", answer).lower().strip(" .,!。、~*`'\"“”‘’「」")


def _usable(plan: Plan | None) -> Plan | None:
    """The plan on one line a title; None where a title says nothing."""
    if plan is None:
        return None
    try:
        return Plan(title=_line(plan.title), sections=[_line(name) for name in plan.sections])
    except ValidationError:
        return None


def _line(text: str) -> str:
    return " ".join(text.split())
