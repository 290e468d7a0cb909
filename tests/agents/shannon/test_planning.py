from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiq.agents.shannon.planning import SYNTHESIS_WORDS
from aiq.agents.shannon.records import Subtask
from aiq.agents.shannon.rules import (
    agent_role,
    detect_language,
    model_tier,
    peel_quotes,
    repair_subtasks,
    route_pattern,
    search_line,
    strategy_preset,
    topological_order,
)
from tests.cases import table

each = table(__file__)


@each("language")
def test_the_language_of_a_question(text: str, language: str) -> None:
    assert detect_language(text) == language


def test_the_share_of_chinese_is_a_parameter() -> None:
    assert detect_language("abcdefg 量子", 0.15) == "Chinese"


@each("text")
def test_pairs_of_quotes_are_peeled(text: str, peeled: str) -> None:
    assert peel_quotes(text) == peeled


@each("exact")
def test_the_line_to_search_with(exact: list[str], domains: list[str], terms: list[str], line: str) -> None:
    assert search_line(exact, domains, terms) == line


def test_the_role_of_a_task() -> None:
    assert [agent_role(["analyst", ""], index) for index in range(3)] == ["analyst", "researcher", "researcher"]


def test_a_complex_query_without_subtasks_is_one_itself() -> None:
    assert repair_subtasks([], "q" * 300, 0.3) == [Subtask(id="task-1", description="q" * 200)]
    assert repair_subtasks([], "q", 0.29) == []


@pytest.mark.parametrize(
    ("given", "changed"),
    [
        ({}, {"id": "task-2"}),
        ({"id": "x"}, {}),
        ({"id": "x", "suggested_tools": ("a", "b")}, {"tool_parameters": {"tool": "a"}}),
        (
            {"id": "x", "suggested_tools": ("a",), "tool_parameters": {"query": "q"}},
            {"tool_parameters": {"query": "q", "tool": "a"}},
        ),
        ({"id": "x", "suggested_tools": ("a",), "tool_parameters": {"tool": "b"}}, {}),
        (
            {"id": "x", "suggested_tools": ("a",), "tool_parameters": {"tool": "b"}, "dependencies": ("y",)},
            {"tool_parameters": {}},
        ),
        ({"id": "x", "tool_parameters": {"tool": "b"}, "dependencies": ("y",)}, {}),
        *(
            ({"id": "x", "description": f"Then {word.upper()} it"}, {"task_type": "synthesis"})
            for word in SYNTHESIS_WORDS
        ),
        ({"id": "x", "description": "Summarize", "task_type": "research"}, {}),
        ({"id": "x", "description": "Search"}, {}),
    ],
)
def test_subtasks_are_repaired(given: dict[str, Any], changed: dict[str, Any]) -> None:
    first, task = Subtask(id="first"), Subtask(**given)
    assert repair_subtasks([first, task], "q", 0.1) == [first, Subtask(**{**given, **changed})]


@each("order")
def test_tasks_are_ordered_by_what_they_need(tasks: dict[str, list[str]], order: list[str]) -> None:
    assert topological_order(tasks) == order
    assert topological_order([Subtask(id=name, dependencies=tuple(needs)) for name, needs in tasks.items()]) == order


def test_tasks_may_be_as_a_model_wrote_them() -> None:
    plan: Any = [{"id": 1, "dependencies": [2], "estimated_tokens": 300}, {"id": 2, "dependencies": None}]
    assert topological_order(plan) == ["2", "1"]
    assert route_pattern(0.5, plan) == "hybrid"


@each("refused")
def test_a_plan_without_an_order_is_refused(tasks: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        topological_order(tasks)


@settings(max_examples=30)
@given(
    st.integers(0, 8).flatmap(
        lambda n: st.tuples(*(st.lists(st.integers(0, max(0, i - 1)), max_size=3) for i in range(n)))
    )
)
def test_an_order_respects_all_dependencies(drawn: tuple[list[int], ...]) -> None:
    tasks = {str(i): [str(need) for need in needs if need < i] for i, needs in enumerate(drawn)}
    turned = dict(reversed(tasks.items()))
    for variant in (tasks, turned):
        order = topological_order(variant)
        assert sorted(order) == sorted(variant)
        assert all(order.index(need) < order.index(task) for task, needs in variant.items() for need in needs)


@each("pattern")
def test_the_pattern_of_a_plan(
    complexity: float, subtasks: int, per_task: bool, strategy: str, dependencies: bool, pattern: str
) -> None:
    assert route_pattern(complexity, subtasks, per_task, strategy, dependencies) == pattern
    needs = [("a",) if dependencies and i else () for i in range(subtasks)]
    plan = [Subtask(dependencies=need) for need in needs]
    assert route_pattern(complexity, plan, per_task, strategy) == pattern


@each("tier")
def test_the_tier_of_a_model(tier: str | None, complexity: float | None, chosen: str) -> None:
    assert model_tier(tier, complexity) == chosen


PRESETS = [
    ("quick", False, 3, 2, False, None, None, False),
    ("standard", True, 5, 3, True, 3, 2, False),
    ("deep", True, 6, 4, True, 5, 2, True),
    ("academic", True, 8, 5, True, 10, 2, True),
]


@pytest.mark.parametrize("row", PRESETS, ids=[row[0] for row in PRESETS])
def test_a_strategy_presets_the_context(row: tuple[Any, ...]) -> None:
    name, *values = row
    keys = ["enable_verification", "max_concurrent_agents", "react_max_iterations", "gap_filling_enabled"]
    keys += ["gap_filling_max_gaps", "gap_filling_max_iterations", "gap_filling_check_citations"]
    expected = {key: value for key, value in zip(keys, values, strict=True) if value is not None}
    assert strategy_preset(f" {name.upper()}\n") == expected


def test_no_strategy_presets_nothing_and_another_is_refused() -> None:
    assert strategy_preset("") == strategy_preset(" ") == strategy_preset(None) == {}
    strategy_preset("deep").clear()
    assert strategy_preset("deep")
    with pytest.raises(ValueError, match="research_strategy=fast: one of quick, standard, deep, academic"):
        strategy_preset("Fast")
