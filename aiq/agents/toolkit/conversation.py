"""Conversations: messages as the model is shown them, and threads, which put a graph's questions to the user."""

import uuid
from collections.abc import Awaitable, Callable, Sequence
from itertools import pairwise
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, RemoveMessage
from langchain_core.messages.utils import convert_to_messages, get_buffer_string, trim_messages
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, interrupt
from pydantic import BaseModel

from aiq.agents.toolkit.langchain import since_question
from aiq.core.events import Approval, Decision
from aiq.core.reports import Report
from aiq.core.samples import Question, Turn
from aiq.core.session import Session, current
from aiq.core.sources import Source

_SOURCES = "sources"
"""Metadata key of a thread's answers: the sources that their turn retrieved, without their texts."""


class ConversationState(BaseModel):
    """Base of the state of every graph that holds a conversation."""

    messages: Annotated[list[AnyMessage], add_messages]


SPEAKERS: dict[str, Literal["user", "assistant"]] = {"human": "user", "ai": "assistant"}

STOPPED = "the last turn stopped there; what was answered and approved holds"

StateT = TypeVar("StateT", bound=ConversationState)


def conversation(question: Question, max_history: int) -> list[AnyMessage]:
    """The history and the question, cut to the last `max_history` messages and starting with one of the user's."""
    turns = [(turn.speaker, turn.text) for turn in question.history]
    return trimmed(convert_to_messages([*turns, ("user", question.text)]), max_history)


def trimmed(messages: Sequence[BaseMessage], max_history: int) -> list[Any]:
    """The last `max_history` messages, starting with one of the user's."""
    return trim_messages(messages, max_tokens=max_history, token_counter=len, start_on="human")


def transcript(messages: Sequence[AnyMessage]) -> str:
    """Messages as `User:` and `Assistant:` lines, for a prompt that shows a conversation as data."""
    return get_buffer_string(messages, human_prefix="User", ai_prefix="Assistant")


def last_answer(messages: Sequence[AnyMessage]) -> str:
    """Text of the last message if it is the assistant's and calls no tools; else an empty string."""
    last = messages[-1] if messages else None
    return str(last.text) if isinstance(last, AIMessage) and not last.tool_calls else ""


def ask_user(kind: Literal["question", "plan"], prompt: str) -> str:
    """The user's answer. Interrupts the graph until there is one, perhaps in another process; the node then reruns."""
    answer = str(interrupt({"kind": kind, "prompt": prompt})).strip()
    current().events.emit(Approval(kind=kind, prompt=prompt, answer=answer))
    return answer


class Thread(NamedTuple):
    """A stored conversation; `changed` is a time in ISO 8601.

    A turn that has not ended is at a `stage`; `asks` says what it waits for there, None if it was cut short.
    """

    name: str
    turns: tuple[Turn, ...] = ()
    changed: str = ""
    stage: str | None = None
    asks: Literal["question", "plan"] | None = None

    @property
    def unanswered(self) -> str | None:
        """The question at the end of the conversation that has no answer yet, or None."""
        return self.turns[-1].text if self.turns and self.turns[-1].speaker == "user" else None


