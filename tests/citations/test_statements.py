"""Which sentence carries which citation, with its place in the report."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.citations.parse import parse_report
from aiq.citations.passages import cited_statements

LIST = "\n\n## References\n\n[1] Atlas - https://a.example/x\n[2] News - https://b.example/y\n"


def found(text: str) -> list[tuple[str, str]]:
    """Each statement, and what stands in the report at its place."""
    report = f"# Title\n\n{text}{LIST}"
    return [(s.text, report[s.start : s.end]) for s in cited_statements(parse_report(report))]


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("It grew [1].", ["It grew."]),
        ("It grew.[1] It fell. [2] It stood.", ["It grew.", "It fell."]),
        ("It grew [1][2], or (see [2]) not.", ["It grew, or not."]),
        ("**Lead:** it grew [1].", ["Lead: it grew."]),
        ("And [the label](https://d.example/q) too.", ["And the label too."]),
        ("It is tall [1]. See <https://d.example/x>.", ["It is tall.", "See."]),
        ("It fell (source: https://d.example/x). Next one.", ["It fell."]),
        ("增长了[1]。下降了。【2†L3】", ["增长了。", "下降了。"]),
        ("1. In 3.5 years, e.g. by 2025, it grew [1]", ["In 3.5 years, e.g. by 2025, it grew"]),
        ("| Name | Founded |\n| --- | --- |\n| Halden | 1912 [1] |", ["Halden, Founded: 1912"]),
        ("Nothing is cited here.", []),
    ],
)
def test_a_statement_is_the_sentence_with_the_mark(text: str, statements: list[str]) -> None:
    assert [statement for statement, _ in found(text)] == statements


def test_places_are_those_of_the_report() -> None:
    assert found("It stood. It grew [1]. It fell.") == [("It grew.", "It grew [1].")]


def test_a_statement_knows_its_marks_and_urls() -> None:
    (statement,) = cited_statements(parse_report(f"It grew [1] and [2] (https://d.example/x).{LIST}"))
    assert (statement.marks, statement.body_urls) == ((0, 1), (0,))


@pytest.mark.timing
@pytest.mark.parametrize(
    "text",
    [
        f"A view! https://d.example/{'x' * 5000} and more",
        "It grew.[1]" + " [1]" * 5000 + " it",
        "It grew. (see " + "[1], " * 5000,
        "It grew." + "(https://d.example/a " * 2000,
        "| a " * 5000 + "\n" + "| [1] " * 3000,
        "\\" * 20000 + "[1]",
    ],
)
def test_hostile_reports_take_no_time(text: str) -> None:
    report = parse_report(text + LIST)
    start = time.process_time()
    cited_statements(report)
    assert time.process_time() - start < 2


@given(st.text(alphabet=st.sampled_from("aB1 []()【】*-#|.\n。https://x.example,，\ue000\ue001"), max_size=300))
def test_no_text_breaks_it_and_every_citation_is_in_one_statement_at_most(text: str) -> None:
    report = parse_report(text)
    statements = cited_statements(report)
    marks = [number for statement in statements for number in statement.marks]
    assert marks == sorted(set(marks))
    assert all(0 <= s.start < s.end <= len(text) for s in statements)
