"""Looking one thing up: the values that the material gives for an ask, and the queries that would bring more."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from aiq.offline.engine.evidence import Evidence, Material
from aiq.offline.engine.lexicon import alike, stem, synonyms
from aiq.offline.engine.question import Ask
from aiq.offline.engine.standing import Candidate, candidates
from aiq.offline.engine.text import is_chinese, words

SURE = 0.6
"""From this confidence on a value needs no further search."""

_SAME_DAYS = 60
"""Evidence that is newer by less is as old."""

_RIVAL = 0.7
"""A value of this share of the best one's score, and newer, replaces it."""


@dataclass(frozen=True)
class Finding:
    """A value and the sentences that show it. `premise`: it corrects the question; `wanted`: queries for more."""

    value: str = ""
    evidence: tuple[Evidence, ...] = ()
    confidence: float = 0.0
    wanted: tuple[str, ...] = ()
    premise: bool = False


class Lookup:
    """The material of one call with what is known of it: the question's words, the queries asked, the day."""

    def __init__(self, material: Material, question: str, asked: Sequence[str], now: date | None) -> None:
        self.material = material
        self.question = question
        self.asked = {key(query) for query in asked}
        self.now = now

    def values(self, ask: Ask, *, known: str | None = None) -> list[Candidate]:
        """The values for one ask, best first, each once; of rivals nearly as good the newest first."""
        best: dict[tuple[str, ...], Candidate] = {}
        for hit in self.material.find(ask):
            for candidate in candidates(ask, hit, self.question if known is None else known):
                name = key(candidate.value)
                if name not in best or best[name].score < candidate.score:
                    best[name] = candidate
        found = sorted(best.values(), key=lambda c: -c.score)[:8]
        if not found or ask.past or not _changes(ask):
            return found
        first = found[0]
        rivals = [c for c in found if c.score >= _RIVAL * first.score and c.hit.score >= _RIVAL * first.hit.score]
        rivals = [c for c in rivals if c.hit.own >= 0.5 * first.hit.own] or [first]
        newest = max(rivals, key=lambda c: (c.hit.day, c.score))
        if (newest.hit.day - first.hit.day).days <= _SAME_DAYS:
            return found
        return [replace(newest, score=max(newest.score, first.score * 0.95)), *(c for c in found if c is not newest)]

    def best(self, ask: Ask) -> Finding:
        """The best value for an ask."""
        options = self.values(ask)
        if not options:
            return Finding(wanted=self.queries(ask, 0.0))
        score = options[0].score
        return Finding(options[0].value, (options[0].hit.evidence,), score, self.queries(ask, score))

    def tried(self, ask: Ask) -> int:
        """How many wordings of a query for this were asked."""
        return sum(key(form) in self.asked for form in _forms(ask))

    def queries(self, ask: Ask, score: float) -> tuple[str, ...]:
        """Queries for an ask: its names and words, then other words for them while nothing good was found."""
        most = 0 if score >= SURE else 2 if score > 0.3 else 3
        left = [form for form in _forms(ask) if key(form) not in self.asked]
        return tuple(left[: 1 if score > 0.3 else 2]) if self.tried(ask) < most else ()


def _changes(ask: Ask) -> bool:
    """Whether what is asked may change with time."""
    seat = any(alike(word, "headquarters based moved held") for word in ask.words)
    return ask.current or seat or ask.kind not in ("place", "thing", "work", "date")


def _forms(ask: Ask) -> list[str]:
    """Wordings of a query, best first."""
    plain = [word for word in ask.words if word not in ask.names]
    forms = [" ".join([*ask.names, *plain])]
    for word in sorted(plain, key=lambda w: (stem(w) != stem(ask.head), -len(synonyms(w)))):
        if other := synonyms(word, 4):
            forms.append(" ".join([*ask.names, *other, *[w for w in plain if w != word][:3]]))
    forms.append(" ".join(ask.names or plain[-2:]))
    return [form for form in dict.fromkeys(forms) if form]


def key(text: str) -> tuple[str, ...]:
    """What two wordings of the same query or value have in common."""
    if is_chinese(text):
        return (re.sub(r"[\s《》“”「」,，。]", "", text),)
    return tuple(sorted(words(text))) or (text,)
