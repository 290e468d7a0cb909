"""Conversations: "And who is its mayor?" refers to the answer to the previous question, or to its subject.

They come in two forms: with the first question answered correctly (`history`), or as `turns` for the agent to answer.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.closed_world.entities import Entity, Fact, World
from benchmarks.closed_world.tables import Language, of_kind, table
from benchmarks.closed_world.truth import Asked, answers, write_questions
from benchmarks.closed_world.wording import ask, fill, follow, state

_KINDS = ("book", "city", "club", "company", "festival", "institute", "person")


@dataclass(frozen=True, slots=True)
class Conversation:
    """Two questions: `second` is about the value of `first` (`onward`), or about its subject."""

    first: Fact
    second: Fact
    onward: bool
    asked: str
    answered: str
    asked_then: str

    @property
    def language(self) -> Language:
        return self.first.subject.language


def make_conversations(world: World) -> list[Conversation]:
    """Different conversations, in which nothing gives the second answer away; none in a language without regions."""
    counts: Mapping[Language, int] = table("questions")["conversations"]
    conversations: list[Conversation] = []
    for language, count in counts.items():
        found: dict[object, Conversation] = {}
        regions, tries = world.of_language(language), itertools.count()
        while regions and len(found) < count:
            number = next(tries)
            draw, onward = world.draw("conversation", language, number), number % 2 == 0
            kind = draw.pick(_KINDS)
            relation = draw.pick([one for one in of_kind(kind) if one.path or not onward])
            first = world.fact(draw.pick(regions[number % len(regions)].of(kind)), relation.name)
            subject = first.target if onward else first.subject
            second = world.fact(subject, draw.pick([one.name for one in of_kind(subject.kind) if one is not relation]))
            key = (*first.key, second.name)
            words = world.draw("conversation words", *key)
            asked, answered = ask([first], words), state(first, world.known(first), words)
            asked_then = follow(second, words, beside=[first.subject if onward else first.value])
            if not any(answer in answered for answer in answers(second.value, language)):
                found.setdefault(key, Conversation(first, second, onward, asked, answered, asked_then))
        conversations += found.values()
    return conversations


def write_conversations(folder: Path, conversations: Sequence[Conversation]) -> None:
    """Write the form in which the first question is in `history`, with the correct answer."""
    samples: list[Asked] = []
    for one in conversations:
        said = {"user": one.asked, "assistant": one.answered}
        history = [{"speaker": speaker, "text": text} for speaker, text in said.items()]
        samples.append(_asked(one, {"history": history}, one.asked_then, one.second, one.onward))
    write_questions(folder, samples)


def write_turns(folder: Path, world: World, conversations: Sequence[Conversation]) -> None:
    """Write the form in which the agent answers all turns. Some have a third, a follow-up or about the first answer."""
    samples: list[Asked] = []
    for one in conversations:
        before = {"turns": [one.asked], "sort": "two"}
        samples.append(_asked(one, before, one.asked_then, one.second, one.onward))
    for sort, make in (("three", _third), ("recall", _recall)):
        for language, count in table("questions")["turns"][sort].items():
            made = (make(world, one) for one in conversations if one.language == language)
            samples += itertools.islice(filter(None, made), count)
    write_questions(folder, samples)


def _third(world: World, one: Conversation) -> Asked | None:
    """A third question, about the second's answer or its subject; None if another entity of that kind was mentioned."""
    first, second = one.first, one.second
    onward = isinstance(second.value, Entity) and bool(of_kind(second.value.kind))
    subject = second.target if onward else second.subject
    words = world.draw("third turn", *first.key, second.name)
    open_ones = [fact for fact in world.about(subject) if fact.key not in (first.key, second.key)]
    third = words.pick(open_ones)
    others = [value for value in (first.subject, first.value, second.subject, second.value) if value is not subject]
    said = " ".join((one.asked, one.answered, *answers(second.value, one.language)))
    alike = any(isinstance(value, Entity) and value.kind == subject.kind for value in others)
    if alike or any(answer in said for answer in answers(third.value, one.language)):
        return None
    before = {"turns": [one.asked, one.asked_then], "sort": "three"}
    return _asked(one, before, follow(third, words, beside=others), third, onward)


def _recall(world: World, one: Conversation) -> Asked | None:
    """A question for the first answer, which no page states; None if it changes, as it may have been wrong."""
    if one.first.relation.change != "never":
        return None
    wordings = table("questions")["recall"][one.language]
    words = world.draw("recall", *one.first.key, one.second.name)
    question = fill(words.pick(wordings["ask"]), v=wordings["values"][one.first.relation.value])
    return _asked(one, {"turns": [one.asked, one.asked_then], "sort": "recall"}, question, one.first, True)


def _asked(one: Conversation, before: Mapping[str, object], question: str, fact: Fact, of_answer: bool) -> Asked:
    row = {
        "language": one.language,
        **before,
        "question": question,
        "refers_to": "answer" if of_answer else "subject",
        "fact_type": f"{fact.relation.change}-changing",
    }
    return row, [fact]
