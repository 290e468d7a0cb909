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
        by_key: dict[object, Conversation] = {}
        regions, tries = world.of_language(language), itertools.count()
        while regions and len(by_key) < count:
            number = next(tries)
            draw, onward = world.draw("conversation", language, number), number % 2 == 0
            kind = draw.pick(_KINDS)
            relation = draw.pick([r for r in of_kind(kind) if r.path or not onward])
            first = world.fact(draw.pick(regions[number % len(regions)].of(kind)), relation.name)
            subject = first.target if onward else first.subject
            second = world.fact(subject, draw.pick([r.name for r in of_kind(subject.kind) if r is not relation]))
            key = (*first.key, second.name)
            words = world.draw("conversation words", *key)
            asked, answered = ask([first], words), state(first, world.known(first), words)
            asked_then = follow(second, words, beside=[first.subject if onward else first.value])
            if not any(answer in answered for answer in answers(second.value, language)):
                by_key.setdefault(key, Conversation(first, second, onward, asked, answered, asked_then))
        conversations += by_key.values()
    return conversations


def write_conversations(folder: Path, conversations: Sequence[Conversation]) -> None:
    """Write the form in which the first question is in `history`, with the correct answer."""
    samples: list[Asked] = []
    for talk in conversations:
        exchange = {"user": talk.asked, "assistant": talk.answered}
        history = [{"speaker": speaker, "text": text} for speaker, text in exchange.items()]
        samples.append(_sample(talk, {"history": history}, talk.asked_then, talk.second, talk.onward))
    write_questions(folder, samples)


def write_turns(folder: Path, world: World, conversations: Sequence[Conversation]) -> None:
    """Write the form in which the agent answers all turns. Some have a third, a follow-up or about the first answer."""
    samples: list[Asked] = []
    for talk in conversations:
        columns = {"turns": [talk.asked], "sort": "two"}
        samples.append(_sample(talk, columns, talk.asked_then, talk.second, talk.onward))
    for sort, make in (("three", _third), ("recall", _recall)):
        for language, count in table("questions")["turns"][sort].items():
            candidates = (make(world, talk) for talk in conversations if talk.language == language)
            samples += itertools.islice(filter(None, candidates), count)
    write_questions(folder, samples)


def _third(world: World, talk: Conversation) -> Asked | None:
    """A third question, about the second's answer or its subject; None if another entity of that kind was mentioned."""
    first, second = talk.first, talk.second
    onward = isinstance(second.value, Entity) and bool(of_kind(second.value.kind))
    subject = second.target if onward else second.subject
    words = world.draw("third turn", *first.key, second.name)
    candidates = [fact for fact in world.about(subject) if fact.key not in (first.key, second.key)]
    third = words.pick(candidates)
    mentioned = [value for value in (first.subject, first.value, second.subject, second.value) if value is not subject]
    text = " ".join((talk.asked, talk.answered, *answers(second.value, talk.language)))
    ambiguous = any(isinstance(value, Entity) and value.kind == subject.kind for value in mentioned)
    if ambiguous or any(answer in text for answer in answers(third.value, talk.language)):
        return None
    columns = {"turns": [talk.asked, talk.asked_then], "sort": "three"}
    return _sample(talk, columns, follow(third, words, beside=mentioned), third, onward)


def _recall(world: World, talk: Conversation) -> Asked | None:
    """A question for the first answer, which no page states; None if it changes, as it may have been wrong."""
    if talk.first.relation.change != "never":
        return None
    wordings = table("questions")["recall"][talk.language]
    words = world.draw("recall", *talk.first.key, talk.second.name)
    question = fill(words.pick(wordings["ask"]), v=wordings["values"][talk.first.relation.value])
    return _sample(talk, {"turns": [talk.asked, talk.asked_then], "sort": "recall"}, question, talk.first, True)


def _sample(talk: Conversation, columns: Mapping[str, object], question: str, fact: Fact, of_answer: bool) -> Asked:
    row = {
        "language": talk.language,
        **columns,
        "question": question,
        "refers_to": "answer" if of_answer else "subject",
        "fact_type": f"{fact.relation.change}-changing",
    }
    return row, [fact]
