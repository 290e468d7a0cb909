"""What the material says to a question: the value that answers, the sentences that show it, what is missing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from aiq.offline.engine.evidence import Evidence, Hit, Material, distinct, is_statement
from aiq.offline.engine.extract import Candidate, candidates
from aiq.offline.engine.lexicon import synonyms
from aiq.offline.engine.question import Ask, descriptions, parse, rewritten
from aiq.offline.engine.read import Source
from aiq.offline.engine.text import is_chinese, words

__all__ = ["Answer", "Evidence", "answer", "rank"]

SURE = 0.6
"""From this confidence on a value needs no further search."""
_BEAM = 3
"""How many values of a hop are followed."""
_MOST_HOPS = 4


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


@dataclass(frozen=True)
class _Path:
    """A way through the hops: the question as it now reads, what was found so far, and what to look for."""

    question: str
    evidence: tuple[Evidence, ...] = ()
    confidence: float = 1.0
    wanted: tuple[str, ...] = ()
    value: str = ""


def answer(
    question: str, sources: Sequence[Source], now: date | None = None, *, asked: Sequence[str] = (), context: str = ""
) -> Answer:
    """The answer that the sources give. `asked`: queries already sent, never proposed again. `context`: the earlier
    turns of the conversation, to which words such as "its" may refer. With no sources, `missing` holds first queries.
    """
    material = Material(sources)
    paths = sorted(_follow(_Path(rewritten(question)), material, asked), key=lambda p: -p.confidence)
    best = paths[0]
    wanted = tuple(q for path in paths for q in path.wanted)
    wanted = (*dict.fromkeys(q for q in (*wanted, question) if _key(q) not in {_key(a) for a in asked}),)
    if not best.value:
        return Answer("none", missing=wanted, evidence=best.evidence)
    return Answer("value", best.value, best.evidence, () if best.confidence >= SURE else wanted, best.confidence)


def rank(query: str, sources: Sequence[Source], now: date | None = None, *, most: int = 10) -> list[Evidence]:
    """The sentences of the sources that speak to a query, best first, no two that say the same."""
    hits = [hit for hit in Material(sources).find(parse(query), 10 * most) if is_statement(hit.sentence.text)]
    return [hit.evidence for hit in distinct(hits, most)]


def _follow(path: _Path, material: Material, asked: Sequence[str], depth: int = 0) -> list[_Path]:
    """The ways from here to an answer: looking up the innermost description first, or answering at once."""
    direct = _settle(path, parse(path.question), material, asked)
    found = [direct]
    for description in descriptions(path.question) if depth < _MOST_HOPS else ():
        options = _resolve(description.ask, material)[:_BEAM]
        hop = options[0].score if options else 0.0
        queries = _queries(description.ask, asked, hop)
        for option in options:
            text = path.question[: description.start] + option.value + path.question[description.end :]
            if option.value in path.question:
                continue
            onward = _Path(
                text, (*path.evidence, option.hit.evidence), path.confidence * _ease(option.score), (*path.wanted, *queries)
            )
            found += _follow(onward, material, asked, depth + 1)
        if not options:
            found.append(replace(path, confidence=0.0, wanted=(*path.wanted, *queries)))
        found[0] = replace(direct, wanted=() if len(found) > 1 else direct.wanted, confidence=direct.confidence * 0.85)
    return found


def _ease(score: float) -> float:
    """A hop's score as a factor of the whole: a good hop costs little."""
    return min(1.0, 0.35 + 0.75 * score)


def _settle(path: _Path, ask: Ask, material: Material, asked: Sequence[str]) -> _Path:
    """The path with the value that answers its question as it now reads."""
    options = _resolve(ask, material)
    if not options:
        return replace(path, confidence=0.0, wanted=(*path.wanted, *_queries(ask, asked, 0.0)))
    best = options[0]
    wanted = (*path.wanted, *_queries(ask, asked, best.score))
    return replace(path, value=best.value, evidence=(*path.evidence, best.hit.evidence), confidence=path.confidence * best.score, wanted=wanted)


def _resolve(ask: Ask, material: Material) -> list[Candidate]:
    """The values for one ask, best first, each once; of rivals nearly as good the newest first."""
    best: dict[tuple[str, ...], Candidate] = {}
    support: dict[tuple[str, ...], set[str]] = {}
    for hit in material.find(ask):
        for candidate in candidates(ask, hit):
            key = _key(candidate.value)
            support.setdefault(key, set()).add(candidate.hit.source.key)
            if key not in best or best[key].score < candidate.score:
                best[key] = candidate
    found = sorted(best.values(), key=lambda c: -c.score)
    if not found or ask.past:
        return found[:8]
    close = [c for c in found if c.score >= 0.75 * found[0].score]
    newest = max(close, key=lambda c: (c.hit.day, c.score))
    if newest is not found[0] and newest.hit.day > found[0].hit.day and newest.hit.own >= 0.75 * found[0].hit.own:
        found = [replace(newest, score=max(newest.score, found[0].score * 0.95)), *(c for c in found if c is not newest)]
    return found[:8]


def _queries(ask: Ask, asked: Sequence[str], score: float) -> tuple[str, ...]:
    """Queries for an ask: its names and words, then other words for them while nothing good was found."""
    if score >= SURE:
        return ()
    names = [n for n in ask.names]
    properties = [w for w in ask.words if w not in names]
    forms = [" ".join([*names, *properties])]
    for word in sorted(properties, key=lambda w: -len(synonyms(w))):
        if other := synonyms(word, 2):
            forms.append(" ".join([*names, *other, *(w for w in properties if w != word)][: len(names) + 4]))
    forms += [" ".join(names)] if names else [" ".join(properties[-2:])]
    done = {_key(a) for a in asked}
    tried = sum(_key(f) in done for f in forms)
    if score > 0.3 and tried >= 1 or tried >= 3:
        return ()
    return tuple(f for f in dict.fromkeys(forms) if f and _key(f) not in done)[:2]


def _key(text: str) -> tuple[str, ...]:
    return tuple(sorted(words(text))) or (text,) if not is_chinese(text) else (text.replace(" ", ""),)
