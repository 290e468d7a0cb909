"""Memory: what was asked and answered in earlier turns of a conversation, retrieved by recency and by meaning.

It is kept in the run's store (LangGraph's interface). The store is given vectors, never texts to embed: it works
outside any session, where no model call could be counted. LangGraph is imported here, with the agent, because its
import tries to open a socket, which a replay does not allow.
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
from aiq.core.text import utf8_safe
from aiq.tools.embedding import embedding

LATEST: Final = 100
"""Turns that are read to number the next one: the store orders turns only to the second, their numbers exactly."""

TIES: Final = 20
"""Turns that are read beyond those asked for, since the store orders equally similar ones arbitrarily."""

EMBEDDED_CHARS: Final = 8000
"""Characters of a query that are embedded: few enough for a model's limit (OpenAI's: 8,192 tokens) in any script."""

_DIGITS: Final = 6
"""Decimals of a similarity: SQLite extensions differ in precision, and a threshold must decide alike everywhere."""

_LEXICAL: Final = "lexical-1"
"""The embedding of `aiq.tools.embedding`; whoever changes its weights raises the number."""


async def _unpack(texts: Sequence[str]) -> list[list[float]]:
    packed = map(base64.b64decode, texts)
    return [list(struct.unpack(f"<{len(data) // 4}f", data)) for data in packed]


def _pack(vector: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


INDEX: Final[Any] = {"embed": _unpack, "dims": 0}
"""Options for opening a store of memories: `embed` decodes a vector from its text. SQLite needs no dimensions."""


class Interaction(Record):
    """A turn of a conversation. `id` is unique there and sorts in the order of turns.

    `similarity`: the cosine with the query by which it was found, -1 to 1.
    """

    id: str
    query: str
    answer: str
    at: datetime
    similarity: float | None = None


class Memory:
    """The memory of one session. An evaluation's ends with the attempt, a chat's is stored where its checkpoints are.

    `model` embeds queries, in calls of `role`; None: the lexical embedding, which costs nothing. Turns are found by
    recency whichever embedding is used later, by meaning only with the one that they were stored with.
    """

    def __init__(self, session: Session, role: str, model: str | None = None) -> None:
        self._session = session
        self._role = role
        self._model = model
        self._vectors: dict[str, list[float]] = {}

    async def remember(self, thread: str, query: str, answer: str, at: datetime) -> Interaction:
        """Store a turn of the conversation `thread`, after the earlier ones. Raises ModelError."""
        query, answer = utf8_safe(query), utf8_safe(answer)
        vector = await self._embed(query)
        store: BaseStore = await self._session.store()
        number = 1 + max((int(turn.id.partition("-")[0]) for turn in await self._latest(thread, LATEST)), default=0)
        digest = hashlib.sha256(f"{query}\n{answer}".encode()).hexdigest()[:12]  # two at once get the same number
        interaction = Interaction(id=f"{number:06}-{digest}", query=query, answer=answer, at=at)
        value = {"turn": interaction.model_dump(mode="json"), "vector": _pack(vector)}
        await store.aput(self._namespace(thread, vector), interaction.id, value, index=["vector"])
        return interaction

    async def recent(self, thread: str, n: int) -> list[Interaction]:
        """The last `n` turns, the latest last."""
        return (await self._latest(thread, max(n, LATEST)))[-n:] if n > 0 else []

    async def similar(self, thread: str, query: str, n: int, threshold: float) -> list[Interaction]:
        """At most `n` turns whose query has a cosine of `threshold` or more with this one.

        The most similar first; of equals the latest. Raises ModelError.
        """
        vector = await self._embed(utf8_safe(query))
        store: BaseStore = await self._session.store()
        items = await store.asearch(self._namespace(thread, vector), query=_pack(vector), limit=max(n, 0) + TIES)
        scored = ((round(item.score, _DIGITS), _turn(item)) for item in items if item.score is not None)
        matches = sorted(((score, turn.id, turn) for score, turn in scored if score >= threshold), reverse=True)
        return [turn.model_copy(update={"similarity": score}) for score, _, turn in matches[: max(n, 0)]]

    async def _latest(self, thread: str, limit: int) -> list[Interaction]:
        store: BaseStore = await self._session.store()
        items = await store.asearch(self._namespace(thread), limit=limit)
        return sorted(map(_turn, items), key=lambda turn: turn.id)

    async def _embed(self, query: str) -> list[float]:
        """The vector of a query; a session pays a model for it only once."""
        text = query[:EMBEDDED_CHARS]
        if text not in self._vectors:
            if self._model is None:
                self._vectors[text] = embedding(text)
            else:
                (self._vectors[text],) = await self._session.models.embed(self._role, [text], model=self._model)
        return self._vectors[text]

    def _namespace(self, thread: str, vector: Sequence[float] | None = None) -> tuple[str, ...]:
        """The namespace of a conversation, or of its vectors that this one compares with: same embedding and length."""
        names = ["memory", self._session.thread(thread)]
        if vector is not None:
            names.append(f"{self._model or _LEXICAL}:{len(vector)}")
        return tuple(quote(utf8_safe(name), safe="").replace(".", "%2E") for name in names)  # stores allow no dots


def _turn(item: Any) -> Interaction:
    return Interaction.model_validate(item.value["turn"])
