"""Looks one thing up: the values that the material gives for an ask, queries for more, and what in it contradicts the
question's premise."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from operator import ge

from aiq.offline.engine.analysis import analyse
from aiq.offline.engine.evidence import Evidence, Hit, Material
from aiq.offline.engine.extract import DENIED, Candidate, candidates, denied, denies
from aiq.offline.engine.lexicon import stem, synonyms
from aiq.offline.engine.question import Ask, parse
from aiq.offline.engine.text import is_chinese, names, words

SURE = 0.6
"""From this confidence on, a value needs no further search and goes into a table."""

_SAME_DAYS = 60
"""Evidence that is newer by no more than this counts as equally old."""

_RIVAL_SHARE = 0.7
"""A newer value whose score is at least this share of the best one's replaces it."""


@dataclass(frozen=True)
class Finding:
    """A value and its supporting sentences. `premise`: it corrects the question; `wanted`: queries for more."""

    value: str = ""
    evidence: tuple[Evidence, ...] = ()
    confidence: float = 0.0
    wanted: tuple[str, ...] = ()
    premise: bool = False


class Lookup:
    """The material of one call and its context: the question, the queries already sent, and the date."""

    def __init__(self, material: Material, question: str, asked: Sequence[str], now: date | None) -> None:
        self.material = material
        self.question = question
        self.asked = {key(query) for query in asked}
        self.now = now

    def values(self, ask: Ask, *, known: str | None = None) -> list[Candidate]:
        """The values for one ask, best first, each once; of values nearly as good as the best, the newest is first."""
        best: dict[tuple[str, ...], Candidate] = {}
        years = {word for word in ask.words if re.fullmatch(r"1\d{3}|20\d\d", word)}
        for hit in self.material.find(ask):
            stated_years = {str(day.year) for day in hit.sentence.dates}
            factor = 0.5 if years and stated_years and not years & stated_years else 1.0
            for candidate in candidates(ask, hit, self.question if known is None else known):
                identity, score = key(candidate.value), candidate.score * factor
                if identity not in best or best[identity].score < score:
                    best[identity] = replace(candidate, score=score)
        ranked = sorted(best.values(), key=lambda c: -c.score)[:8]
        is_lasting = ask.kind in ("place", "thing", "work", "date") and not ask.current
        if not ranked or ask.past or is_lasting:
            return ranked
        first = ranked[0]
        thresholds = [_RIVAL_SHARE * first.score, _RIVAL_SHARE * first.hit.score, 0.5 * first.hit.own_share]
        rivals = [c for c in ranked if all(map(ge, (c.score, c.hit.score, c.hit.own_share), thresholds))]
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
        """Queries for an ask: its names and words, then synonyms while nothing good has been found."""
        wordings = _wordings(ask)
        unsent = [form for form in wordings if key(form) not in self.asked]
        return tuple(unsent[:2]) if score < SURE and len(wordings) - len(unsent) < 3 else ()


def _wordings(ask: Ask) -> list[str]:
    """Wordings of a query, best first."""
    terms = [word for word in ask.words if word not in ask.names]
    wordings = [" ".join([*ask.names, *terms])]
    for word in sorted(terms, key=lambda w: (stem(w) != stem(ask.head), -len(synonyms(w)))):
        if alternatives := synonyms(word, 4):
            wordings.append(" ".join([*ask.names, *alternatives, *[w for w in terms if w != word][:3]]))
    wordings.append(" ".join(ask.names or terms[-2:]))
    return [form for form in dict.fromkeys(wordings) if form]


def key(text: str) -> tuple[str, ...]:
    """A key that two wordings of the same query or value share."""
    if is_chinese(text):
        return (re.sub(r"[\s《》“”「」,，。]", "", text),)
    return tuple(sorted(words(text))) or (text,)


_ENDS = re.compile(
    r"\b(?:resign|step(?:ped)? down|leave|left|quit|stop|cease|lose|lost|close|shut|give up|gave up|retire|end|die|move"
    r"|sell|abolish|abandon)\b|辞|卸任|离开|停止|关闭|搬",
    re.IGNORECASE,
)
_CONTRARY = 0.55
"""The score that another value needs to correct the question."""


def corrected(text: str, look: Lookup) -> Finding | None:
    """A correction of the question's premise, or None if nothing contradicts it."""
    ask = parse(text)
    if ask.kind not in ("date", "reason", "number") or not ask.names:
        return None
    hits = [hit for hit in look.material.find(ask) if _names_all(hit, ask)]
    roots = {t.root for word in ask.words for t in analyse(word).tokens}
    for hit in hits:
        if hit.score >= 0.4 and not DENIED.search(text) and roots & set(denied(hit)):
            return Finding(hit.sentence.text, (hit.evidence,), 0.7, premise=True)
    state_words = set(parse(_ENDS.sub(" ", ask.text)).words) if _ENDS.search(text) else set()
    lasting = tuple(word for word in ask.words if word in state_words)
    if lasting and (ongoing := _ongoing_state(ask, lasting, look)):
        return ongoing
    is_confirmed = any(hit.own_share >= 0.3 and not denies(hit) for hit in hits)
    return None if is_confirmed or len(ask.names) < 2 else _contradiction(ask, lasting or ask.words, look)


def _names_all(hit: Hit, ask: Ask) -> bool:
    return all(name in f"{hit.page.title.text} {hit.sentence.text}" for name in ask.names)


def _contradiction(ask: Ask, words: tuple[str, ...], look: Lookup) -> Finding | None:
    """Another value in place of one of the names, if the evidence gives that one and never the name in question."""
    for name in reversed(ask.names):
        other_names = tuple(other for other in ask.names if other != name)
        for kind in ("person", "place", "organisation"):
            variant = Ask(" ".join((*other_names, *words)), kind, names=other_names, words=words, current=ask.current)
            rivals = [c for c in look.values(variant, known=" ".join(other_names)) if c.hit.own_share >= 0.35]
            top = [c.value for c in rivals if c.score > 0.6 * rivals[0].score]
            if rivals and rivals[0].score >= _CONTRARY and not any(name in value or value in name for value in top):
                text = rivals[0].hit.sentence.text.rstrip(".。")
                text += f", 而不是{name}。" if is_chinese(ask.text) else f", not {name}."
                return Finding(text, (rivals[0].hit.evidence,), rivals[0].score, premise=True)
    return None


def _ongoing_state(ask: Ask, words: tuple[str, ...], look: Lookup) -> Finding | None:
    """The state that the question says has ended, if the evidence shows it continuing and does not report its end."""
    end_words = tuple(word for word in ask.words if word not in words)
    end_hits = look.material.find(replace(ask, words=end_words), 6) if end_words else []
    if any(hit.own_share >= 0.5 and set(names(hit.sentence.text)) & set(ask.names) for hit in end_hits):
        return None
    hits = look.material.find(replace(ask, words=words), 8)
    ongoing = [hit for hit in hits if hit.own_share >= 0.5 and _names_all(hit, ask) and not denies(hit)]
    best = max(ongoing, key=lambda hit: hit.day, default=None)
    return Finding(best.sentence.text, (best.evidence,), best.score * 0.9, premise=True) if best else None
