"""Conversations: runs the chat graph on a thread, and brings its questions to the user and the answers back.

A named thread lies in the run's checkpointer and holds what people wrote and were shown: `keep` adds an answer once
it is verified. A question without a thread has one in memory: nobody could ever go on with it.

The graph interrupts itself where it needs a person (`clarifier.awaited`); its state then lies in the checkpointer,
so a turn that waits can be gone on with in another process. What the graph does is `chat.py`'s.

Conversations: a question and its history as messages, trimmed; the answer in a list of messages.
"""

import uuid
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, Interrupt

from aiq.agents.ai_q.states import CHECKPOINTED, ChatResearcherState
from aiq.agents.toolkit.toolset import documents_of, sources_of
from aiq.core.samples import DataSources, Question
from aiq.core.session import Session


def conversation(question: Question, max_history: int) -> list[AnyMessage]:
    """The question behind its history: the last `max_history` messages, the first of them the user's."""
    history: list[AnyMessage] = [
        HumanMessage(turn.text) if turn.speaker == "user" else AIMessage(turn.text) for turn in question.history
    ]
    return trimmed([*history, HumanMessage(question.text)], max_history)


def trimmed(messages: Sequence[AnyMessage], max_history: int) -> list[AnyMessage]:
    """The last `max_history` messages, starting on a user's; at least the last user message."""
    kept = list(messages[-max_history:])
    while kept and not isinstance(kept[0], HumanMessage):
        kept.pop(0)
    return kept or [next(m for m in reversed(messages) if isinstance(m, HumanMessage))]


def transcript(messages: Sequence[AnyMessage]) -> str:
    """Messages as `User:` and `Assistant:` lines, for a prompt that shows a conversation as data."""
    speakers = {"human": "User", "ai": "Assistant"}
    return "\n".join(f"{speakers.get(m.type, m.type)}: {text_of(m)}" for m in messages)


def last_answer(messages: Sequence[AnyMessage]) -> str:
    """Text of the last message when it is the assistant's and asks for no tools; else an empty string."""
    last = messages[-1] if messages else None
    return text_of(last) if isinstance(last, AIMessage) and not last.tool_calls else ""


def text_of(message: AnyMessage) -> str:
    """A message's text, content blocks joined."""
    return str(message.text)


Graph = CompiledStateGraph[ChatResearcherState, Any, Any, Any]

CLEAN_SLATE = dict.fromkeys(
    ("user_intent", "depth_decision", "final_report", "shallow_result", "clarifier_result", "original_query")
)
"""What a turn does not take over from the one before."""

LAST = "deep_research"
"""A node behind which the graph ends, whatever the state: the one that an answer is written as."""


class Threads:
    """Keeps the graph compiled, for the run's checkpointer and in memory, and nothing of a conversation."""

    def __init__(self, graph: "StateGraph[ChatResearcherState, Any, Any, Any]", max_history: int) -> None:
        self._builder = graph
        self._max_history = max_history
        self._compiled: tuple[Any, Graph] | None = None
        self._unnamed: Graph | None = None

    async def run(self, question: Question, session: Session, data_sources: DataSources = None) -> ChatResearcherState:
        """One turn of a conversation. A question without a thread gets one of its own, forgotten afterwards."""
        if question.thread_id is not None:
            graph, config = self.graph(session.checkpointer), _config(_of_epoch(question.thread_id, session))
            return await self._drive(graph, await self._turn(question, graph, config, data_sources), config, session)
        graph, thread = self.graph(None), uuid.uuid4().hex
        config = _config(thread)
        try:
            return await self._drive(graph, await self._turn(question, graph, config, data_sources), config, session)
        finally:
            await graph.checkpointer.adelete_thread(thread)  # type: ignore[union-attr]

    async def keep(self, thread_id: str, answer: str, session: Session) -> None:
        """End a turn of a named thread: `answer`, as its user is shown it, stands behind the question and alone."""
        graph, config = self.graph(session.checkpointer), _config(_of_epoch(thread_id, session))
        known = (await graph.aget_state(config)).values["messages"]
        drafts = [RemoveMessage(message.id) for message in known[_asked(known) + 1 :]]
        await graph.aupdate_state(config, {"messages": [*drafts, AIMessage(answer)]}, as_node=LAST)

    async def resume(self, thread_id: str, session: Session) -> ChatResearcherState | None:
        """Go on with a turn that waits for the user; None where the thread waits for nothing."""
        graph = self.graph(session.checkpointer)
        config = _config(_of_epoch(thread_id, session))
        waiting = (await graph.aget_state(config)).interrupts
        if not waiting:
            return None
        return await self._drive(graph, await _answer(waiting[0], session), config, session)

    def graph(self, checkpointer: Any) -> Graph:
        """The compiled graph; for None with a checkpointer of its own, since a graph that asks needs one."""
        if checkpointer is None:
            if self._unnamed is None:
                self._unnamed = self._compile(InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=None)))
            return self._unnamed
        if self._compiled is None or self._compiled[0] is not checkpointer:
            self._compiled = (checkpointer, self._compile(checkpointer))
        return self._compiled[1]

    def _compile(self, checkpointer: Any) -> Graph:
        allowed = [(kind.__module__, kind.__name__) for kind in CHECKPOINTED]
        return self._builder.compile(checkpointer=checkpointer.with_allowlist(allowed))

    async def _drive(self, graph: Graph, given: Any, config: Any, session: Session) -> ChatResearcherState:
        """Run the graph to its end, whatever it asks the user on the way."""
        result = await graph.ainvoke(given, config)
        while waiting := result.get("__interrupt__"):
            result = await graph.ainvoke(await _answer(waiting[0], session), config)
        return ChatResearcherState.model_validate(result)

    async def _turn(self, question: Question, graph: Graph, config: Any, data_sources: DataSources) -> dict[str, Any]:
        """The graph's input: the new message, the history where the thread is new, and a clean slate.

        A question that is asked again because its turn broke off does not stand in the conversation twice.
        """
        messages = conversation(question, self._max_history)
        if question.thread_id is not None:
            known = (await graph.aget_state(config)).values.get("messages")
            if known:
                unanswered = _asked(known) == len(known) - 1
                messages = [] if unanswered and text_of(known[-1]) == question.text else messages[-1:]
        sources = sources_of(question, data_sources)
        return {
            **CLEAN_SLATE,
            "messages": messages,
            "user_info": None if question.user_info is None else dict(question.user_info),
            "data_sources": sources,
            "available_documents": documents_of(question, sources),
        }


def _asked(messages: Sequence[AnyMessage]) -> int:
    """The place of the last question."""
    return max(place for place, message in enumerate(messages) if isinstance(message, HumanMessage))


async def _answer(waiting: Interrupt, session: Session) -> "Command[Any]":
    """What the user says to what the graph asks."""
    prompt = str(waiting.value["prompt"])
    reply = await (session.user.review(prompt) if waiting.value["kind"] == "plan" else session.user.answer(prompt))
    return Command(resume={waiting.id: reply})


def _of_epoch(thread_id: str, session: Session) -> str:
    """Each repetition of a sample has a conversation of its own."""
    return thread_id if session.key.epoch == 1 else f"{thread_id}.{session.key.epoch}"


def _config(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}}
