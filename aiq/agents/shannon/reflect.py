"""Stage 5, reflect: the report's quality; below the threshold it is written again with what it lacks."""

from typing import Any

from pydantic import Field

from aiq.agents.shannon.calls import ask, or_none, working_as
from aiq.agents.shannon.records import LenientRecord
from aiq.agents.shannon.rules import reflection_score
from aiq.agents.shannon.settings import ShannonSettings
from aiq.agents.shannon.state import ResearchState
from aiq.agents.shannon.synthesize import Synthesize, covered
from aiq.agents.toolkit.structured import StructuredCall
from aiq.core.events import Decision
from aiq.core.prompts import Prompts
from aiq.core.session import current

AGENT = "evaluator"


class Evaluation(LenientRecord):
    """What the model is asked for; `feedback` is what the report lacks."""

    score: float = Field(ge=0, le=1)
    feedback: str = ""


class Reflect:
    """The evaluator is a setting: `constant` is the original's, `coverage` counts covered areas, `model` is asked."""

    def __init__(self, settings: ShannonSettings, prompts: Prompts, synthesize: Synthesize) -> None:
        self._settings, self._synthesize = settings, synthesize
        tier = settings.verification.tier
        self._call = StructuredCall(f"shannon.{tier}.evaluator", Evaluation, prompts, "evaluator", complete=ask)
        self._evaluators = {"constant": self._constant, "coverage": self._coverage, "model": self._model}

    async def run(self, state: ResearchState) -> dict[str, Any]:
        """The report, written again for as long as its quality and the retries say so, and its last quality."""
        settings, quality = self._settings.reflection, 0.5
        for retry in range(1, settings.max_retries + 1):
            with working_as(AGENT):
                found = await or_none(self._evaluators[settings.evaluator](state), "reflection_skipped")
            if found is None:
                break
            quality = found.score
            detail = {"retry": retry, "feedback": found.feedback}
            current().events.emit(Decision(name="quality", value=quality, cause=settings.evaluator, detail=detail))
            if quality >= settings.threshold or retry == settings.max_retries:
                break
            written = await self._synthesize.run(state, self._settings.synthesis_model_tier, found.feedback)
            state = state.model_copy(update=written)
        return {"written": state.written, "quality": quality}

    async def _constant(self, state: ResearchState) -> Evaluation:
        return Evaluation(score=reflection_score(state.written), feedback="The report is too short.")

    async def _coverage(self, state: ResearchState) -> Evaluation:
        """The share of research areas with a section of the promised length and citations."""
        areas = state.sections
        short = [area for area in areas if area not in covered(state, self._settings.synthesis)]
        lacks = "These sections are missing, too short or cite too little: " + "; ".join(short)
        return Evaluation(score=1 - len(short) / max(1, len(areas)), feedback=lacks if short else "")

    async def _model(self, state: ResearchState) -> Evaluation:
        """The model's own score; 0.5 where it gives none that can be read."""
        asked = await self._call.ask(query=state.query, report=state.written, areas=state.refined.research_areas)
        return asked or Evaluation(score=0.5)
