"""The ReAct loop: when it stops, what it remembers, and what remains if its model fails."""

from typing import Any

import pytest

from tests.agents.conftest import fenced
from tests.agents.replies import results, search
from tests.agents.shannon.runs import CALL, QUICK, Ran, Said, in_order, research, task_of


def acting(*said: str) -> Said:
    """Each action searches and then says the next of these; the last one repeats."""
    answers = in_order(*said)
    return lambda request: answers(request) if results(request) else search(task_of(request).splitlines()[0])


async def loop(
    reasoner: Said = "Search on.", said: Said = "nothing yet", iterations: int = 8, more: Any = None, **execution: Any
) -> Ran:
    settings = {**QUICK, "react_max_iterations": iterations, "execution": {"pattern": "react", **execution}}
    return await research(
        {"reasoner": reasoner, "researcher": said, "summarizer": "In short.", **(more or {})}, settings
    )


def observed(ran: Ran, part: str, number: int = -1) -> list[str]:
    text = ran.asked(part)[number].messages[1].text
    return [block.partition("</observation>")[0].strip() for block in text.split("<observation>")[1:]]


DIFFERENT = ["alpha", "beta " * 9, "gamma " * 30, "delta " * 99, "epsilon " * 300, "zeta " * 900, "eta " * 2700, "x"]
"""Observations that are all different."""


@pytest.mark.parametrize(
    ("reasoner", "said", "execution", "actions", "cause"),
    [
        ("Nothing is left: task complete", acting("x"), {}, 0, "the reasoner says so"),  # before any action
        (in_order("Search.", "I am done."), acting(*DIFFERENT), {}, 1, "the reasoner says so"),
        ("I am done.", acting(*DIFFERENT), {"min_iterations": 3}, 3, "the reasoner says so"),
        ("I am done.", "from memory", {"needs_evidence": True}, 8, None),  # no tool was used: it may not stop
        ("Search.", acting("I found it"), {}, 2, "observations say so"),  # never after the first
        ("Search.", acting("I found it"), {"min_iterations": 5}, 5, "observations say so"),
        ("Search.", acting(*DIFFERENT), {}, 8, None),
    ],
)
async def test_a_loop_stops(
    reasoner: Said, said: Said, execution: dict[str, Any], actions: int, cause: str | None
) -> None:
    ran = await loop(reasoner, said, **execution)
    assert len([request for request in ran.asked("researcher") if not results(request)]) == actions
    stopped = ran.decided("react_stopped")
    assert [(decision.cause, decision.detail["iterations"]) for decision in stopped] == [(cause, actions)] * bool(cause)
    assert "In short." in ran.prompt("synthesizer")
    assert len(ran.asked("summarizer")) == 1


@pytest.mark.parametrize(
    ("settings", "per_loop"),
    [
        ({"research_strategy": "quick"}, 2),
        ({"research_strategy": None, "execution": {"pattern": "react_per_task"}}, 5),
        ({"research_strategy": "quick", "react_max_iterations": 7}, 7),
    ],
)
async def test_a_loop_has_the_iterations_of_its_strategy(settings: dict[str, Any], per_loop: int) -> None:
    parts: dict[str, Said] = {
        "reasoner": "Search on.",
        "researcher": acting(*DIFFERENT),
        "decomposer": {"subtasks": []},
    }
    ran = await research(parts, {**QUICK, "execution": {"pattern": "react"}, **settings})
    assert len(ran.asked("reasoner")) == per_loop


async def test_a_reasoning_step_sees_the_latest_observations_and_the_summary_all_that_are_kept() -> None:
    ran = await loop(said=acting(*DIFFERENT), iterations=6, max_observations=4)
    assert [len(observed(ran, "reasoner", n)) for n in range(6)] == [0, 1, 2, 3, 3, 3]
    assert observed(ran, "reasoner")[0].startswith("Action result: gamma")
    observations = observed(ran, "summarizer")
    assert observations[0] == "[2 older observations truncated]"  # the note before counts as one, as in the original
    assert [text.split()[2] for text in observations[1:]] == ["delta", "epsilon", "zeta"]
    wide = await loop(said=acting(*DIFFERENT), iterations=4, observation_window=1)
    assert [len(observed(wide, "reasoner", n)) for n in range(4)] == [0, 1, 1, 1]


async def test_thoughts_and_actions_are_kept_up_to_a_number() -> None:
    thoughts = in_order("Think 1.", "Think 2.", "Think 3.", "Think 4.")
    ran = await loop(thoughts, acting(*DIFFERENT), iterations=4, max_thoughts=3, max_actions=2)
    request = ran.asked("summarizer")[0].messages[1].text
    assert [f"Think {n}." in request for n in (1, 2, 3, 4)] == [False, True, True, True]
    actions = ran.asked("reasoner")[3].messages[1].text.split("Actions so far:")[1].split("Latest")[0]
    assert [f"Think {n}." in actions for n in (1, 2, 3)] == [False, True, True]


async def test_a_failed_action_is_observed_but_gives_no_result() -> None:
    ran = await loop(said=in_order(500), iterations=2)
    assert observed(ran, "reasoner")[0].startswith("Error: shannon.")
    assert ran.recovered == ["agent_cut_short", "agent_cut_short"]
    blank = await loop(said="  ", iterations=2)
    assert observed(blank, "summarizer") == []


async def test_without_a_summary_the_answers_of_the_actions_are_the_result() -> None:
    ran = await loop(said=acting("alpha", "beta " * 9), iterations=2, more={"summarizer": 500})
    prompt = ran.prompt("synthesizer")
    assert "alpha" in prompt
    assert "beta beta" in prompt
    assert ran.extras["citations"]["total"] == 1
    for nothing in (" ", CALL):
        silent = await loop(said=acting("alpha"), iterations=2, more={"summarizer": nothing})
        assert "alpha" in silent.prompt("synthesizer")
        assert CALL not in silent.prompt("synthesizer")


async def test_the_report_is_written_from_a_loops_summary_and_its_actions_answers() -> None:
    ran = await loop(said=acting("alpha", "beta " * 9), iterations=2)
    blocks = ran.prompt("synthesizer").split("<result>")[1:]
    assert [block.split()[2:4] for block in blocks] == [["In", "short."], ["alpha", "</result>"], ["beta", "beta"]]


async def test_a_loop_ends_with_its_summary_if_the_reasoner_fails() -> None:
    ran = await loop(in_order("Search.", 500), acting("alpha"))
    assert ran.recovered == ["react_reasoner"]
    assert len(ran.asked("researcher")) == 2
    assert "In short." in ran.prompt("synthesizer")


@pytest.mark.parametrize(("share", "told"), [(0, 0), (0.3, 3)])
async def test_a_loop_that_opens_few_pages_is_told_so_after_three_searches(share: float, told: int) -> None:
    ran = await loop(said=acting(*DIFFERENT), iterations=6, fetch_share=share)
    requests = [request for request in ran.asked("researcher") if not results(request)]
    assert sum("open the most promising pages" in task_of(request) for request in requests) == told


async def test_an_action_has_the_task_the_thought_and_its_tools() -> None:
    ran = await loop("Search for the mill.", acting("alpha"), iterations=2)
    request = ran.asked("researcher")[0]
    assert task_of(request).startswith("Describe the town of Orlune\n")
    assert fenced(request, "next_action") == "Search for the mill."
    assert [tool.function.name for tool in request.tools] == ["web_search_tool"]
