"""Looking one thing up: the values that the material gives for an ask, and the queries that would bring more."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from operator import ge

from aiq.offline.engine.evidence import Evidence, Material
from aiq.offline.engine.lexicon import stem, synonyms
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
        years = {word for word in ask.words if re.fullmatch(r"1\d{3}|20\d\d", word)}
        for hit in self.material.find(ask):
            said = {str(stated.year) for stated in hit.sentence.dates}
            fit = 0.5 if years and said and not years & said else 1.0
            for found in candidates(ask, hit, self.question if known is None else known):
                name, score = key(found.value), found.score * fit
                if name not in best or best[name].score < score:
                    best[name] = replace(found, score=score)
        ranked = sorted(best.values(), key=lambda c: -c.score)[:8]
        lasting = ask.kind in ("place", "thing", "work", "date") and not ask.current
        if not ranked or ask.past or lasting:
            return ranked
        first = ranked[0]
        least = [_RIVAL * first.score, _RIVAL * first.hit.score, 0.5 * first.hit.own]
        rivals = [c for c in ranked if all(map(ge, (c.score, c.hit.score, c.hit.own), least))]
        newest = max(rivals, key=lambda c: (c.hit.day, c.score))
        if (newest.hit.day - first.hit.day).days <= _SAME_DAYS:
            return ranked
        return [replace(newest, score=max(newest.score, first.score * 0.95)), *(c for c in ranked if c is not newest)]

    def best(self, ask: Ask) -> Finding:
        """The best value for an ask."""
        options = self.values(ask)
        if not options:
            return Finding(wanted=self.queries(ask, 0.0))
        score = options[0].score
        return Finding(options[0].value, (options[0].hit.evidence,), score, self.queries(ask, score))

    def queries(self, ask: Ask, score: float) -> tuple[str, ...]:
        """Queries for an ask: its names and words, then other words for them while nothing good was found."""
        forms = _forms(ask)
        left = [form for form in forms if key(form) not in self.asked]
        return tuple(left[:2]) if score < SURE and len(forms) - len(left) < 3 else ()


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
