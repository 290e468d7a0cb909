"""Decomposer: breaks a question into three to seven sub-questions, the checklist for all other sub-agents."""

from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Self

from pydantic import BaseModel, Field, model_validator

from aiq.agents.planner.state import Arguments, PlannerState, SubQuestion
from aiq.agents.planner.subagents.base import Changes, Research, SubAgent
from aiq.agents.toolkit.structured import LenientRecord

_BOUNDS = {"minItems": 3, "maxItems": 7}


class DecomposerInput(BaseModel):
    query: str = Field(description="what to break into sub-questions")
    context: str = Field("", description="what is known of it already")
    max_questions: int = Field(7, ge=3, le=7, description="sub-questions at most")


class DecomposerReply(LenientRecord):
    """What the model is asked for; it is told the bounds, and what it does not keep to is mended."""

    sub_questions: tuple[SubQuestion, ...] = Field(json_schema_extra=dict(_BOUNDS))
    reasoning: str = ""


class DecomposerOutput(BaseModel):
    sub_questions: tuple[SubQuestion, ...] = Field(min_length=_BOUNDS["minItems"], max_length=_BOUNDS["maxItems"])
    reasoning: str = ""

    @model_validator(mode="after")
    def _check_dependencies(self) -> Self:
        needs = {question.id: question.depends_on for question in self.sub_questions}
        if len(needs) < len(self.sub_questions):
            raise ValueError("two sub-questions have the same id")
        if not needs.keys() >= {name for names in needs.values() for name in names}:
            raise ValueError("a sub-question depends on one that there is not")
        try:
            TopologicalSorter(needs).prepare()
        except CycleError:
            raise ValueError("sub-questions depend on each other in a circle") from None
        return self


class Decomposer(SubAgent[DecomposerInput, DecomposerOutput]):
    name = "decomposer"
    description = "Breaks the question into 3 to 7 sub-questions that everything else works by. Fetches nothing."
    input_model = DecomposerInput
    output_model = DecomposerOutput

    def defaults(self, state: PlannerState) -> Arguments:
        limit = self.settings.decomposer.max_questions
        return {"query": state.query, "context": state.conversation, "max_questions": limit}

    async def execute(self, given: DecomposerInput, research: Research) -> DecomposerOutput:
        reply = await self.asked(DecomposerReply, **dict(given))
        return DecomposerOutput(
            sub_questions=repair_questions(reply.sub_questions, given.max_questions), reasoning=reply.reasoning
        )

    def accumulate(self, state: PlannerState, out: DecomposerOutput, arguments: Arguments) -> Changes:
        return {"sub_questions": out.sub_questions}


def repair_questions(questions: Sequence[SubQuestion], limit: int) -> tuple[SubQuestion, ...]:
    """The first `limit` questions, without repeated ids and without dependencies on questions that do not exist or, if
    there is a cycle, that come later."""
    first = questions[:limit]
    kept = [q for i, q in enumerate(first) if q.id not in {earlier.id for earlier in first[:i]}]
    ids = [question.id for question in kept]
    needs = {q.id: [name for name in q.depends_on if name in ids and name != q.id] for q in kept}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError:
        needs = {name: [need for need in needs[name] if ids.index(need) < ids.index(name)] for name in ids}
    return tuple(question.model_copy(update={"depends_on": tuple(needs[question.id])}) for question in kept)
