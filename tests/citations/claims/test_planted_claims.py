"""The planted claims are what they say, and the check beats word overlap on the half that chose nothing."""

from functools import cache

from aiq.citations.claims.rules import rules
from aiq.citations.claims.support import check_support
from aiq.offline.world.claims.cases import planted_claims
from aiq.offline.world.claims.claim import Claim
from aiq.stats.agreement import auc
from benchmarks.claims.judged import overlap


@cache
def claims() -> tuple[Claim, ...]:
    return tuple(planted_claims(7, english=2, chinese=2))


def test_claims_repeat_exactly_and_halves_share_no_entity() -> None:
    assert claims() == tuple(planted_claims(7, english=2, chinese=2))
    halves = [{claim.entity for claim in claims() if claim.part == part} for part in ("choose", "check")]
    assert all(halves)
    assert not halves[0] & halves[1]
    assert {claim.verdict for claim in claims()} == {"supported", "unsupported", "unknown", "half"}


def areas(*, summary: bool) -> tuple[float, float]:
    """The area under the curve of the check and of word overlap, on the half that chose nothing."""
    told = [claim for claim in claims() if claim.part == "check" and claim.summary == summary][::5]
    pairs = [(c.verdict, check_support(c.statement, c.page).score, overlap(c.statement, c.page)) for c in told]
    supported = [pair for pair in pairs if pair[0] == "supported"]
    unsupported = [pair for pair in pairs if pair[0] == "unsupported"]
    ours = auc([pair[1] for pair in supported], [pair[1] for pair in unsupported])
    baseline = auc([pair[2] for pair in supported], [pair[2] for pair in unsupported])
    assert ours is not None
    assert baseline is not None
    return ours, baseline


def test_the_score_ranks_single_facts_far_better_than_word_overlap() -> None:
    ours, baseline = areas(summary=False)
    assert ours > 0.92
    assert ours > baseline + 0.1


def test_the_score_ranks_summaries_without_figures_better_than_word_overlap() -> None:
    ours, baseline = areas(summary=True)
    assert ours > baseline + 0.02


def test_weights_and_thresholds_are_those_that_were_chosen() -> None:
    assert (rules().thresholds.supported, rules().thresholds.supported_across) == (0.53, 0.54)
    assert dict(rules().score) == {
        "start": -1.46,
        "found": 2.63,
        "no_figure": 1.42,
        "no_name": 0.60,
        "other_figure": 1.73,
        "other_name": 1.20,
        "denied": 2.47,
    }
