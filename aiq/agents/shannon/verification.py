"""Rules on the claims of a report, and how well citations support them (specification 1.14)."""

import re
from collections.abc import Sequence
from math import log2, sqrt

from pydantic import validate_call

from aiq.agents.shannon.records import Citation, VerificationSummary
from aiq.tools.ranking import PassageIndex


def parse_claims(text: str, maximum: int = 10) -> list[str]:
    """The claims of a numbered list: what follows `. `, else `) `, else `: `, in lines starting with a digit (1.14)."""
    claims = []
    for line in map(str.strip, text.splitlines()):
        separator = next((s for s in (". ", ") ", ": ") if s in line), None)
        if len(line) > 3 and line[0].isdigit() and separator and (claim := line.partition(separator)[2].strip()):
            claims.append(claim)
    return claims[:maximum]


@validate_call
def verify_claim(
    supporting: Sequence[int], conflicting: Sequence[int], confidence: float, citations: Sequence[float | Citation]
) -> float:
    """How certain a claim is, 0 to 1, given a model's finding and the citations or their credibilities (1.14).

    `supporting` and `conflicting` are positions of citations, from 0; those out of range do not count.
    `confidence` x mean credibility x (1 + min(0.25, 0.2 log2(n))) for n supporting citations, `confidence` / 2 if all
    are out of range, 0 if there are none; minus up to 30 %, by the credibility of the conflicting ones.
    """
    if not citations or not supporting:
        return 0.0
    credibilities = [citation.credibility if isinstance(citation, Citation) else citation for citation in citations]
    supports, conflicts = (
        [credibilities[i] for i in positions if 0 <= i < len(credibilities)] for positions in (supporting, conflicting)
    )
    result = confidence * 0.5
    if supports:
        agreement = 1 + min(0.25, 0.2 * log2(len(supports)))
        result = confidence * sum(supports) / len(supports) * agreement
    if conflicting:
        weight = sum(conflicts) + sum(supports)
        result *= 1 - 0.3 * sum(conflicts) / weight if weight else 0.8
    return max(0.0, min(1.0, result))


def evidence_per_claim(claims: int, minimum: int = 3, maximum: int = 10, evaluations: int = 100) -> int:
    """Citations to check each claim against, `minimum` to `maximum`, so that all claims together take `evaluations`."""
    return max(minimum, min(maximum, evaluations // max(1, claims)))


@validate_call
def nearest(claim: str, citations: Sequence[Citation], k: int) -> list[int]:
    """Positions of the k citations nearest to a claim, by BM25 (k1 1.5, b 0.75) times credibility."""
    index = PassageIndex([(citation.title, citation.snippet) for citation in citations])
    scores = {i: score for i, score, _ in index.search(claim, len(citations), 0)}
    weighed = [scores.get(i, 0.0) * citation.credibility for i, citation in enumerate(citations)]
    return sorted(range(len(citations)), key=lambda i: -weighed[i])[:k]


def cited_first(report: str, citations: int, limit: int) -> list[int]:
    """Positions of at most `limit` citations: first those that the report cites, by number, then the others."""
    cited = sorted({int(number) - 1 for number in re.findall(r"\[([0-9]{1,3})\]", report)})
    order = [i for i in cited if 0 <= i < citations]
    return [*order, *(i for i in range(citations) if i not in order)][:limit]


@validate_call
def aggregate_verification(
    confidences: Sequence[float], supported_from: float = 0.7, unsupported_below: float = 0.5
) -> VerificationSummary:
    """The summary of all claims; `overall` is sqrt(mean confidence x share of supported), 1 without claims (1.14)."""
    claims, supported = len(confidences), sum(confidence >= supported_from for confidence in confidences)
    return VerificationSummary(
        claims=claims,
        supported=supported,
        unsupported=tuple(i for i, confidence in enumerate(confidences) if confidence < unsupported_below),
        overall=sqrt(sum(confidences) / claims * supported / claims) if claims else 1.0,
    )
