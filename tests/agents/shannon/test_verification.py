from math import log2, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiq.agents.shannon.records import Citation, VerificationSummary
from aiq.agents.shannon.rules import (
    aggregate_verification,
    cited_first,
    evidence_per_claim,
    nearest,
    parse_claims,
    verify_claim,
)
from tests.cases import table

each = table(__file__)


@each("claim")
def test_a_numbered_line_is_a_claim(line: str, claim: str | None) -> None:
    assert parse_claims(f"Claims:\n{line}\n") == ([claim] if claim else [])


def test_at_most_ten_claims_count() -> None:
    text = "\n".join(f"{n}. Claim {n}" for n in range(1, 13))
    assert parse_claims(text) == [f"Claim {n}" for n in range(1, 11)]
    assert parse_claims(text, 2) == ["Claim 1", "Claim 2"]


@pytest.mark.parametrize(
    ("supporting", "conflicting", "confidence", "credibilities", "result"),
    [
        ([0], [], 0.9, [], 0.0),
        ([], [], 0.9, [0.8], 0.0),
        ([], [0], 0.9, [0.8], 0.0),
        ([0], [], 0.9, [0.8], 0.72),
        ([0], [], 0.824, [0.85], 0.7004),
        ([0, 1], [], 0.5, [0.6, 0.8], 0.5 * 0.7 * 1.2),
        ([0, 1, 2], [], 0.5, [0.6] * 3, 0.5 * 0.6 * 1.25),  # 0.2 * log2(3) is more than 0.25
        ([0, 0], [], 0.5, [0.6], 0.5 * 0.6 * 1.2),
        ([1, 9, -1], [], 0.5, [0.9, 0.6], 0.5 * 0.6),
        ([9], [], 0.9, [0.8], 0.45),
        ([0], [1], 0.9, [0.8, 0.8], 0.72 * 0.85),
        ([0], [1], 0.9, [0.8, 0.2], 0.72 * (1 - 0.3 * 0.2)),
        ([0], [9], 0.9, [0.8], 0.72),  # weighs nothing beside what supports
        ([9], [9], 0.9, [0.8], 0.45 * 0.8),
        ([9], [0], 0.9, [0.8], 0.45 * 0.7),
        ([0, 1], [], 1.0, [0.95, 0.95], 1.0),
        ([0], [], 7.0, [0.9], 1.0),
        ([0], [], -1.0, [0.9], 0.0),
    ],
)
def test_the_confidence_of_a_claim(
    supporting: list[int], conflicting: list[int], confidence: float, credibilities: list[float], result: float
) -> None:
    assert verify_claim(supporting, conflicting, confidence, credibilities) == pytest.approx(result, abs=1e-12)
    citations = [Citation(url="https://a.example/", credibility=credibility) for credibility in credibilities]
    assert verify_claim(supporting, conflicting, confidence, citations) == pytest.approx(result, abs=1e-12)


INDICES, SHARE = st.lists(st.integers(-2, 8), max_size=6), st.floats(0, 1)


@settings(max_examples=30)
@given(INDICES, INDICES, SHARE, st.lists(SHARE, max_size=6))
def test_confidence_is_a_share_and_conflicts_never_raise_it(
    supporting: list[int], conflicting: list[int], confidence: float, credibilities: list[float]
) -> None:
    with_them = verify_claim(supporting, conflicting, confidence, credibilities)
    assert 0 <= with_them <= verify_claim(supporting, [], confidence, credibilities) <= 1


@pytest.mark.parametrize(
    ("credibilities", "least"),
    [([0.85], 0.8236), ([0.75], 0.9334), ([0.6, 0.6], 0.9723)],
    ids=["academic", "news", "two"],
)
def test_what_it_takes_to_be_supported(credibilities: list[float], least: float) -> None:
    every = list(range(len(credibilities)))
    assert verify_claim(every, [], least, credibilities) >= 0.7 > verify_claim(every, [], least - 1e-4, credibilities)
    assert verify_claim([0], [], 1.0, [0.6]) < 0.7
    assert 1 + 0.2 * log2(2) == 1.2


def test_claims_together() -> None:
    summary = aggregate_verification([0.9, 0.7, 0.69, 0.5, 0.49])
    assert (summary.claims, summary.supported, summary.unsupported) == (5, 2, (4,))
    assert summary.overall == pytest.approx(sqrt((0.9 + 0.7 + 0.69 + 0.5 + 0.49) / 5 * 2 / 5))
    assert aggregate_verification([]) == VerificationSummary(claims=0, supported=0, unsupported=(), overall=1.0)
    assert aggregate_verification([0.2]).overall == 0
    assert aggregate_verification([0.6], supported_from=0.6).supported == 1


def test_a_claim_is_checked_against_the_cited_and_the_nearest() -> None:
    assert cited_first("B [3], A [1], [9], [0], again [3].", 4, 3) == [0, 2, 1]
    assert [evidence_per_claim(claims) for claims in (0, 1, 10, 12, 33, 50)] == [10, 10, 10, 8, 3, 3]
    pages = [
        Citation(title="Bread", snippet="Flour and water"),
        Citation(title="Boiling", snippet="Water boils at 100 degrees", credibility=0.5),
        Citation(title="Boiling", snippet="Water boils at 100 degrees", credibility=0.8),
    ]
    assert nearest("water boils", pages, 2) == [2, 1]
