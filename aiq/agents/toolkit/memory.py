"""Memory: what was asked and answered in earlier turns of a conversation, found again by recency and by meaning.

It lies in the store that the run lends (LangGraph's interface). The store is given vectors, never texts to embed: its
work is done outside of any session, where no model call could be counted. LangGraph is imported here, with the agent,
because its import tries a socket, which no replay allows.
"""

import base64
import hashlib
import struct
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote

from langgraph.store.base import BaseStore

from aiq.core.base import Record
from aiq.core.session import Session
from aiq.core.text import whole
from aiq.tools.embedding import embedding

LATEST: Final = 100
"""Turns that are read to number the next one: the store knows the order of turns to a second, their numbers know it."""

TIES: Final = 20
"""Turns beyond those asked for that are read, as the store orders equally similar ones as it likes."""

EMBEDDED_CHARS: Final = 8000
"""Of a query, so that models which refuse long texts (OpenAI's: 8,192 tokens) take it in any script."""

_DIGITS: Final = 6
"""Of a similarity: SQLite extensions compute in other precisions, and a threshold must decide alike everywhere."""

_LEXICAL: Final = "lexical-1"
"""The embedding of `aiq.tools.embedding`; a change of its weights takes another number."""


async def _unpacked(texts: Sequence[str]) -> list[list[float]]:
    packed = map(base64.b64decode, texts)
    return [list(struct.unpack(f"<{len(data) // 4}f", data)) for data in packed]


def _packed(vector: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


INDEX: Final[Any] = {"embed": _unpacked, "dims": 0}
"""How a store that holds memories is opened: the text of a vector becomes the vector. SQLite asks for no dimensions."""


class Interaction(Record):
    """A turn of a conversation. `id` is its own there, in the order of turns.

    `similarity`: the cosine with the query that it was found by, -1 to 1.
    """

    id: str
    query: str
    answer: str
    at: datetime
    similarity: float | None = None


class Memory:
    """The memory of one session. An evaluation's ends with the attempt, that of a chat is where its checkpoints are.

    `model` embeds queries, in the name of `role`; None: the lexical embedding, which costs nothing. What was remembered
    by one of them is found by recency whichever is used later, by meaning only by the same one.
    """

    def __init__(self, session: Session, role: str, model: str | None = None) -> None:
        self._session = session
        self._role = role
        self._model = model
        self._vectors: dict[str, list[float]] = {}

    async def remember(self, thread: str, query: str, answer: str, at: datetime) -> Interaction:
        """Keep a turn of the conversation `thread`, after those that are kept. Raises ModelError."""
        query, answer = whole(query), whole(answer)
        vector = await self._embedded(query)
        store: BaseStore = await self._session.store()
        number = 1 + max((int(one.id.partition("-")[0]) for one in await self._latest(thread, LATEST)), default=0)
        digest = hashlib.sha256(f"{query}\n{answer}".encode()).hexdigest()[:12]  # two at once take one number
        kept = Interaction(id=f"{number:06}-{digest}", query=query, answer=answer, at=at)
        value = {"turn": kept.model_dump(mode="json"), "vector": _packed(vector)}
        await store.aput(self._place(thread, vector), kept.id, value, index=["vector"])
        return kept

    async def recent(self, thread: str, n: int) -> list[Interaction]:
        """The last `n` turns, the latest last."""
        return (await self._latest(thread, max(n, LATEST)))[-n:] if n > 0 else []

    async def similar(self, thread: str, query: str, n: int, threshold: float) -> list[Interaction]:
        """At most `n` turns whose query has a cosine of `threshold` or more with this one.

        The most similar first; of equal ones the latest. Raises ModelError.
        """
        vector = await self._embedded(whole(query))
        store: BaseStore = await self._session.store()
        found = await store.asearch(self._place(thread, vector), query=_packed(vector), limit=max(n, 0) + TIES)
        scored = ((round(item.score, _DIGITS), _turn(item)) for item in found if item.score is not None)
        near = sorted(((score, turn.id, turn) for score, turn in scored if score >= threshold), reverse=True)
        return [turn.model_copy(update={"similarity": score}) for score, _, turn in near[: max(n, 0)]]

    async def _latest(self, thread: str, most: int) -> list[Interaction]:
        store: BaseStore = await self._session.store()
        found = await store.asearch(self._place(thread), limit=most)
        return sorted(map(_turn, found), key=lambda one: one.id)

    async def _embedded(self, query: str) -> list[float]:
        """The vector of a query; a session pays for one of a model once."""
        text = query[:EMBEDDED_CHARS]
        if text not in self._vectors:
            if self._model is None:
                self._vectors[text] = embedding(text)
            else:
                (self._vectors[text],) = await self._session.models.embed(self._role, [text], model=self._model)
        return self._vectors[text]

    def _place(self, thread: str, vector: Sequence[float] | None = None) -> tuple[str, ...]:
        """Where a conversation is in the store, or of it what compares with this vector: one embedding, one length."""
        names = ["memory", self._session.thread(thread)]
        if vector is not None:
            names.append(f"{self._model or _LEXICAL}:{len(vector)}")
        return tuple(quote(whole(name), safe="").replace(".", "%2E") for name in names)  # stores take no full stops


def _turn(item: Any) -> Interaction:
    return Interaction.model_validate(item.value["turn"])
