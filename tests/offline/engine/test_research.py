import pytest

from aiq.offline.engine import research
from aiq.offline.engine.source import Source
from tests.cases import table

each = table(__file__)

TASK = (
    "Write a report on glass making in the Harl district: the workshops, their owners and number of employees, the "
    "training of the owners, and how the trade has changed."
)


@each("question")
def test_questions_are_told_apart_from_open_tasks(task: str, question: bool) -> None:
    assert research.is_question(task) is question


@each("topic")
def test_a_task_has_a_subject_and_facets(task: str, subject: str, facets: list[str]) -> None:
    topic = research.topic(task)
    assert (topic.subject, [facet.title for facet in topic.facets]) == (subject, facets)


@each("part")
def test_a_part_of_a_question_is_the_question(task: str, of_question: str) -> None:
    assert research.of_question(task) == of_question


@pytest.mark.parametrize(("least", "most"), [(3, 4), (5, 8), (6, 6)])
def test_an_outline_keeps_within_its_bounds_and_ends_with_a_conclusion(least: int, most: int) -> None:
    titles = research.outline(research.topic(TASK), least, most)
    assert least <= len(titles) <= most
    assert titles[-1] == "Conclusion"


def test_things_named_in_the_evidence_are_gaps_until_they_are_looked_up() -> None:
    topic = research.topic(TASK)
    found = [
        Source(
            "The workshops of glass making in the Harl district are Brone Glass and Tilt Mirrors.", "https://a", "Harl"
        ),
        Source("The owner of Brone Glass is Edda Marrow, who has 40 employees.", "https://b", "Brone Glass"),
    ]
    named = research.gaps(topic, found, ())
    assert any(query.startswith("Tilt Mirrors") for query in named)
    assert any(query.startswith("Edda Marrow") for query in named)
    left = research.gaps(topic, found, ("Tilt Mirrors owner",))
    assert not any(query.startswith("Tilt Mirrors") for query in left)


def test_a_facet_without_evidence_is_a_gap() -> None:
    topic = research.topic(TASK)
    assert any("changed" in query for query in research.gaps(topic, [], ()))
