"""Looking one thing up: the values that the material gives for an ask, and the queries that would bring more."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from aiq.offline.engine.analysis import analyse
from aiq.offline.engine.evidence import Evidence, Material
from aiq.offline.engine.extract import Candidate, candidates
from aiq.offline.engine.lexicon import kind_of, stem, synonyms
from aiq.offline.engine.question import Ask
from aiq.offline.engine.text import is_chinese, words

SURE = 0.6
"""From this confidence on a value needs no further search."""

_STALE_DAYS = 400
"""A state described longer ago may have changed: worth one more search."""

_SAME_DAYS = 60
"""Evidence that is newer by less is as old."""

_LEFT = (
    r"(?:left office|leav(?:es|ing)|left the post|step(?:s|ped|ping) down|resign(?:s|ed|ing)?|g(?:ave|iv(?:es|ing)) up|retir(?:es|ed|ing)|sack(?:s|ed)"
    r"|dismiss(?:es|ed)|fir(?:es|ed)|replac(?:es|ed)|succeed(?:s|ed|ing)|hand(?:s|ed|ing) over|his job|her job|is retiring|quit(?:s)?\b)"
)

_LASTING = frozenset(
    stem(w) for w in "founder author inventor designer architect composer discoverer builder writer painter creator born birthplace bear "
    "found write invent design compose discover build paint mother father set locate river tall height high long length deep wide".split()
)  # fmt: skip
"""Words of what does not change."""


@dataclass(frozen=True)
class Finding:
    """A value with the sentences that show it. `premise`: the value corrects the question; `wanted`: queries for more."""

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
            for candidate in self._typed(candidates(ask, hit, self.question if known is None else known), ask):
                name = key(candidate.value)
                if name not in best or best[name].score < candidate.score:
                    best[name] = candidate
        found = sorted(best.values(), key=lambda c: -c.score)[:8]
        settled = ask.kind in ("place", "thing", "work", "date") and not ask.current and not _moves(ask)
        if not found or ask.past or settled:
            return found
        if ask.kind == "person":
            found = sorted((self._in_office(c) for c in found), key=lambda c: -c.score)
        rivals = [c for c in found if c.score >= 0.7 * found[0].score and c.hit.own >= 0.5 * found[0].hit.own]
        newest = max(rivals, key=lambda c: (c.hit.day, c.score), default=found[0])
        if (newest.hit.day - found[0].hit.day).days > _SAME_DAYS:
            found = [
                replace(newest, score=max(newest.score, found[0].score * 0.95)),
                *(c for c in found if c is not newest),
            ]
        return found

    def _in_office(self, candidate: Candidate) -> Candidate:
        """The candidate, down where later evidence reports that this person left."""
        last = candidate.value.split()[-1]
        for found in self.material.pages:
            if found.day and found.day >= candidate.hit.day and last in found.text:
                for sentence in (found.title, *found.sentences):
                    if re.search(
                        rf"\b{re.escape(last)}\b.{{0,30}}\b{_LEFT}|\b{_LEFT}.{{0,12}}\b{re.escape(last)}\b",
                        sentence.text,
                    ):
                        return replace(candidate, score=candidate.score * 0.4)
        return candidate

    def _typed(self, found: list[Candidate], ask: Ask) -> list[Candidate]:
        """The candidates, those down that the pages define as something else than what is asked for."""
        if ask.kind not in ("person", "place", "organisation", "thing", "work") or not (
            ask.head or ask.kind == "person"
        ):
            return found
        return [c if self._fits(c.value, ask) else replace(c, score=c.score * 0.5) for c in found]

    def _fits(self, name: str, ask: Ask) -> bool:
        """Whether the pages do not define a name as something else."""
        defined = self.material.defined.get(name)
        if not defined:
            return True
        if ask.kind == "person":
            kinds = [kind_of(token.text) for token in defined.tokens]
            return "person" in kinds or not {"place", "organisation", "thing", "work"} & set(kinds)
        head = analyse(ask.head)
        return bool(defined.roots.keys() & head.roots.keys() or defined.groups.keys() & head.groups.keys())

    def best(self, ask: Ask) -> Finding:
        """The best value for an ask, its confidence lowered where it may be out of date."""
        options = self.values(ask)
        if not options:
            return Finding(wanted=self.queries(ask, 0.0))
        score = self.trust(ask, options[0])
        return Finding(options[0].value, (options[0].hit.evidence,), score, self.queries(ask, score))

    def trust(self, ask: Ask, candidate: Candidate) -> float:
        """A candidate's score, lowered once where its evidence is old and the state may have changed."""
        if self.now is None or not _may_change(ask) or self._tried(ask) > 1:
            return candidate.score
        old = candidate.hit.day != date.min and (self.now - candidate.hit.day).days > _STALE_DAYS
        return min(candidate.score, SURE - 0.01) if old else candidate.score

    def _tried(self, ask: Ask) -> int:
        return sum(key(form) in self.asked for form in self._forms(ask))

    def queries(self, ask: Ask, score: float) -> tuple[str, ...]:
        """Queries for an ask: its names and words, then other words for them while nothing good was found."""
        tried = self._tried(ask)
        if score >= SURE or (score > 0.3 and tried >= 2) or tried >= 3:
            return ()
        forms = self._forms(ask) if score > 0.3 else _forms(ask)
        return tuple(form for form in forms if key(form) not in self.asked)[: 2 if score <= 0.3 else 1]

    def _forms(self, ask: Ask) -> list[str]:
        """Wordings of a query, best first; for a state that may change the second asks for the change."""
        forms = _forms(ask)
        if forms and self.now and _may_change(ask):
            return [forms[0], f"{forms[0]} {'as of' if ask.kind == 'number' else 'since'} {self.now.year}", *forms[1:]]
        return forms


def _moves(ask: Ask) -> bool:
    """Whether a place is asked for that may change: a seat or a venue."""
    seats = analyse("headquarters based moved held").groups.keys()
    return any(seats & analyse(word).groups.keys() for word in ask.words)


def _may_change(ask: Ask) -> bool:
    """Whether what is asked may have changed since a page was written."""
    lasting = (
        ask.past
        or (re.search(r"\b(?:was|were|did)\b", ask.text) and not re.search(r"\b(?:last|latest|recent)", ask.text))
        or any(t.root in _LASTING for w in ask.words for t in analyse(w).tokens)
    )
    return not lasting and ask.kind not in ("date", "reason") and bool(ask.names)


def _forms(ask: Ask) -> list[str]:
    """Wordings of a query, best first."""
    plain = [w for w in ask.words if w not in ask.names]
    forms = [" ".join([*ask.names, *plain])]
    for word in sorted(plain, key=lambda w: (stem(w) != stem(ask.head), -len(synonyms(w)))):
        if other := synonyms(word, 4):
            forms.append(" ".join([*ask.names, *other, *[w for w in plain if w != word][:3]]))
    forms += [" ".join(ask.names)] if ask.names else [" ".join(plain[-2:])]
    return [form for form in dict.fromkeys(forms) if form]


def key(text: str) -> tuple[str, ...]:
    """What two wordings of the same query or value have in common."""
    if is_chinese(text):
        return (re.sub(r"[\s《》“”「」,，。]", "", text),)
    return tuple(sorted(words(text))) or (text,)
