"""A table of things against what is known of them, each cell with its citation."""

from collections.abc import Mapping, Sequence

from aiq.offline.reading import facts
from aiq.offline.reading.findings import Reference
from aiq.offline.reading.knowledge import Thing
from aiq.offline.writing import phrases

MOST_COLUMNS = 5


def columns(things: Sequence[Thing]) -> list[str]:
    """Relations that at least two of the things, and a third of them, have; most common first."""
    counts: dict[str, int] = {}
    for thing in things:
        for relation in thing.known:
            counts[relation] = counts.get(relation, 0) + 1
    common = [relation for relation, count in counts.items() if count > 1 and count * 3 >= len(things)]
    return sorted(common, key=lambda relation: -counts[relation])[:MOST_COLUMNS]


def table(
    things: Sequence[Thing], numbers: Mapping[str, tuple[int, Reference]], seed: int | None, *, chinese: bool
) -> str:
    """Markdown, one row a thing; empty where there is too little to compare."""
    shown = columns(things)
    if len(things) < 3 or len(shown) < 2:
        return ""
    head = [phrases.say("name", seed, chinese=chinese), *(facts.noun(r, chinese=chinese) for r in shown)]
    rows = [[cell[:1].upper() + cell[1:] for cell in head], ["---"] * len(head)]
    for thing in things:
        rows.append([thing.name, *(_cell(thing, relation, numbers) for relation in shown)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(thing: Thing, relation: str, numbers: Mapping[str, tuple[int, Reference]]) -> str:
    evidence = thing.known.get(relation)
    if evidence is None:
        return "–"
    number = numbers.get(evidence.document.key)
    return f"{evidence.answer} [{number[0]}]" if number else evidence.answer
