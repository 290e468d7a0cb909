"""Conversations of two turns: "And who is its mayor?" refers to the answer of the first question, or to its subject."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.closed_world.draw import Draw
from benchmarks.closed_world.entities import Entity, Fact, World
from benchmarks.closed_world.tables import Language, Relation, of_kind, table
from benchmarks.closed_world.truth import answers, path_truth, write_jsonl
from benchmarks.closed_world.wording import ask, follow, state

_LEADING = ("person", "city", "institute")
"""The kinds of value of which one can ask further."""
_KINDS = ("book", "city", "club", "company", "festival", "institute", "person")


def write_conversations(folder: Path, world: World) -> None:
    """`questions.jsonl` and `truth.jsonl`; ids count from 1. The earlier turns stand in `history`, rightly answered."""
    counts: Mapping[Language, int] = table("questions")["conversations"]
    chosen = [talk for language, count in counts.items() for talk in _chosen(world, language, count)]
    numbered = list(enumerate(chosen, start=1))
    write_jsonl(folder / "questions.jsonl", ({"id": str(number), **talk.row()} for number, talk in numbered))
    write_jsonl(
        folder / "truth.jsonl",
        (path_truth(number, [talk.second], hops=1, language=talk.language) for number, talk in numbered),
    )


@dataclass(frozen=True, slots=True)
class Talk:
    """A question, its answer, and the next question, which is about that answer or about the subject of the first."""

    first: Fact
    second: Fact
    asked: str
    answered: str
    asked_next: str

    @property
    def language(self) -> Language:
        return self.first.subject.language

    def row(self) -> dict[str, Any]:
        """As `aiq.datasets.questions` reads it, without the id."""
        turns = (("user", self.asked), ("assistant", self.answered))
        return {
            "language": self.language,
            "history": [{"speaker": speaker, "text": text} for speaker, text in turns],
            "question": self.asked_next,
            "answers": list(answers(self.second.value, self.language)),
            "refers_to": "subject" if self.second.subject == self.first.subject else "answer",
            "fact_type": f"{self.second.relation.change}-changing",
        }


def _chosen(world: World, language: Language, count: int) -> list[Talk]:
    """So many different ones, none of which gives the second answer away; none in a language without regions."""
    found: dict[tuple[str, str, str], Talk] = {}
    pairs = _pairs(world, language)
    while len(found) < count and world.of_language(language):
        first, second = next(pairs)
        key = first.subject.id, first.name, second.name
        talk = _worded(world, first, second, Draw(world.seed, "conversation words", *key))
        if not any(answer in talk.answered for answer in answers(second.value, language)):
            found.setdefault(key, talk)
    return list(found.values())


def _pairs(world: World, language: Language) -> Iterator[tuple[Fact, Fact]]:
    regions = world.of_language(language)
    for number in range(10_000_000):
        draw = Draw(world.seed, "conversation", language, number)
        onward = number % 2 == 0
        kind = draw.pick(_KINDS)
        first = draw.pick([one for one in of_kind(kind) if not onward or one.value in _LEADING])
        fact = world.fact(draw.pick(regions[number % len(regions)].of(kind)), first.name)
        subject = fact.target if onward else fact.subject
        second: Relation = draw.pick([one for one in of_kind(subject.kind) if one is not first])
        yield fact, world.fact(subject, second.name)


def _worded(world: World, first: Fact, second: Fact, words: Draw) -> Talk:
    spoken_of = [first.subject, *([first.value] if isinstance(first.value, Entity) else [])]
    return Talk(
        first,
        second,
        asked=ask([first], words, first.subject.language),
        answered=state(first, world.known(first), words),
        asked_next=follow(second, words, rivals=[entity.kind for entity in spoken_of if entity != second.subject]),
    )
