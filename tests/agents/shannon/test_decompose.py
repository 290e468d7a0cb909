"""The plan of a research."""

from typing import Any

import pytest

from aiq.core.errors import AgentError
from tests.agents.shannon.runs import AREAS, QUICK, Ran, Said, plan, research, subtask, task_of

PARALLEL = {**QUICK, "execution": {"pattern": "parallel"}}


async def decompose(said: Said, settings: Any = None, **more: Any) -> Ran:
    return await research({"decomposer": said}, {**PARALLEL, **(settings or {})}, **more)


def tasks(ran: Ran) -> list[str]:
    """First lines of the tasks that agents were given, in the order of the plan."""
    return list(dict.fromkeys(task_of(request).splitlines()[0] for request in ran.asked("researcher")))


@pytest.mark.parametrize(
    ("said", "complexity", "described"),
    [
        (plan(subtask("a"), subtask("b"), complexity=0.7), 0.7, ["find out a", "find out b"]),
        ({"subtasks": [subtask("a", id=7), subtask("b", id=None)], "agent_types": None}, 0.5, None),
        ({"subtasks": [{"id": 1, "description": "find out a"}, {"description": "find out b"}]}, 0.5, None),
        ({"complexity_score": 0.3}, 0.3, ["Describe the town of Orlune"]),
    ],
)
async def test_what_models_leave_out_of_a_plan_is_filled_in(
    said: Said, complexity: float, described: list[str] | None
) -> None:
    ran = await decompose(said)
    assert ran.decided("pattern")[0].cause == f"complexity {complexity:g}"
    assert tasks(ran) == (described or ["find out a", "find out b"])


@pytest.mark.parametrize("said", ["no", plan(complexity=7), {"subtasks": [{"id": "a"}]}])
async def test_a_plan_that_cannot_be_read_ends_the_research(said: Said) -> None:
    with pytest.raises(AgentError, match="the query could not be decomposed"):
        await decompose(said)


async def test_a_plan_is_repaired_once() -> None:
    good = plan(subtask("a"), subtask("b"))
    ran = await decompose(lambda request: good if len(request.messages) == 1 else "My plan: first find out a.")
    assert tasks(ran) == ["find out a", "find out b"]
    assert ran.recovered == ["unparsable_decomposition"]


async def test_the_decomposer_is_asked_with_areas_and_tools() -> None:
    ran = await decompose(
        plan(subtask("a")), {"decompose": {"tier": "medium", "timeout_seconds": 9, "max_tokens": 500}}
    )
    (request,) = ran.asked("decomposer")
    assert request.role == "shannon.medium.decomposer"
    endpoint: Any = ran.bench.endpoint
    assert endpoint.bodies[1]["temperature"] == 0.1
    assert request.token_limit == 500
    assert endpoint.seconds[1] == 9
    for text in ("- web_search_tool: Searches the web.", *AREAS, "Describe the town of Orlune"):
        assert text in request.messages[1].text
    none = await research({"decomposer": plan(subtask("a")), "researcher": "So."}, PARALLEL, {"data_sources": []})
    assert "Tools of the agents:\nNone." in none.prompt("decomposer")


CONTRACT = {
    "output_format": "a list",
    "source_guidance": "official pages",
    "search_budget": 2,
    "boundaries": "no history",
    "suggested_tools": ["web_search_tool"],
}


@pytest.mark.parametrize("contracts", [True, False])
async def test_subtasks_state_what_is_expected_if_configured(contracts: bool) -> None:
    reply = plan(subtask("a"), subtask("b", "a", **CONTRACT), subtask("c", **CONTRACT))
    ran = await research({"decomposer": reply}, {**QUICK, "decompose": {"contracts": contracts}})
    terms = "\nBring: a list\nPrefer: official pages\nUse: 2 searches at most\nNot: no history"
    assert task_of(ran.asked("researcher")[-1]) == "find out b" + terms * contracts
    schema = str(ran.asked("decomposer")[0].response_format)
    assert ("search_budget" in schema) is contracts
    assert ran.bench.search.queries[0] in ("find out a", "find out c")
    assert "find out c" in ran.bench.search.queries  # the planned search has no terms