class Threads(Generic[StateT]):
    """Runs a graph on threads; keeps it compiled, for the run's checkpointer and in memory, but no conversation.

    A named thread is in the run's checkpointer and holds what people wrote and were shown: `keep` adds an answer once
    it is verified, with its sources, which later turns may cite again. A question without a thread gets a temporary one
    in memory, since nobody could resume it.
    `types`: those that a checkpoint may restore besides messages and plain values; any other remains plain data.
    `last`: a node after which the graph ends, whatever the state. It starts only once all that led to it is stored, so
    that what was approved remains approved whenever the process ends.
    """

    def __init__(
        self, graph: "StateGraph[StateT, Any, Any, Any]", state: type[StateT], types: Sequence[type], last: str
    ) -> None:
        self._builder, self._state, self._last = graph, state, last
        self._types = [(kind.__module__, kind.__name__) for kind in types]
        self._memory = InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=None))
        self._compiled: dict[Any, CompiledStateGraph[StateT, Any, Any, Any]] = {}

    async def run(self, state: StateT, thread_id: str | None, session: Session) -> StateT:
        """Run one turn, from a state whose `messages` are the history and the question.

        Its other fields replace those that the turn before left. To a known thread only the question is added, and not
        even that if it is asked again because its turn was cut short.
        """
        inputs = dict(state)
        if thread_id is None:
            thread = uuid.uuid4().hex
            try:
                return await self._drive(self.graph(None), inputs, _config(thread), session)
            finally:
                await self._memory.adelete_thread(thread)
        graph, config = self._thread(thread_id, session)
        if stored := (await graph.aget_state(config)).values.get("messages"):
            _recall(stored, session)
            question = state.messages[-1]
            unanswered = isinstance(stored[-1], HumanMessage) and stored[-1].text == question.text
            inputs["messages"] = [] if unanswered else [question]
        return await self._drive(graph, inputs, config, session)

    async def keep(self, thread_id: str, answer: str, session: Session) -> None:
        """End a turn of a named thread: `answer`, as the user is shown it, replaces all that follows the question."""
        graph, config = self._thread(thread_id, session)
        stored = (await graph.aget_state(config)).values["messages"]
        drafts = [RemoveMessage(str(message.id)) for message in since_question(stored)]
        addresses = {source.address for source in _sources_in(stored)}
        new_sources = [source for source in session.sources.all() if source.address not in addresses]
        metadata = {_SOURCES: [source.model_dump(exclude={"text"}, exclude_defaults=True) for source in new_sources]}
        messages = [*drafts, AIMessage(answer, response_metadata=metadata)]
        await graph.aupdate_state(config, {"messages": messages}, as_node=self._last)

    async def resume(self, thread_id: str, session: Session) -> StateT | None:
        """Resume a turn that waits for the user or was cut short; None if there is none.

        It continues at its stage: earlier answers and approvals remain valid.
        """
        graph, config = self._thread(thread_id, session)
        snapshot = await graph.aget_state(config)
        if not snapshot.next:
            return None
        _recall(snapshot.values["messages"], session)
        session.events.emit(Decision(name="resumed", value=snapshot.next[0], cause=STOPPED))
        return await self._drive(graph, None, config, session)  # a node that still waits asks again

    async def find(self, thread_id: str, checkpointer: Any) -> Thread:
        """The thread of this name; one without turns if there is none."""
        state = await self.graph(checkpointer).aget_state(_config(thread_id))
        messages = [message for message in state.values.get("messages", ()) if message.type in SPEAKERS]
        turns = tuple(Turn(speaker=SPEAKERS[message.type], text=message.text) for message in messages)
        stage = next(iter(state.next), None)
        asks = state.interrupts[0].value["kind"] if state.interrupts else None
        return Thread(thread_id, turns, state.created_at or "", stage, asks)

    async def all(self, checkpointer: Any) -> list[Thread]:
        """The threads that a checkpointer holds, the most recently changed first."""
        saver: Any = self.graph(checkpointer).checkpointer
        inputs = [item.config["configurable"] async for item in saver.alist(None, filter={"source": "input"})]
        names = dict.fromkeys(item["thread_id"] for item in inputs if not item["checkpoint_ns"])
        threads = [await self.find(name, checkpointer) for name in names]
        return sorted(threads, key=lambda thread: thread.changed, reverse=True)

    def graph(self, checkpointer: Any) -> CompiledStateGraph[StateT, Any, Any, Any]:
        """The compiled graph; None means a checkpointer in memory, since a graph that asks the user needs one."""
        saver = self._memory if checkpointer is None else checkpointer
        if saver not in self._compiled:
            safe_saver = saver.with_allowlist(self._types)
            self._compiled[saver] = self._builder.compile(checkpointer=safe_saver)
        return self._compiled[saver]

    def _thread(self, thread_id: str, session: Session) -> tuple[CompiledStateGraph[StateT, Any, Any, Any], Any]:
        """The graph with the run's checkpointer, and the thread's config there."""
        return self.graph(session.checkpointer), _config(session.thread(thread_id))

    async def _drive(self, graph: Any, inputs: Any, config: Any, session: Session) -> StateT:
        """Run the graph to its end, whatever it asks the user on the way."""
        await graph.ainvoke(inputs, config, interrupt_before=[self._last])
        while (state := await graph.aget_state(config)).next:
            if state.interrupts:
                await graph.ainvoke(await _reply(state.interrupts, session), config, interrupt_before=[self._last])
            else:
                await graph.ainvoke(None, config)
        return self._state.model_validate(state.values)


Research = Callable[[Question, Session], Awaitable[Report]]


class ConversationMemory:
    """The conversation with an agent that keeps none itself: it gets each question with the answered turns before it.

    `blank`: a question without a text, with what all questions of the conversation have in common.
    """

    def __init__(self, research: Research, blank: Question) -> None:
        graph = StateGraph(ConversationState)
        graph.add_node("research", lambda state: {})  # runs outside: any agent's report, without graph state
        graph.add_edge(START, "research")
        self._research, self._blank = research, blank
        self.threads = Threads(graph, ConversationState, (), last="research")

    async def research(self, question: Question, session: Session) -> Report:
        thread_id = str(question.thread_id)
        state = ConversationState(messages=[HumanMessage(question.text)])
        messages = (await self.threads.run(state, thread_id, session)).messages
        pairs = [pair for pair in pairwise(messages) if isinstance(pair[1], AIMessage)]
        history = [Turn(speaker=SPEAKERS[message.type], text=message.text) for pair in pairs for message in pair]
        report = await self._research(question.model_copy(update={"history": tuple(history)}), session)
        await self.threads.keep(thread_id, report.text, session)
        return report

    async def resume(self, thread_id: str, session: Session) -> Report | None:
        question = (await self.threads.find(thread_id, session.checkpointer)).unanswered
        if question is None:
            return None
        session.events.emit(Decision(name="resumed", value="research", cause=STOPPED))
        return await self.research(self._blank.model_copy(update={"text": question}), session)


async def _reply(interrupts: Sequence[Any], session: Session) -> "Command[Any]":
    """The command that resumes the graph with the user's reply to what it asks."""
    request = interrupts[0].value
    ask = session.user.review if request["kind"] == "plan" else session.user.answer
    return Command(resume={interrupts[0].id: await ask(str(request["prompt"]))})


def _sources_in(messages: Sequence[AnyMessage]) -> list[Source]:
    """The sources stored with a thread's answers, in their order."""
    stored = (message.response_metadata.get(_SOURCES, ()) for message in messages if isinstance(message, AIMessage))
    return [Source.model_validate(source) for sources in stored for source in sources]


def _recall(messages: Sequence[AnyMessage], session: Session) -> None:
    """Register a thread's earlier sources, ahead of those of the turn that begins."""
    for number, source in enumerate(_sources_in(messages)):
        session.sources.add(source, (-1, number))


def _config(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}}
