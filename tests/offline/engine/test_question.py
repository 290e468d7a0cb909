"""What a question asks and which of its parts describe something to be found first."""

import pytest

from aiq.offline.engine.describe import description, rewritten
from aiq.offline.engine.question import parse, tidy


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who runs Wimco?", "person"),
        ("Where does the Wim rise?", "place"),
        ("Which town hosts the fair?", "place"),
        ("Which company makes the lamps?", "organisation"),
        ("When was the bridge opened?", "date"),
        ("How tall is the tower?", "number"),
        ("How old is Mara Venn?", "age"),
        ("Why was the mine shut?", "reason"),
        ("What colour are its doors?", "colour"),
        ("What does she do for a living?", "occupation"),
        ("Is the museum open?", "yes"),
        ("How populous is Ostrel?", "number"),
        ("镇长是谁?", "person"),
        ("这座桥建于哪一年?", "date"),
        ("全镇有多少人口?", "number"),
        ("总部在哪里?", "place"),
        ("他以前做什么工作?", "occupation"),
    ],
)
def test_the_kind_of_answer(question: str, kind: str) -> None:
    assert parse(question).kind == kind


@pytest.mark.parametrize(
    ("question", "innermost"),
    [
        ("Where was the founder of Wimco born?", "the founder of Wimco"),
        ("Who is the mayor of the town where Mara Venn was born?", "the town where Mara Venn was born"),
        ("How long is the bridge that Greta Sand built?", "the bridge that Greta Sand built"),
        ("Which river crosses the city in which Lamp Press is based?", "the city in which Lamp Press is based"),
        ("Who leads the museum founded by Otto Harl?", "the museum founded by Otto Harl"),
        ("Who owns the company that makes paper lamps?", "the company that makes paper lamps"),
        ("《青石桥》的作者的出生地是哪里?", "《青石桥》的作者"),
    ],
)
def test_the_innermost_description(question: str, innermost: str) -> None:
    found = description(question)
    assert found
    assert rewritten(question)[found.start : found.end] == innermost


@pytest.mark.parametrize(
    "question",
    [
        "Who is the mayor of Ostrel?",
        "What is the height of Harl Bridge?",
        "When was Wimco founded?",
        "白塔镇的镇长是谁?",
    ],
)
def test_what_is_asked_itself_is_no_description(question: str) -> None:
    assert description(question) is None


def test_possessives_are_read_as_of() -> None:
    assert rewritten("How old is Wimco's founder's wife?") == "How old is the wife of the founder of Wimco?"


def test_politeness_is_no_part_of_the_question() -> None:
    assert tidy("Could you tell me who runs Wimco?") == "who runs Wimco?"


def test_what_is_not_wanted_is_not_looked_for() -> None:
    assert "lamps" not in parse("What does Wimco make besides lamps?").words
