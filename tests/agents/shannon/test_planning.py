import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.agents.shannon.planning import STRATEGIES, SYNTHESIS_WORDS
from aiq.agents.shannon.records import Refinement, Subtask
from aiq.agents.shannon.rules import (
    agent_role,
    clamp_concurrency,
    clamp_gap_iterations,
    clamp_max_gaps,
    clamp_react_iterations,
    detect_language,
    force_tools,
    gap_checks_citations,
    gap_filling_enabled,
    model_tier,
    parse_decomposition,
    parse_refinement,
    peel_quotes,
    repair_subtasks,
    route_pattern,
    search_line,
    strategy_preset,
    strip_fence,
    topological_order,
)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What is it?", "English"),
        ("量子计算是什么", "Chinese"),
        ("量子コンピュータとは", "Japanese"),
        ("量子와 コンピュータ 양자", "Korean"),  # any Hangul comes first
        ("ﾃｽﾄ", "Japanese"),
        ("Explain 量子 abcd", "English"),
        ("abcdefg 量子力", "English"),  # three of ten is not more than 0.3
        ("abcdef 量子力", "Chinese"),
        ("Что это такое", "Russian"),
        ("abcdefg где", "English"),
        ("abcdef где", "Russian"),
        ("ما هذا", "Arabic"),
        ("¿Qué es?", "Spanish"),
        ("El AÑO", "Spanish"),
        ("Ça va ñ", "Spanish"),
        ("Voilà", "French"),
        ("Où est le café", "English"),  # neither letter is among those that tell
        ("über", "German"),
        ("STRAẞE", "German"),
        ("", "English"),
        ("123 !?", "English"),
        ("¿?", "English"),  # nothing that counts
        ("ーーー", "English"),  # a mark that scripts share
    ],
)
def test_the_language_of_a_question(text: str, language: str) -> None:
    assert detect_language(text) == language


def test_the_share_of_chinese_is_a_parameter() -> None:
    assert detect_language("abcdefg 量子", 0.15) == "Chinese"


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ('```json\n{"a": 1}\n```', '{"a": 1}'),
        ("```\n{}\n```\n", "{}"),
        ("  ```json{}``` and more", "{}"),
        ("```json\n{}", "{}"),
        ("```json\na ``` b\n```", "a ``` b"),  # up to the last one
        ("{} ```", "{} ```"),
        ("Here: ```json\n{}\n```", "Here: ```json\n{}\n```"),
        ("", ""),
    ],
)
def test_a_fence_around_a_reply(text: str, inner: str) -> None:
    assert strip_fence(text) == inner


@pytest.mark.parametrize(
    ("text", "peeled"),
    [
        ('"Acme"', "Acme"),
        ("\"'Acme'\"", "Acme"),
        (' "Acme" ', "Acme"),
        ('"Acme', '"Acme'),
        ("\"Acme'", "\"Acme'"),
        ('""', ""),
        ('"', '"'),
        ("Acme", "Acme"),
        ("", ""),
    ],
)
def test_pairs_of_quotes_are_peeled(text: str, peeled: str) -> None:
    assert peel_quotes(text) == peeled


def test_a_refinement_is_read_from_its_json() -> None:
    reply: dict[str, Any] = {
        "refined_query": "Q",
        "research_areas": ["A"],
        "exact_queries": ['"Acme"', "x"],
        "extra": 1,
    }
    found = parse_refinement(f"```json\n{json.dumps(reply)}\n```", "q")
    assert found == Refinement(
        refined_query="Q", research_areas=("A",), canonical_name="Acme", exact_queries=('"Acme"', "x")
    )
    assert parse_refinement(json.dumps(reply | {"canonical_name": "Acme Corp"}), "q").canonical_name == "Acme Corp"
    assert parse_refinement('{"refined_query": "Q"}', "q").canonical_name == ""


@pytest.mark.parametrize("reply", ["", "no JSON", "[]", "{", "3", "null"])
def test_a_reply_that_cannot_be_read_leaves_the_query(reply: str) -> None:
    failed = "Query refinement failed, using original query"
    assert parse_refinement(reply, "q") == Refinement(refined_query="q", research_areas=("q",), rationale=failed)


