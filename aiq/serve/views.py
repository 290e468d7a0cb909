"""Tasks and rows as clients see them."""

from typing import Any

from aiq.core.usage import Usage
from aiq.runs.rows import SampleRow
from aiq.serve.store import Task
from aiq.serve.wire import ApiError, Citation, TaskSummary, TaskUsage


def summary_of(task: Task) -> TaskSummary:
    """The task as it appears in lists."""
    request = task.request
    return TaskSummary(
        task_id=task.id,
        workflow_id=task.id,
        query=request.query,
        agent=request.agent,
        status=task.status,
        attempt=task.attempt,
        created_at=task.created,
        started_at=task.started,
        finished_at=task.finished,
    )


def row_fields(row: SampleRow) -> dict[str, Any]:
    """What a task's view takes from its row."""
    sources = {source.address: source for source in row.sources}
    valid = row.audit.valid_citations if row.audit else ()
    citations = []
    for entry in valid:
        source = sources.get(entry.source)
        key = source.citation_key if source else None
        url = None if key else entry.source
        citations.append(Citation(number=entry.number, url=url, citation_key=key, title=source.title if source else ""))
    return {
        "result": row.report,
        "route": row.route,
        "citation_status": row.citation_status,
        "citations": tuple(citations),
        "audit": row.audit,
        "usage": TaskUsage(**usage_of(row.spent), by_role=row.usage),
        "metadata": {"seconds": row.timing.seconds, "cost_usd": row.spent.cost_usd, **row.extras},
    }


def usage_of(used: Usage) -> dict[str, Any]:
    """The totals of a task's usage, as in events and views."""
    tokens = {"total_tokens": used.total_tokens, "input_tokens": used.input_tokens, "output_tokens": used.output_tokens}
    return {**tokens, "calls": used.calls, "estimated_cost": used.cost_usd}


_PUBLIC = {"AgentError", "LimitReached", "CutOff"}
"""Errors whose messages are only about the task; those of others may contain addresses and paths of this machine."""


def error_of(row: SampleRow) -> ApiError:
    """What clients are told about a failure."""
    if row.error is None:
        return ApiError(code="failed", message="the task failed")
    if row.error.type == "LimitReached" and row.error.message.startswith("limits.run_"):
        return ApiError(code="budget_used_up", message="the budget of this key is used up")
    message = row.error.message if row.error.type in _PUBLIC else f"{row.error.type}; see the server's run for more"
    return ApiError(code=row.error.type, message=message)
