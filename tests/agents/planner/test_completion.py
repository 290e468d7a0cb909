"""When a research is complete: each criterion, and which comes first."""

from typing import Any

import pytest

from aiq.agents.planner.completion import after_accumulation, after_empty_plan
from aiq.agents.planner.settings import PlannerSettings
from aiq.agents.planner.state import ResearchGap
from tests.agents.planner.conftest import document, state
from tests.settings import configured

SETTINGS = configured(PlannerSettings)
ALL = {"documents": (document("t:a"),), "total_docs": 1}
GAP = (ResearchGap(gap_description="AI"),)


@pytest.mark.parametrize(
    ("given", "route", "why"),
    [
        ({"report": "Done.", "iteration": 10}, "__end__", "report"),
        ({"error": "the planner failed"}, "synthesis", "failed"),
        ({"iteration": 10}, "synthesis", "max iterations"),
        ({"iteration": 9}, "planning", ""),
        ({"quiet": 3}, "synthesis", "no new findings"),
        ({"quiet": 2}, "planning", ""),
        ({"iteration": 10, "quiet": 3}, "synthesis", "max iterations"),
        (ALL, "synthesis", "all documents fetched: 1 of 1"),
        ({**ALL, "total_docs": 2}, "planning", "1 of 2"),
        ({**ALL, "total_docs": 0}, "planning", ""),
        ({**ALL, "confidence": 0.9}, "synthesis", "all documents"),
        ({"confidence": 0.7}, "synthesis", "confidence 0.70"),
        ({"confidence": 0.69}, "planning", "confidence 0.69"),
    ],
)
def test_after_results(given: dict[str, Any], route: str, why: str) -> None:
    next_route, cause = after_accumulation(state(**given), SETTINGS)
    assert next_route == route
    assert why in cause


@pytest.mark.parametrize(
    ("given", "route"),
    [
        ({"report": "Done."}, "__end__"),
        ({"gaps": GAP}, "planning"),
        ({}, "synthesis"),
        ({"gaps": GAP, "confidence": 0.7}, "synthesis"),
        ({"gaps": GAP, "quiet": 3}, "synthesis"),
    ],
)
def test_after_a_plan_without_calls(given: dict[str, Any], route: str) -> None:
    assert after_empty_plan(state(**given), SETTINGS)[0] == route


def test_the_thresholds_are_settings() -> None:
    settings = configured(PlannerSettings, max_iterations=2, confidence=0.5, no_new_batches=1)
    for fields in ({"iteration": 2}, {"confidence": 0.5}, {"quiet": 1}):
        assert after_accumulation(state(**fields), settings)[0] == "synthesis"
