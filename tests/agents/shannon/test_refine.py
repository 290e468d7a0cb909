"""How a question is refined, and what remains if that fails."""

from typing import Any

import pytest

from tests.agents.shannon.runs import AREAS, QUESTION, QUICK, Ran, Said, report, research
from tests.cases import table

each = table(__file__)

ENTITY = {
    "refined_query": "Q",
    "research_areas": ["Origins"],
    "exact_queries": ["\"'Orlune'\"", '"Orlune Works"'],
    "official_domains": ["orlune.test"],
}


async def refine(said: Said, query: str = QUESTION, **refine: Any) -> Ran:
    settings = {**QUICK, "refine": refine, "citations": {"entity_filter": False}}
    return await research({"refiner": said, "synthesizer": "So [1]."}, settings, {"text": query})


@pytest.mark.parametrize(
    ("said", "settings", "query", "areas"),
    [
        ({"refined_query": " Q ", "research_areas": [" A", "A ", "", "B\nC"]}, {}, "Q", ["A", "B C"]),
        ({"refined_query": "x" * 300, "research_areas": ["A"]}, {"query_chars": 20}, "x" * 20, ["A"]),
        ({"refined_query": "Q", "research_areas": list("ABCDEFGHI")}, {}, "Q", list("ABCDEFG")),
        ({"refined_query": "Q", "research_areas": list("ABC")}, {"max_areas": 2, "min_areas": 1}, "Q", ["A", "B"]),
        ({"refined_query": "Q"}, {}, "Q", [QUESTION]),
        (
            {"refined_query": "Q", "research_areas": ["A"], "canonical_name": None, "exact_queries": None},
            {},
            "Q",
            ["A"],
        ),
        ({"refined_query": " "}, {}, QUESTION, [QUESTION]),
        ("no JSON, twice", {}, QUESTION, [QUESTION]),
        (500, {}, QUESTION, []),
        ({"refined_query": "Q", "research_areas": ["A"]}, {"enabled": False}, QUESTION, []),
    ],
)
async def test_the_query_and_its_areas(said: Said, settings: dict[str, Any], query: str, areas: list[str]) -> None:
    ran = await refine(said, **settings)
    request = ran.asked("decomposer")[0].messages[1].text
    assert f"<refined_query>\n{query}\n</refined_query>" in request
    assert ran.extras["research_areas"] == areas
    assert bool(ran.asked("refiner")) is settings.get("enabled", True)


async def test_a_long_question_that_cannot_be_refined_is_one_heading() -> None:
    ran = await refine("no JSON", "Describe\n\n  Orlune, its trade and its people.")
    assert ran.extras["research_areas"] == ["Describe Orlune, its trade and its people."]


@each("entity")
async def test_an_entity_without_a_name_has_that_of_its_first_exact_query(named: dict[str, Any], hint: str) -> None:
    settings = {**QUICK, "citations": {"entity_filter": True}}
    parts: dict[str, Said] = {"refiner": {**ENTITY, **named}, "synthesizer": "So [1].", "researcher": "Of Basel."}
    ran = await research(parts, {**settings, "execution": {"force_search": True}})
    # the forced search names neither, and is left out of the evidence where there is a name
    causes = [decision.cause for decision in ran.decided("entity_filter")]
    assert causes == ([f"forced-search do not name {hint}"] if hint else [])


@each("language")
async def test_the_report_is_asked_for_in_the_language_of_the_question(
    query: str, settings: dict[str, Any], language: str
) -> None:
    ran = await refine({"refined_query": "Q", "research_areas": ["A"]}, query, **settings)
    assert f"Language: {language}\n" in ran.prompt("synthesizer")
    assert f"Language of the question: {language}." in ran.prompt("refiner")


async def test_a_reply_that_cannot_be_read_is_repaired_once() -> None:
    ran = await research({"refiner": lambda request: "no" if len(request.messages) > 1 else ENTITY}, QUICK)
    assert ran.recovered == ["unparsable_refinement"]
    assert ran.extras["research_areas"] == ["Origins"]
    assert len(ran.asked("refiner")) == 2


async def test_tier_timeout_and_numbers_of_areas_of_the_refiner_are_settings() -> None:
    parts: dict[str, Said] = {"synthesizer": report(*AREAS)}
    ran = await research(parts, {**QUICK, "refine": {"tier": "large", "min_areas": 3, "timeout_seconds": 30}})
    assert [request.role for request in ran.asked("refiner")] == ["shannon.large.refiner"]
    assert "write 3 to 7 research areas" in ran.prompt("refiner")
    assert ran.bench.endpoint.seconds[0] == 30
