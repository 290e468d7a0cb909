"""Answers a question from the material: the value, the sentences that support it, and what is missing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from aiq.offline.engine.compare import reckon
from aiq.offline.engine.evidence import Evidence, Material, distinct, is_statement
from aiq.offline.engine.lookup import SURE, Finding, Lookup, corrected, key
from aiq.offline.engine.question import description, parse, rewritten
from aiq.offline.engine.source import Source

_BEAM, _MOST_HOPS = 3, 4
"""How many values of a hop are followed, and the maximum number of hops."""

_RIVAL = 0.65
"""Values whose score is at least this share of the best one's are followed too."""

_SHORTCUT = 0.4
"""The factor by which an answer that skips a hop counts less."""


@dataclass(frozen=True)
class Answer:
    """What was found. `kind`: `value`, `premise` (the question has a false premise), or `none`.

    `value`: the phrase that answers ("1931", "Elma Vorn", "yes"); for `premise`, what is true instead, if known.
    `evidence`: the sentences that support it, in the order of the hops. `missing`: queries for what is missing, best
    first; empty if nothing is. `confidence`: 0 to 1.
    """

    kind: Literal["value", "premise", "none"]
    value: str = ""
    evidence: tuple[Evidence, ...] = ()
    missing: tuple[str, ...] = ()
    confidence: float = 0.0


def answer(question: str, sources: Sequence[Source], now: date | None = None, *, asked: Sequence[str] = ()) -> Answer:
    """The answer that the sources give. `asked`: queries already sent, which are not proposed again. Without sources,
    `missing` holds the first queries to send.
    """
    look = Lookup(Material(sources), question, asked, now)
    findings = _follow(rewritten(question), look)
    best = max(findings, key=lambda f: f.confidence)
    queries = dict.fromkeys([*(q for f in findings for q in f.wanted), question])
    missing = tuple(q for q in queries if key(q) not in look.asked) if best.confidence < SURE else ()
    kind: Literal["value", "premise", "none"] = "premise" if best.premise else "value" if best.value else "none"
    return Answer(kind, best.value, tuple(dict.fromkeys(best.evidence)), missing, best.confidence)


def rank(query: str, sources: Sequence[Source], now: date | None = None, *, most: int = 10) -> list[Evidence]:
    """The sentences of the sources that are relevant to a query, best first, without near-duplicates."""
    hits = [hit for hit in Material(sources).find(parse(query), 10 * most) if is_statement(hit.sentence.text)]
    return [hit.evidence for hit in distinct(hits, most)]


def _follow(question: str, look: Lookup, depth: int = 0) -> list[Finding]:
    """The findings of every way to answer: directly, or after looking up the innermost description first."""
    direct = corrected(question, look) or reckon(question, look) or look.best(parse(question))
    inner = description(question) if depth < _MOST_HOPS else None
    if not inner:
        return [direct]
    options = look.values(inner.ask)
    top_score = options[0].score if options else 0.0
    if any(option.value == direct.value for option in options):  # just another name of the thing asked about
        direct = Finding()
    findings = [replace(direct, confidence=direct.confidence * _SHORTCUT, wanted=look.queries(inner.ask, top_score))]
    for option in options[:_BEAM]:
        if option.score >= _RIVAL * top_score and option.value not in question:
            text = question[: inner.start] + option.value + question[inner.end :]
            certainty = min(1.0, 0.3 + 0.9 * option.score)
            findings += [
                replace(f, evidence=(option.hit.evidence, *f.evidence), confidence=f.confidence * certainty)
                for f in _follow(text, look, depth + 1)
            ]
    return findings
