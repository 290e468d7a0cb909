"""Stage 6, verify: check claims of the report against what the citations say."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from aiq.agents.shannon.calls import ask, or_none
from aiq.agents.shannon.records import Claim, ResearchState, Verification
from aiq.agents.shannon.rules import (
    aggregate_verification,
    cited_first,
    evidence_per_claim,
    nearest,
    parse_claims,
    verify_claim,
)
from aiq.agents.shannon.settings import VerificationSettings
from aiq.agents.toolkit.structured import LenientRecord, StructuredCall
from aiq.agents.toolkit.subagents import gather_ordered
from aiq.core.events import Decision
from aiq.core.models import Message
from aiq.core.prompts import Prompts
from aiq.core.session import current

AGENT = "claim-verifier"

AT_ONCE = 5
"""Claims that are checked at the same time."""

UNKNOWN = 0.5
"""Confidence of a claim or a report whose check failed or could not be read (specification 1.14)."""


class Support(LenientRecord):
    """What the model is asked for: numbers of citations, from 1, and how sure it is."""

    supporting: tuple[int, ...] = ()
    conflicting: tuple[int, ...] = ()
    confidence: float = Field(UNKNOWN, ge=0, le=1)

    def weighed(self, credibilities: Sequence[float]) -> float:
        """The claim's confidence, given the credibilities of all citations shown."""
        supporting, conflicting = ([n - 1 for n in numbers] for numbers in (self.supporting, self.conflicting))
        return verify_claim(supporting, conflicting, self.confidence, credibilities)


class Verdict(LenientRecord):
    """What the model is asked for where claims get one of three verdicts."""

    verdict: Literal["supported", "unsupported", "insufficient"]
    supporting: tuple[int, ...] = ()
    conflicting: tuple[int, ...] = ()

    def weighed(self, credibilities: Sequence[float]) -> float:
        """The claim's confidence: a number for each verdict."""
        return {"supported": 1.0, "insufficient": UNKNOWN, "unsupported": 0.0}[self.verdict]


class Verify:
    def __init__(self, settings: VerificationSettings, prompts: Prompts) -> None:
        self._settings, self._prompts = settings, prompts
        tier, options = settings.tier, {"temperature": 0}
        self._support = StructuredCall(f"shannon.{tier}.verifier", Support, prompts, "verifier", options, ask)
        self._verdict = StructuredCall(f"shannon.{tier}.verdict", Verdict, prompts, "verdict", options, ask)

    async def run(self, state: ResearchState) -> dict[str, Verification | None]:
        """The confidence of each claim and of the whole report; None if there are no citations."""
        if not state.citations:
            return {"verification": None}
        texts = await or_none(self._claims(state.written), "verification_skipped", AGENT)
        if texts is None:
            return {"verification": Verification(overall=UNKNOWN, supported=0)}
        works = [lambda i=i, text=text: self._check(i, text, len(texts), state) for i, text in enumerate(texts)]
        claims = tuple(await gather_ordered(works, AT_ONCE, 0))
        confidences = [claim.confidence for claim in claims]
        summary = aggregate_verification(confidences, self._settings.supported_from, self._settings.unsupported_below)
        verification = Verification(
            overall=summary.overall,
            supported=summary.supported,
            claims=claims,
            unsupported=tuple(claims[i].text for i in summary.unsupported),
            conflicts=tuple(claim.text for claim in claims if claim.supporting and claim.conflicting),
        )
        detail = {"claims": summary.claims, "supported": summary.supported, "conflicts": len(verification.conflicts)}
        current().events.emit(Decision(name="verification", value=summary.overall, cause="", detail=detail))
        return {"verification": verification}

    async def _claims(self, report: str) -> list[str]:
        settings = self._settings
        request = self._prompts.render("claims.j2", report=report[: settings.answer_chars], most=settings.max_claims)
        reply = await ask(f"shannon.{settings.tier}.claims", [Message(role="user", content=request)], temperature=0)
        return parse_claims(reply.text, settings.max_claims)

    async def _check(self, number: int, text: str, claims: int, state: ResearchState) -> Claim:
        """A claim with its confidence. Each check is an agent of its own, so that they do not share a token budget."""
        settings, call = self._settings, self._verdict if self._settings.verdicts else self._support
        citations = [
            {"number": i + 1, "title": c.title or c.source, "text": c.snippet[: settings.snippet_chars]}
            for i in self._positions(text, claims, state)
            for c in [state.citations[i]]
        ]
        reply = await or_none(call.ask(claim=text, citations=citations), "claim_not_checked", f"{AGENT}-{number + 1}")
        if reply is None:
            return Claim(text=text, confidence=UNKNOWN)
        confidence = reply.weighed([citation.credibility for citation in state.citations[: settings.max_citations]])
        return Claim(text=text, supporting=reply.supporting, conflicting=reply.conflicting, confidence=confidence)

    def _positions(self, claim: str, claims: int, state: ResearchState) -> list[int]:
        """Positions of the citations to check a claim against: the first or, for verdicts, the nearest cited ones."""
        total, limit = len(state.citations), self._settings.max_citations
        if not self._settings.verdicts:
            return list(range(total))[:limit]
        cited = cited_first(state.written, total, limit)
        near = nearest(claim, [state.citations[i] for i in cited], evidence_per_claim(claims))
        return [cited[i] for i in near]
