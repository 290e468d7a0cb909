"""Stage -1, memory: earlier turns of the conversation, the latest ones and those most like the question."""

from collections.abc import Sequence
from typing import Any

from aiq.agents.shannon.calls import books
from aiq.agents.shannon.rules import merge_memory
from aiq.agents.shannon.settings import MemorySettings
from aiq.agents.shannon.state import Remembered, ResearchState
from aiq.agents.toolkit.memory import Memory
from aiq.core.events import Decision
from aiq.core.samples import Turn
from aiq.core.session import Session, current
from aiq.core.usage import Usage

ROLE = "shannon.memory"
"""Of the embedding model, where config names one."""


class Recall:
    def __init__(self, settings: MemorySettings) -> None:
        self._settings = settings

    async def run(self, state: ResearchState) -> dict[str, Any]:
        """What prompts may show of the conversation; where nothing is remembered, the end of the history."""
        settings = self._settings
        if not settings.enabled:
            return {}
        found: list[Remembered] = []
        if state.thread:
            memory, before = self._memory(current()), tokens()
            recent = await memory.recent(state.thread, settings.recent)
            similar = await memory.similar(state.thread, state.query, settings.similar, settings.threshold)
            if spent := tokens() - before:
                books().add("memory", role=ROLE, input_tokens=spent)
            kinds = [
                [turn.model_dump(include={"id", "query", "answer"}) for turn in turns] for turns in (recent, similar)
            ]
            merged, counts = merge_memory(kinds[0], kinds[1], (), settings.most)
            found = [Remembered(query=str(m["query"]), answer=str(m["answer"]), origin=m["_source"]) for m in merged]
            if found:
                current().events.emit(Decision(name="memory", value=len(found), cause="hierarchical", detail=counts))
        if not found:
            found = in_pairs(state.history[-settings.history :])
            if found:
                current().events.emit(Decision(name="memory", value=len(found), cause="session"))
        return {"memory": tuple(found)}

    async def keep(self, thread: str, query: str, answer: str, session: Session) -> None:
        """Remember this turn for the next ones, where the conversation has a name."""
        if self._settings.enabled and thread:
            await self._memory(session).remember(thread, query, answer, session.now)

    def _memory(self, session: Session) -> Memory:
        return Memory(session, ROLE, self._settings.embedding_model)


def tokens() -> int:
    """What embedding has cost the running attempt so far."""
    return current().usage.by_role().get(ROLE, Usage()).total_tokens


def in_pairs(history: Sequence[Turn]) -> list[Remembered]:
    """A history as interactions: each question with the answer that follows it, empty where none does."""
    found: list[Remembered] = []
    for turn in history:
        if turn.speaker == "user" or not found:
            found.append(Remembered(query="", answer="", origin="session"))
        side = "query" if turn.speaker == "user" else "answer"
        found[-1] = found[-1].model_copy(update={side: turn.text})
    return found
