"""The report: what it is written from, when it is continued, and what replaces it if the model fails."""

import re
from typing import Any

import pytest

from aiq.core.errors import AgentError
from aiq.core.session import current
from tests.agents.shannon.runs import (
    AREAS,
    CALL,
    QUICK,
    Ran,
    Said,
    completion,
    in_order,
    plan,
    report,
    research,
    section,
    subtask,
    task_of,
)

WHOLE = report(*AREAS)
SHORT = report(*AREAS, characters=500)


async def write(said: Said, settings: Any = None, found: int = 2, **synthesis: Any) -> Ran:
    """A research whose agents find this many pages."""
    subtasks = [subtask(f"t{n}", suggested_tools=["web_search_tool"]) for n in range(found)]
    parts: dict[str, Said] = {"decomposer": plan(*subtasks), "synthesizer": said}
    options = {**QUICK, "execution": {"pattern": "parallel", "force_search": False}, "synthesis": synthesis}
    return await research(parts, {"reflection": {"evaluator": "constant"}, **options, **(settings or {})})


def shown(ran: Ran) -> list[str]:
    return re.findall(r"find out (\w+) is well described", ran.prompt("synthesizer", 0).partition("Results of")[2])


async def test_a_report_is_written_with_its_sections_and_its_sources() -> None:
    ran = await write(WHOLE)
    prompt = ran.prompt("synthesizer", 0)
    headings = ["## Executive Summary", "## Detailed Findings", *(f"### {area}" for area in AREAS), "## Limitations"]
    assert [prompt.find(heading) for heading in headings] == sorted(prompt.find(heading) for heading in headings)
    assert -1 not in [prompt.find(heading) for heading in headings]
    assert "[1] find out t0 (https://pages.test/find-out-t0) - pages.test" in prompt
    assert ran.report.raw_text.startswith(WHOLE)
    sources = ran.report.raw_text.removeprefix(WHOLE).strip().splitlines()
    assert sources[0] == "## Sources"
    assert sources[1].endswith("pages.test - Used inline")
    assert ran.report.outcome == "ok"
    assert ran.extras["not_covered"] == {}


@pytest.mark.parametrize(
    ("areas", "settings", "words"),
    [(2, {}, "1200 to 1800"), (7, {}, "1400 to 2000"), (2, {"words": 300, "words_per_area": 500}, "1000 to 1600")],
)
async def test_the_length_of_a_report(areas: int, settings: dict[str, Any], words: str) -> None:
    refined = {"refined_query": "Q", "research_areas": [f"Area {n}" for n in range(areas)]}
    ran = await research({"refiner": refined}, {**QUICK, "synthesis": settings})
    assert f"{words} words in all" in ran.prompt("synthesizer", 0)


@pytest.mark.parametrize(("found", "wanted", "asked"), [(4, 6, 4), (4, 1, 1)])
async def test_as_many_citations_are_asked_for_as_there_are_sources(found: int, wanted: int, asked: int) -> None:
    ran = await write(WHOLE, {"citations": {"per_domain": 50}}, found, min_citations=wanted)
    assert f"At least {asked} inline citations" in ran.prompt("synthesizer", 0)


async def test_without_sources_no_citation_is_asked_for() -> None:
    ran = await research({"researcher": "from memory"}, QUICK, {"data_sources": []})
    assert "inline citations" not in ran.prompt("synthesizer").partition("## Form")[2]
    assert "do not make up sources" in ran.prompt("synthesizer")
    assert '"unverified"' in ran.prompt("synthesizer")


@pytest.mark.parametrize(
    ("found", "settings", "numbers"),
    [(8, {}, range(6)), (8, {"max_results": 2}, range(2))],
)
async def test_the_first_results_are_shown(found: int, settings: dict[str, Any], numbers: Any) -> None:
    assert shown(await write(WHOLE, None, found, **settings)) == [f"t{n}" for n in numbers]


async def test_a_result_is_cut_and_said_once() -> None:
    parts: dict[str, Said] = {"researcher": lambda request: task_of(request)[-1].replace("b", "a") * 5000}
    three = plan(subtask("a"), subtask("b"), subtask("c"))
    ran = await research({**parts, "decomposer": three}, {**QUICK, "execution": {"force_search": False}})
    results = ran.prompt("synthesizer").partition("Results of")[2]
    assert re.findall(r"\w{1000,}\.*", results) == ["a" * 4000 + "...", "c" * 4000 + "..."]
    longer = {**QUICK, "execution": {"force_search": False}, "synthesis": {"result_chars": 30000}}
    ran = await research({**parts, "decomposer": three}, longer)
    assert re.findall(r"\w{1000,}", ran.prompt("synthesizer").partition("Results of")[2]) == ["a" * 5000, "c" * 5000]


