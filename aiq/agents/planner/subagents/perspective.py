"""Perspective: experts' views of the topic, from which the planner can vary its queries."""

from pydantic import BaseModel, Field

from aiq.agents.planner.state import Arguments, Perspective, PlannerState
from aiq.agents.planner.subagents.base import Changes, Research, SubAgent
from aiq.agents.toolkit.structured import LenientRecord


class PerspectiveInput(BaseModel):
    topic: str = Field("", description="what to look at")
    domain: str = Field("", description="the field that it belongs to, such as enterprise software")
    num_perspectives: int = Field(3, ge=1, le=10, description="how many")
    existing_perspectives: tuple[str, ...] = Field((), description="names of those that there are already")


class PerspectiveOutput(LenientRecord):
    perspectives: tuple[Perspective, ...]
    reasoning: str = ""


class PerspectiveAgent(SubAgent[PerspectiveInput, PerspectiveOutput]):
    name = "perspective"
    description = (
        "Names experts with different views of a broad topic, with their questions and keywords. Fetches nothing."
    )
    input_model = PerspectiveInput
    output_model = PerspectiveOutput

    def defaults(self, state: PlannerState) -> Arguments:
        return {"topic": state.query, "existing_perspectives": [view.name for view in state.perspectives]}

    async def execute(self, given: PerspectiveInput, research: Research) -> PerspectiveOutput:
        reply = await self.asked(PerspectiveOutput, **dict(given))
        return reply.model_copy(update={"perspectives": reply.perspectives[: given.num_perspectives]})

    def accumulate(self, state: PlannerState, out: PerspectiveOutput, arguments: Arguments) -> Changes:
        return {"perspectives": out.perspectives}
