"""Gaps: which are found, how they are searched for, and how the report is rewritten."""

from typing import Any

import pytest

from aiq.core.events import Round
from tests.agents.replies import search
from tests.agents.shannon.runs import (
    AREAS,
    QUESTION,
    Ran,
    Said,
    in_order,
    plan,
    report,
    research,
    section,
    subtask,
    task_of,
)
from tests.cases import table

each = table(__file__)

WHOLE, HALF = report(*AREAS), report(AREAS[0])


UNCITED = f"{HALF}\n\n{section(AREAS[1], citations='[1]')}"
BASE: dict[str, Any] = {"enable_verification": False, "reflection": {"evaluator": "constant"}}


async def fill(said: Said, settings: Any = None, **parts: Said) -> Ran:
    return await research({"synthesizer": said, **parts}, {**BASE, **(settings or {})})


def found(ran: Ran) -> list[Any]:
    """The gaps found each time."""
    return [decision.detail["gaps"] for decision in ran.decided("gaps")]


@pytest.mark.parametrize(
    ("text", "settings", "gaps"),
    [
        (WHOLE, {}, []),
        (HALF, {}, ["Trade"]),
        (UNCITED, {}, []),  # the standard strategy does not count citations
        (UNCITED, {"research_strategy": "deep"}, ["Trade"]),
        (UNCITED, {"gap_filling_check_citations": True}, ["Trade"]),
        (UNCITED, {"research_strategy": "deep", "gaps": {"min_citations": 1}}, []),
        ("Orlune is a town.", {"gap_filling_max_gaps": 1}, ["Origins"]),
    ],
)
async def test_an_area_without_a_good_section_is_a_gap(text: str, settings: dict[str, Any], gaps: list[str]) -> None:
    ran = await fill(in_order(text, WHOLE), settings)
    assert found(ran)[0] == gaps


@each("passes")
async def test_the_number_of_gap_passes_is_a_setting(settings: dict[str, Any], passes: int) -> None:
    ran = await fill(HALF, settings)
    assert ran.extras["gap_iterations"] == len(ran.bench.logged(Round)) == passes
    assert [decision.detail["iteration"] for decision in ran.decided("gaps")] == list(range(passes))
    assert len(ran.asked("synthesizer")) == 1 + passes


async def test_a_gap_is_searched_for_and_the_report_rewritten_with_what_was_found() -> None:
    ran = await fill(in_order(HALF, WHOLE), {"synthesis": {"max_results": 1}})
    (one_round,) = ran.bench.logged(Round)
    query = f"Find detailed information about: Trade (related to: {QUESTION})"
    assert (one_round.number, one_round.queries) == (1, (query,))
    assert [url for url in one_round.new_sources if "trade" in url]
    assert {task_of(request) for request in ran.asked("reasoner")} == {query}
    results = ran.prompt("synthesizer").partition("Results of")[2]
    assert results.index("# Trade\nIn short: Find detailed") < results.index("# one\n")  # on top of the first result
    assert "# two\n" not in results
    assert ran.report.raw_text.startswith(WHOLE)
    assert ran.extras["not_covered"] == {}
    assert {record["agent_id"] for record in ran.records} > {"gap-1-1"}


async def test_old_and_new_sources_form_one_list_without_duplicates() -> None:
    def finds_the_same(request: Any) -> Any:
        return "So." if len(request.messages) > 2 else search("orlune", task_of(request).splitlines()[0])

    ran = await fill(in_order(HALF, WHOLE), {"citations": {"per_domain": 50}}, researcher=finds_the_same)
    listed = ran.prompt("synthesizer").partition("<citations>")[2].partition("</citations>")[0].strip().splitlines()
    assert sum("pages.test/orlune)" in line for line in listed) == 1
    assert len(listed) == 1 + 2 + 1  # of the plan's tasks, and of the gap
    assert ran.extras["citations"]["total"] == 4


@each("loop")
async def test_a_gaps_loop_has_its_iterations(settings: dict[str, Any], iterations: int) -> None:
    lengths = iter(3**n for n in range(2, 12))  # no observation is like the one before
    parts: dict[str, Said] = {"reasoner": "Search on.", "researcher": lambda request: "x" * next(lengths)}
    defaults = {"gap_filling_max_iterations": 1, "execution": {"pattern": "parallel", "force_search": False}}
    forced = plan(subtask("a", suggested_tools=["web_search_tool"]))
    ran = await fill(HALF, {**defaults, **settings}, decomposer=forced, **parts)
    assert len(ran.asked("reasoner")) == iterations


