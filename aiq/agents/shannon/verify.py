"""Stage 6, verify: claims of the report against what the citations say."""

from pydantic import Field

from aiq.agents.shannon.calls import ask, or_none, working_as
from aiq.agents.shannon.records import LenientRecord
from aiq.agents.shannon.rules import aggregate_verification, parse_claims, verify_claim
from aiq.agents.shannon.settings import VerificationSettings
from aiq.agents.shannon.state import Claim, ResearchState, Verification
from aiq.agents.toolkit.structured import StructuredCall
from aiq.agents.toolkit.subagents import gather_ordered
from aiq.core.events import Decision
from aiq.core.models import Message
from aiq.core.prompts import Prompts
from aiq.core.session import current

AGENT = "claim-verifier"

NO_VERDICT = 0.5
"""Confidence of a claim whose check failed or could not be read (specification 1.14)."""


class Support(LenientRecord):
    """What the model is asked for: numbers of citations, and how sure it is."""

    supporting: tuple[int, ...] = ()
    conflicting: tuple[int, ...] = ()
    confidence: float = Field(0.5, ge=0, le=1)


class Verify:
    def __init__(self, settings: VerificationSettings, prompts: Prompts) -> None:
        self._settings, self._prompts = settings, prompts
        role = f"shannon.{settings.tier}.verifier"
        self._call = StructuredCall(role, Support, prompts, "verifier", {"temperature": 0}, ask)

    async def run(self, state: ResearchState) -> dict[str, Verification | None]:
        """Each claim with its confidence, and the whole; nothing where the report cites nothing."""
        if not state.citations:
            return {"verification": None}
        with working_as(AGENT):
            texts = await or_none(self._claims(state), "verification_skipped") or []
            works = [lambda text=text: self._checked(text, state) for text in texts]
            claims = await gather_ordered(works, 5, 0)
        found = aggregate_verification([claim.confidence for claim in claims])
        conflicts = tuple(c.text for c in claims if c.supporting and c.conflicting)
        unsupported = tuple(claims[place].text for place in found.unsupported)
        verification = Verification(
            overall=found.overall,
            supported=found.supported,
            claims=tuple(claims),
            unsupported=unsupported,
            conflicts=conflicts,
        )
        detail = {"claims": found.claims, "supported": found.supported, "conflicts": len(conflicts)}
        current().events.emit(Decision(name="verification", value=found.overall, cause="", detail=detail))
        return {"verification": verification}

    async def _claims(self, state: ResearchState) -> list[str]:
        report = state.written[: self._settings.answer_chars]
        request = self._prompts.render("claims.j2", report=report, most=self._settings.max_claims)
        role = f"shannon.{self._settings.tier}.claims"
        reply = await ask(role, [Message(role="user", content=request)], temperature=0)
        return parse_claims(reply.text, self._settings.max_claims)

    async def _checked(self, text: str, state: ResearchState) -> Claim:
        shown = state.citations[: self._settings.max_citations]
        citations = [
            {"number": number, "title": one.title or one.source, "text": one.snippet[: self._settings.snippet_chars]}
            for number, one in enumerate(shown, start=1)
        ]
        found = await or_none(self._call.ask(claim=text, citations=citations), "claim_not_checked")
        if found is None:
            return Claim(text=text, confidence=NO_VERDICT)
        supporting, conflicting = ([n - 1 for n in numbers] for numbers in (found.supporting, found.conflicting))
        credibilities = [one.credibility for one in shown]
        confidence = verify_claim(supporting, conflicting, found.confidence, credibilities)
        return Claim(text=text, supporting=found.supporting, conflicting=found.conflicting, confidence=confidence)
