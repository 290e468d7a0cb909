"""Gap analyzer: judges how well each sub-question is answered, what is missing, and whether to go on."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field

from aiq.agents.planner.state import (
    AggregationResult,
    Arguments,
    PlannerState,
    ResearchFinding,
    ResearchGap,
    SubQuestion,
)
from aiq.agents.planner.subagents.base import Changes, Research, SubAgent
from aiq.agents.planner.subagents.validator import finding_lines
from aiq.agents.toolkit.structured import LenientRecord

Recommendation = Literal["CONTINUE_RESEARCH", "SUFFICIENT_COVERAGE", "DIMINISHING_RETURNS"]

ENOUGH_DOCUMENTS = 10
"""Number of documents with findings on a question from which its answer is certain (specification 4.5)."""


class GapAnalyzerInput(BaseModel):
    original_query: str = ""
    findings: tuple[ResearchFinding, ...] = ()
    sub_questions: tuple[SubQuestion, ...] = ()
    aggregation_results: tuple[AggregationResult, ...] = ()
    docs_processed: int = Field(0, ge=0, description="documents fetched")
    total_docs_available: int = Field(0, ge=0, description="documents that there are")


class GapAnalyzerReply(LenientRecord):
    gaps: tuple[ResearchGap, ...] = ()
    reasoning: str = ""


class GapAnalyzerOutput(BaseModel):
    """`coverage_by_question` is in percent, by id."""

    gaps: tuple[ResearchGap, ...] = ()
    coverage_by_question: dict[str, float] = {}
    recommendation: Recommendation
    reasoning: str = ""


class GapAnalyzer(SubAgent[GapAnalyzerInput, GapAnalyzerOutput]):
    name = "gap_analyzer"
    description = "Says which sub-questions are not answered yet, what is missing, and whether to go on."
    input_model = GapAnalyzerInput
    output_model = GapAnalyzerOutput

    def defaults(self, state: PlannerState) -> Arguments:
        return {
            "original_query": state.query,
            "findings": state.findings,
            "sub_questions": state.sub_questions,
            "aggregation_results": state.aggregations,
            "docs_processed": state.docs_fetched,
            "total_docs_available": state.total_docs,
        }

    async def execute(self, given: GapAnalyzerInput, research: Research) -> GapAnalyzerOutput:
        """Coverage and recommendation are computed; the gaps are the model's. Without a reply, research goes on."""
        confidences = {question.id: confidence_in(question, given.findings) for question in given.sub_questions}
        percents = {name: round(100 * confidence, 1) for name, confidence in confidences.items()}
        reply = await self.ask(
            GapAnalyzerReply,
            "gaps_unknown",
            query=given.original_query,
            findings=finding_lines(given.findings, self.settings.validator_findings),
            questions=[(question, percents[question.id]) for question in given.sub_questions],
            aggregations=[(result.field, result.lines(10)) for result in given.aggregation_results],
            docs_processed=given.docs_processed,
            total=given.total_docs_available,
            coverage=coverage(given.docs_processed, given.total_docs_available),
        )
        if reply is None:
            gap = ResearchGap(gap_description="What is missing could not be determined.")
            return GapAnalyzerOutput(gaps=(gap,), coverage_by_question=percents, recommendation="CONTINUE_RESEARCH")
        is_quiet = research.state.quiet >= max(1, self.settings.no_new_batches - 1)
        verdict = recommendation(given.sub_questions, confidences, self.settings.confidence, is_quiet)
        if not given.sub_questions and any(gap.importance == "high" for gap in reply.gaps):
            verdict = "CONTINUE_RESEARCH"
        return GapAnalyzerOutput(
            gaps=reply.gaps, coverage_by_question=percents, recommendation=verdict, reasoning=reply.reasoning
        )

    def accumulate(self, state: PlannerState, out: GapAnalyzerOutput, arguments: Arguments) -> Changes:
        return {"gaps": out.gaps, "recommendation": out.recommendation}


def confidence_in(question: SubQuestion, findings: Sequence[ResearchFinding]) -> float:
    """How certain the answer to a question is, 0 to 1, by the number of documents behind the findings on it."""
    documents = sum(finding.evidence_count for finding in findings if question.id in finding.relevant_questions)
    return min(1.0, documents / ENOUGH_DOCUMENTS)


def coverage(processed: int, total: int) -> float:
    """The share of documents processed, in percent."""
    return round(100 * processed / total, 1) if total else 0.0


def recommendation(
    questions: Sequence[SubQuestion], confidences: dict[str, float], threshold: float, is_quiet: bool
) -> Recommendation:
    """Go on while a question of the highest priority is open; stop if nothing new is found, or all are answered."""
    highest = max((question.priority for question in questions), default=0)
    critical = [question.id for question in questions if question.priority == highest]
    if any(confidences[name] < threshold for name in critical):
        return "CONTINUE_RESEARCH"
    if is_quiet:
        return "DIMINISHING_RETURNS"
    return "SUFFICIENT_COVERAGE" if all(value >= threshold for value in confidences.values()) else "CONTINUE_RESEARCH"
