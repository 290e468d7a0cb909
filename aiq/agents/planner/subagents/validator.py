"""Validator: checks whether the findings are consistent, cover the question, have enough evidence and are relevant."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field

from aiq.agents.planner.state import Arguments, PlannerState, ResearchFinding, SubQuestion, ValidationIssue
from aiq.agents.planner.subagents.base import Changes, Research, SubAgent
from aiq.agents.toolkit.structured import LenientRecord

Status = Literal["passed", "needs_revision", "failed"]

CHECKS = ("contradiction", "coverage", "evidence_strength", "relevance")
UNCHECKED = 0.5
"""Confidence if no reply can be read; a reply that states none has 0 (specification 4.5)."""


class ValidatorInput(BaseModel):
    findings: tuple[ResearchFinding, ...] = ()
    sub_questions: tuple[SubQuestion, ...] = ()
    original_query: str = ""
    validation_checks: tuple[str, ...] = Field(CHECKS, description=f"of: {', '.join(CHECKS)}")


class ValidatorReply(LenientRecord):
    validation_passed: bool = Field(True, description="false: the findings are no ground for a report")
    issues: tuple[ValidationIssue, ...] = ()
    confidence_scores: dict[str, float] = Field(
        {}, description="by the id of a research question, how sure its answer is, 0 to 1"
    )
    overall_confidence: float | None = Field(None, ge=0, le=1, description="how well the findings answer the question")


class ValidatorOutput(BaseModel):
    status: Status
    issues: tuple[ValidationIssue, ...] = ()
    confidence_scores: dict[str, float] = {}
    overall_confidence: float = Field(ge=0, le=1)


class Validator(SubAgent[ValidatorInput, ValidatorOutput]):
    name = "validator"
    description = (
        "Checks the findings for contradictions, gaps, weak evidence and relevance, before the report is written."
    )
    input_model = ValidatorInput
    output_model = ValidatorOutput

    def defaults(self, state: PlannerState) -> Arguments:
        return {
            "findings": state.findings,
            "sub_questions": state.sub_questions,
            "original_query": state.query,
        }

    async def execute(self, given: ValidatorInput, research: Research) -> ValidatorOutput:
        if not given.findings:
            issue = ValidationIssue(issue_type="coverage_gap", description="There are no findings.", severity="high")
            return ValidatorOutput(status="failed", issues=(issue,), overall_confidence=0.0)
        reply = await self.ask(
            ValidatorReply,
            "not_validated",
            query=given.original_query,
            findings=finding_lines(given.findings, self.settings.validator_findings),
            questions=given.sub_questions,
            checks=given.validation_checks,
        )
        if reply is None:
            return ValidatorOutput(status="needs_revision", overall_confidence=UNCHECKED)
        ids = {question.id for question in given.sub_questions}
        scores = {name: min(1.0, max(0.0, score)) for name, score in reply.confidence_scores.items() if name in ids}
        return ValidatorOutput(
            status=status_of(reply),
            issues=reply.issues,
            confidence_scores=scores,
            overall_confidence=reply.overall_confidence or 0.0,
        )

    def accumulate(self, state: PlannerState, out: ValidatorOutput, arguments: Arguments) -> Changes:
        return {
            "validation_status": out.status,
            "validation_issues": out.issues,
            "confidence": out.overall_confidence,
            "question_confidence": out.confidence_scores,
        }


def status_of(reply: ValidatorReply) -> Status:
    if not reply.validation_passed:
        return "failed"
    return "needs_revision" if any(issue.severity == "high" for issue in reply.issues) else "passed"


def finding_lines(findings: Sequence[ResearchFinding], limit: int) -> list[str]:
    """The first `limit` findings, as shown to validator and gap analyzer."""
    return [f"{f.id}: {f.claim} ({f.confidence}, documents: {f.evidence_count})" for f in findings[:limit]]
