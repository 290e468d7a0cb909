"""The graph: concurrent calls of sub-agents and tools without losing any, failures, how a research ends."""

import asyncio
from typing import Any

import pytest

from aiq.agents.planner.graph import PlannerGraph
from aiq.agents.planner.settings import PlannerSettings
from aiq.agents.planner.state import FirstPlan, PlannerDecision, plan_form
from aiq.agents.toolkit.structured import schema_of
from aiq.core.errors import AgentError, LimitReached, ModelError, RunAborted, ToolError, ToolErrorKind
from aiq.core.events import AgentFinished, AgentStarted, Decision, Recovery
from aiq.core.tools import ToolResult
from aiq.core.usage import Limits
from tests.agents.conftest import Bench
from tests.agents.planner.conftest import (
    FIRST,
    INDIA,
    QUESTIONS,
    EventsTool,
    Pages,
    PagesArguments,
    plan,
    planned,
    roles,
)
from tests.settings import configured

BROKEN = ToolError(ToolErrorKind.FAILED, "it broke")


def decisions(bench: Bench, name: str) -> list[Any]:
    return [event for event in bench.logged(Decision) if event.name == name]


def recovered(bench: Bench) -> dict[str, str]:
    return {event.what: event.detail for event in bench.logged(Recovery)}


class Gate(Pages):
    """A tool whose calls wait until as many are running as a test wants; counts them."""

    def __init__(self, together: int) -> None:
        super().__init__([{"documents": []}])
        self.together, self.under_way, self.most = together, 0, 0
        self.open = asyncio.Event()

    async def run(self, arguments: PagesArguments) -> ToolResult:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        if self.under_way >= self.together:
            self.open.set()
        async with asyncio.timeout(5):
            await self.open.wait()
        self.under_way -= 1
        return await super().run(arguments)


async def test_more_than_five_calls_are_queued_and_none_is_dropped() -> None:
    tool = Gate(together=5)
    many = plan("decomposer", tools=[("pages", {"page_size": n}) for n in range(1, 9)])
    async with planned(roles([many, plan(next_action="synthesize")]), tool):
        assert sorted(call.page_size for call in tool.calls) == [1, 2, 3, 4, 5, 6, 7, 8]
        assert tool.most == 5


async def test_seven_sub_agents_all_run() -> None:
    names = ["aggregator", "decomposer", "extractor", "gap_analyzer", "perspective", "scanner", "validator"]
    async with planned(roles([plan(*names), plan(next_action="synthesize")])) as (_, bench):
        started = [event.agent for event in bench.logged(AgentStarted)]
        assert started == [*names, "synthesizer"]
        assert sorted(event.agent for event in bench.logged(AgentFinished)) == sorted(started)


async def test_duplicate_calls_are_made_once() -> None:
    tool = EventsTool()
    call = ("analyze_events", {"filters": INDIA})
    twice = plan("decomposer", ("validator", {"query": "a"}), ("validator", {"query": "b"}), tools=[call, call])
    async with planned(roles([twice, plan("scanner")]), tool) as (_, bench):
        assert tool.calls[0] == {"filters": INDIA}
        assert "page_size" in tool.calls[1]
        assert [event.agent for event in bench.logged(AgentStarted)][:3] == ["decomposer", "validator", "scanner"]


async def test_calls_that_depend_on_others_run_after_them_and_know_what_they_found() -> None:
    later = plan(("validator", {}, [1]), ("scanner", {}), ("gap_analyzer", {}, [0]), ("extractor", {}, [9]))
    async with planned(roles([FIRST, later, plan(next_action="synthesize")])) as (_, bench):
        agents = [event.agent for event in bench.logged(AgentStarted)]
        assert agents[1:] == ["scanner", "extractor", "validator", "gap_analyzer", "synthesizer"]
        (request,) = bench.endpoint.of("planner.validator")
        assert request.last_user.count("<finding>") == 9  # six of the scan, three of the extractor
        assert "Documents fetched: 165 of 165" in bench.endpoint.of("planner.gap_analyzer")[0].last_user


async def test_a_synthesizer_in_a_plan_runs_after_the_others_and_ends_the_research() -> None:
    async with planned(roles([FIRST, plan("synthesizer", "scanner")])) as (report, bench):
        assert [event.agent for event in bench.logged(AgentStarted)] == ["decomposer", "scanner", "synthesizer"]
        assert decisions(bench, "completion")[-1].value == "__end__"
        assert report.extras["iterations"] == 2


