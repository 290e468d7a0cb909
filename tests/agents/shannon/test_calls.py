"""Accounting of a research: one record per exchange, totals that add up, budgets that stop agents."""

from collections import Counter
from typing import Any

import pytest

from aiq.agents.shannon.calls import CallLedger, attributed_to, log_failure, or_none, use_ledger
from aiq.core.errors import AgentError, LimitReached, ModelError, RunAborted
from aiq.core.events import EventLog
from aiq.core.models import Message
from aiq.core.usage import Usage, account
from tests.agents.shannon.runs import (
    AREAS,
    QUICK,
    Said,
    completion,
    in_order,
    part_of,
    plan,
    report,
    research,
    researches,
    subtask,
)
from tests.sessions import make_session

FORCED = plan(subtask("one", suggested_tools=["web_search_tool"]), subtask("two"))


def agents(records: list[dict[str, Any]]) -> dict[str, int]:
    return dict(Counter(record["agent_id"] for record in records))


async def test_each_call_is_recorded_once_under_its_agent_and_step() -> None:
    ran = await research()
    assert agents(ran.records) == {
        "research-refiner": 1,
        "decomposer": 1,
        "one": 2,  # a reply with a search, and the answer
        "two": 2,
        "synthesizer": 1,
        "claim-verifier": 1,
        "claim-verifier-1": 1,
        "claim-verifier-2": 1,
    }
    keys = [(record["agent_id"], record["step"]) for record in ran.records]
    assert keys == sorted(set(keys))
    assert [record["step"] for record in ran.records if record["agent_id"] == "one"] == [1, 2]
    assert len(ran.records) == len(ran.bench.endpoint.requests)


TWICE = in_order(500, "a thought, not JSON", {"refined_query": "Q", "research_areas": list(AREAS)})


@pytest.mark.parametrize(
    ("parts", "settings", "question"),
    [
        ({}, {}, {}),
        ({"refiner": TWICE}, {}, {}),  # a failed send, and a repair that helps
        ({"synthesizer": report("Origins")}, {}, {}),  # gaps are filled, the report rewritten
        ({"synthesizer": completion("Orlune lies", tokens=49990)}, QUICK, {}),  # continued
        ({"decomposer": FORCED}, {"budget_agent_max": 3000}, {}),
        ({}, {"memory": {"embedding_model": "embedder"}}, {"thread_id": "t"}),
    ],
)
async def test_totals_are_sums_of_records_and_equal_the_sessions_count(
    parts: dict[str, Said], settings: dict[str, Any], question: dict[str, Any]
) -> None:
    ran = await research(parts, settings, question)
    booked = ran.bench.session.usage.total().total_tokens
    tokens = sum(record.get("input_tokens", 0) + record.get("output_tokens", 0) for record in ran.records)
    assert tokens == booked == ran.extras["usage"]["tokens"]
    assert [(decision.value, decision.cause) for decision in ran.decided("tokens_add_up")] == [(True, "")]


async def test_an_unusable_answer_that_was_paid_for_is_recorded_too() -> None:
    unusable = {**completion("x", tokens=7), "choices": []}
    ran = await research({"synthesizer": in_order(unusable, report(*AREAS))}, QUICK)
    assert [record["output_tokens"] for record in ran.records if record["agent_id"] == "synthesizer"][:1] == [7]
    assert [decision.value for decision in ran.decided("tokens_add_up")] == [True]


async def test_embeddings_are_recorded_under_the_memory() -> None:
    settings = {"memory": {"embedding_model": "embedder"}}
    ran = await research({}, settings, before=("What of the river?",))
    embedded = [record for record in ran.records if record["agent_id"] == "memory"]
    assert [(record["role"], record["input_tokens"]) for record in embedded] == [("shannon.memory", 3)]


@pytest.mark.parametrize(("zero_tokens", "records"), [(True, [{"agent_id": "one", "step": 1}]), (False, [])])
async def test_a_forced_search_asks_no_model_and_is_recorded_if_configured(
    zero_tokens: bool, records: list[dict[str, Any]]
) -> None:
    ran = await research({"decomposer": FORCED}, {**QUICK, "record_zero_token": zero_tokens})
    assert len(ran.asked("researcher")) == 2  # of the other subtask
    assert ran.bench.search.queries[0] == "find out one"
    agent_records = [record for record in ran.records if record["agent_id"] == "one"]
    assert agent_records == [{**record, "tool": "web_search_tool"} for record in records]
    assert [decision.value for decision in ran.decided("tokens_add_up")] == [True]


