"""The escalation judge: precision and recall against the truth, and the cost of each stage."""

from dataclasses import asdict, replace
from typing import Any, cast

import pytest

from aiq.core.reports import Report, Score
from aiq.core.samples import NeededFact, Question, Sample, Truth
from aiq.core.session import Session
from aiq.core.usage import Usage
from aiq.judges.base import NoSettings
from aiq.judges.escalation import Escalation

SESSION = cast(Session, None)  # the judge does not use its session
USAGE = Usage(calls=2, input_tokens=100, output_tokens=20, cost_usd=0.25)
NEEDED = Truth(hops=2, needs_depth=True, facts=(NeededFact(id="d1/a", forms=("x",)),))
NOT_NEEDED = Truth(hops=1, needs_depth=False)
JUDGE = Escalation(NoSettings())


def sample(truth: Truth | None) -> Sample:
    return Sample(id="1", question=Question(text="?"), truth=truth)


async def scored(route: str, truth: Truth | None = NEEDED, **stages: Any) -> list[Score]:
    extras = {"stages": {name: asdict(u) if isinstance(u, Usage) else u for name, u in stages.items()}}
    report = Report(text="", raw_text="", route=route, extras=extras if stages else {})
    scores = await JUDGE.score(sample(truth), report, SESSION)
    assert [score.metric for score in scores] == [metric.name for metric in JUDGE.metrics]
    return scores


@pytest.mark.parametrize(
    ("route", "truth", "numerators", "reasons"),
    [
        ("deep", NEEDED, [1.0, 1.0], [None, None]),
        ("escalated", NEEDED, [1.0, 1.0], [None, None]),
        ("escalated", NOT_NEEDED, [0.0, None], [None, "the question needs no depth"]),
        ("shallow", NEEDED, [None, 0.0], ["the route was shallow, not deep", None]),
        ("meta", NEEDED, [None, 0.0], ["the route was meta, not deep", None]),
        ("shallow", NOT_NEEDED, [None, None], ["the route was shallow, not deep", "the question needs no depth"]),
        ("deep", None, [None, None], ["the dataset has no truth for this sample"] * 2),
    ],
)
async def test_precision_and_recall(
    route: str, truth: Truth | None, numerators: list[float | None], reasons: list[str | None]
) -> None:
    decided = (await scored(route, truth))[:2]
    assert [score.numerator for score in decided] == numerators
    assert [score.denominator for score in decided] == [None if n is None else 1.0 for n in numerators]
    assert [score.not_applicable for score in decided] == reasons


UNPRICED = replace(USAGE, cost_usd=None)
SILENT = replace(USAGE, unreported_calls=1)
ABSENT = "the agent reports no usage of its deep stage"


@pytest.mark.parametrize(
    ("route", "stages", "costs"),
    [
        ("shallow", {"shallow": USAGE, "deep": USAGE}, [120, "the route was shallow", "the route was shallow"]),
        ("escalated", {"shallow": USAGE, "deep": USAGE}, [120, 120, 0.25]),
        ("deep", {"shallow": USAGE, "deep": USAGE}, ["the route was deep", 120, 0.25]),
        ("meta", {"shallow": USAGE, "deep": USAGE}, ["the route was meta"] * 3),
        ("deep", {"deep": UNPRICED}, [..., 120, "llm.prices has no price for a model of the deep stage"]),
        ("deep", {}, [..., ABSENT, ABSENT]),
        ("deep", {"shallow": USAGE}, [..., ABSENT, ABSENT]),
        ("deep", {"deep": {"calls": "many"}}, [..., *["the agent's usage of its deep stage cannot be read"] * 2]),
        ("deep", {"deep": SILENT}, [..., *["the endpoint reported no usage for some calls"] * 2]),
    ],
)
@pytest.mark.parametrize("truth", [NEEDED, None], ids=("truth", "no truth"))
async def test_the_cost_of_the_stages_that_a_route_takes(
    route: str, stages: dict[str, Any], costs: list[Any], truth: Truth | None
) -> None:
    values = [
        row.value if row.not_applicable is None else row.not_applicable for row in await scored(route, truth, **stages)
    ]
    assert [value for value, cost in zip(values[2:], costs, strict=True) if cost is not ...] == [
        cost for cost in costs if cost is not ...
    ]


def test_a_failed_attempt_is_worst_only_in_recall_where_depth_is_needed() -> None:
    assert {m.name: m.worst for m in JUDGE.metrics if m.worst is not None} == {"escalation.recall": 0.0}
    assert JUDGE.metrics_for(sample(NEEDED)) == JUDGE.metrics
    for truth in (None, NOT_NEEDED):
        assert "escalation.recall" not in [m.name for m in JUDGE.metrics_for(sample(truth))]
