"""Questions that compare: listed things by one property ("Who was born first: A, B or C?"), or a group nobody lists.

A listed comparison is one chain per thing, each ending in the property; they can be searched side by side. What is
asked of a group ("Which of the companies in ... was founded first?") is only recognised here: one or two searches do
not settle it, and a short answer to it should say so.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from aiq.core.base import Record
from aiq.offline.reading import chain, questions, relations
from aiq.offline.reading.chain import Progress
from aiq.offline.reading.documents import Document
from aiq.offline.reading.questions import Hop, ParsedQuestion
from aiq.offline.reading.text import words


class Comparison(Record):
    """One question per thing, and whether the smallest or the largest value wins."""

    parts: tuple[ParsedQuestion, ...]
    largest: bool


_LISTED = re.compile(
    r"^(?P<asked>(?:who|which|what)\b.*?\b(?P<extreme>first|earliest|oldest|older|last|latest|youngest|younger|largest|larger"
    r"|biggest|smallest|smaller|most|fewest)\b[^:]*):\s*(?P<things>.+?)\??$",
    re.IGNORECASE,
)
_GROUP = re.compile(
    r"^(?:which|how many) of the \w+\b|^which is the \w+est \w+ of\b|^which \w+ in .+ the most\b", re.IGNORECASE
)
_LARGEST = re.compile(r"last|latest|young|larg|bigg|most", re.IGNORECASE)


@lru_cache(maxsize=256)
def listed(question: str) -> Comparison | None:
    """The comparison of listed things that a question asks for; None where it asks for none."""
    match = _LISTED.match(question.strip())
    if match is None:
        return None
    asked = match.group("asked")
    relation = relations.find(asked, "year") or relations.find(asked, "number")
    things = [thing.strip() for thing in re.split(r",\s*(?:or\s+)?|\s+or\s+", match.group("things")) if thing.strip()]
    if relation is None or len(things) < 2:
        return None
    hop = Hop(phrase=relation.noun, words=words(relation.noun), answer=relation.answer, relation=relation)
    parts = tuple(_part(thing, hop) for thing in things)
    return Comparison(parts=parts, largest=_LARGEST.search(match.group("extreme")) is not None)


def of_group(question: str) -> bool:
    """Whether a question compares the members of a group that it does not list."""
    return _GROUP.match(question.strip()) is not None


def _part(thing: str, hop: Hop) -> ParsedQuestion:
    """The question for one thing: `the founder of X` adds a hop in front."""
    inner = questions.parse(f"Who is {thing}?")
    leads = all(step.relation for step in inner.hops)
    hops = (*inner.hops, hop) if leads else (hop,)
    return inner.model_copy(update={"text": thing, "hops": hops, "answer": hop.answer, "recent": False, "claim": None})


def follow(
    comparison: Comparison, documents: Sequence[Document], *, now: datetime | None, seed: object
) -> list[Progress]:
    """How far the documents lead for each thing, in the order of the question."""
    return [chain.follow(part, documents, now=now, seed=seed) for part in comparison.parts]


def winner(comparison: Comparison, found: Sequence[Progress]) -> int | None:
    """Which thing wins among those whose value is known; None where fewer than two are."""
    values = {n: value for n, p in enumerate(found) if p.complete and (value := _number(p.answer)) is not None}
    if len(values) < 2:
        return None
    best = max if comparison.largest else min
    return best(values, key=lambda n: values[n])


def _number(text: str) -> float | None:
    digits = re.search(r"\d[\d,]*(?:\.\d+)?", text)
    return float(digits.group().replace(",", "")) if digits else None