def endless(request: Any) -> Any:
    """Searches for as long as it is offered tools."""
    return researches(request.model_copy(update={"messages": request.messages[:2]}) if request.tools else request)


@pytest.mark.parametrize("pattern", ["parallel", "react"])
async def test_no_agent_uses_more_than_its_budget_whatever_the_pattern(pattern: str) -> None:
    settings = {**QUICK, "execution": {"pattern": pattern, "tool_rounds": 20}, "react_max_iterations": 8}
    parts: dict[str, Said] = {"researcher": endless, "reasoner": "Search for Orlune " + "and more " * 40}
    wasted = await research(parts, settings, found="{query} is well described. " * 20)
    budget = 4000
    ran = await research(parts, {**settings, "budget_agent_max": budget}, found="{query} is well described. " * 20)
    used, unlimited = Counter[str](), Counter[str]()
    for counter, records in ((used, ran.records), (unlimited, wasted.records)):
        for record in records:
            counter[record["agent_id"]] += record.get("input_tokens", 0) + record.get("output_tokens", 0)
    assert max(unlimited.values()) > 1.5 * budget
    assert 0.5 * budget < max(used.values()) <= 1.2 * budget  # requests are estimated by a quarter of their bytes
    assert "well described" in ran.prompt("synthesizer")  # what the stopped agents had found


async def test_the_last_reply_of_a_budget_is_cut_to_what_is_left() -> None:
    ran = await research({"researcher": "word " * 5000}, {**QUICK, "budget_agent_max": 2000})
    limits = {part_of(request): request.token_limit or 0 for request in ran.bench.endpoint.requests}
    assert 0 < limits["researcher"] < 2000
    spent = [record for record in ran.records if record["agent_id"] == "one"]
    assert [record["output_tokens"] for record in spent] == [limits["researcher"]]
    assert limits["synthesizer"] < 2000  # in place of agent.synthesis.comprehensive_tokens


async def test_a_roles_configured_token_limit_is_respected() -> None:
    roles = {"shannon.medium": {"max_tokens": 700}}
    ran = await research({}, QUICK, llm={"roles": roles})
    assert ran.asked("synthesizer")[0].token_limit == 700
    assert (await research({}, QUICK)).asked("synthesizer")[0].token_limit == 50000


def test_budgets_are_counted_for_each_agent_separately() -> None:
    ledger = CallLedger(make_session(), budget=100)
    with use_ledger(ledger):
        for agent, tokens in (("a", 30), ("a", 20), ("b", 10)):
            with attributed_to(agent):
                account.get().record("x.role", Usage(calls=1, input_tokens=tokens))  # type: ignore[union-attr]
        messages = [Message(role="user", content="four" * 5)]
        with attributed_to("a"):
            assert ledger.reply_limit(messages) == 100 - 50 - 10
            with pytest.raises(
                AgentError, match=r"max=100: a has used 50 tokens, and its next request takes about 105"
            ):
                ledger.reply_limit([Message(role="user", content="x" * 400)])
        with attributed_to("b"):
            remaining = ledger.reply_limit(messages, [{"description": "a tool that takes many words"}])
            assert remaining is not None
            assert remaining < 100 - 10 - 10
    assert account.get() is None
    ledger.record("x.role", Usage(calls=1))  # refused: no model saw it
    assert len(ledger.records) == 3


def test_totals_of_a_failed_research_are_checked_too() -> None:
    events: list[Any] = []
    session = make_session(events=EventLog(events.append))
    with pytest.raises(AgentError), use_ledger(CallLedger(session)):
        raise AgentError("the query could not be decomposed")
    assert [(event.name, event.value) for event in events] == [("tokens_add_up", True)]


async def test_only_failures_of_agents_and_endpoints_are_tolerated() -> None:
    async def fails(error: Exception) -> str:
        raise error

    with make_session().bind():
        for tolerated in (AgentError("x"), ModelError("x")):
            assert await or_none(fails(tolerated), "what") is None
        unanswered = ModelError("x", never_answered=True)
        for error in (unanswered, LimitReached("limits.run_usd", 1), RunAborted("x"), ValueError("x")):
            with pytest.raises(type(error)):
                await or_none(fails(error), "what")
        with pytest.raises(ModelError):
            log_failure(unanswered, "what")
