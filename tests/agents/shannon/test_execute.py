"""How plans are executed: patterns, order, concurrency, failed parents, forced searches."""

from typing import Any

import pytest
from pydantic import ValidationError

from aiq.agents.shannon.settings import ShannonSettings
from aiq.core.errors import AgentError
from aiq.core.events import AgentFinished, AgentStarted
from aiq.core.plugins import describe
from tests.agents.replies import results
from tests.agents.shannon.runs import (
    AREAS,
    QUICK,
    Ran,
    Said,
    part_of,
    plan,
    report,
    research,
    researches,
    subtask,
    task_of,
)
from tests.cases import table
from tests.settings import configured

each = table(__file__)

CHAIN = [subtask("a"), subtask("b", "a"), subtask("c", "b"), subtask("d")]
APART = [subtask("a"), subtask("b"), subtask("c"), subtask("d")]


def order(ran: Ran) -> list[tuple[str, str]]:
    """Which agents started and finished, in order."""
    events = [
        (type(e).__name__.removeprefix("Agent"), e.agent)
        for e in ran.bench.events
        if isinstance(e, AgentStarted | AgentFinished)
    ]
    return [(event, agent) for event, agent in events]


def started(ran: Ran) -> list[str]:
    return [agent for event, agent in order(ran) if event == "Started"]


def evidence(ran: Ran) -> list[str]:
    """The results that the synthesizer is shown, in their order."""
    blocks = ran.prompt("synthesizer", 0).split("<result>")[1:]
    return [text.partition("</result>")[0].strip("# \n") for text in blocks]


@pytest.mark.parametrize(
    ("subtasks", "complexity", "settings", "pattern"),
    [
        (APART, 0.5, {}, "parallel"),
        (CHAIN, 0.5, {}, "hybrid"),
        (APART, 0.71, {"research_strategy": "deep"}, "react_per_task"),
        (APART, 0.5, {"react_per_task": True}, "react_per_task"),
        (APART, 0.4, {"execution": {"react_below": 0.3}}, "parallel"),
        (APART, 0.6, {"research_strategy": "deep", "execution": {"per_task_above": 0.5}}, "react_per_task"),
    ],
)
async def test_the_pattern_follows_from_plan_strategy_and_settings(
    subtasks: list[dict[str, Any]], complexity: float, settings: dict[str, Any], pattern: str
) -> None:
    ran = await research({"decomposer": plan(*subtasks, complexity=complexity)}, {**QUICK, **settings})
    assert [decision.value for decision in ran.decided("pattern")] == [pattern]


PATTERNS = ["react", "react_per_task", "parallel", "hybrid", "sequential"]


@pytest.mark.parametrize(("pattern", "subtasks"), [*((request, CHAIN) for request in PATTERNS), ("parallel", [])])
async def test_a_pattern_may_be_forced_on_any_plan(pattern: str, subtasks: list[dict[str, Any]]) -> None:
    parts: dict[str, Said] = {"decomposer": plan(*subtasks, complexity=0.1)}
    ran = await research(parts, {**QUICK, "execution": {"pattern": pattern}})
    assert ran.decided("pattern")[0].value == pattern
    is_whole = pattern == "react" or not subtasks
    names = ["whole"] if is_whole else [task["id"] for task in subtasks]
    assert sorted(started(ran)) == sorted(names)
    assert bool(ran.asked("reasoner")) is pattern.startswith("react")
    described = "Describe the town of Orlune" if is_whole else "find out a"
    assert any(described in task_of(request) for request in ran.asked("researcher"))
    assert evidence(ran)


@pytest.mark.parametrize("pattern", PATTERNS[1:])
async def test_results_are_in_the_order_of_the_plan_whichever_ends_first(pattern: str) -> None:
    backwards = [subtask("d", "c"), subtask("c", "b"), subtask("b"), subtask("a")]
    parts: dict[str, Said] = {"decomposer": plan(*backwards), "summarizer": lambda request: task_of(request)}
    ran = await research(parts, {**QUICK, "execution": {"pattern": pattern}}, order=3)
    assert [*dict.fromkeys(text.splitlines()[0] for text in evidence(ran))] == ["d", "c", "b", "a"]
    finished = [agent for event, agent in order(ran) if event == "Finished"]
    if pattern != "parallel":
        assert finished.index("b") < finished.index("c") < finished.index("d")


