import pytest

from aiq.agents.shannon.coverage import DANGLING, GAP_PHRASES
from aiq.agents.shannon.records import AgentResult, Citation
from aiq.agents.shannon.rules import (
    continuation_margin,
    count_inline_citations,
    detect_gaps,
    distinct,
    format_report,
    gap_queries,
    looks_complete,
    minimum_citations,
    needs_continuation,
    needs_more_research,
    reflection_score,
    reflects_again,
    sanitize_output,
    section_body,
    select_evidence,
)
from tests.cases import table

each = table(__file__)


@each("section")
def test_the_section_of_an_area(text: str, body: str | None) -> None:
    assert section_body(text, " Costs ") == body


def test_an_area_is_not_a_regular_expression() -> None:
    assert section_body("### C++ (2026)?\nBody.", "C++ (2026)?") == "Body."
    assert section_body("### Caaa\nBody.", "Ca*") is None


@each("inline")
def test_inline_citations_are_counted_once(text: str, number: int) -> None:
    assert count_inline_citations(text) == number


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        *((f"The end{mark}", True) for mark in ".!?。！？"),
        ('He said "the end."', True),
        ("「終わり。」", True),
        ("(The end.)", True),
        ("The end. [1][23]", True),
        ('"The end." [1] \n', True),
        ("The end [1].", True),
        ("The end. " + "[100]" * 100, True),
        ("The end", False),
        ("The end)", False),  # the bracket alone ends nothing
        ("The end [1]", False),
        ("The end:", False),
        ("The end、", False),
        ("- [Source](https://a.example)", False),
        ("", False),
        (" \n", False),
        ("[1]", False),
        *((f"It is large {word}.", False) for word in sorted(DANGLING)),
        ("It is large, HOWEVER [3].", False),
        ("It is large and...", False),
        ('"It is large, but (and [2])."', False),
        ("It is large and 5.", True),
        ("It is grand.", True),
        ("and", False),
        (".", True),
    ],
)
def test_a_complete_text_ends_in_a_sentence(text: str, complete: bool) -> None:
    assert looks_complete(text, []) is complete


def section(area: str, characters: int, cited: str = "[1] [2]") -> str:
    return f"### {area}\n{cited}{'x' * (characters - len(cited) - 1)}.\n\n"


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        (section("A", 600) + section("B", 600), True),
        (section("B", 600) + section("A", 600), True),
        (section("A", 600) + section("B", 599), False),
        (section("A", 600) + section("B", 600, "[1] [1]"), False),
        (section("A", 600), False),
        (section("A", 600) + section("b", 600), True),
        (section("A", 600) + section("B and C", 600), False),
        (section("A", 600) + "### B\n[1] " + "字" * 595 + "。[2]", True),  # characters, and citations after the end
        (section("A", 600).replace("###", "####") + section("B", 600), False),
    ],
)
def test_a_complete_report_covers_every_area(text: str, complete: bool) -> None:
    assert looks_complete(text, ["A", "B"]) is complete


def test_lengths_and_citations_are_parameters() -> None:
    text = section("A", 100, "[1]")
    assert looks_complete(text, ["A"], 100, 1)
    assert not looks_complete(text, ["A"], 101, 1)
    assert not looks_complete(text, ["A"], 100, 2)


@pytest.mark.parametrize("phrase", GAP_PHRASES)
def test_a_section_may_say_itself_that_it_is_a_gap(phrase: str) -> None:
    text = f"### A\nThere is {phrase.upper()} on this [1] [2]."
    assert detect_gaps(text, ["A"]) == ["A"]


@each("text")
def test_an_area_is_a_gap(text: str, check: bool, least: int, gap: bool) -> None:
    gaps = detect_gaps(text, ["A"], check_citations=check, min_citations_per_section=least)
    assert gaps == ["A"] * gap


def test_gaps_are_in_the_order_of_areas_and_no_more_than_allowed() -> None:
    text = "### C\nBody [1].\n### A\nBody [1] [2]."
    assert detect_gaps(text, ["D", "C", "B", "A"], 20, True) == ["D", "C", "B"]
    assert detect_gaps(text, ["D", "C", "B", "A"], 2, False) == ["D", "B"]
    assert detect_gaps(text, ["D", "C", "B", "A"], 1, True) == ["D"]
    assert detect_gaps(text, [], 3, True) == []
    assert detect_gaps("", ["A", "B", "C", "D"]) == ["A", "B", "C"]
    assert detect_gaps("", ["A", "B"], 0) == detect_gaps("", ["A", "B"], -1) == []


@pytest.mark.parametrize(
    ("coverage", "critical", "confidence", "iteration", "report", "more"),
    [
        (0.49, False, 0.9, 1, "", True),
        (0.49, False, 0.9, 2, "", False),
        (0.5, False, 0.9, 1, "", False),
        (0.5, True, 0.9, 2, "", True),
        (0.29, False, 0.9, 2, "", True),
        (0.71, False, 0.9, 1, "字" * 166, True),  # 498 bytes
        (0.71, False, 0.9, 1, "字" * 167, False),
        (0.7, False, 0.85, 2, "", False),
        (0.7, False, 0.84, 2, "", True),
    ],
)
def test_a_models_claim_of_coverage_is_not_simply_believed(
    coverage: float, critical: bool, confidence: float, iteration: int, report: str, more: bool
) -> None:
    assert needs_more_research(coverage, critical, confidence, iteration, report) is more


