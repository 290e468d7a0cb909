"""The escalation judge: precision and recall against the truth, and what a stage cost."""

from typing import Any, cast

import pytest

from aiq.core.reports import Report, Score
from aiq.core.samples import NeededFact, Question, Sample, Truth
from aiq.core.session import Session
from aiq.core.usage import Usage
from aiq.judges.base import NoSettings
from aiq.judges.escalation import Escalation

SESSION = cast(Session, None)  # it asks nothing of its session
USAGE = Usage(calls=2, input_tokens=100, output_tokens=20, cost_usd=0.25)
COSTS = ["escalation.shallow_tokens", "escalation.deep_tokens", "escalation.deep_cost_usd"]
NEEDED, NOT_NEEDED = (
    Truth(hops=2, needs_depth=True, facts=(NeededFact(id="d1/a", forms=("x",)),)),
    Truth(hops=1, needs_depth=False),
)


def sample(truth: Truth | None) -> Sample:
    return Sample(id="1", question=Question(text="?"), truth=truth)


async def scored(route: str, truth: Truth | None = NEEDED, **stages: Any) -> dict[str, Score]:
    extras = {"stages": {name: u.model_dump(mode="json") if isinstance(u, Usage) else u for name, u in stages.items()}}
    report = Report(text="", raw_text="", route=route, extras=extras if stages else {})
    scores = await Escalation(NoSettings()).score(sample(truth), report, SESSION)
    assert [score.metric for score in scores] == [metric.name for metric in Escalation.metrics]
    return {score.metric: score for score in scores}


@pytest.mark.parametrize(
    ("route", "truth", "precision", "recall"),
    [
        ("deep", NEEDED, 1.0, 1.0),
        ("escalated", NEEDED, 1.0, 1.0),
        ("escalated", NOT_NEEDED, 0.0, None),
        ("shallow", NEEDED, None, 0.0),
        ("meta", NEEDED, None, 0.0),
        ("shallow", NOT_NEEDED, None, None),
    ],
)
async def test_precision_and_recall(route: str, truth: Truth, precision: float | None, recall: float | None) -> None:
    scores = await scored(route, truth)
    for metric, expected in (("escalation.precision", precision), ("escalation.recall", recall)):
        assert scores[metric].numerator == expected
        assert scores[metric].denominator == (None if expected is None else 1.0)
        assert (scores[metric].not_applicable is None) == (expected is not None)


@pytest.mark.parametrize(
    ("route", "values"),
    [
        ("shallow", [120, None, None]),
        ("escalated", [120, 120, 0.25]),
        ("deep", [None, 120, 0.25]),
        ("meta", [None] * 3),
    ],
)
async def test_the_cost_of_the_stages_that_a_route_takes(route: str, values: list[float | None]) -> None:
    scores = await scored(route, shallow=USAGE, deep=USAGE)
    assert [scores[metric].value for metric in COSTS] == values
    assert [scores[m].not_applicable for m in COSTS] == [
        f"the route was {route}" if v is None else None for v in values
    ]


async def test_without_a_price_there_are_tokens_and_no_cost() -> None:
    scores = await scored("deep", deep=USAGE.model_copy(update={"cost_usd": None}))
    assert scores["escalation.deep_tokens"].value == 120
    reason = "llm.prices has no price for a model of the deep stage"
    assert scores["escalation.deep_cost_usd"].not_applicable == reason


@pytest.mark.parametrize(
    ("stages", "reason"),
    [
        ({}, "the agent reports no usage of its deep stage"),
        ({"shallow": USAGE}, "the agent reports no usage of its deep stage"),
        ({"deep": {"calls": "many"}}, "the agent's usage of its deep stage cannot be read"),
        ({"deep": USAGE.model_copy(update={"unreported_calls": 1})}, "the endpoint reported no usage for some calls"),
    ],
)
async def test_a_cost_that_nobody_knows_has_a_reason(stages: dict[str, Any], reason: str) -> None:
    scores = await scored("deep", **stages)
    assert scores["escalation.deep_tokens"].not_applicable == reason
    assert scores["escalation.deep_cost_usd"].not_applicable == reason


async def test_costs_need_no_truth() -> None:
    scores = await scored("escalated", None, shallow=USAGE, deep=USAGE)
    assert scores["escalation.precision"].not_applicable == "the dataset has no truth for this sample"
    assert scores["escalation.recall"].not_applicable == "the dataset has no truth for this sample"
    assert [scores[metric].value for metric in COSTS] == [120, 120, 0.25]


def test_a_failed_attempt_is_worst_only_in_recall_where_depth_is_needed() -> None:
    judge = Escalation(NoSettings())
    assert {metric.name: metric.worst for metric in judge.metrics if metric.worst is not None} == {
        "escalation.recall": 0.0
    }
    for truth in (None, NOT_NEEDED):
        assert "escalation.recall" not in [metric.name for metric in judge.metrics_for(sample(truth))]
    assert judge.metrics_for(sample(NEEDED)) == Escalation.metrics
