"""Stage 6, verify: claims of the report against what the citations say."""

from typing import Any, Literal

from pydantic import Field

from aiq.agents.shannon.calls import ask, or_none, working_as
from aiq.agents.shannon.records import LenientRecord
from aiq.agents.shannon.rules import (
    aggregate_verification,
    cited_first,
    evidence_per_claim,
    nearest,
    parse_claims,
    verify_claim,
)
from aiq.agents.shannon.settings import VerificationSettings
from aiq.agents.shannon.state import Claim, ResearchState, Verification
from aiq.agents.toolkit.structured import StructuredCall
from aiq.agents.toolkit.subagents import gather_ordered
from aiq.core.events import Decision
from aiq.core.models import Message
from aiq.core.prompts import Prompts
from aiq.core.session import current

AGENT = "claim-verifier"

AT_ONCE = 5
"""Claims that are checked at the same time."""

NO_VERDICT = 0.5
"""Confidence of a claim whose check failed or could not be read (specification 1.14)."""


class Support(LenientRecord):
    """What the model is asked for: numbers of citations, and how sure it is."""

    supporting: tuple[int, ...] = ()
    conflicting: tuple[int, ...] = ()
    confidence: float = Field(0.5, ge=0, le=1)


class Verdict(LenientRecord):
    """What the model is asked for where claims get one of three verdicts."""

    verdict: Literal["supported", "unsupported", "insufficient"]
    supporting: tuple[int, ...] = ()
    conflicting: tuple[int, ...] = ()


VERDICTS = {"supported": 1.0, "insufficient": NO_VERDICT, "unsupported": 0.0}
"""The confidence that each verdict stands for."""


class Verify:
    def __init__(self, settings: VerificationSettings, prompts: Prompts) -> None:
        self._settings, self._prompts = settings, prompts
        role = f"shannon.{settings.tier}.verifier"
        self._call = StructuredCall(role, Support, prompts, "verifier", {"temperature": 0}, ask)
        role = f"shannon.{settings.tier}.verdict"
        self._verdict = StructuredCall(role, Verdict, prompts, "verdict", {"temperature": 0}, ask)

    async def run(self, state: ResearchState) -> dict[str, Verification | None]:
        """Each claim with its confidence, and the whole; nothing where the report cites nothing."""
        if not state.citations:
            return {"verification": None}
        with working_as(AGENT):
            texts = await or_none(self._claims(state), "verification_skipped") or []
            k = evidence_per_claim(len(texts)) if self._settings.verdicts else 0
            works = [lambda text=text: self._checked(text, state, k) for text in texts]
            claims = await gather_ordered(works, AT_ONCE, 0)
        settings = self._settings
        confidences = [claim.confidence for claim in claims]
        found = aggregate_verification(confidences, settings.supported_from, settings.unsupported_below)
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

    async def _checked(self, text: str, state: ResearchState, k: int) -> Claim:
        """A claim against the first citations or, for a verdict, the `k` nearest of those that the report cites."""
        settings = self._settings
        places = cited_first(state.written, len(state.citations), settings.max_citations)
        if not settings.verdicts:
            places = list(range(len(state.citations)))[: settings.max_citations]
        shown = [state.citations[place] for place in places]
        if settings.verdicts:
            places = [places[near] for near in nearest(text, shown, k)]
        citations = [
            {"number": place + 1, "title": one.title or one.source, "text": one.snippet[: settings.snippet_chars]}
            for place in places
            for one in [state.citations[place]]
        ]
        call: StructuredCall[Any] = self._verdict if settings.verdicts else self._call
        found = await or_none(call.ask(claim=text, citations=citations), "claim_not_checked")
        if found is None:
            return Claim(text=text, confidence=NO_VERDICT)
        if isinstance(found, Verdict):
            told = found.model_dump(include={"supporting", "conflicting"})
            return Claim(text=text, confidence=VERDICTS[found.verdict], **told)
        supporting, conflicting = ([n - 1 for n in numbers] for numbers in (found.supporting, found.conflicting))
        credibilities = [one.credibility for one in state.citations[: settings.max_citations]]
        confidence = verify_claim(supporting, conflicting, found.confidence, credibilities)
        return Claim(text=text, supporting=found.supporting, conflicting=found.conflicting, confidence=confidence)
