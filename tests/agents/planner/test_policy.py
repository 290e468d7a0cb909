"""How plans are corrected: by the document's rules, and by the safeguards of the original source code."""

from typing import Any

import pytest

from aiq.agents.planner.policy import POLICIES, Ruling
from aiq.agents.planner.settings import PlannerSettings
from aiq.agents.planner.state import AggregationResult, PlannerDecision, PlannerState
from tests.agents.planner.conftest import document, finding, plan, state
from tests.settings import configured

COUNTS = (AggregationResult(aggregation_type="terms", field="theme"),)
FIRST = PlannerDecision.model_validate(plan("decomposer", tools=[("t", {})]))
BOTH = pytest.mark.parametrize("policy", ["document", "strict_source"])


def settle(policy: str, planned: dict[str, Any], given: PlannerState) -> Ruling:
    policies = POLICIES[policy](configured(PlannerSettings))
    return policies.apply(PlannerDecision.model_validate(planned), given, FIRST)


def called(found: Ruling) -> list[str]:
    return [*found.decision.agents, *(call.tool for call in found.decision.tool_calls)]


def unfetched(**more: Any) -> PlannerState:
    return state(**{"iteration": 2, "aggregations": COUNTS, "needs_full_scan": True, "total_docs": 165, **more})


@BOTH
def test_after_the_last_iteration_only_the_report_is_written(policy: str) -> None:
    ruling = settle(policy, plan("scanner", tools=[("t", {})]), unfetched(iteration=11))
    assert (called(ruling), ruling.cause) == (["synthesizer"], "Max iterations reached")


def test_validator_and_gap_analyzer_can_run_before_the_report() -> None:
    """Not with strict_source: with statistics and nothing left to scan, any other plan becomes the report."""
    current = state(iteration=2, aggregations=COUNTS)
    for planned in (plan("validator", next_action="validate"), plan("gap_analyzer", next_action="analyze_gaps")):
        assert called(settle("document", planned, current)) == [planned["sub_agent_calls"][0]["agent_name"]]
        assert called(settle("strict_source", planned, current)) == ["synthesizer"]


@BOTH
def test_a_scan_is_added_if_documents_are_unfetched(policy: str) -> None:
    ruling = settle(policy, plan("validator", tools=[("t", {})]), unfetched())
    (scan,) = [call for call in ruling.decision.sub_agent_calls if call.agent_name == "scanner"]
    assert scan.arguments == {"batch_size": 100, "max_batches": 10}
    assert ruling.scans
    assert not ruling.decision.tool_calls


def test_other_planned_calls_wait_for_the_added_scan() -> None:
    ruling = settle("document", plan("gap_analyzer", "synthesizer"), unfetched())
    assert [(call.agent_name, call.depends_on) for call in ruling.decision.sub_agent_calls] == [
        ("scanner", ()),
        ("gap_analyzer", (0,)),
    ]
    assert called(settle("strict_source", plan("gap_analyzer"), unfetched())) == ["scanner"]


@BOTH
def test_a_planned_scan_is_kept_as_it_is(policy: str) -> None:
    planned = plan(("scanner", {"batch_size": 50}), tools=[("t", {})])
    ruling = settle(policy, planned, unfetched())
    assert called(ruling) == ["scanner", "t"]
    assert ruling.decision.sub_agent_calls[0].arguments == {"batch_size": 50}
    assert ruling.scans


@BOTH
def test_a_synthesis_with_unfetched_documents_becomes_a_scan(policy: str) -> None:
    assert called(settle(policy, plan(next_action="synthesize"), unfetched())) == ["scanner"]


def test_without_statistics_only_the_document_scans() -> None:
    assert called(settle("document", plan(), unfetched(aggregations=()))) == ["scanner"]
    assert called(settle("strict_source", plan(), unfetched(aggregations=()))) == []


@BOTH
@pytest.mark.parametrize("action", ["complete", "synthesize"])
def test_ending_the_research_is_one_call_of_the_synthesizer(policy: str, action: str) -> None:
    planned = plan("scanner", "aggregator", tools=[("t", {})], next_action=action)
    ruling = settle(policy, planned, state(iteration=2, findings=(finding(),)))
    assert called(ruling) == ["synthesizer"]


@BOTH
def test_the_synthesizer_alone_ends_too(policy: str) -> None:
    ruling = settle(policy, plan("synthesizer"), state(iteration=2, findings=(finding(),)))
    assert ruling.decision.next_action == "synthesize"


@BOTH
def test_without_material_no_report_is_written(policy: str) -> None:
    ruling = settle(policy, plan("synthesizer", next_action="synthesize"), state(iteration=2))
    assert called(ruling) == []


@pytest.mark.parametrize(
    ("planned", "becomes"),
    [
        (plan(), ["decomposer", "t"]),
        (plan("perspective"), ["perspective", "decomposer", "t"]),
        (plan("aggregator"), ["aggregator", "decomposer"]),
        (plan("decomposer", tools=[("u", {})]), ["decomposer", "u"]),
        (plan(next_action="synthesize"), ["decomposer", "t"]),
    ],
)
def test_the_first_plan_has_a_decomposer_alongside_data(planned: Any, becomes: list[str]) -> None:
    assert called(settle("document", planned, state(iteration=1))) == becomes
    assert called(settle("document", plan(), state(iteration=2))) == []
    assert called(settle("strict_source", plan(), state(iteration=1))) == []


def test_a_plan_that_no_rule_concerns_is_unchanged() -> None:
    current = state(iteration=2, documents=(document("t:a"),), total_docs=1)
    planned = plan("aggregator", tools=[("t", {})], next_action="call_tools", reasoning="more counts")
    ruling = settle("document", planned, current)
    assert (called(ruling), ruling.cause, ruling.scans) == (["aggregator", "t"], "more counts", False)
