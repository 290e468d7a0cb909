"""Stage -1, memory: recalls the latest turns of the conversation and those most similar to the question."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any

from aiq.agents.shannon.calls import or_none
from aiq.agents.shannon.records import MemoryItem, ResearchState
from aiq.agents.shannon.rules import merge_memory
from aiq.agents.shannon.settings import MemorySettings
from aiq.agents.toolkit.memory import Interaction, Memory
from aiq.core.concurrency import binding
from aiq.core.events import Decision
from aiq.core.samples import Turn
from aiq.core.session import Session, current

AGENT = "memory"

ROLE = "shannon.memory"
"""Role of the embedding model, if one is configured."""


_memory: ContextVar[Memory] = ContextVar("shannon_memory")


class Recall:
    def __init__(self, settings: MemorySettings) -> None:
        self._settings = settings

    def shared(self, session: Session) -> AbstractContextManager[Memory]:
        """Share one memory in a whole research, so that its question is embedded only once."""
        return binding(_memory, Memory(session, ROLE, self._settings.embedding_model))

    async def run(self, state: ResearchState) -> dict[str, Any]:
        """What prompts may show of the conversation: recalled turns or, if there are none, the end of the history."""
        if not self._settings.enabled:
            return {}
        items = None
        if state.thread:
            items = await or_none(self._hierarchical_items(state.thread, state.query), "memory_skipped", AGENT)
        return {"memory": tuple(items or self._session_items(state.history))}

    async def _hierarchical_items(self, thread: str, query: str) -> list[MemoryItem]:
        """The latest interactions and those most similar to the query, without duplicates."""
        settings, memory = self._settings, _memory.get()
        recent = await memory.recent(thread, settings.recent)
        similar = await memory.similar(thread, query, settings.similar, settings.threshold)
        memories, counts = merge_memory(as_memories(recent), as_memories(similar), (), settings.most)
        if memories:
            decision = Decision(name="memory", value=len(memories), cause="hierarchical", detail=dict(counts))
            current().events.emit(decision)
        return [MemoryItem(query=item["query"], answer=item["answer"], origin=item["_source"]) for item in memories]

    def _session_items(self, history: Sequence[Turn]) -> list[MemoryItem]:
        items = in_pairs(history[-self._settings.history :])
        if items:
            current().events.emit(Decision(name="memory", value=len(items), cause="session"))
        return items

    async def keep(self, state: ResearchState, answer: str) -> None:
        """Remember this turn for later ones, if the conversation has an id."""
        if self._settings.enabled and state.thread:
            await or_none(self._remember(state, answer), "memory_not_kept", AGENT)

    async def _remember(self, state: ResearchState, answer: str) -> None:
        memory, turns = _memory.get(), [(state.query, answer)]
        if not await memory.recent(state.thread, 1):  # in the first turn, also keep what was said before it
            earlier = in_pairs(state.history[-self._settings.history :])
            turns = [*((item.query, item.answer) for item in earlier if item.query), *turns]
        for query, reply in turns:
            await memory.remember(state.thread, query, reply, current().now)


def as_memories(turns: Sequence[Interaction]) -> list[dict[str, str]]:
    return [turn.model_dump(include={"id", "query", "answer"}) for turn in turns]


def in_pairs(history: Sequence[Turn]) -> list[MemoryItem]:
    """A history as interactions: each question with the answer that follows it; a missing side is empty."""
    items: list[MemoryItem] = []
    for turn in history:
        if turn.speaker == "user" or not items or items[-1].answer:
            items.append(MemoryItem(query="", answer="", origin="session"))
        side = "query" if turn.speaker == "user" else "answer"
        items[-1] = items[-1].model_copy(update={side: turn.text})
    return items