@pytest.mark.parametrize(
    ("results", "settings", "limit"),
    [
        (2, {}, 50000),
        (2, {"comprehensive_tokens": 1}, 10240 + 2 * 2048),
        (5, {"comprehensive_tokens": 1, "max_tokens": 100, "tokens_per_result": 10}, 150),
    ],
)
async def test_the_limit_of_its_tokens(results: int, settings: dict[str, Any], limit: int) -> None:
    assert (await write(WHOLE, None, results, **settings)).asked("synthesizer")[0].token_limit == limit
    concise = await write("So [1].", {"synthesis_style": "concise"}, results, **settings)
    base, per_result = settings.get("max_tokens", 10240), settings.get("tokens_per_result", 2048)
    assert concise.asked("synthesizer")[0].token_limit == base + per_result * results


REST = "It goes on [2]."


@pytest.mark.parametrize(
    ("text", "reason", "left", "settings", "continued"),
    [
        (SHORT, "stop", 299, {}, True),
        (SHORT, "stop", 300, {}, False),  # strictly less than the margin
        (WHOLE, "stop", 0, {}, False),  # it is complete
        (WHOLE + " So it is", "stop", 0, {}, True),
        (SHORT, "stop", 299, {"margin_tokens": 100}, False),
        (SHORT, "stop", 200, {"margin_share": 0.001}, False),  # 50 of 50,000
        (SHORT, "stop", 49, {"margin_share": 0.001}, True),
        (SHORT, "length", 0, {}, False),
        (SHORT, "length", 0, {"continue_on_length": True}, True),
        (SHORT, "stop", 0, {"area_chars": 500}, False),
        (report(*AREAS, citations="[1]"), "stop", 0, {"area_citations": 1}, False),
    ],
)
async def test_a_report_that_ended_early_for_lack_of_room_is_continued_once(
    text: str, reason: str, left: int, settings: dict[str, Any], continued: bool
) -> None:
    ran = await write(in_order(completion(text, reason=reason, tokens=50000 - left), REST), **settings)
    assert [decision.value for decision in ran.decided("continuation")] == [True] * continued
    assert len(ran.asked("synthesizer")) == 1 + continued
    body = ran.report.raw_text.partition("\n\n## Sources")[0]
    assert body == (f"{text}\n\n{REST}" if continued else text)


async def test_a_continuation_sees_the_end_of_the_report_and_all_that_it_is_written_from() -> None:
    replies = in_order(completion("x" * 100 + "y" * 2000, tokens=49990), REST)
    ran = await write(replies)
    first, second = ran.asked("synthesizer")
    assert second.messages[:2] == first.messages[:2]
    assert f"<report>\n{'y' * 2000}\n</report>" in second.messages[2].text
    assert second.token_limit == 4096
    short = await write(in_order(completion("xyz", tokens=49990), REST), continuation_chars=2, continuation_tokens=700)
    assert "<report>\nyz\n</report>" in short.asked("synthesizer")[1].messages[2].text
    assert short.asked("synthesizer")[1].token_limit == 700
    small = {"roles": {"shannon.medium": {"max_tokens": 1000}}}
    ran = await research({"synthesizer": in_order(completion("xyz", tokens=990), REST)}, QUICK, llm=small)
    assert ran.asked("synthesizer")[1].token_limit == 500  # half of what the report had


async def test_a_continuation_that_fails_leaves_the_report_as_it_is() -> None:
    ran = await write(in_order(completion(SHORT, tokens=49990), 500))
    assert ran.recovered == ["no_continuation"]
    assert [decision.value for decision in ran.decided("continuation")] == [False]
    assert ran.report.raw_text.startswith(SHORT)


@pytest.mark.parametrize(
    ("said", "settings", "outcome"),
    [
        (completion(WHOLE, reason="length"), {}, "partial"),
        (in_order(completion(SHORT, reason="length"), REST), {"continue_on_length": True}, "ok"),
        (
            in_order(completion(SHORT, reason="length"), completion(REST, reason="length")),
            {"continue_on_length": True},
            "partial",
        ),
        (in_order(completion(SHORT, tokens=49990), completion(REST, reason="length")), {}, "partial"),
    ],
)
async def test_a_report_that_the_token_limit_cut_off_says_so(
    said: Said, settings: dict[str, Any], outcome: str
) -> None:
    assert (await write(said, **settings)).report.outcome == outcome


