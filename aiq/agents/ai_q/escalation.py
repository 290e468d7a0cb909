"""When a shallow answer is not enough: three policies, each a decision with its cause.

`phrases` is a pure function of the answer, `assessed` one structured model call, `never` the switch turned off.
"""

from pydantic import BaseModel, field_validator

from aiq.agents.ai_q.settings import AiqSettings
from aiq.agents.toolkit.structured import StructuredCall
from aiq.citations.parse import without_references
from aiq.core.base import Record
from aiq.core.prompts import Prompts

PHRASES = ("i don't have enough information", "unable to find", "need more research")
"""A shallow researcher's ways to say that it found too little."""

END_CHARACTERS = 800
"""Characters at the end of the answer, without its reference list, in which a phrase counts."""

_CAUSE_CHARACTERS = 200

_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\uff07": "'"})


class Assessment(Record):
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
                return Assessment(escalate=True, cause=f"assessed: {kind}: {text[:_CAUSE_CHARACTERS]}")
        verdict = "sufficient" if self.sufficient else "insufficient"
        return Assessment(escalate=not self.sufficient, cause=f"assessed: {verdict}")


def by_phrases(answer: str | None) -> Assessment:
    """Escalate when the answer is empty or blank, or admits near its end that it found too little."""
    if answer is None or not answer.strip():
        return Assessment(escalate=True, cause="empty")
    end = " ".join(without_references(answer).translate(_APOSTROPHES).lower()[-END_CHARACTERS:].split())
    for phrase in PHRASES:
        if phrase in end:
            return Assessment(escalate=True, cause=f"phrase: {phrase}")
    return Assessment(escalate=False, cause="no phrase")


class Escalation:
    """The run's policy; keeps nothing of a sample."""

    def __init__(self, settings: AiqSettings, prompts: Prompts) -> None:
        self.policy = settings.escalation.policy if settings.enable_escalation else "never"
        self._never = f"never: {'escalation.policy=never' if settings.enable_escalation else 'enable_escalation=false'}"
        self._call = StructuredCall(
            role="aiq.escalation",
            answer=Sufficiency,
            prompts=prompts,
            noun="assessment",
            schema="sufficiency",
            system="escalation.j2",
            request="escalation_request.j2",
            repair="escalation_repair.j2",
        )

    async def decide(self, question: str, answer: str, history: str = "") -> Assessment:
        """Whether the answer goes on to deep research. Raises ModelError, LimitReached, RunAborted.

        `history`: the conversation before the question, as text. An empty answer is not worth a model call.
        An assessment that stays unparsable after one repair call leaves the decision to the phrases.
        """
        phrases = by_phrases(answer)
        if self.policy == "never":
            return Assessment(escalate=False, cause=self._never)
        if self.policy == "phrases" or phrases.cause == "empty":
            return phrases
        found = await self._call.ask(history=history, query=question, answer=answer)
        if found is not None:
            return found.assessment
        return Assessment(escalate=phrases.escalate, cause=f"{phrases.cause} (the assessment could not be parsed)")
