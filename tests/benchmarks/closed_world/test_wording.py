"""Everything can be said in several ways; which one is drawn changes no fact."""

import re
from collections.abc import Sequence

from benchmarks.closed_world.draw import Draw
from benchmarks.closed_world.entities import Fact, World
from benchmarks.closed_world.wording import ask, fill, follow, state
from tests.cases import table

each = table(__file__)


def drawn(facts: Sequence[Fact]) -> set[str]:
    return {ask(facts, Draw(number)) for number in range(200)}


def test_wordings_vary_in_questions_and_sentences(world: World) -> None:
    company = world.regions[0].of("company")[0]
    seat = world.fact(company, "headquarters")
    assert len(drawn([seat])) == len(seat.relation.en.ask)
    assert len(drawn([seat, world.fact(seat.target, "mayor")])) >= 9
    sentences = {state(seat, world.known(seat), Draw(number)) for number in range(200)}
    assert len(sentences) == len(seat.relation.en.state)


def test_a_phrase_takes_no_possessive_and_a_clause_comes_last(world: World) -> None:
    for company in world.regions[0].of("company"):
        leader = world.fact(company, "chief_executive")
        school = world.fact(leader.target, "studied_at")
        for text in drawn([leader, school, world.fact(school.target, "founded")]):
            assert company.name.en in text
            assert text.count("'s") <= text.count(f"{company.name.en}'s")
            assert not re.search(r" (where|which|who|that) .* founded\?$", text)


def test_a_second_question_says_which_of_two_it_means(world: World) -> None:
    company, city = (world.regions[0].of(kind)[0] for kind in ("company", "city"))
    founded = world.fact(company, "founded")
    assert all("company" in follow(founded, Draw(number), beside=[city]) for number in range(50))
    mayor = world.fact(city, "mayor")
    assert "And who is its mayor?" in {follow(mayor, Draw(number), beside=[company]) for number in range(50)}


@each("template")
def test_fill(template: str, words: dict[str, str], expected: str) -> None:
    assert fill(template, **words) == expected