async def test_a_complete_rewrite_of_a_cut_off_report_counts_as_complete() -> None:
    replies = in_order(completion(report(AREAS[0]), reason="length"), WHOLE)
    ran = await write(replies, {"gap_filling_enabled": True})
    assert ran.report.outcome == "ok"
    assert ran.extras["gap_iterations"] == 1


async def test_a_cut_off_rewrite_does_not_replace_a_complete_report() -> None:
    first = WHOLE.partition("### Trade")[0].strip()
    replies = in_order(first, completion("And then", reason="length"))
    ran = await write(replies, {"gap_filling_enabled": True, "gap_filling_max_iterations": 1})
    assert (ran.report.outcome, ran.recovered) == ("ok", ["rewrite_cut_off"])
    assert ran.report.raw_text.startswith(first)


@pytest.mark.parametrize(
    ("citer", "marked"),
    [
        ({"marks": [{"sentence": 1, "citation": 2}]}, "Orlune is a town. [2] It lies on a river.\n"),
        (500, "Orlune is a town [1]. It lies on a river [1].\n"),
    ],
)
async def test_marks_placed_afterwards_replace_those_in_the_report(citer: Said, marked: str) -> None:
    parts = {"synthesizer": "Orlune is a town [1]. It lies on a river [1].", "citer": citer, "citer_inline": 500}
    settings = {**QUICK, "citations": {"placement": "after"}, "reflection": {"evaluator": "constant"}}
    assert (await research(parts, settings)).report.raw_text.startswith(marked)


@pytest.mark.parametrize("researcher", [500, " ", CALL])
async def test_without_any_results_there_is_no_report(researcher: Said) -> None:
    with pytest.raises(AgentError, match="there is nothing to write a report from: no agent has found anything"):
        await research({"researcher": researcher}, found="")


@pytest.mark.parametrize("said", [500, " \n", CALL])
async def test_without_a_model_the_results_are_the_report(said: Said) -> None:
    parts: dict[str, Said] = {
        "decomposer": plan(subtask("a"), subtask("b")),
        "researcher": lambda request: f"Of {task_of(request)}.\n\n## Sources\n[1] https://x.test\n",
        "synthesizer": said,
    }
    settings = {**QUICK, "execution": {"force_search": False}, "reflection": {"evaluator": "constant"}}
    ran = await research(parts, settings)
    assert ran.recovered == ["no_synthesis"]
    assert ran.report.text == "Of find out a.\n\nOf find out b."
    assert ran.extras["not_covered"] == dict.fromkeys(AREAS, "0 of 600 characters, 0 of 1 citations")


async def test_the_results_are_the_draft_until_there_is_a_report() -> None:
    drafts: list[str | None] = []

    def writes(request: Any) -> str:
        drafts.append(current().draft)
        return WHOLE

    settings = {**QUICK, "execution": {"force_search": False}}
    ran = await research({"researcher": "Orlune is a town.", "synthesizer": writes}, settings)
    assert drafts[0] == "Orlune is a town."  # what a limit that ends the writing leaves
    assert ran.bench.session.draft == WHOLE


@pytest.mark.parametrize(
    ("form", "citations", "why"),
    [
        ({}, 2, None),
        ({"characters": 599}, 2, "599 of 600 characters"),
        ({"citations": "[1]"}, 2, "1 of 2 citations"),
        ({"citations": "[1]"}, 1, None),  # there is only one source
    ],
)
async def test_the_record_says_which_sections_fall_short_and_why(
    form: dict[str, Any], citations: int, why: str | None
) -> None:
    text = f"{report(AREAS[0])}\n\n{section(AREAS[1], **form)}"
    ran = await write(text, None, citations)
    assert ran.extras["not_covered"].get(AREAS[1]) == why


async def test_the_language_and_a_tier_of_the_report() -> None:
    ran = await research({}, {**QUICK, "synthesis_model_tier": "large"}, {"text": "¿Qué es Orlune?"})
    (request,) = ran.asked("synthesizer")
    assert request.role == "shannon.large.synthesizer"
    assert "Language: Spanish" in request.messages[1].text
    assert ran.bench.endpoint.seconds[-1] == 120  # llm.timeout_seconds ends it sooner
    quick = await write(WHOLE, timeout_seconds=7)
    assert quick.bench.endpoint.seconds[-1] == 7


async def test_a_concise_report_has_no_sections_to_cover() -> None:
    ran = await write("Orlune is a town [1].", {"synthesis_style": "concise", "gap_filling_enabled": True})
    assert "### " not in ran.prompt("synthesizer", 0).partition("Results of")[0]
    assert ran.extras["gap_iterations"] == 0
    assert ran.extras["research_areas"] == list(AREAS)
    assert ran.extras["not_covered"] == {}
