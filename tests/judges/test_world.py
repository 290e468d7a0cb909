"""`world.coverage`, on what the closed world knows."""

from typing import cast

import pytest

from aiq.core.reports import Report, Score
from aiq.core.samples import Fact, Question, Sample, Truth
from aiq.core.session import Session
from aiq.judges.world import World, WorldSettings

SESSION = cast(Session, None)  # it asks nothing of its session

FACTS = (
    Fact(id="d1/halden-works/headquarters", forms=("Halden Works & Tessmark",)),
    Fact(id="d1/halden-works/employees", forms=("Halden Works & 4310", "Halden & four thousand")),
    Fact(id="d2/corvey/born_in", forms=("Corvey & Orlune",)),
    Fact(id="d3/velmora/founded", forms=("Velmora & 1921",)),
)


def sample(truth: Truth | None) -> Sample:
    return Sample(id="1", question=Question(text="?"), truth=truth)


def report(text: str) -> Report:
    return Report(text=text, raw_text=text, route="deep")


async def coverage(text: str, truth: Truth | None) -> Score:
    (score,) = await World(WorldSettings()).score(sample(truth), report(text), SESSION)
    return score


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("Nothing.", 0.0),
        ("Halden Works sits in Tessmark.", 0.25),
        ("Halden Works sits in Tessmark and has 4,310 staff.", 0.5),
        ("Halden Works sits in Tessmark. Halden has four thousand staff. Corvey is from Orlune. Velmora: 1921.", 1.0),
    ],
)
async def test_coverage_is_the_share_of_needed_facts(text: str, share: float) -> None:
    assert (await coverage(text, Truth(hops=3, needs_depth=True, facts=FACTS))).value == share


async def test_the_detail_says_what_is_missing_and_how_deep_it_lies() -> None:
    detail = (await coverage("Halden Works sits in Tessmark.", Truth(hops=3, needs_depth=True, facts=FACTS))).detail
    assert detail["missing"] == [fact.id for fact in FACTS[1:]]
    assert detail["needed"] == {"d1": 2, "d2": 1, "d3": 1}
    assert detail["lacked"] == {"d1": 1, "d2": 1, "d3": 1}


async def test_without_truth_or_facts_there_is_a_reason_and_no_number() -> None:
    assert (await coverage("x", None)).not_applicable == "the dataset has no truth for this sample"
    assert (await coverage("x", Truth(hops=1, needs_depth=False))).not_applicable == "the sample needs no facts"


def test_what_a_failed_attempt_gets() -> None:
    assert [metric.name for metric in World.metrics] == ["world.coverage"]


def test_a_failed_attempt_is_worst_only_in_what_its_sample_can_have() -> None:
    world = World(WorldSettings())
    for truth in (None, Truth(hops=1, needs_depth=False)):
        assert world.metrics_for(sample(truth)) == ()
    needed = sample(Truth(hops=2, needs_depth=True, facts=(Fact(id="d1/a", forms=("x",)),)))
    assert world.metrics_for(needed) == World.metrics
