"""Claims of a report against its citations."""

import math
from typing import Any

import pytest

from tests.agents.shannon.runs import AREAS, Ran, Said, in_order, plan, report, research, subtask

CLAIMS = "Here they are:\n1. Orlune is a town\n2) It has a mill\n3: So it is\n- no number\n4"
BASE: dict[str, Any] = {"gap_filling_enabled": False, "enable_verification": True}


def support(*supporting: int, against: tuple[int, ...] = (), confidence: float = 1) -> dict[str, Any]:
    return {"supporting": list(supporting), "conflicting": list(against), "confidence": confidence}


async def verify(claims: Said, verifier: Said = support(1), found: int = 2, **verification: Any) -> Ran:  # noqa: B008
    subtasks = [subtask(f"t{n}", suggested_tools=["web_search_tool"]) for n in range(found)]
    parts: dict[str, Said] = {
        "decomposer": plan(*subtasks),
        "claims": claims,
        "verifier": verifier,
        "verdict": verifier,
    }
    settings = {**BASE, "verification": verification, "citations": {"per_domain": 50, "most": 50}}
    return await research(parts, {**settings, "execution": {"pattern": "parallel", "force_search": False}})


async def test_claims_are_those_of_the_numbered_lines() -> None:
    ran = await verify(CLAIMS)
    assert [claim["text"] for claim in ran.extras["verification"]["claims"]] == [
        "Orlune is a town",
        "It has a mill",
        "So it is",
    ]
    (request,) = ran.asked("claims")
    assert request.role == "shannon.small.claims"
    assert "at most 10," in request.messages[0].text
    endpoint: Any = ran.bench.endpoint
    assert {body["temperature"] for body in endpoint.bodies if "claim" in str(body["messages"][-1])} >= {0}


@pytest.mark.parametrize(
    ("said", "confidence"),
    [
        (support(1), 0.6),  # the credibility of a page of no group
        (support(1, confidence=0.5), 0.3),
        (support(1, against=(2,)), 0.6 * (1 - 0.3 * 0.5)),
        ("no JSON", 0.5),
        (support(1, confidence=7), 0.5),
    ],
)
async def test_the_confidence_of_a_claim(said: Said, confidence: float) -> None:
    ran = await verify("1. Orlune is a town", said)
    (claim,) = ran.extras["verification"]["claims"]
    assert claim["confidence"] == pytest.approx(confidence)
    supported = confidence >= 0.7
    assert ran.extras["verification"]["supported"] == supported
    assert ran.extras["verification"]["overall"] == pytest.approx(math.sqrt(confidence * supported))
    assert ran.extras["verification"]["unsupported"] == ["Orlune is a town"] * (confidence < 0.5)


@pytest.mark.parametrize(
    ("thresholds", "supported", "unsupported"),
    [({}, 0, 0), ({"supported_from": 0.6}, 2, 0), ({"unsupported_below": 0.61}, 0, 2)],
)
async def test_the_thresholds_are_settings(thresholds: dict[str, Any], supported: int, unsupported: int) -> None:
    verification = (await verify("1. A claim\n2. Another claim", support(1), **thresholds)).extras["verification"]
    assert (verification["supported"], len(verification["unsupported"])) == (supported, unsupported)


async def test_claims_with_citations_on_both_sides_are_conflicts() -> None:
    replies = in_order(support(1, against=(2,)), support(1))
    ran = await verify("1. A claim\n2. Another claim", lambda request: replies(request))
    verification = ran.extras["verification"]
    assert verification["conflicts"] == [claim["text"] for claim in verification["claims"] if claim["conflicting"]]
    assert len(verification["conflicts"]) == 1
    (decision,) = ran.decided("verification")
    assert decision.value == verification["overall"]
    assert decision.detail == {"claims": 2, "supported": 0, "conflicts": 1}


@pytest.mark.parametrize(("said", "overall"), [("No claims.", 1.0), (500, 0.5)])
async def test_without_claims_confidence_is_1_and_without_an_answer_unknown(said: Said, overall: float) -> None:
    ran = await verify(said)
    assert ran.extras["verification"]["overall"] == overall
    assert ran.extras["verification"]["claims"] == []


async def test_report_and_snippets_are_cut_to_their_limits() -> None:
    ran = await verify(CLAIMS, answer_chars=30, max_claims=2, max_citations=1, snippet_chars=5)
    assert f"<report>\n{report(*AREAS)[:30]}\n</report>" in ran.prompt("claims")
    assert "at most 2," in ran.prompt("claims")
    assert len(ran.asked("verifier")) == 2
    blocks = ran.prompt("verifier").split("<citation>")[1:]
    assert len(blocks) == 1
    assert "[1] find out t0\nfind \n</citation>" in blocks[0]


@pytest.mark.parametrize(
    ("strategy", "settings", "verified"),
    [("quick", {}, False), ("standard", {}, True), (None, {}, False), ("quick", {"enable_verification": True}, True)],
)
async def test_who_verifies(strategy: str | None, settings: dict[str, Any], verified: bool) -> None:
    ran = await research({}, {"research_strategy": strategy, **settings})
    assert bool(ran.asked("claims")) is verified
    assert (ran.extras["verification"] is not None) is verified


async def test_nothing_is_verified_without_citations() -> None:
    ran = await research({"researcher": "from memory"}, BASE, {"data_sources": []})
    assert "verify" in ran.stages
    assert not ran.asked("claims")
    assert ran.extras["verification"] is None


@pytest.mark.parametrize(("verdict", "confidence"), [("supported", 1.0), ("unsupported", 0.0), ("perhaps", 0.5)])
async def test_verdicts_by_the_nearest_of_the_citations(verdict: str, confidence: float) -> None:
    reply = {"verdict": verdict, "supporting": [1], "conflicting": []}
    ran = await verify("1. find out t11 is well described", reply, 14, verdicts=True)
    assert [claim["confidence"] for claim in ran.extras["verification"]["claims"]] == [confidence]
    blocks = ran.asked("verdict")[0].messages[1].text.split("<citation>")[1:]
    assert len(blocks) == 10
    assert blocks[0].startswith("\n[12] find out t11")  # under its number of the report
