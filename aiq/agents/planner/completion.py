"""Completion: whether to go on planning, to write the report, or to end (specification 4.8)."""

from typing import Literal

from aiq.agents.planner.settings import PlannerSettings
from aiq.agents.planner.state import PlannerState

Route = Literal["planning", "synthesis", "__end__"]
"""The last one is LangGraph's `END`."""


def after_accumulation(state: PlannerState, settings: PlannerSettings) -> tuple[Route, str]:
    """Where to go after an iteration's results, and why; the first criterion met counts."""
    fetched, total = state.docs_fetched, state.total_docs
    if state.report:
        return "__end__", "the report is written"
    if state.error:
        return "synthesis", state.error
    if state.iteration >= settings.max_iterations:
        return "synthesis", f"max iterations: {state.iteration}"
    if state.quiet >= settings.no_new_batches:
        return "synthesis", f"no new findings in {state.quiet} iterations"
    if fetched >= total > 0:
        return "synthesis", f"all documents fetched: {fetched} of {total}"
    if state.confidence >= settings.confidence:
        return "synthesis", f"confidence {state.confidence:.2f} of {settings.confidence:g}"
    return "planning", f"confidence {state.confidence:.2f}, {fetched} of {total} documents"


def after_empty_plan(state: PlannerState, settings: PlannerSettings) -> tuple[Route, str]:
    """Where to go when nothing was planned, and why."""
    route, cause = after_accumulation(state, settings)
    if route != "planning":
        return route, cause
    if not state.gaps:
        return "synthesis", "nothing is planned, and no gap is known"
    return "planning", f"nothing is planned, and {len(state.gaps)} gaps are known"
