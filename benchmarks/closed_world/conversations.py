"""Conversations of two turns: "And who is its mayor?" refers to the answer of the first question, or to its subject."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.closed_world.draw import Draw
from benchmarks.closed_world.entities import Entity, Fact, World
from benchmarks.closed_world.tables import Language, Relation, of_kind, table
from benchmarks.closed_world.truth import Asked, answers, write_questions
from benchmarks.closed_world.wording import ask, follow, state

_LEADING = ("person", "city", "institute")
"""The kinds of value of which one can ask further."""
_KINDS = ("book", "city", "club", "company", "festival", "institute", "person")


def write_conversations(folder: Path, world: World) -> None:
    """The earlier turns stand in `history`, rightly answered."""
    counts: Mapping[Language, int] = table("questions")["conversations"]
    write_questions(folder, [asked for language, count in counts.items() for asked in _chosen(world, language, count)])


def _chosen(world: World, language: Language, count: int) -> list[Asked]:
    """So many different ones, none of which gives the second answer away; none in a language without regions."""
    found: dict[tuple[str, str, str], Asked] = {}
    pairs = _pairs(world, language)
    while len(found) < count and world.of_language(language):
        first, second = next(pairs)
        key = first.subject.id, first.name, second.name
        row = _row(world, first, second, world.draw("conversation words", *key))
        said = row["history"][-1]["text"]
        if not any(answer in said for answer in answers(second.value, language)):
            found.setdefault(key, (row, [second]))
    return list(found.values())


def _pairs(world: World, language: Language) -> Iterator[tuple[Fact, Fact]]:
    regions = world.of_language(language)
    for number in range(10_000_000):
        draw = world.draw("conversation", language, number)
        onward = number % 2 == 0
        kind = draw.pick(_KINDS)
        first = draw.pick([one for one in of_kind(kind) if not onward or one.value in _LEADING])
        fact = world.fact(draw.pick(regions[number % len(regions)].of(kind)), first.name)
        subject = fact.target if onward else fact.subject
        second: Relation = draw.pick([one for one in of_kind(subject.kind) if one is not first])
        yield fact, world.fact(subject, second.name)


def _row(world: World, first: Fact, second: Fact, words: Draw) -> dict[str, Any]:
    language, subject = first.subject.language, second.subject
    spoken_of = [first.subject, *([first.value] if isinstance(first.value, Entity) else [])]
    turns = {"user": ask([first], words), "assistant": state(first, world.known(first), words)}
    return {
        "language": language,
        "history": [{"speaker": speaker, "text": text} for speaker, text in turns.items()],
        "question": follow(second, words, rivals=[entity.kind for entity in spoken_of if entity != subject]),
        "refers_to": "subject" if subject == first.subject else "answer",
        "fact_type": f"{second.relation.change}-changing",
    }
