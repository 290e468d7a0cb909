"""Following a question's hops through the documents at hand: what is known, where the chain breaks, what is stale."""

from collections.abc import Sequence
from datetime import datetime

from aiq.core.base import Record
from aiq.core.seeds import derive
from aiq.offline.reading import dates, evidence
from aiq.offline.reading.compose import happens
from aiq.offline.reading.documents import Document
from aiq.offline.reading.evidence import Evidence
from aiq.offline.reading.questions import Hop, ParsedQuestion

ENOUGH = 2.3
"""Lowest score at which evidence is believed (subject 0 to 2, relation 0 to 1, phrase about 0 to 1.5)."""

NEAR_TIE = 0.12
"""Answers of equal date whose scores differ by less are as good as each other: the seed decides."""

HASTE = 12
"""Percent of (seed, question, hop) in which the best-worded sentence is taken without a look at dates."""

OLD_AFTER_DAYS = 270
"""A changing fact whose evidence is older than this is worth another look."""


class Step(Record):
    """A hop and the evidence chosen for it; None where there is none yet. `more`: what else supports it."""

    hop: Hop
    subject: str
    found: Evidence | None = None
    more: tuple[Evidence, ...] = ()

    def stale(self, now: datetime | None) -> bool:
        """Whether the fact may have changed since: only a prompt that states the date lets one tell."""
        if now is None or self.found is None or not self.hop.changing:
            return False
        return self.found.when is None or dates.age_days(self.found.when, now) > OLD_AFTER_DAYS


class Progress(Record):
    """The steps in order, up to and including the first unresolved one."""

    steps: tuple[Step, ...]
    complete: bool

    @property
    def open(self) -> Step | None:
        """The step that lacks evidence."""
        return None if self.complete else self.steps[-1]

    @property
    def answer(self) -> str:
        """The last hop's answer; empty while the chain is incomplete."""
        last = self.steps[-1].found
        return last.answer if self.complete and last else ""


def follow(question: ParsedQuestion, documents: Sequence[Document], *, now: datetime | None, seed: object) -> Progress:
    """Resolve hop after hop: each answer is the next hop's subject."""
    steps: list[Step] = []
    subject = question.entity
    passed = list(question.names)
    for hop in question.hops:
        hasty = happens(HASTE, seed, "haste", question.text, hop.phrase)
        ranked = evidence.search(documents, subject, hop, now=None if hasty else now, avoid=passed)
        found = choose(ranked, seed, question.text, subject, hop.phrase)
        steps.append(Step(hop=hop, subject=subject, found=found, more=_others(ranked, found)))
        if found is None:
            return Progress(steps=tuple(steps), complete=False)
        subject = found.answer
        passed.append(subject)
    return Progress(steps=tuple(steps), complete=True)


def _others(ranked: Sequence[Evidence], found: Evidence | None) -> tuple[Evidence, ...]:
    """Believed evidence in other sentences than the chosen one, best first."""
    if found is None:
        return ()
    return tuple(e for e in ranked if e.score >= ENOUGH and e.sentence != found.sentence)[:3]


def choose(ranked: Sequence[Evidence], *seed: object) -> Evidence | None:
    """The first of ranked evidence, or by the seed another that is as good; None where none is good enough."""
    believed = [piece for piece in ranked if piece.score >= ENOUGH]
    if not believed:
        return None
    best = believed[0]
    ties = [e for e in believed if e.when == best.when and abs(e.score - best.score) < NEAR_TIE]
    return ties[derive(*seed) % len(ties)] if len(ties) > 1 else best
