"""Claims of a report, and how far citations support them (specification 1.14)."""

from collections.abc import Sequence
from math import log2, sqrt

from aiq.agents.shannon.records import VerificationSummary


def parse_claims(text: str, maximum: int = 10) -> list[str]:
    """The claims of a numbered list: lines that start with a digit, from what follows `. `, `) ` or `: ` in them."""
    claims = []
    for line in map(str.strip, text.splitlines()):
        separator = next((one for one in (". ", ") ", ": ") if one in line), None)
        if len(line) > 3 and line[0].isdigit() and separator and (claim := line.partition(separator)[2].strip()):
            claims.append(claim)
    return claims[:maximum]


def verify_claim(
    supporting: Sequence[int], conflicting: Sequence[int], confidence: float, credibilities: Sequence[float]
) -> float:
    """How sure it is that a claim holds, 0 to 1, of what a model finds in the citations.

    `supporting` and `conflicting` are positions of citations, from 0; those out of range do not count.
    `confidence` is the model's own, `credibilities` those of all citations. Mean credibility weighs it, several
    sources raise it by up to a quarter, and what conflicts lowers it by up to 30 %.
    """
    if not credibilities or not supporting:
        return 0.0
    supports, conflicts = (
        [credibilities[i] for i in which if 0 <= i < len(credibilities)] for which in (supporting, conflicting)
    )
    result = confidence * 0.5
    if supports:
        agreement = 1 + min(0.25, 0.2 * log2(len(supports)))
        result = confidence * sum(supports) / len(supports) * agreement
    if conflicting:
        weight = sum(conflicts) + sum(supports)
        result *= 1 - 0.3 * sum(conflicts) / weight if weight else 0.8
    return max(0.0, min(1.0, result))


def aggregate_verification(
    confidences: Sequence[float], supported_from: float = 0.7, unsupported_below: float = 0.5
) -> VerificationSummary:
    """The claims together: overall is sqrt(mean confidence x share of supported claims), 1 where there are none."""
    claims, supported = len(confidences), sum(one >= supported_from for one in confidences)
    return VerificationSummary(
        claims=claims,
        supported=supported,
        unsupported=tuple(place for place, one in enumerate(confidences) if one < unsupported_below),
        overall=sqrt(sum(confidences) / claims * supported / claims) if claims else 1.0,
    )
