"""The planted claims are what they say, and the check beats word overlap on the half that chose nothing."""

from functools import cache

from aiq.citations.claims.rules import rules
from aiq.citations.claims.support import check_support
from aiq.offline.world.claims.cases import Claim, planted_claims
from aiq.stats.agreement import auc, kappa


@cache
def claims() -> tuple[Claim, ...]:
    return tuple(planted_claims(7, english=2, chinese=2))


def test_claims_repeat_exactly_and_halves_share_no_entity() -> None:
    assert claims() == tuple(planted_claims(7, english=2, chinese=2))
    halves = [{claim.entity for claim in claims() if claim.part == part} for part in ("choose", "check")]
    assert all(halves)
    assert not halves[0] & halves[1]
    assert {claim.verdict for claim in claims()} == {"supported", "unsupported", "unknown", "half"}


def test_the_check_tells_supported_from_unsupported_on_the_other_half() -> None:
    told = [claim for claim in claims() if claim.part == "check" and claim.verdict != "half"][::5]
    found = [(claim, check_support(claim.statement, claim.page)) for claim in told]
    scores = {
        verdict: [support.score for claim, support in found if claim.verdict == verdict]
        for verdict in ("supported", "unsupported")
    }
    area = auc(scores["supported"], scores["unsupported"])
    agreement = kappa([(claim.verdict, support.verdict) for claim, support in found])
    assert area is not None
    assert agreement is not None
    assert area > 0.9
    assert agreement > 0.65


def test_thresholds_are_those_that_were_chosen() -> None:
    assert (rules().thresholds.supported, rules().thresholds.supported_across) == (0.45, 0.41)
