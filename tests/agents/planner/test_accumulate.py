"""What each kind of outcome changes in the state, and what is computed per iteration."""

from typing import Any

import pytest

from aiq.agents.planner.accumulate import accumulated, automatic_confidence, with_progress
from aiq.agents.planner.responses import DataPage
from aiq.agents.planner.settings import PlannerSettings
from aiq.agents.planner.state import AggregationResult, Outcome, Perspective, PlannerState, ResearchGap, ValidationIssue
from aiq.agents.planner.subagents.aggregator import AggregatorOutput
from aiq.agents.planner.subagents.base import Registry
from aiq.agents.planner.subagents.decomposer import DecomposerOutput
from aiq.agents.planner.subagents.extractor import ExtractorOutput
from aiq.agents.planner.subagents.gap_analyzer import GapAnalyzerOutput
from aiq.agents.planner.subagents.perspective import PerspectiveOutput
from aiq.agents.planner.subagents.scanner import ScannerOutput
from aiq.agents.planner.subagents.synthesizer import SynthesizerOutput
from aiq.agents.planner.subagents.validator import ValidatorOutput
from tests.agents.planner.conftest import document, finding, questions, state
from tests.settings import configured

SETTINGS = configured(PlannerSettings)
REGISTRY = Registry(SETTINGS, SETTINGS.prompts())
COUNTS = AggregationResult(aggregation_type="terms", field="theme")
TEN = tuple(document(f"t:{n}") for n in range(10))
ALL = tuple(document(f"t:{n}", read=True) for n in range(165))


def after(given: PlannerState, name: str, output: Any, **more: Any) -> PlannerState:
    return accumulated(given, [Outcome(name=name, output=output, **more)], REGISTRY)


def called(given: PlannerState, page: DataPage, **arguments: Any) -> PlannerState:
    return after(given, "t", page, is_tool=True, arguments=arguments)


def test_sub_questions_and_perspectives_are_replaced() -> None:
    initial = state(sub_questions=questions(1), perspectives=(Perspective(name="A", focus="a"),))
    result = after(initial, "decomposer", DecomposerOutput(sub_questions=questions(1, 2, 3)))
    result = after(result, "perspective", PerspectiveOutput(perspectives=(Perspective(name="B", focus="b"),)))
    assert [question.priority for question in result.sub_questions] == [1, 2, 3]
    assert [view.name for view in result.perspectives] == ["B"]


def test_an_aggregator_adds_its_results_and_updates_the_total() -> None:
    out = AggregatorOutput(results=(COUNTS,), insights=("AI leads.",), total_dataset_size=165, sources=TEN)
    result = after(state(aggregations=(COUNTS,), total_docs=20), "aggregator", out)
    assert (len(result.aggregations), result.insights, result.total_docs) == (2, ("AI leads.",), 165)
    assert (result.docs_fetched, result.needs_full_scan) == (10, True)
    assert after(state(total_docs=200), "aggregator", out).total_docs == 200


def test_documents_are_counted_once_165_and_not_175() -> None:
    initial = called(state(), DataPage(documents=TEN, total=165))
    assert (initial.docs_fetched, initial.needs_full_scan) == (10, True)
    result = after(initial, "scanner", ScannerOutput(docs_scanned=165, sources=ALL, total=165))
    assert (result.docs_fetched, result.unfetched, result.needs_full_scan) == (165, 0, False)


def test_documents_of_two_tools_with_the_same_ids_are_different() -> None:
    initial = called(state(), DataPage(documents=(document("t:1"), document("t:2")), total=2))
    result = after(initial, "scanner", ScannerOutput(sources=(document("u:1"), document("u:2"))))
    assert result.docs_fetched == 4


def test_a_scan_is_done_even_if_it_found_nothing() -> None:
    assert not after(state(needs_full_scan=True, total_docs=9), "scanner", ScannerOutput()).needs_full_scan


@pytest.mark.parametrize(("name", "kind"), [("scanner", ScannerOutput), ("extractor", ExtractorOutput)])
def test_claims_are_added_once_ignoring_case(name: str, kind: Any) -> None:
    findings = (finding("AI leads."), finding("Cloud follows."), finding("cloud follows. "), finding(" "))
    result = after(state(findings=(finding("ai LEADS."),)), name, kind(findings=findings))
    assert [(f.id, f.claim) for f in result.findings] == [("f_1", "ai LEADS."), ("f_2", "Cloud follows.")]


def test_documents_of_an_extraction_count_as_read() -> None:
    initial = state(documents=TEN)
    result = after(initial, "extractor", ExtractorOutput(sources=(document("t:3", read=True),)))
    assert [d.key for d in result.documents if d.read] == ["t:3"]
    assert result.docs_fetched == 10


