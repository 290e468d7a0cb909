"""Research tasks as subject and facets, English and Chinese; outlines made from them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.offline.reading import facts, outline, tasks


@pytest.mark.parametrize(
    ("text", "subject", "some_facets"),
    [
        (
            "Write a report on kite making in the Fenlow Valley: which companies there are, who founded them, and the "
            "outlook.",
            "kite making in the Fenlow Valley",
            ["Which companies there are", "Who founded them", "Outlook"],
        ),
        (
            "I am preparing an investment in tidal energy on the Arn Coast. Give me a full picture of the companies "
            "(headquarters, founders), and of the development of the trade.",
            "tidal energy on the Arn Coast",
            ["Companies", "Development of the trade"],
        ),
        (
            "In ecology, how do birds find their way? What cues and disturbances influence this process?",
            "how birds find their way",
            ["What cues and disturbances influence this process"],
        ),
        (
            "What are the best ways to grow rice? The report should assess their feasibility, and compare the costs.",
            "best ways to grow rice",
            ["Feasibility", "Costs"],
        ),
        (
            "Survey higher education in Arn for a city council: which institutes there are, and where.",
            "higher education in Arn",
            [],
        ),
        (
            "请撰写一份关于潮汐能的研究报告：有哪些公司，由谁创办，总部设在哪里。",
            "潮汐能",
            ["有哪些公司", "由谁创办", "总部设在哪里"],
        ),
    ],
)
def test_subject_and_facets(text: str, subject: str, some_facets: list[str]) -> None:
    task = tasks.parse(text)
    assert task.subject == subject
    assert set(some_facets) <= {facet.title for facet in task.facets}


def test_the_field_is_part_of_the_keys() -> None:
    task = tasks.parse(
        "(working on LN-based nonlinear photonics):\nPossible ways to mitigate damage after plasma etching?"
    )
    assert task.context == "LN-based nonlinear photonics"
    assert {"nonlinear", "photonic", "damage"} <= set(task.keys)


@pytest.mark.parametrize(
    ("text", "compares"), [("Compare A and B.", True), ("Write about A.", False), ("横向比较各公司。", True)]
)
def test_comparisons_are_noticed(text: str, compares: bool) -> None:
    assert tasks.parse(text).compare is compares


@given(st.text(max_size=200))
def test_every_text_parses_and_gives_an_outline_within_bounds(text: str) -> None:
    task = tasks.parse(text)
    titles = outline.sections(task, 4, 6)
    assert len(titles) <= 6
    assert outline.is_conclusion(titles[-1])


def test_outlines_are_filled_up_and_compare_where_asked() -> None:
    titles = outline.sections(tasks.parse("Compare kites and balloons."), 5, 8)
    assert titles[0] == "Background"
    assert "Comparison" in titles
    assert len(titles) >= 5


@pytest.mark.parametrize(
    ("task", "relations", "onward"),
    [
        ("which companies, who founded them, where the founders were born", {"founder", "birthplace"}, ["founder"]),
        (
            "the novels, their authors, where the authors were born, who is the mayor of their home cities",
            {"author", "birthplace", "mayor"},
            ["author", "birthplace"],
        ),
        ("institutes with director; where the directors studied, when those institutes were founded",
         {"director", "studied", "founded_year"}, ["director", "studied"]),
        ("the population of each city", {"population"}, []),
        ("有哪些公司，由谁创办；创始人出生于哪座城市", {"founder", "birthplace"}, ["founder"]),
    ],
)  # fmt: skip
def test_wanted_relations_and_where_they_lead(task: str, relations: set[str], onward: list[str]) -> None:
    wanted = facts.wanted(task)
    assert relations <= set(wanted.relations)
    assert list(wanted.onward) == onward


@pytest.mark.parametrize(
    ("sentence", "things"),
    [
        (
            "The companies are Arden Kites, Bellow Works and Corin Sails.",
            ("Arden Kites", "Bellow Works", "Corin Sails"),
        ),
        ("业内的公司有甲乙公司、丙丁公司、戊己公司。", ("甲乙公司", "丙丁公司", "戊己公司")),
        ("The companies are old, small and proud.", ()),
        ("Arden Kites is a company.", ()),
        ("Arden Kites and Bellow Works are companies.", ()),
    ],
)
def test_lists_of_things(sentence: str, things: tuple[str, ...]) -> None:
    assert facts.listed(sentence) == things


def test_queries_name_relations_by_their_nouns() -> None:
    relations = facts.wanted("companies with headquarters, founders and number of employees").relations
    nouns = ", ".join(facts.noun(name, chinese=False) for name in relations)
    assert set(facts.named(nouns)) == set(relations)
    chinese = "、".join(facts.noun(name, chinese=True) for name in relations)
    assert set(facts.named(chinese)) == set(relations)