@pytest.mark.parametrize(
    ("exact", "domains", "terms", "line"),
    [
        (['"A"', '"B"'], [], [], '"A" OR "B"'),
        (
            ['"A"'],
            ["a.example", "b.example"],
            ["x", "y"],
            '"A"; prefer domains (site:a.example OR site:b.example); add disambiguation: x, y',
        ),
        ([], ["a.example"], [], "prefer domains (site:a.example)"),
        ([], [], [], ""),
    ],
)
def test_the_line_to_search_with(exact: list[str], domains: list[str], terms: list[str], line: str) -> None:
    assert search_line(exact, domains, terms) == line


@pytest.mark.parametrize(
    "reply", ['{"mode": {"a": 1}}', 'Here it is:\n```json\n{"mode":\n{"a": 1}}\n``` So.', ' {"mode": {"a": 1}}\n']
)
def test_a_decomposition_is_read_from_its_json(reply: str) -> None:
    assert parse_decomposition(reply) == {"mode": {"a": 1}}


@pytest.mark.parametrize("reply", ["", "no JSON", "[1]", '{"a": 1} and {"b": 2}', "{"])
def test_without_one_there_is_none(reply: str) -> None:
    with pytest.raises(ValueError, match="no JSON object"):
        parse_decomposition(reply)


def test_every_task_of_research_may_search_and_fetch() -> None:
    assert force_tools([]) == ["web_search", "web_fetch"]
    assert force_tools(["web_fetch", "calculator"]) == ["web_fetch", "calculator", "web_search"]


def test_the_role_of_a_task() -> None:
    assert [agent_role(["analyst", ""], index) for index in range(3)] == ["analyst", "researcher", "researcher"]


def test_no_subtasks_are_one_where_the_query_is_not_simple() -> None:
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