async def test_the_validator_runs_under_the_document_policy_but_not_under_strict_source() -> None:
    """With only statistics, strict_source turns the next plan into the report, whatever it was."""
    plans = [plan("decomposer", "aggregator"), plan("validator", next_action="validate"), plan(next_action="complete")]
    tool = Pages([{"buckets": [{"key": "AI", "count": 9}], "data_context": {"unique_ids_matched": 9}}])
    for policy, agents in (("document", ["validator", "synthesizer"]), ("strict_source", ["synthesizer"])):
        async with planned(roles(plans), tool, policy=policy) as (_, bench):
            assert [event.agent for event in bench.logged(AgentStarted)][2:] == agents


async def test_a_failed_call_is_skipped_and_logged_by_its_category() -> None:
    tool = Pages([BROKEN, {"documents": [{"id": "a"}]}])
    plans = [plan("decomposer", tools=[("pages", {}), ("pages", {"page_size": 5})])]
    async with planned(roles(plans), tool) as (report, bench):
        assert recovered(bench)["mcp_tool_error"] == "pages: it broke"
        assert (report.extras["documents"], report.extras["sub_questions"]) == (1, QUESTIONS)


@pytest.mark.parametrize(
    ("plans", "why"),
    [
        ([plan("decomposer", tools=[("pages", {})]), plan(next_action="complete")], "nothing is planned"),
        ([plan("scanner", tools=[("pages", {})])], "mcp_tool_error: it broke"),
        (["no plan"], "the planner failed: no reply, repaired or not, is a plan"),
    ],
)
async def test_without_any_results_there_is_no_report(plans: list[Any], why: str) -> None:
    with pytest.raises(AgentError, match=f"nothing was found that a report could be written from: {why}"):
        async with planned(roles(plans), Pages([BROKEN]), max_iterations=2 if len(plans) == 1 else 10):
            pass


async def test_transient_failures_are_retried() -> None:
    busy = ToolError(ToolErrorKind.HTTP, "HTTP 503")
    tool = Pages([busy, busy, {"documents": [{"id": "a"}]}])
    async with planned(roles([plan("decomposer", tools=[("pages", {})])]), tool) as (report, bench):
        assert (len(tool.calls), report.extras["documents"]) == (3, 1)
        assert "server_error" in recovered(bench)["call_retried"]


async def test_after_a_too_long_prompt_a_scan_restarts_with_smaller_batches() -> None:
    tool = EventsTool()

    def scanned(request: Any) -> Any:
        too_long = request.last_user.count("<document>") > 30
        return (400, "prompt is too long") if too_long else {"findings": []}

    async with planned(roles([FIRST, plan("scanner")], scanner=scanned), tool) as (report, bench):
        assert sorted({call["page_size"] for call in tool.calls if "page_size" in call}) == [18, 37, 75]
        assert report.extras["coverage"] == 100.0
        assert "token_limit" in recovered(bench)["call_retried"]


async def test_a_sub_agent_that_cannot_be_read_fails_alone() -> None:
    async with planned(roles([FIRST, plan("scanner")], decomposer="no json")) as (report, bench):
        assert "decomposer failed" in recovered(bench)["sub_agent_error"]
        assert (report.extras["sub_questions"], report.extras["documents"]) == ([], 165)


@pytest.mark.parametrize("said", ["no plan", 500])
async def test_if_the_planner_fails_the_report_is_written_from_what_was_found(said: Any) -> None:
    async with planned(roles([FIRST, said], scanner=lambda _: {"findings": []})) as (report, bench):
        assert decisions(bench, "plan")[-1].cause.startswith("the planner failed")
        assert report.extras["iterations"] == 2
        assert bench.endpoint.of("planner.synthesizer")
        sends = 1 + {"no plan": 2, 500: 1 + 2}[said]  # asked and repaired; or sent again as often as a call may be
        assert len(bench.endpoint.of("planner.planner")) == sends


@pytest.mark.parametrize(("status", "raised"), [(404, RunAborted), (400, ModelError)])
async def test_an_endpoint_that_has_never_answered_ends_the_research(status: int, raised: type[Exception]) -> None:
    with pytest.raises(raised):
        async with planned(lambda request: status):
            pass


@pytest.mark.parametrize("calls", [1, 3])
async def test_limits_pass_through(calls: int) -> None:
    with pytest.raises(LimitReached):
        async with planned(roles([FIRST, plan("scanner")]), limits=configured(Limits, sample_model_calls=calls)):
            pass


async def test_the_reports_reserve_is_not_spent_on_the_batches_of_a_scan() -> None:
    limits = configured(Limits, sample_model_calls=6, on_limit="synthesize")
    async with planned(roles([FIRST, plan("scanner")]), limits=limits) as (report, bench):
        assert report.extras["documents"] == 165
        assert [len(bench.endpoint.of(f"planner.{role}")) for role in ("scanner", "synthesizer")] == [2, 1]
        assert recovered(bench)["no_findings"].startswith("scanner failed: limits.sample_model_calls=6")


