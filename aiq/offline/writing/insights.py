"""What a comparison of the facts shows: extremes, ages, and what things have in common; each with its sources."""

from collections import defaultdict
from collections.abc import Sequence

from aiq.offline.reading import facts
from aiq.offline.reading.evidence import Evidence
from aiq.offline.reading.findings import Finding, Reference
from aiq.offline.reading.knowledge import Thing
from aiq.offline.writing import phrases

_SIZES = ("employees", "population")
_YEARS = ("founded_year", "published")
_COMMON = ("headquarters", "location", "studied", "birthplace")


def compare(things: Sequence[Thing], seed: int | None, *, chinese: bool) -> list[Finding]:
    """Statements about things of one part, most telling first."""
    statements = [_extremes(things, relation, "largest", seed, chinese=chinese) for relation in _SIZES]
    statements += [_extremes(things, relation, "oldest", seed, chinese=chinese) for relation in _YEARS]
    found = [statement for statement in statements if statement is not None]
    for relation in _COMMON:
        found += _shared(things, relation, seed, chinese=chinese)
    return found


def _extremes(things: Sequence[Thing], relation: str, kind: str, seed: int | None, *, chinese: bool) -> Finding | None:
    """Largest and smallest of at least two things that have a number."""
    counted = [
        (number, thing)
        for thing in things
        if thing.has(relation) and (number := facts.plain_number(thing.known[relation].answer)) is not None
    ]
    if len(counted) < 2 or counted[0][0] == counted[-1][0]:
        return None
    ranked = sorted(counted, key=lambda item: -item[0])
    (_, high), (_, low) = ranked[0], ranked[-1]
    first, last = (low, high) if kind == "oldest" else (high, low)
    text = phrases.say(
        kind,
        seed,
        chinese=chinese,
        noun=facts.noun(relation, chinese=chinese),
        top=first.name,
        bottom=last.name,
        most=high.known[relation].answer,
        least=low.known[relation].answer,
    )
    return _statement(text, (high.known[relation], low.known[relation]), chinese=chinese)


def _shared(things: Sequence[Thing], relation: str, seed: int | None, *, chinese: bool) -> list[Finding]:
    """Values that several things, but not all, have in common."""
    groups: defaultdict[str, list[Thing]] = defaultdict(list)
    for thing in things:
        if thing.has(relation):
            groups[thing.known[relation].answer].append(thing)
    found = []
    for value, group in groups.items():
        if len(group) > 1:
            text = phrases.say(
                "shared",
                seed,
                chinese=chinese,
                list=phrases.enumerate_([thing.name for thing in group], chinese=chinese),
                noun=facts.noun(relation, chinese=chinese),
                value=value,
            )
            found.append(_statement(text, [thing.known[relation] for thing in group], chinese=chinese))
    return found


def _statement(text: str, evidence: Sequence[Evidence], *, chinese: bool) -> Finding:
    sources = dict.fromkeys(Reference(key=e.document.key, title=e.document.title) for e in evidence)
    return Finding(text=text + ("。" if chinese else "."), sources=tuple(sources))
