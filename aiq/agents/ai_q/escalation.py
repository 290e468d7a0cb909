"""When a shallow answer is not enough: three policies, each a decision with its cause.

`phrases` is a pure function of the answer, `assessed` one structured model call, `never` the switch turned off.
"""

from typing import NamedTuple

from pydantic import BaseModel, field_validator

from aiq.agents.ai_q.settings import AiqSettings
from aiq.agents.toolkit.structured import StructuredCall
from aiq.citations.parse import without_references
from aiq.core.prompts import Prompts

PHRASES = ("i don't have enough information", "unable to find", "need more research")
"""A shallow researcher's ways to say that it found too little."""

END_CHARACTERS = 800
"""Characters at the end of the answer, without its reference list, in which a phrase counts."""

_CAUSE_CHARACTERS = 200
_APOSTROPHES = str.maketrans("\u2019\u2018\u02bc\uff07", "''''")


class Assessment(NamedTuple):
    """`cause` says why, also where there is nothing to escalate."""

    escalate: bool
    cause: str


class Sufficiency(BaseModel):
    """What the model is asked for. A stated gap or conflict counts, whatever `sufficient` says."""

    sufficient: bool
    material_gap: str | None = None
    material_conflict: str | None = None

    @field_validator("material_gap", "material_conflict")
    @classmethod
    def _blank_is_none(cls, text: str | None) -> str | None:
        return " ".join(text.split()) or None if text else None

    @property
    def assessment(self) -> Assessment:
        for kind, text in (("gap", self.material_gap), ("conflict", self.material_conflict)):
            if text:
                return Assessment(True, f"assessed: {kind}: {text[:_CAUSE_CHARACTERS]}")
        return Assessment(not self.sufficient, f"assessed: {'sufficient' if self.sufficient else 'insufficient'}")


def by_phrases(answer: str) -> Assessment:
    """Escalate when the answer is blank, or admits near its end that it found too little."""
    if not answer.strip():
        return Assessment(True, "empty")
    end = " ".join(without_references(answer).translate(_APOSTROPHES).lower()[-END_CHARACTERS:].split())
    phrase = next((phrase for phrase in PHRASES if phrase in end), None)
    return Assessment(phrase is not None, f"phrase: {phrase}" if phrase else "no phrase")


class Escalation:
    """The run's policy; keeps nothing of a sample."""

    def __init__(self, settings: AiqSettings, prompts: Prompts) -> None:
        self.policy = settings.escalation.policy if settings.enable_escalation else "never"
        self._never = f"never: {'escalation.policy=never' if settings.enable_escalation else 'enable_escalation=false'}"
        self._call = StructuredCall("aiq.escalation", Sufficiency, prompts, "escalation")

    async def decide(self, question: str, answer: str, history: str = "") -> Assessment:
        """Whether the answer goes on to deep research. Raises ModelError, LimitReached, RunAborted.

        `history`: the conversation before the question, as text. An empty answer is not worth a model call.
        An assessment that stays unparsable after one repair call leaves the decision to the phrases.
        """
        phrases = by_phrases(answer)
        if self.policy == "never":
            return Assessment(False, self._never)
        if self.policy == "phrases" or phrases.cause == "empty":
            return phrases
        if found := await self._call.ask(history=history, query=question, answer=answer):
            return found.assessment
        return Assessment(phrases.escalate, f"{phrases.cause} (the assessment could not be parsed)")
