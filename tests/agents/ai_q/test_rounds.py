"""Research rounds and their plan: limits on queries, their mapping to sections, recorded repairs, gaps."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from aiq.agents.ai_q.rounds import PLAN_FILE, SYNTHESIS_ANCHOR, ResearchPlan, gaps_in, queries_in, repair_plan
from aiq.core.events import Decision, Recovery, Round, ToolReturned
from aiq.offline.chat import ChatReply, ChatRequest, call
from tests.agents.ai_q.test_deep import ORCHESTRATOR, RESEARCHER, eager, results_in, run, searches_once
from tests.agents.replies import REPORT, by_turn, calls, dispatch, turn_of

SECTIONS = ["Rivers", "Towns", "Trade", "People", "Conclusion"]


def plan(queries: list[Any], sections: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"title": "Orlune", "sections": sections or [{"title": s} for s in SECTIONS], "queries": queries, **more}


def query(text: str, *sections: str) -> dict[str, Any]:
    return {"query": text, "sections": list(sections), "rationale": "because"}


GOOD = plan([query(f"q{n}", s) for n, s in enumerate(SECTIONS[:4])], constraints=["short"], language="en")
MANY = plan([query(f"q{n}", SECTIONS[n % 4]) for n in range(9)])
LOOSE = [query("a", "rivers ", "Nowhere"), query("b", "Towns"), query("c", "Trade"), query("d", "Elsewhere")]
NINE = plan([query(f"q{n}", f"s{n}") for n in range(6)], [f"s{n}" for n in range(9)])


def test_a_plan_within_bounds_is_taken_unchanged() -> None:
    reviewed, repairs, faults = repair_plan(ResearchPlan.model_validate(GOOD), 4, 6)
    assert (repairs, faults) == ([], [])
    assert reviewed.model_dump() == GOOD  # what we do not check is passed on


@pytest.mark.parametrize(
    ("given", "least", "queries", "repairs", "faults"),
    [
        pytest.param(MANY, 4, [f"q{n}" for n in range(6)], ["3 queries beyond 6 dropped"], [], id="too-many"),
        pytest.param(
            plan([query("q0", "Rivers", "Towns")]),
            3,
            ["q0", "Orlune: Trade", "Orlune: People"],
            ["a query for 'Trade' added", "a query for 'People' added"],
            [],
            id="too-few",
        ),
        pytest.param(
            plan([query("q0", "All")], ["All"]), 4, ["q0"], [], ["1 queries, fewer than 4"], id="nothing-to-make-up"
        ),
        pytest.param(
            NINE,
            4,
            [f"q{n}" for n in range(6)],
            [],
            ["no query serves 's6'", "no query serves 's7'", "9 sections, more than 8"],
            id="too-many-sections",
        ),
        pytest.param(
            plan(LOOSE),
            4,
            ["a", "b", "c", "d"],
            ["sections of 'a' put right", "sections of 'd' put right"],
            ["no query serves 'People'", "'d' serves no section"],
            id="unknown-sections",
        ),
        pytest.param(
            plan([query("a", *SECTIONS[:4]), query("A ", "Towns"), query(" ", "Trade")]),
            1,
            ["a"],
            ["2 blank or repeated queries dropped"],
            [],
            id="blank-and-repeated",
        ),
        pytest.param(
            plan(["a", {"query": "b", "sections": None}], ["One"]), 1, ["a", "b"], [],
            ["no query serves 'One'", "'a' serves no section", "'b' serves no section"], id="texts-in-place-of-objects",
        ),
    ],
)  # fmt: skip
def test_a_review(given: dict[str, Any], least: int, queries: list[str], repairs: list[str], faults: list[str]) -> None:
    reviewed, *notes = repair_plan(ResearchPlan.model_validate(given), least, 6)
    assert [q.query for q in reviewed.queries] == queries
    assert notes == [repairs, faults]


async def planned(answer: str, written: str | None = None, plans: int = 1) -> tuple[Any, Any]:
    """A run whose planner gives this answer (and writes this file); the orchestrator asks for `plans` plans."""

    file = calls(call("write_file", file_path=PLAN_FILE, content=written))
    planner = by_turn(answer) if written is None else by_turn(file, answer)
    asks = calls(call("task", subagent_type="planner-agent", description="Plan."))
    return await run(lambda r: by_turn(*[asks] * plans, REPORT)(r) if r.role == ORCHESTRATOR else planner(r))


def decided(bench: Any) -> Any:
    (event,) = [event for event in bench.logged(Decision) if event.name == "plan"]
    return event


def seen(bench: Any) -> str:
    """What the orchestrator was shown of the plan."""
    return str(bench.endpoint.of(ORCHESTRATOR)[1].messages[-1].text)


@pytest.mark.parametrize("answer", [json.dumps(GOOD), f"Here it is:\n```json\n{json.dumps(GOOD)}\n```", "In the file."])
async def test_a_good_plan_is_kept_in_the_file_and_shown(answer: str) -> None:
    state, bench = await planned(answer, written=json.dumps(GOOD) if answer == "In the file." else None, plans=2)
    assert json.loads(state.files[PLAN_FILE]) == GOOD
    assert seen(bench) == answer or json.loads(seen(bench)) == GOOD
    assert (decided(bench).value, decided(bench).cause) == (4, "as planned")
    assert decided(bench).detail["queries"] == {f"q{n}": [s] for n, s in enumerate(SECTIONS[:4])}
    assert bench.logged(Recovery) == []
    errors = [event.error for event in bench.logged(ToolReturned) if event.tool == "task"]
    assert errors == ["over_budget"]  # a second plan


async def test_the_orchestrator_and_the_file_get_the_repaired_plan() -> None:
    many = json.dumps(plan([query(f"q{n}", "Rivers") for n in range(8)]))
    state, bench = await planned(many, written=many)
    assert json.loads(seen(bench)) == json.loads(state.files[PLAN_FILE])
    assert len(json.loads(seen(bench))["queries"]) == 6
    assert (decided(bench).value, decided(bench).cause) == (6, "repaired")
    (recovery,) = bench.logged(Recovery)
    assert recovery.detail.startswith("2 queries beyond 6 dropped; not repaired: no query serves 'Towns'")


@pytest.mark.parametrize("written", [None, json.dumps(GOOD)[:-9]], ids=["only said", "cut off in the file"])
async def test_an_unreadable_plan_is_recorded_and_passed_on(written: str | None) -> None:
    state, bench = await planned("I would look at rivers first.", written=written, plans=2)
    assert state.files.get(PLAN_FILE) == written
    assert seen(bench) == "I would look at rivers first."
    plans = [event for event in bench.logged(Decision) if event.name == "plan"]
    assert [(event.value, event.cause) for event in plans] == [(0, "unreadable")] * 2  # it may ask again


# Rounds.


@pytest.mark.parametrize("loops", [1, 3])
async def test_after_the_last_round_the_researcher_is_withdrawn_and_the_anchor_is_last(loops: int) -> None:
    state, bench = await run(eager, max_loops=loops)
    assert [event.number for event in bench.logged(Round)] == list(range(1, loops + 1))
    *earlier, last = bench.endpoint.of(ORCHESTRATOR)
    assert all("task" in request.tool_names for request in earlier)
    assert all(request.messages[-1].text != SYNTHESIS_ANCHOR for request in earlier)
    assert "task" not in last.tool_names
    assert (last.messages[-1].role, last.messages[-1].text) == ("user", SYNTHESIS_ANCHOR)
    assert [event.cause for event in bench.logged(Decision)] == ["max_loops"]
    assert len(bench.search.queries) == 2 * loops
    assert state.messages[-1].content == REPORT.strip()
    assert all(message.content != SYNTHESIS_ANCHOR for message in state.messages)


async def test_a_round_is_an_event_with_queries_new_sources_and_gaps() -> None:
    _, bench = await run(eager, max_loops=2)
    first, second = bench.logged(Round)
    assert first.queries == ("a 0", "b 0", "c 0")
    assert first.new_sources == ("https://pages.test/b-0", "https://pages.test/c-0")  # by call, not by arrival
    assert first.gaps == ("gap 1", "another")
    assert second.new_sources == ("https://pages.test/b-2", "https://pages.test/c-2")
    assert second.gaps == ()
    sources = [source.url for source in bench.session.sources.all()]
    assert sources == [*first.new_sources, *second.new_sources]


def led(*said: Any) -> Any:
    """A run whose orchestrator says this, turn by turn, and whose researchers search once."""
    return lambda request: by_turn(*said)(request) if request.role == ORCHESTRATOR else searches_once(request)


async def test_surplus_dispatches_are_answered_in_order_without_being_executed() -> None:
    state, bench = await run(led(calls(*(dispatch(f"q{n}") for n in range(5))), REPORT), max_researcher_calls=3)
    ids = [c["id"] for m in state.messages if isinstance(m, AIMessage) for c in m.tool_calls]
    assert [message.tool_call_id for message in results_in(state)] == ids
    assert ["over budget" in str(message.content) for message in results_in(state)] == [False] * 3 + [True] * 2
    assert sorted(bench.search.queries) == ["q0", "q1", "q2"]
    assert len(bench.endpoint.of(RESEARCHER)) == 6
    refusals = [event for event in bench.logged(ToolReturned) if not event.success]
    assert [event.error for event in refusals] == ["over_budget", "over_budget"]
    assert bench.logged(Round)[0].queries == ("q0", "q1", "q2")


@pytest.mark.parametrize(("task", "rounds"), [("", 1), ("  ", 1), (["a"], 0)])
async def test_a_dispatch_with_a_blank_task_counts(task: Any, rounds: int) -> None:
    blank = calls(call("task", subagent_type="researcher-agent", description=task))
    _, bench = await run(led(blank, blank, REPORT), max_loops=1)
    assert [event.number for event in bench.logged(Round)] == [1] * rounds
    assert len({request.messages[1].text for request in bench.endpoint.of(RESEARCHER)}) == rounds


async def test_a_dispatch_of_a_withdrawn_researcher_is_refused() -> None:
    state, bench = await run(led(*[calls(dispatch("more"))] * 3, REPORT), max_loops=1)
    assert bench.search.queries == ["more"]
    assert [event.number for event in bench.logged(Round)] == [1]
    assert state.messages[-1].content == REPORT.strip()


@pytest.mark.parametrize(("limit", "enable_todos"), [(10, True), (13, False), (16, True)])
@pytest.mark.parametrize("loops", [1, 9])
async def test_a_tight_recursion_limit_ends_in_synthesis(limit: int, enable_todos: bool, loops: int) -> None:
    """Even if the rounds are over and the model keeps dispatching the withdrawn researcher."""

    def script(request: ChatRequest) -> ChatReply:
        if request.role != ORCHESTRATOR:
            busy = "think" in request.tool_names and turn_of(request) < 20  # more steps than the orchestrator has
            return calls(call("think", thought="hm")) if busy else ChatReply(text="It lies there.")
        return calls(dispatch("q")) if request.tools else ChatReply(text=REPORT)

    state, bench = await run(script, recursion_limit=limit, enable_todos=enable_todos, max_loops=loops)
    assert state.messages[-1].content == REPORT.strip()
    assert bench.logged(Decision)[-1].cause == "recursion_limit"
    assert bench.endpoint.of(ORCHESTRATOR)[-1].messages[-1].text == SYNTHESIS_ANCHOR


@pytest.mark.parametrize(
    ("thought", "gaps"),
    [
        ("Gaps:\n- one\n- two\n\nThen more.", ("one", "two")),
        ("**Gaps:**\n1. one", ("one",)),
        ("Gaps: none", ()),
        ("Gaps:\n- None.", ()),
        ("gaps: the mayor", ("the mayor",)),
        ("Nothing of that sort.", ()),
    ],
)
def test_gaps_are_read_from_thoughts_and_not_from_the_report(thought: str, gaps: tuple[str, ...]) -> None:
    thinks = [{"name": "think", "args": {"thought": thought}, "id": "1"}]
    assert gaps_in([AIMessage("", tool_calls=thinks), AIMessage("Gaps:\n- in the report")]) == gaps


def test_queries_are_the_list_or_the_first_line() -> None:
    assert queries_in("Research.\nQueries:\n- a\n- b\nThanks") == ["a", "b"]
    assert queries_in("Find the mayor.\nSoon.") == ["Find the mayor."]