@pytest.mark.parametrize(("tier", "used"), [(None, "medium"), ("large", "large")])
async def test_the_new_report_has_the_tier_of_the_first_or_its_own(tier: str | None, used: str) -> None:
    ran = await fill(in_order(HALF, WHOLE), {"gap_model_tier": tier})
    assert [request.role.split(".")[1] for request in ran.asked("synthesizer")] == ["medium", used]


async def test_a_report_that_cannot_be_rewritten_keeps_its_own_citations() -> None:
    ran = await fill(in_order(HALF, 500), {"gap_filling_max_iterations": 1})
    assert ran.recovered == ["no_synthesis"]
    assert ran.report.raw_text.startswith(HALF)
    assert ran.extras["citations"]["total"] == 2
    assert ran.report.raw_text.count("pages.test/") == 2
    assert ran.bench.logged(Round)[0].new_sources  # though the pass had found more
    assert ran.extras["not_covered"] == {"Trade": "0 of 600 characters, 0 of 2 citations"}


async def test_findings_of_a_pass_are_kept_even_if_rewriting_failed() -> None:
    ran = await fill(in_order(HALF, 500, 500, WHOLE))
    assert ran.extras["gap_iterations"] == 2
    results = ran.prompt("synthesizer").partition("Results of")[2]
    assert results.count("# Trade\n") == 2  # what it says and its action said; the second pass found the same
    assert ran.extras["not_covered"] == {}


async def test_nothing_is_rewritten_if_nothing_was_found() -> None:
    settings = {**BASE, "execution": {"force_search": False}}
    parts: dict[str, Said] = {"synthesizer": HALF, "researcher": "from memory"}
    ran = await research(parts, settings, {"data_sources": []})
    assert ran.extras["gap_iterations"] == 2
    assert len(ran.asked("synthesizer")) == 1


@pytest.mark.parametrize("at_once", [1, 3])
async def test_the_number_of_concurrent_gap_searches_is_limited(at_once: int) -> None:
    areas = ["A", "B", "C", "D"]
    parts: dict[str, Said] = {
        "refiner": {"refined_query": "Q", "research_areas": areas},
        "decomposer": plan(subtask("a"), complexity=0.5),
        "synthesizer": in_order("Orlune is a town.", report(*areas)),
    }
    settings = {**BASE, "research_strategy": "academic", "enable_verification": False, "gaps": {"at_once": at_once}}
    ran = await research(parts, {**settings, "execution": {"pattern": "parallel"}}, order=3)
    endpoint: Any = ran.bench.endpoint
    assert endpoint.most == at_once
    assert [f"gap-1-{n}" in {record["agent_id"] for record in ran.records} for n in (1, 2, 3, 4)] == [True] * 4


COVERAGE = {"coverage": 0.4, "confidence": 0.4, "critical_gaps": ["trade"], "queries": ["Trade of Orlune", "Its mills"]}
GOOD = {"coverage": 0.9, "confidence": 0.9, "critical_gaps": [], "queries": []}


@pytest.mark.parametrize(
    ("said", "gaps", "queries", "reports"),
    [
        ([GOOD], {}, [], 1),
        ([COVERAGE, GOOD], {}, [("Trade of Orlune", "Its mills")], 2),
        ([COVERAGE, GOOD], {"queries": 1}, [("Trade of Orlune",)], 1),  # one new page is nothing
        ([COVERAGE, GOOD], {"queries": 1, "new_urls": 1}, [("Trade of Orlune",)], 2),
        ([COVERAGE], {}, [("Trade of Orlune", "Its mills")] * 2, 2),  # the second pass brings nothing new
        ([{**GOOD, "confidence": 0.5, "queries": ["Q"]}, GOOD], {"new_urls": 1}, [("Q",)], 2),
        ([COVERAGE], {"stop_urls": 1}, [("Trade of Orlune", "Its mills")], 2),
        ([COVERAGE], {"confidence": 0.3}, [("Trade of Orlune", "Its mills")] * 2, 2),  # critical, however sure it is
        ([{**COVERAGE, "critical_gaps": [], "coverage": 0.5}], {"confidence": 0.4}, [], 1),
        (["no JSON", "no JSON", GOOD], {}, [AREAS], 2),  # then it searches for the areas
    ],
)
async def test_gaps_by_a_model(
    said: list[Any], gaps: dict[str, Any], queries: list[tuple[str, ...]], reports: int
) -> None:
    settings = {"gaps": {"evaluator": "model", **gaps}, "citations": {"per_domain": 50}}
    ran = await fill(WHOLE, settings, coverage=in_order(*said))
    assert [event.queries for event in ran.bench.logged(Round)] == queries
    assert len(ran.asked("synthesizer")) == reports
