"""Accumulation: merges outcomes of sub-agents and tools into the state, without duplicate documents and claims."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aiq.agents.planner.responses import DataPage, merge_documents
from aiq.agents.planner.state import DataDocument, Outcome, PlannerState, ResearchFinding

if TYPE_CHECKING:
    from aiq.agents.planner.subagents.base import Registry


def accumulated(state: PlannerState, outcomes: Sequence[Outcome], registry: "Registry") -> PlannerState:
    """The state after these outcomes, in their order; a failed call changes nothing (specification 4.7)."""
    for outcome in outcomes:
        if outcome.failed:
            continue
        if outcome.is_tool:
            changes = tool_changes(state, outcome)
        else:
            changes = registry.get(outcome.name).accumulate(state, outcome.output, outcome.arguments)
        state = state.model_copy(update=changes)
    return state


def with_progress(before: PlannerState, after: PlannerState, registry: "Registry") -> PlannerState:
    """`after` with what is computed per iteration: quiet batches, and the confidence unless a validator states it."""
    batches = [o for o in after.outcomes if not o.failed and (o.is_tool or registry.get(o.name).brings_data)]
    quiet = after.quiet if not batches else 0 if len(after.findings) > len(before.findings) else after.quiet + 1
    confidence = after.confidence if after.validation_status else automatic_confidence(after)
    return after.model_copy(update={"quiet": quiet, "confidence": confidence})


def tool_changes(state: PlannerState, outcome: Outcome) -> dict[str, Any]:
    """Changes by a direct call: its buckets and documents, its arguments for a later scan, whether a scan is needed."""
    page: DataPage = outcome.output
    documents = merge_documents(state.documents, page.documents)
    has_data = page.documents or page.aggregations or page.total is not None
    changes = {
        "last_tool_args": outcome.arguments if has_data else state.last_tool_args,
        "calls": (*state.calls, {"tool": outcome.name, "arguments": outcome.arguments, "documents": page.size}),
        "aggregations": (*state.aggregations, *page.aggregations),
        "notes": (*state.notes, f"{outcome.name}: {page.note}") if page.note else state.notes,
    }
    return {**changes, **with_total(state, documents, page.size)}


def with_total(state: PlannerState, documents: tuple[DataDocument, ...], total: int) -> dict[str, Any]:
    """Changes to documents and the largest total so far; a scan is needed if some but not all are fetched.

    An outcome with nothing new does not call for another scan: the last one may have ended at its ceiling.
    """
    total = max(state.total_docs, total)
    is_new = total > state.total_docs or len(documents) > state.docs_fetched
    needs_scan = state.needs_full_scan or (is_new and total > len(documents) > 0)
    return {"documents": documents, "total_docs": total, "needs_full_scan": needs_scan}


def added_findings(state: PlannerState, new: Sequence[ResearchFinding]) -> tuple[ResearchFinding, ...]:
    """The findings, with the new ones whose claims are not known yet (ignoring case); ids are consecutive."""
    by_claim = {finding.claim.casefold().strip(): finding for finding in state.findings}
    for finding in new:
        if claim := finding.claim.casefold().strip():
            by_claim.setdefault(claim, finding.model_copy(update={"id": f"f_{len(by_claim) + 1}"}))
    return tuple(by_claim.values())


def automatic_confidence(state: PlannerState) -> float:
    """The confidence of a research that no validator has judged, 0 to 1 (specification 4.7)."""
    share = min(1.0, state.docs_fetched / state.total_docs) if state.total_docs else 0.0
    parts = (
        0.3 * bool(state.aggregations),
        0.2 * bool(state.findings),
        0.3 * share,
        0.2 * (not state.needs_full_scan and state.docs_fetched > 0),
    )
    return min(1.0, sum(parts))
