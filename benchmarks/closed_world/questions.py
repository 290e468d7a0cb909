"""The questions of the mini FreshQA: all sorts in their shares, spread over the regions, in the official columns."""

import csv
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from aiq.core.base import Record
from benchmarks.closed_world.draw import Draw
from benchmarks.closed_world.entities import Entity, Fact, Region, World
from benchmarks.closed_world.tables import PACES, RELATIONS, Relation, Texts, of_kind, pace, table
from benchmarks.closed_world.truth import answers, path_truth, write_jsonl
from benchmarks.closed_world.wording import ask, fill

_TABLE = table("questions")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question before it becomes a row.

    `key`: equal for two questions that ask the same in other words. `answers`: accepted answers, the fullest first.
    `facts`: the facts needed, in the order in which they are found.
    """

    key: object
    text: str
    answers: Texts
    facts: tuple[Fact, ...]
    false_premise: bool = False
    needs_depth: bool = False


class Comparison(Record):
    """A row of `compare`, explained in `questions.toml`."""

    kind: str
    seated: str | None = None
    sample: int | None = None
    via: str | None = None
    measure: str
    best: Literal["largest", "smallest"] | None = None
    before: tuple[int, int] = (0, 0)
    ask: Texts


class Premise(Record):
    """A row of `false` or `false_multi`, explained in `questions.toml`."""

    kind: str
    path: Texts
    wrong: Literal["value", "subject"] | None = None
    drawn: Literal["subject", "other"] | None = None
    named: int = 0
    lasting: bool = False
    ask: tuple[Texts, ...]
    answers: Texts


Maker = Callable[[World, Region, Draw], Asked | None]


def choose_questions(world: World, count: int) -> list[Asked]:
    """`count` different questions about the English regions, in random order."""
    regions, shares = world.of_language("en"), _TABLE["shares"]
    questions: dict[object, Asked] = {}
    share = 0
    for sort in shares:
        makers, share = _makers(sort), share + shares[sort]
        tries = itertools.count()
        while len(questions) < share * count // sum(shares.values()):  # rounded so that the shares add up
            number = next(tries)
            make, region = makers[number % len(makers)], regions[number // len(makers) % len(regions)]
            if question := make(world, region, world.draw("question", sort, number)):
                questions.setdefault(question.key, question)
    return world.draw("order").shuffled(list(questions.values()))


def _makers(sort: str) -> list[Maker]:
    """The makers of questions of a sort, to be used in turn."""
    if sort == "compare":
        return [partial(_comparison, Comparison(**row)) for row in _TABLE[sort]]
    if sort in _TABLE:
        return [partial(_premise, Premise(**row)) for row in _TABLE[sort]]
    chains = [[relation] for relation in RELATIONS.values() if not (relation.in_document or relation.kind == "scene")]
    for _ in range(_TABLE["numbers"].index(sort) - 1):
        chains = [[*chain, link] for chain in chains if chain[-1].path for link in of_kind(chain[-1].value)]
    return [partial(_chain_question, [chain for chain in chains if pace(chain) == change]) for change in PACES]


def _chain_question(chains: Sequence[Sequence[Relation]], world: World, region: Region, draw: Draw) -> Asked | None:
    """A question along one of the chains; None if it leads back to something already met, which is too easy."""
    kind = draw.pick(sorted({chain[0].kind for chain in chains}))
    chain = draw.pick([chain for chain in chains if chain[0].kind == kind])
    start = draw.pick(region.of(kind))
    facts = world.path(start, *(relation.name for relation in chain))
    visited = [start, *(fact.value for fact in facts if isinstance(fact.value, Entity))]
    key = tuple(fact.key for fact in facts)
    if len(set(visited)) < len(visited):
        return None
    return Asked(key, ask(facts, world.draw("question words", key)), answers(facts[-1].value), tuple(facts))


def _comparison(form: Comparison, world: World, region: Region, draw: Draw) -> Asked | None:
    """A question about several entities, too many for a small search budget."""
    words: dict[str, object] = {"industry": region.industry.en, "place": region.place.en}
    subjects, leading = region.of(form.kind), list[Fact]()
    if form.seated:
        city = draw.pick(region.of("city"))
        leading = [seat for subject in subjects if (seat := world.fact(subject, form.seated)).value is city]
        subjects, words["city"] = [seat.subject for seat in leading], city
    if form.sample:
        subjects = draw.shuffled(subjects)[: form.sample]
        words["names"] = subjects
    if form.via:
        leading = [world.fact(subject, form.via) for subject in subjects]
        subjects = [fact.target for fact in leading]
    facts = [world.fact(subject, form.measure) for subject in subjects]
    words["year"] = year = draw.between(*form.before)
    accepted = _comparison_answers(form, facts, year) if len(facts) > 2 else ()
    key = fill(form.ask[0], **words)
    text = fill(world.draw("question words", key).pick(form.ask), **words)
    return Asked(key, text, accepted, (*leading, *facts), needs_depth=True) if accepted else None


def _comparison_answers(form: Comparison, facts: Sequence[Fact], year: int) -> Texts:
    """How many are before the year, or whose is the largest or smallest; empty if none are, or for a tie."""
    if form.best is None:
        count = sum(fact.number < year for fact in facts)
        return (str(count), _TABLE["numbers"][count]) if count else ()
    first, second = sorted(facts, key=lambda fact: fact.number, reverse=form.best == "largest")[:2]
    return answers(first.subject) if first.number != second.number else ()


def _premise(form: Premise, world: World, region: Region, draw: Draw) -> Asked | None:
    """A question with a false premise: the right answer says so."""
    pair = draw.shuffled(region.of(form.kind))[:2] if form.drawn else [draw.pick(region.of(form.kind))]
    if form.drawn == "other":
        pair.reverse()
    facts = world.path(pair[0], *form.path)
    fact = facts[-1]
    if form.lasting and len(fact.history) > 1:
        return None
    words = {"start": pair[0], "subject": fact.subject, "right": fact.target}
    if form.wrong == "value":
        words["wrong"] = _other_entity(draw, region, fact.target)
    elif form.wrong == "subject":
        words["other"] = pair[1] if form.drawn else _other_entity(draw, region, fact.subject)
        words["wrong"] = world.fact(words["other"], fact.name).target
    wordings = draw.pick(form.ask)
    key = fill(wordings[0], **words)
    text = fill(world.draw("question words", key).pick(wordings), **words)
    accepted = tuple(fill(answer, **words) for answer in form.answers)
    return Asked(key, text, accepted, tuple(facts[form.named :]), false_premise=True)


def _other_entity(draw: Draw, region: Region, entity: Entity) -> Entity:
    return draw.pick([other for other in region.of(entity.kind) if other != entity])


def write_freshqa(folder: Path, world: World, questions: Sequence[Asked]) -> None:
    """Write `freshqa_mini.csv` and `truth.jsonl`; ids count from 1, every sixth row is in split DEV."""
    numbered = list(enumerate(questions, start=1))
    truths = (path_truth(number, question.facts, needs_depth=question.needs_depth) for number, question in numbered)
    write_jsonl(folder / "truth.jsonl", truths)
    with (folder / "freshqa_mini.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, _TABLE["columns"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(_row(world, number, question) for number, question in numbered)


def _row(world: World, number: int, question: Asked) -> dict[str, str]:
    change = pace(fact.relation for fact in question.facts)
    since = max((fact.changed.year for fact in question.facts if fact.relation.change != "never"), default=0)
    return {
        "id": str(number),
        "split": "DEV" if number % 6 == 0 else "TEST",
        "question": question.text,
        "effective_year": str(since) if since >= 2022 else "before 2022",
        "next_review": _TABLE["next_review"][change],
        "false_premise": str(question.false_premise).upper(),
        "num_hops": "one-hop" if len(question.facts) == 1 else "multi-hop",
        "fact_type": f"{change}-changing",
        "source": "\n".join(dict.fromkeys(map(world.source, question.facts))),
        **{f"answer_{index}": answer for index, answer in enumerate(question.answers)},
    }
