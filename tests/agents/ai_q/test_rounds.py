"""The planner's plan: bounds on its queries, their mapping to sections, repairs that are recorded, one plan a run."""

import json
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from aiq.agents.ai_q.deep import ROLES, DeepResearcher
from aiq.agents.ai_q.rounds import PLAN_FILE, ResearchPlan, reviewed
from aiq.agents.ai_q.settings import DeepSettings
from aiq.agents.ai_q.states import DeepResearchAgentState
from aiq.core.events import Decision, Recovery, ToolReturned
from aiq.offline.chat import ChatReply, ChatRequest, call
from tests.agents.conftest import PROMPTS

REPORT = "# Orlune\n\n" + "Orlune lies on a river [1]. " * 30
SECTIONS = ["Rivers", "Towns", "Trade", "People", "Conclusion"]


def plan(queries: list[Any], sections: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"title": "Orlune", "sections": sections or [{"title": s} for s in SECTIONS], "queries": queries, **more}


def query(text: str, *sections: str) -> dict[str, Any]:
    return {"query": text, "sections": list(sections), "rationale": "because"}


GOOD = plan([query(f"q{n}", s) for n, s in enumerate(SECTIONS[:4])], constraints=["short"], language="en")


def outcome(
    value: dict[str, Any], least: int = 4, most: int = 6
) -> tuple[list[tuple[str, list[str]]], list[str], list[str]]:
    found, repairs, faults = reviewed(ResearchPlan.model_validate(value), least, most)
    return [(q.query, q.sections) for q in found.queries], repairs, faults


def test_a_plan_within_bounds_is_taken_as_it_is() -> None:
    found, repairs, faults = reviewed(ResearchPlan.model_validate(GOOD), 4, 6)
    assert (repairs, faults) == ([], [])
    assert found.model_dump() == GOOD  # what we do not check is passed on


def test_queries_beyond_the_most_are_dropped() -> None:
    queries, repairs, _ = outcome(plan([query(f"q{n}", SECTIONS[n % 4]) for n in range(9)]))
    assert [text for text, _ in queries] == [f"q{n}" for n in range(6)]
    assert repairs == ["3 queries beyond 6 dropped"]


def test_too_few_queries_are_made_up_for_sections_without_one() -> None:
    queries, repairs, faults = outcome(plan([query("q0", "Rivers", "Towns")]), least=3)
    assert queries[1:] == [("Orlune: Trade", ["Trade"]), ("Orlune: People", ["People"])]
    assert repairs == ["a query for 'Trade' added", "a query for 'People' added"]
    assert faults == []


def test_what_cannot_be_made_up_is_a_recorded_fault() -> None:
    _, repairs, faults = outcome(plan([query("q0", "All")], ["All"]))
    assert (repairs, faults) == ([], ["1 queries, fewer than 4"])
    many = plan([query(f"q{n}", f"s{n}") for n in range(6)], [f"s{n}" for n in range(9)])
    assert outcome(many)[2] == ["no query serves 's6'", "no query serves 's7'", "9 sections, more than 8"]


def test_sections_of_queries_are_those_of_the_plan() -> None:
    given = [query("a", "rivers ", "Nowhere"), query("b", "Towns"), query("c", "Trade"), query("d", "Elsewhere")]
    queries, repairs, faults = outcome(plan(given))
    assert queries[0] == ("a", ["Rivers"])
    assert repairs == ["sections of 'a' put right", "sections of 'd' put right"]
    assert faults == ["no query serves 'People'", "'d' serves no section"]


def test_blank_and_repeated_queries_go() -> None:
    queries, repairs, _ = outcome(plan([query("a", "Rivers"), query("A ", "Towns"), query(" ", "Trade")]), least=1)
    assert [text for text, _ in queries] == ["a"]
    assert repairs == ["2 blank or repeated queries dropped"]


def test_texts_in_place_of_objects_are_read() -> None:
    assert outcome(plan(["a", "b"], ["One", "Two"]), least=1)[0] == [("a", []), ("b", [])]


async def run(on_bench: Any, answer: str, written: str | None = None, plans: int = 1) -> tuple[Any, Any]:
    """A run whose planner answers (and writes the file) so; the orchestrator asks for `plans` plans."""

    def script(request: ChatRequest) -> ChatReply:
        turn = sum(message.role == "assistant" for message in request.messages)
        if request.role == ROLES["planner-agent"]:
            if written is not None and turn == 0:
                return ChatReply(tool_calls=(call("write_file", file_path=PLAN_FILE, content=written),))
            return ChatReply(text=answer)
        if turn < plans:
            return ChatReply(tool_calls=(call("task", subagent_type="planner-agent", description="Plan."),))
        return ChatReply(text=REPORT)

    async with on_bench(script) as bench:
        state = DeepResearchAgentState(messages=[HumanMessage("Write a report on Orlune")])
        return await DeepResearcher(DeepSettings(), PROMPTS).run(state), bench


def decided(bench: Any) -> Any:
    (event,) = [event for event in bench.logged(Decision) if event.name == "plan"]
    return event


def seen(bench: Any) -> str:
    """What the orchestrator was shown of the plan."""
    return str(bench.endpoint.of(ROLES["orchestrator"])[1].messages[-1].text)


@pytest.mark.parametrize("wrap", ["{}", "Here it is:\n```json\n{}\n```"])
async def test_a_good_plan_is_kept_in_the_file_and_shown_as_written(on_bench: Any, wrap: str) -> None:
    answer = wrap.replace("{}", json.dumps(GOOD))
    found, bench = await run(on_bench, answer)
    assert json.loads(found.files[PLAN_FILE]) == GOOD
    assert seen(bench) == answer
    assert (decided(bench).value, decided(bench).cause) == (4, "as planned")
    assert decided(bench).detail["queries"] == {f"q{n}": [s] for n, s in enumerate(SECTIONS[:4])}
    assert bench.logged(Recovery) == []


async def test_a_repaired_plan_is_what_the_orchestrator_and_the_file_have(on_bench: Any) -> None:
    many = json.dumps(plan([query(f"q{n}", "Rivers") for n in range(8)]))
    found, bench = await run(on_bench, many, written=many)
    assert json.loads(seen(bench)) == json.loads(found.files[PLAN_FILE])
    assert len(json.loads(seen(bench))["queries"]) == 6
    assert (decided(bench).value, decided(bench).cause) == (6, "repaired")
    (recovery,) = bench.logged(Recovery)
    assert recovery.detail.startswith("2 queries beyond 6 dropped; not repaired: no query serves 'Towns'")


async def test_a_plan_that_was_only_written_is_shown(on_bench: Any) -> None:
    _, bench = await run(on_bench, "The plan is in the file.", written=json.dumps(GOOD))
    assert json.loads(seen(bench)) == GOOD


async def test_an_unreadable_plan_is_recorded_and_passed_on(on_bench: Any) -> None:
    found, bench = await run(on_bench, "I would look at rivers first.", plans=2)
    assert PLAN_FILE not in found.files
    assert seen(bench) == "I would look at rivers first."
    plans = [event for event in bench.logged(Decision) if event.name == "plan"]
    assert [(event.value, event.cause) for event in plans] == [(0, "unreadable")] * 2  # so it may be asked again


async def test_a_second_plan_is_refused(on_bench: Any) -> None:
    _, bench = await run(on_bench, json.dumps(GOOD), plans=2)
    assert len(bench.endpoint.of(ROLES["planner-agent"])) == 1
    assert [event.error for event in bench.logged(ToolReturned) if event.tool == "task"] == ["over_budget"]
    assert decided(bench).value == 4
