"""Whether a shallow answer is enough: four policies, each of which gives a decision with its cause.

`phrases` is a pure function of the answer, `assessed` makes one structured model call, `never` is escalation turned
off, and `always` escalates every answer, for comparison.
"""

from typing import NamedTuple

from pydantic import BaseModel, JsonValue, field_validator

from aiq.agents.ai_q.settings import AiqSettings, EscalationSettings, normalise
from aiq.agents.toolkit.structured import StructuredCall, text_or_none
from aiq.citations.parse import without_references
from aiq.core.prompts import Prompts

_CAUSE_CHARACTERS = 200


class Assessment(NamedTuple):
    """A decision; `cause` says why, even if it is not to escalate."""

    escalate: bool
    cause: str


class Sufficiency(BaseModel):
    """What the model is asked for. A stated gap or conflict counts, whatever `sufficient` says."""

    sufficient: bool
    material_gap: str | None = None
    material_conflict: str | None = None

    _stated = field_validator("material_gap", "material_conflict")(text_or_none)

    @property
    def assessment(self) -> Assessment:
        for kind, text in (("gap", self.material_gap), ("conflict", self.material_conflict)):
            if text:
                return Assessment(True, f"assessed: {kind}: {text[:_CAUSE_CHARACTERS]}")
        return Assessment(not self.sufficient, f"assessed: {'sufficient' if self.sufficient else 'insufficient'}")


def assess_by_phrases(answer: str, settings: EscalationSettings) -> Assessment:
    """Escalate when the answer is blank or a list of references, or admits near its end that it found too little."""
    text = without_references(answer)
    if not text.strip():
        return Assessment(True, "empty")
    ending = normalise(text[-settings.window :])
    phrase = next((phrase for phrase in settings.phrases if phrase in ending), None)
    return Assessment(phrase is not None, f"phrase: {phrase}" if phrase else "no phrase")


class Escalation:
    """The run's policy; holds no state of a sample."""

    def __init__(self, settings: AiqSettings, prompts: Prompts) -> None:
        self.policy = settings.escalation.policy if settings.enable_escalation else "never"
        self._never = f"never: {'escalation.policy=never' if settings.enable_escalation else 'enable_escalation=false'}"
        self._settings = settings.escalation
        self._call = StructuredCall("aiq.escalation", Sufficiency, prompts, "escalation")

    def phrases(self, answer: str) -> Assessment:
        """What the phrases say about an answer, whatever the policy."""
        return assess_by_phrases(answer, self._settings)

    def decide_without_model(self, answer: str) -> Assessment | None:
        """The decision if it takes no model call; None for an answer that the model has to assess."""
        phrases = self.phrases(answer)
        if self.policy == "never":
            return Assessment(False, self._never)
        if self.policy == "always":
            return Assessment(True, "always")
        return phrases if self.policy == "phrases" or phrases.cause == "empty" else None

    async def decide(self, question: str, answer: str, history: str = "") -> Assessment:
        """Decide whether to escalate the answer to deep research. Raises ModelError, LimitReached, RunAborted.

        `history`: the conversation before the question, as text. An empty answer needs no model call.
        An assessment that stays unparsable after one repair call leaves the decision to the phrases.
        """
        if (assessment := self.decide_without_model(answer)) is not None:
            return assessment
        if sufficiency := await self._call.ask(history=history, query=question, answer=answer):
            return sufficiency.assessment
        return self.if_unparsed(answer)

    def if_unparsed(self, answer: str) -> Assessment:
        """The decision on an answer for which the model's assessment could not be parsed."""
        phrases = self.phrases(answer)
        return Assessment(phrases.escalate, f"{phrases.cause} (the assessment could not be parsed)")

    def recorded(self, assessment: Assessment, answer: str) -> dict[str, JsonValue]:
        """The decision as a report's extras record it: all that other settings need to decide again."""
        record: dict[str, JsonValue] = {"policy": self.policy, "taken": assessment.escalate, "cause": assessment.cause}
        record["phrases"] = self.phrases(answer).escalate
        return record | ({"answer": answer} if assessment.escalate else {})  # otherwise the report is the answer