async def test_after_the_last_iteration_the_report_is_written() -> None:
    tool = Pages([{"documents": [{"id": n}], "data_context": {"unique_ids_matched": 999}} for n in range(99)])
    claims = iter(range(99))
    script = roles(
        [plan("scanner", tools=[("pages", {})])],
        scanner=lambda _: {"findings": [{"claim": f"Claim {next(claims)}.", "sources": [1]}]},
    )
    async with planned(script, tool, confidence=1.0, max_iterations=4) as (report, bench):
        assert decisions(bench, "completion")[-1].cause == "max iterations: 4"
        assert report.extras["iterations"] == 4
        assert len(bench.endpoint.of("planner.planner")) == 4


async def test_without_new_findings_the_report_is_written() -> None:
    tool = Pages([{"documents": []}])
    async with planned(roles([plan("decomposer", tools=[("pages", {})])]), tool) as (_, bench):
        assert decisions(bench, "completion")[-1].cause == "no new findings in 3 iterations"


async def test_an_empty_plan_without_gaps_ends_the_research() -> None:
    tool = Pages([{"documents": [], "data_context": {"unique_ids_matched": 0}}])
    async with planned(roles([plan("decomposer", tools=[("pages", {})]), plan()]), tool) as (_, bench):
        assert decisions(bench, "completion")[-1].cause == "nothing is planned, and no gap is known"


async def test_a_question_without_tools_is_answered_from_nothing() -> None:
    async with planned(roles([plan(next_action="synthesize")]), asked={"data_sources": []}) as (report, bench):
        assert decisions(bench, "tools")[0].value == []
        assert report.citation_status == "no_sources"


async def test_a_full_text_query_that_matches_nothing_is_left_out() -> None:
    tool = EventsTool()
    call = ("analyze_events", {"query": "How many events took place in India?", "filters": INDIA})
    async with planned(roles([plan("decomposer", tools=[call]), plan("scanner")]), tool) as (report, bench):
        assert tool.calls[1] == {"filters": INDIA}
        assert "query_dropped" in recovered(bench)
        assert report.extras["total_documents"] == 165
        assert tool.calls[2] == {"filters": INDIA, "page_size": 75}


async def test_arguments_that_a_tool_does_not_have_are_dropped() -> None:
    tool = Pages([{"documents": [{"id": "a"}]}])
    call = ("pages", {"page_size": 500, "search_after": ["a", 1], "colour": "red", "group_by": None})
    async with planned(roles([plan("decomposer", tools=[call])]), tool) as (_, bench):
        assert tool.calls[0] == PagesArguments(page_size=100, search_after='["a", 1]')
        assert recovered(bench)["arguments_dropped"] == "pages has no colour"


def test_a_plan_can_name_only_existing_sub_agents_and_tools() -> None:
    form = plan_form(FirstPlan, ("scanner", "validator"), ("analyze_events",))
    schema: Any = schema_of(form)
    assert schema["strict"] is False  # arguments are any
    parts = schema["schema"]["$defs"]
    assert parts["SubAgentCall"]["properties"]["agent_name"]["enum"] == ["scanner", "validator"]
    assert parts["DataCall"]["properties"]["tool"]["const"] == "analyze_events"
    with pytest.raises(ValueError, match="agent_name"):
        form.model_validate(plan("nobody"))
    assert plan_form(PlannerDecision, (), ()).model_validate(plan()).model_dump()["next_action"] == "call_sub_agents"


async def test_the_graph_reads_like_the_documents_diagram() -> None:
    settings = configured(PlannerSettings)
    drawn = PlannerGraph(settings, settings.prompts()).graph.get_graph()
    edges = {(edge.source, edge.target) for edge in drawn.edges}
    assert edges == {
        ("__start__", "initialization"),
        ("initialization", "planning"),
        ("planning", "execute"),
        ("planning", "synthesis"),
        ("planning", "check_completion"),
        ("execute", "accumulate"),
        ("accumulate", "check_completion"),
        ("check_completion", "planning"),
        ("check_completion", "synthesis"),
        ("check_completion", "__end__"),
        ("synthesis", "__end__"),
    }


async def test_sub_agents_that_read_or_write_see_the_earlier_conversation() -> None:
    history = [{"speaker": "user", "text": "Which robots are built in Pune?"}]
    async with planned(roles([FIRST, plan("scanner")]), asked={"history": history}) as (_, bench):
        for role in ("planner", "decomposer", "scanner", "synthesizer"):
            assert "user: Which robots are built in Pune?" in bench.endpoint.of(f"planner.{role}")[-1].last_user
