"""When a shallow answer is not enough: four policies, each a decision with its cause.

`phrases` is a pure function of the answer, `assessed` one structured model call, `never` the switch turned off, and
`always` the other branch of every answer, to compare with.
"""

from typing import NamedTuple

from pydantic import BaseModel, JsonValue, field_validator

from aiq.agents.ai_q.settings import AiqSettings, EscalationSettings, plain
from aiq.agents.toolkit.structured import StructuredCall, stated
from aiq.citations.parse import without_references
from aiq.core.prompts import Prompts

_CAUSE_CHARACTERS = 200


class Assessment(NamedTuple):
    """`cause` says why, also where there is nothing to escalate."""

    escalate: bool
    cause: str


class Sufficiency(BaseModel):
    """What the model is asked for. A stated gap or conflict counts, whatever `sufficient` says."""

    sufficient: bool
    material_gap: str | None = None
    material_conflict: str | None = None

    _stated = field_validator("material_gap", "material_conflict")(stated)

    @property
    def assessment(self) -> Assessment:
        for kind, text in (("gap", self.material_gap), ("conflict", self.material_conflict)):
            if text:
                return Assessment(True, f"assessed: {kind}: {text[:_CAUSE_CHARACTERS]}")
        return Assessment(not self.sufficient, f"assessed: {'sufficient' if self.sufficient else 'insufficient'}")


def by_phrases(answer: str, settings: EscalationSettings) -> Assessment:
    """Escalate when the answer is blank or a list of references, or admits near its end that it found too little."""
    text = without_references(answer)
    if not text.strip():
        return Assessment(True, "empty")
    end = plain(text[-settings.window :])
    phrase = next((phrase for phrase in settings.phrases if phrase in end), None)
    return Assessment(phrase is not None, f"phrase: {phrase}" if phrase else "no phrase")


class Escalation:
    """The run's policy; keeps nothing of a sample."""

    def __init__(self, settings: AiqSettings, prompts: Prompts) -> None:
        self.policy = settings.escalation.policy if settings.enable_escalation else "never"
        self._never = f"never: {'escalation.policy=never' if settings.enable_escalation else 'enable_escalation=false'}"
        self._settings = settings.escalation
        self._call = StructuredCall("aiq.escalation", Sufficiency, prompts, "escalation")

    def phrases(self, answer: str) -> Assessment:
        """What the phrases say of an answer, whatever the policy."""
        return by_phrases(answer, self._settings)

    def unasked(self, answer: str) -> Assessment | None:
        """What needs no model: every decision but that on an answer to be assessed, which gives None."""
        phrases = self.phrases(answer)
        if self.policy == "never":
            return Assessment(False, self._never)
        if self.policy == "always":
            return Assessment(True, "always")
        return phrases if self.policy == "phrases" or phrases.cause == "empty" else None

    async def decide(self, question: str, answer: str, history: str = "") -> Assessment:
        """Whether the answer goes on to deep research. Raises ModelError, LimitReached, RunAborted.

        `history`: the conversation before the question, as text. An empty answer is not worth a model call.
        An assessment that stays unparsable after one repair call leaves the decision to the phrases.
        """
        if (decided := self.unasked(answer)) is not None:
            return decided
        if found := await self._call.ask(history=history, query=question, answer=answer):
            return found.assessment
        return self.unassessed(answer)

    def unassessed(self, answer: str) -> Assessment:
        """The decision on an answer of which the model said nothing that could be parsed."""
        phrases = self.phrases(answer)
        return Assessment(phrases.escalate, f"{phrases.cause} (the assessment could not be parsed)")

    def recorded(self, decided: Assessment, answer: str) -> dict[str, JsonValue]:
        """What a report's extras say of the decision: all that other settings need to make it again."""
        found: dict[str, JsonValue] = {"policy": self.policy, "taken": decided.escalate, "cause": decided.cause}
        found["phrases"] = self.phrases(answer).escalate
        return found | ({"answer": answer} if decided.escalate else {})  # else the report is the answer