@pytest.mark.parametrize(
    ("tasks", "order"),
    [
        ({}, []),
        ({"a": [], "b": []}, ["a", "b"]),
        ({"b": ["a"], "a": []}, ["a", "b"]),
        ({"c": ["a", "b"], "b": [], "d": ["a"], "a": []}, ["b", "a", "c", "d"]),
        ({"a": [], "d": ["b", "c"], "c": ["a"], "b": ["a", "a"]}, ["a", "c", "b", "d"]),
    ],
)
def test_tasks_are_ordered_by_what_they_need(tasks: dict[str, list[str]], order: list[str]) -> None:
    assert topological_order(tasks) == order


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ({"a": ["b"], "b": ["a"]}, "in a circle: a -> b -> a"),
        ({"a": ["a"]}, "in a circle: a -> a"),
        ({"r": [], "x": ["r", "y"], "y": ["z"], "z": ["y"]}, "in a circle: y -> z -> y"),
        ({"a": ["q"], "b": ["a", "p"]}, "that do not exist: a needs q, b needs p"),
    ],
)
def test_a_plan_without_an_order_is_refused(tasks: dict[str, list[str]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        topological_order(tasks)


@given(
    st.integers(0, 8).flatmap(
        lambda n: st.tuples(*(st.lists(st.integers(0, max(0, i - 1)), max_size=3) for i in range(n)))
    )
)
def test_an_order_respects_all_dependencies(drawn: tuple[list[int], ...]) -> None:
    tasks = {str(i): [str(need) for need in needs if need < i] for i, needs in enumerate(drawn)}
    turned = dict(reversed(tasks.items()))
    for each in (tasks, turned):
        order = topological_order(each)
        assert sorted(order) == sorted(each)
        assert all(order.index(need) < order.index(task) for task, needs in each.items() for need in needs)


@pytest.mark.parametrize(
    ("complexity", "subtasks", "per_task", "strategy", "dependencies", "pattern"),
    [
        (0.49, 5, True, "deep", True, "react"),  # per task is ignored
        (0.9, 1, True, "deep", False, "react"),
        (0.9, 0, False, "", False, "react"),
        (0.5, 2, True, "", False, "react_per_task"),
        (0.5, 2, True, "", True, "react_per_task"),
        (0.71, 2, False, "deep", True, "react_per_task"),
        (0.71, 2, False, "academic", False, "react_per_task"),
        (0.7, 2, False, "deep", False, "parallel"),
        (0.7, 2, False, "academic", True, "hybrid"),
        (0.9, 2, False, "standard", False, "parallel"),
        (0.9, 2, False, "quick", True, "hybrid"),
        (0.5, 2, False, "", True, "hybrid"),
    ],
)
def test_the_pattern_of_a_plan(
    complexity: float, subtasks: int, per_task: bool, strategy: str, dependencies: bool, pattern: str
) -> None:
    assert route_pattern(complexity, subtasks, per_task, strategy, dependencies) == pattern


@pytest.mark.parametrize(
    ("tier", "complexity", "chosen"),
    [
        ("large", 0.1, "large"),
        ("", 0.29, "small"),
        (None, 0.3, "medium"),
        (None, 0.49, "medium"),
        (None, 0.5, "large"),
        (None, 0.0, "small"),
        (None, None, "medium"),
    ],
)
def test_the_tier_of_a_model(tier: str | None, complexity: float | None, chosen: str) -> None:
    assert model_tier(tier, complexity) == chosen


@pytest.mark.parametrize(
    ("value", "react", "concurrency", "gap_iterations", "max_gaps"),
    [
        (None, 5, 5, 2, 3),
        ("4", 5, 5, 2, 3),
        (True, 5, 5, 2, 3),
        (0, 2, 1, 1, 1),
        (-3, 2, 1, 1, 1),
        (0.0, 2, 5, 1, 1),
        (-0.5, 2, 5, 1, 1),
        (0.5, 2, 1, 1, 1),
        (1, 2, 1, 1, 1),
        (3.9, 3, 3, 3, 3),
        (6, 6, 6, 5, 6),
        (9, 8, 9, 5, 9),
        (21, 8, 20, 5, 20),
        (float("inf"), 8, 20, 5, 20),
        (float("nan"), 5, 5, 2, 3),
    ],
)
def test_the_ranges_of_context_values(
    value: object, react: int, concurrency: int, gap_iterations: int, max_gaps: int
) -> None:
    assert clamp_react_iterations(value) == react
    assert clamp_concurrency(value) == concurrency
    assert clamp_gap_iterations(value) == gap_iterations
    assert clamp_max_gaps(value, "standard") == max_gaps


def test_defaults_may_be_those_of_a_strategy() -> None:
    assert clamp_react_iterations(None, 2) == 2
    assert [clamp_max_gaps(None, name) for name in ("", "quick", "deep", "academic")] == [3, 3, 5, 10]


@given(st.one_of(st.integers(), st.floats()))
def test_clamped_values_are_in_range(value: float) -> None:
    assert 2 <= clamp_react_iterations(value) <= 8
    assert 1 <= clamp_concurrency(value) <= 20
    assert 1 <= clamp_gap_iterations(value) <= 5
    assert 1 <= clamp_max_gaps(value, "deep") <= 20


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
    stated = {key: value for key, value in zip(keys, values, strict=True) if value is not None}
    assert strategy_preset(f" {name.upper()}\n") == stated


def test_no_strategy_presets_nothing_and_another_is_refused() -> None:
    assert strategy_preset("") == strategy_preset(" ") == {}
    with pytest.raises(ValueError, match="research_strategy=fast: one of quick, standard, deep, academic"):
        strategy_preset("Fast")


@pytest.mark.parametrize("strategy", ["", *STRATEGIES])
def test_gap_filling_follows_the_strategy_where_the_context_says_nothing(strategy: str) -> None:
    assert gap_filling_enabled(None, strategy) is (strategy != "quick")
    assert gap_checks_citations(None, strategy) is (strategy in ("deep", "academic"))
    for value in (True, False):
        assert gap_filling_enabled(value, strategy) is gap_checks_citations(value, strategy) is value