@each("known")
async def test_a_task_is_shown_the_results_it_depends_on_by_id(pattern: str, known: dict[str, list[str]]) -> None:
    parts: dict[str, Said] = {"decomposer": plan(*CHAIN), "summarizer": lambda request: f"{task_of(request)}: it is so"}
    ran = await research(parts, {**QUICK, "execution": {"pattern": pattern}})
    names_by_task = {}
    for request in ran.asked("researcher"):
        text = request.messages[1].text
        task = next(item["id"] for item in CHAIN if item["description"] in task_of(request))
        names_by_task[task] = [part.partition(":")[0].strip() for part in text.split("<result>")[1:]]
        assert all(f"{name}: find out {name}: " in text for name in names_by_task[task])
    assert {name: names for name, names in names_by_task.items() if names} == known


@pytest.mark.parametrize(
    ("subtasks", "settings", "most"),
    [
        (APART, {"max_concurrent_agents": 1}, 1),
        (APART, {"max_concurrent_agents": 3}, 3),
        (APART, {"research_strategy": "quick"}, 3),
        (APART, {"execution": {"pattern": "sequential"}}, 1),
        (CHAIN, {"react_per_task": True}, 1),  # loops that depend on each other run one by one
    ],
)
async def test_the_number_of_concurrent_agents_is_limited(
    subtasks: list[dict[str, Any]], settings: dict[str, Any], most: int
) -> None:
    ran = await research({"decomposer": plan(*subtasks)}, {**QUICK, **settings}, order=5)
    endpoint: Any = ran.bench.endpoint
    assert endpoint.most == most


@pytest.mark.parametrize("pattern", ["hybrid", "react_per_task"])
async def test_a_failed_parent_unblocks_its_children_and_is_told_as_failed(pattern: str) -> None:
    def first_fails(request: Any) -> Any:
        return 500 if "find out a" in task_of(request) else researches(request)

    def sums_up(request: Any) -> Any:
        return 500 if "find out a" in task_of(request) else f"in short, {task_of(request)}"

    parts: dict[str, Said] = {"decomposer": plan(*CHAIN), "researcher": first_fails, "summarizer": sums_up}
    ran = await research(parts, {**QUICK, "execution": {"pattern": pattern}})
    (prompt,) = {r.messages[1].text for r in ran.asked("researcher") if task_of(r).startswith("find out b")}
    assert "a: This task failed." in prompt
    assert [*dict.fromkeys(text.splitlines()[0] for text in evidence(ran))] == ["b", "c", "d"]