def test_a_validator_replaces_the_confidence() -> None:
    issue = ValidationIssue(issue_type="relevance", description="off")
    out = ValidatorOutput(status="passed", issues=(issue,), confidence_scores={"sq_1": 0.5}, overall_confidence=0.4)
    result = after(state(confidence=0.6), "validator", out)
    assert (result.validation_status, result.validation_issues) == ("passed", (issue,))
    assert (result.confidence, result.question_confidence) == (0.4, {"sq_1": 0.5})
    rich = result.model_copy(
        update={"aggregations": (COUNTS,), "findings": (finding(),), "documents": TEN, "total_docs": 10}
    )
    assert with_progress(result, rich, REGISTRY).confidence == 0.4


def test_gaps_are_replaced_and_the_recommendation_is_kept() -> None:
    gap = ResearchGap(gap_description="AI")
    out = GapAnalyzerOutput(gaps=(gap,), recommendation="CONTINUE_RESEARCH")
    result = after(state(gaps=(gap, gap)), "gap_analyzer", out)
    assert (result.gaps, result.recommendation) == ((gap,), "CONTINUE_RESEARCH")


def test_a_synthesizer_writes_the_report() -> None:
    out = SynthesizerOutput(report="R", key_findings=("k",), confidence=0.8, limitations=("l",))
    result = after(state(), "synthesizer", out)
    assert (result.report, result.key_findings, result.confidence, result.limitations) == ("R", ("k",), 0.8, ("l",))


def test_a_tool_call_keeps_its_arguments_for_a_scan() -> None:
    result = called(state(), DataPage(documents=TEN, total=165, aggregations=(COUNTS,)), filters="{}")
    assert (result.last_tool_args, len(result.calls), len(result.aggregations)) == ({"filters": "{}"}, 1, 1)


@pytest.mark.parametrize(
    ("fetched", "total", "needed"), [(10, 165, True), (0, 165, False), (10, 10, False), (10, None, False)]
)
def test_a_scan_is_needed_if_some_but_not_all_documents_are_fetched(fetched: int, total: Any, needed: bool) -> None:
    assert called(state(), DataPage(documents=TEN[:fetched], total=total)).needs_full_scan is needed


def test_an_outcome_with_nothing_new_does_not_call_for_another_scan() -> None:
    initial = state(documents=ALL, total_docs=600)
    assert not called(initial, DataPage(documents=TEN, total=600)).needs_full_scan
    assert called(initial, DataPage(documents=TEN, total=700)).needs_full_scan


def test_a_tools_answer_without_documents_is_a_note() -> None:
    assert called(state(), DataPage(note="Fields: theme")).notes == ("t: Fields: theme",)


def test_failed_calls_change_nothing() -> None:
    initial = state()
    outcomes = [Outcome(name="scanner", error="timeout"), Outcome(name="t", is_tool=True, error="unknown")]
    assert accumulated(initial, outcomes, REGISTRY) == initial


def quiet(name: str, output: Any, *, new: bool = False, **more: Any) -> int:
    initial = state(quiet=2)
    outcome = Outcome(name=name, output=output, **more)
    result = accumulated(initial.model_copy(update={"outcomes": (outcome,)}), [outcome], REGISTRY)
    return with_progress(initial, result, REGISTRY).quiet


@pytest.mark.parametrize(
    ("name", "output", "count"),
    [
        ("scanner", ScannerOutput(), 3),
        ("scanner", ScannerOutput(findings=(finding(),)), 0),
        ("aggregator", AggregatorOutput(), 3),
        ("extractor", ExtractorOutput(), 3),
        ("decomposer", DecomposerOutput(sub_questions=questions(1, 1, 1)), 2),
        ("validator", ValidatorOutput(status="passed", overall_confidence=0.1), 2),
    ],
)
def test_batches_without_a_new_finding_are_counted(name: str, output: Any, count: int) -> None:
    assert quiet(name, output) == count


def test_a_failed_batch_does_not_count() -> None:
    assert quiet("scanner", None, error="timeout") == 2
    assert quiet("t", DataPage(), is_tool=True) == 3


@pytest.mark.parametrize(
    ("given", "confidence"),
    [
        ({}, 0.0),
        ({"aggregations": (COUNTS,)}, 0.3),
        ({"findings": (finding(),)}, 0.2),
        ({"documents": TEN, "total_docs": 20, "needs_full_scan": True}, 0.15),
        ({"documents": TEN, "total_docs": 20}, 0.35),
        ({"documents": TEN, "total_docs": 10}, 0.5),
        ({"documents": TEN, "total_docs": 5}, 0.5),
        ({"aggregations": (COUNTS,), "findings": (finding(),), "documents": TEN, "total_docs": 10}, 1.0),
    ],
)
def test_the_automatic_confidence(given: dict[str, Any], confidence: float) -> None:
    assert automatic_confidence(state(**given)) == pytest.approx(confidence)