def test_the_query_for_a_gap_names_the_question() -> None:
    assert gap_queries(["Costs", "Risks"], "Is it safe?") == [
        "Find detailed information about: Costs (related to: Is it safe?)",
        "Find detailed information about: Risks (related to: Is it safe?)",
    ]


@pytest.mark.parametrize(("available", "least"), [(0, 0), (1, 1), (2, 2), (3, 3), (5, 5), (6, 6), (40, 6)])
def test_no_more_citations_are_asked_for_than_there_are(available: int, least: int) -> None:
    assert minimum_citations(available) == least


def test_evidence_is_the_first_results_that_say_anything() -> None:
    results = [AgentResult(agent_id=str(n), response="字" * (3999 + n)) for n in range(8)]
    silent = [AgentResult(agent_id="x", response=" \n"), AgentResult(agent_id="y", response="x", success=False)]
    evidence = select_evidence([*silent, *results])
    assert [result.agent_id for result in evidence] == list("012345")
    assert [result.response for result in evidence[:3]] == ["字" * 3999, "字" * 4000, "字" * 4000 + "..."]
    assert [result.response for result in select_evidence(results, 1, 2)] == ["字字..."]


@each("same")
def test_near_duplicate_results_are_dropped(texts: list[str], same_above: float, kept: list[int]) -> None:
    results = [AgentResult(agent_id=str(n), response=text) for n, text in enumerate(texts)]
    assert distinct(results, same_above) == [results[n] for n in kept]


@each("sources")
def test_an_agents_answer_is_cleaned_of_sources(text: str, clean: str) -> None:
    assert sanitize_output(text) == clean


LINES = ["[2] B (https://b.example) - b.example", "[10] J (j) - j", "[1] A (https://a.example) - a.example, 2026-01-31"]


def test_the_sources_of_a_report_say_whether_it_cites_them() -> None:
    assert format_report("\nText [1], [0] and [10][1234].\n", LINES) == (
        "Text [1], [0] and [10][1234].\n\n## Sources\n"
        "[1] A (https://a.example) - a.example, 2026-01-31 - Used inline\n"
        "[2] B (https://b.example) - b.example - Additional source\n"
        "[10] J (j) - j - Used inline"
    )
    assert format_report("Text [1].", "\n".join(LINES)) == format_report("Text [1].", LINES)


def test_the_sources_of_a_report_may_be_citations() -> None:
    page = {"url": "https://a.example/x", "title": "A", "source": "a.example", "quality_score": 0.5}
    expected = "Text [1].\n\n## Sources\n[1] A (https://a.example/x) - a.example - Used inline"
    assert format_report("Text [1].", [Citation.model_validate(page)]) == expected
    assert format_report("Text [1].", [page]) == expected  # type: ignore[list-item]


@each("old list")
def test_an_old_list_of_sources_is_cut_off(report: str, body: str) -> None:
    assert format_report(report, []) == body
    assert format_report(report, LINES).startswith(f"{body}\n\n## Sources\n[1] A")


def test_numbers_in_the_old_list_count_as_cited_and_blank_reports_stay() -> None:
    assert "[2] B (https://b.example) - b.example - Used inline" in format_report("Text.\n## Sources\n[2] B", LINES)
    assert format_report(" \n", LINES) == " \n"
    assert format_report("Text.", ["no number", ""]) == "Text."


@pytest.mark.parametrize(
    ("limit", "margin"), [(-5, -1), (0, 0), (3, 0), (400, 100), (1199, 299), (1200, 300), (50000, 300)]
)
def test_the_margin_is_a_quarter_and_at_most_300_tokens(limit: int, margin: int) -> None:
    assert continuation_margin(limit) == margin


@each("room")
def test_only_a_report_that_ran_out_of_room_is_continued(
    reason: str, complete: bool, limit: int, used: int, fires: bool
) -> None:
    assert needs_continuation(reason, complete, limit, used) is fires


def test_a_report_that_was_cut_off_is_continued_if_configured() -> None:
    assert needs_continuation("length", False, 4000, 4000, True)
    assert not needs_continuation("length", True, 4000, 4000, True)
    assert needs_continuation("stop", False, 4000, 3000, margin=1001)


@pytest.mark.parametrize(
    ("text", "score"),
    [("", 0.3), ("1234567", 0.3), (" 1234567 \n", 0.3), ("12345678", 0.85), ("字字字", 0.85), ("字字", 0.3)],
)
def test_only_a_report_of_less_than_eight_bytes_is_bad(text: str, score: float) -> None:
    assert reflection_score(text) == score


@pytest.mark.parametrize(
    ("score", "retries", "most", "again"),
    [(0.79, 0, 2, True), (0.79, 1, 2, False), (0.8, 0, 2, False), (0.1, 0, 1, False), (0.1, 1, 3, True)],
)
def test_two_retries_are_one_new_report(score: float, retries: int, most: int, again: bool) -> None:
    assert reflects_again(score, retries, max_retries=most) is again
