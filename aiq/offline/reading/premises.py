"""Checking what a question takes for granted against the documents: supported, contradicted, or nothing known.

A claim with a probe (`claims`) is tested by following the probe's hops: another value than the claimed one speaks
against it; so does the same value where the claim says that it came to an end. A claim without one is contradicted
only by a sentence that repeats most of its words and denies something ("has not", "never", "cancelled").
"""

import re
from collections.abc import Sequence
from datetime import datetime

from aiq.core.base import Record
from aiq.offline.reading import chain, evidence, questions
from aiq.offline.reading.chain import Progress
from aiq.offline.reading.claims import Claim
from aiq.offline.reading.documents import Document
from aiq.offline.reading.evidence import Evidence
from aiq.offline.reading.questions import Hop
from aiq.offline.reading.text import contains_name, same_name, stems

_DENIAL = re.compile(
    r"\b(?:never|not yet|no longer|has not|have not|had not|did not|does not|is not|was not|were not|cannot|without"
    r"|cancel(?:l)?ed|opt-out|refused|rejected|dropped out|instead of)\b|n't\b|从未|没有|尚未|并非|取消",
    re.IGNORECASE,
)


CLEAR = 2.8
"""Score from which evidence may contradict a claim: a false alarm is worse than a premise let pass."""


REPEATED = 0.55
"""Share of a claim's words that a denying sentence must repeat to count against it."""


class Contradiction(Record):
    """What speaks against a claim: the steps that led there, and whether the claimed value still holds."""

    path: tuple[Evidence, ...]
    still: bool = False


def probe(claim: Claim, documents: Sequence[Document], *, now: datetime | None, seed: object) -> Progress | None:
    """How far the documents answer the claim's probe; None where it has none."""
    if not claim.probe:
        return None
    return chain.follow(questions.parse(claim.probe), documents, now=now, seed=seed)


def contradiction(
    claim: Claim, documents: Sequence[Document], *, now: datetime | None, seed: object
) -> Contradiction | None:
    """What the documents hold against the claim, or None."""
    tested = probe(claim, documents, now=now, seed=seed)
    if tested is None:
        return _denied(claim, documents)
    if not tested.complete:
        return None
    path = tuple(step.found for step in tested.steps if step.found)
    holds = _alike(tested.answer, claim.value)
    if not holds and (path[-1].score < CLEAR or _mentions(path[-1], claim.value)):
        return None
    if holds and not claim.ended:
        return None
    if not holds and claim.ended and _once_true(claim, tested, documents):
        return None
    return Contradiction(path=path, still=holds)


def denies(sentence: str) -> bool:
    """Whether a sentence denies something in so many words."""
    return _DENIAL.search(sentence) is not None


def _once_true(claim: Claim, tested: Progress, documents: Sequence[Document]) -> bool:
    """Whether some document, of whatever date, gives the claimed value."""
    last = tested.steps[-1]
    ranked = evidence.search(documents, last.subject, last.hop, now=None)
    named = any(claim.value in piece.sentence for piece in ranked)
    return named or any(_alike(piece.answer, claim.value) for piece in ranked)


def _alike(answer: str, value: str) -> bool:
    return same_name(answer, value) or contains_name(answer, value) or contains_name(value, answer)


def _mentions(piece: Evidence, value: str) -> bool:
    """Whether evidence for something else also speaks of the claimed value, by its last word or in its title."""
    return contains_name(piece.sentence, value.split()[-1]) or contains_name(piece.document.title, value)


def _denied(claim: Claim, documents: Sequence[Document]) -> Contradiction | None:
    """A sentence that speaks of most of the claim's words and denies something."""
    own = stems(claim.subject)
    hop = Hop(phrase=claim.text, words=claim.words, answer="text")
    asked = stems(claim.text) - own
    for piece in evidence.search(documents, claim.subject, hop, now=None):
        near = stems(piece.sentence)
        about = own & (near | stems(piece.document.title))
        if about and len(asked & near) >= REPEATED * max(1, len(asked)) and denies(piece.sentence):
            return Contradiction(path=(piece,))
    return None
