"""What the material says to a question: the value that answers, the sentences that show it, what is missing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from aiq.offline.engine.read import Source


@dataclass(frozen=True)
class Evidence:
    """A sentence of a source that speaks to what is asked; `score` >= 0, comparable within one call."""

    sentence: str
    source: Source
    score: float


@dataclass(frozen=True)
class Answer:
    """What was found. `kind`: `value`, `premise` (the question takes something wrong for granted), or `none`.

    `value`: the phrase that answers ("1931", "Elma Vorn", "yes"); for `premise` what is true instead, if known.
    `evidence`: the sentences that show it, in the order of the hops. `missing`: queries that would bring what is
    missing, best first; empty where nothing is. `confidence`: 0 to 1.
    """

    kind: Literal["value", "premise", "none"]
    value: str = ""
    evidence: tuple[Evidence, ...] = ()
    missing: tuple[str, ...] = ()
    confidence: float = 0.0


def answer(
    question: str, sources: Sequence[Source], now: date | None = None, *, asked: Sequence[str] = (), context: str = ""
) -> Answer:
    """The answer that the sources give. `asked`: queries already sent, never proposed again. `context`: the earlier
    turns of the conversation, to which words such as "its" may refer. With no sources, `missing` holds first queries.
    """
    return Answer("none", missing=(question,) if question not in asked else ())


def rank(query: str, sources: Sequence[Source], now: date | None = None, *, most: int = 10) -> list[Evidence]:
    """The sentences of the sources that speak to a query, best first, no two that say the same."""
    return []