@pytest.mark.parametrize(
    ("subtasks", "message"),
    [
        ([subtask("a", "b"), subtask("b", "a")], r"cyclic dependencies: a -> b -> a"),
        ([subtask(""), subtask("task-1")], r"several subtasks have the id task-1"),
    ],
)
async def test_a_plan_without_an_order_is_refused(subtasks: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(AgentError, match=f"the plan cannot be executed: {message}"):
        await research({"decomposer": plan(*subtasks)}, {**QUICK, "execution": {"pattern": "hybrid"}})


async def test_dependencies_are_not_checked_if_not_used() -> None:
    circle = plan(subtask("a", "b"), subtask("b", "a", "z"))
    for pattern in ("react", "parallel"):
        ran = await research({"decomposer": circle}, {**QUICK, "execution": {"pattern": pattern}})
        assert evidence(ran)


SEARCH = {"suggested_tools": ["web_search_tool"]}


@pytest.mark.parametrize(
    ("fields", "pattern", "query"),
    [
        (SEARCH, "parallel", "find out a"),
        ({**SEARCH, "tool_parameters": {"tool": "web_search_tool", "query": "orlune"}}, "parallel", "orlune"),
        (SEARCH, "react_per_task", None),  # loops decide for themselves
        ({}, "parallel", None),
        ({"suggested_tools": ["calculator"]}, "parallel", None),
        ({**SEARCH, "description": "Summarize what was found"}, "parallel", None),
    ],
)
async def test_a_planned_search_is_made_without_a_model(
    fields: dict[str, Any], pattern: str, query: str | None
) -> None:
    subtasks = [subtask("a", **fields), subtask("b")]
    ran = await research({"decomposer": plan(*subtasks)}, {**QUICK, "execution": {"pattern": pattern}})
    by_model = [request for request in ran.asked("researcher") if not task_of(request).startswith("find out b")]
    assert (not by_model) is (query is not None)
    if query:
        assert ran.bench.search.queries.count(query) == 1
        assert f"{query} is well described" in evidence(ran)[0]  # what the tool gave, as it is


async def test_a_task_with_dependencies_chooses_its_own_searches() -> None:
    subtasks = [subtask("a", **SEARCH), subtask("b", "a", **SEARCH)]
    ran = await research({"decomposer": plan(*subtasks)}, QUICK)
    assert {task_of(request) for request in ran.asked("researcher")} == {"find out b"}
    assert "well described" in ran.prompt("researcher", 0)  # of a


@each("search")
async def test_research_gives_every_subtask_a_search(force: bool, suggested: list[str], offered: list[str]) -> None:
    subtasks = [subtask("a"), subtask("b", "a", suggested_tools=suggested)]
    parts: dict[str, Said] = {
        "decomposer": plan(*subtasks),
        "researcher": lambda request: researches(request) if request.tools else "from memory",
    }
    ran = await research(parts, {**QUICK, "force_research": force})
    (request_b,) = [r for r in ran.asked("researcher") if task_of(r) == "find out b" and not results(r)]
    assert [tool.function.name for tool in request_b.tools] == offered


@pytest.mark.parametrize("pattern", ["react", "react_per_task"])
async def test_a_loop_has_all_tools_whatever_was_suggested(pattern: str) -> None:
    settings = {"force_research": False, "execution": {"pattern": pattern, "force_search": False}}
    ran = await research({"synthesizer": report(AREAS[0])}, {**settings, "gap_filling_max_iterations": 1})
    assert {len(request.tools) for request in ran.asked("researcher") if not results(request)} == {1}  # of gaps, too
    assert ran.extras["gap_iterations"] == 1


async def test_a_question_without_data_sources_is_researched_without_tools() -> None:
    ran = await research({"researcher": "from memory"}, QUICK, {"data_sources": []})
    assert not any(request.tools for request in ran.asked("researcher"))
    assert not ran.bench.search.queries  # not by force either
    assert "There are none." in ran.prompt("synthesizer")


@pytest.mark.parametrize(("force", "queries"), [(True, ["Describe the town of Orlune"]), (False, [])])
async def test_one_search_is_made_if_no_agent_made_any(force: bool, queries: list[str]) -> None:
    settings = {**QUICK, "execution": {"force_search": force}, "record_zero_token": True}
    ran = await research({"researcher": lambda request: f"{task_of(request)}, from memory"}, settings)
    assert ran.bench.search.queries == queries
    assert [decision.value for decision in ran.decided("forced_search")] == ["web_search_tool"] * len(queries)
    forced = [record for record in ran.records if record["agent_id"] == "forced-search"]
    assert [record["tool"] for record in forced] == ["web_search_tool"] * len(queries)
    assert len(evidence(ran)) == 2 + len(queries)


@pytest.mark.parametrize(
    ("complexity", "tier", "used"),
    [
        (0.5, None, "large"),
        (0.9, "small", "small"),
    ],
)
async def test_agents_have_the_tier_of_the_questions_complexity(complexity: float, tier: str | None, used: str) -> None:
    ran = await research({"decomposer": plan(*APART, complexity=complexity)}, {**QUICK, "model_tier": tier})
    agents = {r.role for r in ran.bench.endpoint.requests if part_of(r) in ("researcher", "reasoner", "summarizer")}
    assert {role.split(".")[1] for role in agents} == {used}


async def test_agents_have_the_roles_and_the_hints_of_plan_and_refinement() -> None:
    refined = {
        "refined_query": "Q",
        "research_areas": ["Origins"],
        "exact_queries": ['"Orlune Works"'],
        "official_domains": ["orlune.test"],
        "disambiguation_terms": ["turbines"],
    }
    parts: dict[str, Said] = {
        "refiner": refined,
        "decomposer": plan(*APART[:2], agent_types=["historian"]),
        "synthesizer": report("Origins"),
    }
    ran = await research(parts, QUICK)
    hints = '"Orlune Works"; prefer domains (site:orlune.test); add disambiguation: turbines'
    for request in ran.asked("researcher"):
        role = "historian" if task_of(request) == "find out a" else "researcher"
        assert f"(role: {role})" in request.messages[0].text
        assert hints in request.messages[1].text


def test_a_pattern_that_does_not_exist_is_refused_by_the_name_of_its_setting() -> None:
    with pytest.raises(ValidationError) as caught:
        configured(ShannonSettings, execution={"pattern": "serial"})
    assert describe(caught.value, "agent").startswith("agent.execution.pattern='serial': Input should be 'auto', 're")
