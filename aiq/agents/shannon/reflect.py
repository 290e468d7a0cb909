"""Stage 5, reflect: evaluate the report's quality; below the threshold, rewrite it with feedback on what it lacks."""

from typing import Any

from pydantic import Field

from aiq.agents.shannon.calls import ask, or_none
from aiq.agents.shannon.records import ResearchState
from aiq.agents.shannon.rules import reflection_score, reflects_again
from aiq.agents.shannon.settings import ShannonSettings
from aiq.agents.shannon.synthesize import Synthesize
from aiq.agents.toolkit.structured import LenientRecord, StructuredCall
from aiq.core.errors import AgentError
from aiq.core.events import Decision
from aiq.core.prompts import Prompts
from aiq.core.session import current

AGENT = "evaluator"

UNKNOWN = 0.5
"""Quality of a report whose evaluation failed (specification 1.15)."""


class Evaluation(LenientRecord):
    """What the model is asked for; `feedback` is what the report lacks."""

    score: float = Field(ge=0, le=1)
    feedback: str = ""


class Reflect:
    """The evaluator is a setting: `constant` is the original's, `coverage` counts covered areas, `model` asks one."""

    def __init__(self, settings: ShannonSettings, prompts: Prompts, synthesize: Synthesize) -> None:
        self._settings, self._synthesize = settings.reflection, synthesize
        tier = settings.verification.tier
        self._call = StructuredCall(f"shannon.{tier}.evaluator", Evaluation, prompts, "evaluator", complete=ask)
        evaluators = {"constant": self._constant, "coverage": self._coverage, "model": self._model}
        self._evaluate = evaluators[settings.reflection.evaluator]

    async def run(self, state: ResearchState) -> dict[str, Any]:
        """The report, rewritten while its quality is too low and retries are left, and its last quality.

        If evaluating or rewriting fails, report and quality stay as they are.
        """
        settings, quality, retries = self._settings, UNKNOWN, 0
        while (evaluation := await self._evaluation(state, retries)) is not None:
            quality = evaluation.score
            if not reflects_again(quality, retries, settings.threshold, settings.max_retries):
                break
            update = await self._synthesize.write(state, feedback=evaluation.feedback or "It has to be better.")
            if not update:
                break
            state, retries = state.model_copy(update=update), retries + 1
        return {"written": state.written, "cut_off": state.cut_off, "quality": quality}

    async def _evaluation(self, state: ResearchState, retry: int) -> Evaluation | None:
        evaluation = await or_none(self._evaluate(state), "reflection_skipped", AGENT)
        if evaluation is not None:
            detail = {"retry": retry, "feedback": evaluation.feedback}
            decision = Decision(name="quality", value=evaluation.score, cause=self._settings.evaluator, detail=detail)
            current().events.emit(decision)
        return evaluation

    async def _constant(self, state: ResearchState) -> Evaluation:
        return Evaluation(score=reflection_score(state.written), feedback="The report is too short.")

    async def _coverage(self, state: ResearchState) -> Evaluation:
        """The share of sections with the promised length and citations."""
        shortfalls = self._synthesize.uncovered(state.written, state)
        feedback = "; ".join(f"the section {area} has {amounts}" for area, amounts in shortfalls.items())
        return Evaluation(score=1 - len(shortfalls) / max(1, len(state.sections)), feedback=feedback)

    async def _model(self, state: ResearchState) -> Evaluation:
        """The score that a model gives. Raises AgentError if no reply can be read."""
        evaluation = await self._call.ask(query=state.query, report=state.written, areas=state.refined.research_areas)
        if evaluation is None:
            raise AgentError("no reply, repaired or not, was an evaluation")
        return evaluation
