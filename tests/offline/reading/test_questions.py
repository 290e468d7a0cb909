"""Questions become chains of hops, whatever their shape; and claims that they take for granted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.offline.reading import claims, comparisons
from aiq.offline.reading.questions import parse


def chain(question: str) -> tuple[str, list[str], str]:
    """(entity, relations, type of the answer)."""
    parsed = parse(question)
    return parsed.entity, [hop.relation.name if hop.relation else "?" for hop in parsed.hops], parsed.answer


@pytest.mark.parametrize(
    ("question", "entity", "hops", "answer"),
    [
        ("Who is the current mayor of Tessmark?", "Tessmark", ["mayor"], "person"),
        ("How many people work at Halden Works?", "Halden Works", ["employees"], "number"),
        ("In what year was Velmora Institute founded?", "Velmora Institute", ["founded_year"], "year"),
        ("Where did Mira Tessel study?", "Mira Tessel", ["studied"], "thing"),
        ("Who wrote The Glass Meridian?", "The Glass Meridian", ["author"], "person"),
        ("Who directed the movie Jaws?", "Jaws", ["film_director"], "person"),
        (
            "Who is the mayor of the city where Halden Works is headquartered?",
            "Halden Works",
            ["headquarters", "mayor"],
            "person",
        ),
        (
            "What is the population of the city where the founder of Halden Works was born?",
            "Halden Works",
            ["founder", "birthplace", "population"],
            "number",
        ),
        (
            "In what year was the institute where the author of The Glass Meridian studied founded?",
            "The Glass Meridian",
            ["author", "studied", "founded_year"],
            "year",
        ),
        (
            "In what year was the city where the institute where Mira Tessel studied is located founded?",
            "Mira Tessel",
            ["studied", "location", "founded_year"],
            "year",
        ),
        ("What is Halden Works' chief executive's birthplace?", "Halden Works", ["?"], "thing"),
        ("霍尔登工业公司的总部所在城市的市长是谁？", "霍尔登工业公司", ["headquarters", "mayor"], "person"),
        ("《玻璃子午线》的作者就读的学院成立于哪一年？", "玻璃子午线", ["author", "studied", "founded_year"], "year"),
    ],
)
def test_chains(question: str, entity: str, hops: list[str], answer: str) -> None:
    assert chain(question) == (entity, hops, answer)


def test_a_question_about_anything_is_one_hop_with_its_own_words() -> None:
    parsed = parse("Which state has the highest death rate of COVID-19 since Jan 1, 2020?")
    assert [hop.relation for hop in parsed.hops] == [None]
    assert {"highest", "death", "rate"} <= set(parsed.hops[0].words)
    assert parsed.bare.startswith("state has the highest")


@given(st.text(max_size=120))
def test_every_text_is_a_question(text: str) -> None:
    assert parse(text).hops


@pytest.mark.parametrize(
    ("question", "probe", "value", "ended"),
    [
        (
            "Why did Halden Works move its headquarters to Orlune?",
            "Where is Halden Works headquartered?",
            "Orlune",
            False,
        ),
        (
            "When did Ilan Corvey stop being the mayor of the city where Halden Works is headquartered?",
            "Who is the mayor of the city where Halden Works is headquartered?",
            "Ilan Corvey",
            True,
        ),
        ("When did Ana Breck write The Salt Tide?", "Who wrote The Salt Tide?", "Ana Breck", False),
        (
            "Why did the founder of Halden Works study at Velmora Institute?",
            "At which institute did the founder of Halden Works study?",
            "Velmora Institute",
            False,
        ),
    ],
)
def test_claims(question: str, probe: str, value: str, ended: bool) -> None:
    claim = claims.find(question)
    assert claim is not None
    assert (claim.probe, claim.value, claim.ended) == (probe, value, ended)


def test_plain_questions_claim_nothing() -> None:
    assert claims.find("Who is the mayor of Tessmark?") is None


def test_listed_comparisons() -> None:
    found = comparisons.listed("Who was born first: the founder of Halden Works, the mayor of Tessmark or Ana Breck?")
    assert found is not None
    assert not found.largest
    assert [part.entity for part in found.parts] == ["Halden Works", "Tessmark", "Ana Breck"]
    names = [[hop.relation.name for hop in part.hops if hop.relation] for part in found.parts]
    assert names == [["founder", "birth_year"], ["mayor", "birth_year"], ["birth_year"]]
    assert comparisons.listed("Who is the mayor of Tessmark?") is None
    assert comparisons.of_group("Which of the companies headquartered in Tessmark was founded first?")
