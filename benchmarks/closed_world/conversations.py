"""Conversations of two turns: "And who is its mayor?" refers to the answer of the first question, or to its subject."""

import itertools
from collections.abc import Mapping
from pathlib import Path

from benchmarks.closed_world.entities import World
from benchmarks.closed_world.tables import Language, of_kind, table
from benchmarks.closed_world.truth import Asked, answers, write_questions
from benchmarks.closed_world.wording import ask, follow, state

_KINDS = ("book", "city", "club", "company", "festival", "institute", "person")


def write_conversations(folder: Path, world: World) -> None:
    """Different ones, none of which gives the second answer away; none in a language without regions.

    The earlier turns stand in `history`, rightly answered.
    """
    counts: Mapping[Language, int] = table("questions")["conversations"]
    samples: list[Asked] = []
    for language, count in counts.items():
        found: dict[object, Asked] = {}
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
            turns = {"user": ask([first], words), "assistant": state(first, world.known(first), words)}
            row = {
                "language": language,
                "history": [{"speaker": speaker, "text": text} for speaker, text in turns.items()],
                "question": follow(second, words, beside=first.subject if onward else first.value),
                "refers_to": "answer" if onward else "subject",
                "fact_type": f"{second.relation.change}-changing",
            }
            if not any(answer in turns["assistant"] for answer in answers(second.value, language)):
                found.setdefault(key, (row, [second]))
        samples += found.values()
    write_questions(folder, samples)
