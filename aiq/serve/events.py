"""From the events of an attempt to those of the API: names and payloads of Shannon's event stream.

The contents of prompts, replies and pages stay in the run's own event files; errors give only their kind, because their
messages may contain addresses of this machine.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from pydantic import JsonValue

from aiq.core import events as own

EventType = Literal[
    "WORKFLOW_STARTED",
    "PROGRESS",
    "AGENT_STARTED",
    "AGENT_COMPLETED",
    "AGENT_THINKING",
    "TOOL_INVOKED",
    "TOOL_OBSERVATION",
    "DATA_PROCESSING",
    "LLM_PARTIAL",
    "LLM_OUTPUT",
    "APPROVAL_REQUESTED",
    "APPROVAL_DECISION",
    "ERROR_OCCURRED",
    "ERROR_RECOVERY",
    "WORKFLOW_COMPLETED",
    "STREAM_END",
]
SYNTHESIS = "synthesis"  # the agent of reports


class NewEvent(NamedTuple):
    """An event before it gets its number and time."""

    type: EventType
    message: str
    payload: Mapping[str, JsonValue] = {}
    agent_id: str | None = None


class _Rule(NamedTuple):
    """How to translate an event: `message` and `agent` name a field (or are SYNTHESIS), `payload` several."""

    type: EventType
    message: str
    payload: tuple[str, ...] = ()
    agent: str | None = None


_RULES: Mapping[type[own.Event], _Rule] = {
    own.RunStarted: _Rule("WORKFLOW_STARTED", "question", ("clock",)),
    own.StageChanged: _Rule("PROGRESS", "stage", ("stage", "detail")),
    own.AgentStarted: _Rule("AGENT_STARTED", "task", agent="agent"),
    own.AgentFinished: _Rule("AGENT_COMPLETED", "agent", agent="agent"),
    own.Decision: _Rule("AGENT_THINKING", "cause", ("name", "value")),
    own.Round: _Rule("DATA_PROCESSING", "type", ("number", "queries", "new_sources", "gaps")),
    own.ToolCalled: _Rule("TOOL_INVOKED", "tool", ("tool", "call_id", "arguments")),
    own.ToolReturned: _Rule(
        "TOOL_OBSERVATION", "tool", ("tool", "call_id", "success", "error", "sources", "latency_ms")
    ),
    own.ModelCalled: _Rule(
        "LLM_OUTPUT", "role", ("model", "status", "latency_ms", "finish_reason", "usage"), agent="role"
    ),
    own.ReportChunk: _Rule("LLM_PARTIAL", "text", ("start",), SYNTHESIS),
    own.ReportWritten: _Rule("LLM_OUTPUT", "text", ("route",), SYNTHESIS),
    own.Recovery: _Rule("ERROR_RECOVERY", "what", ("seconds",)),
}
"""Events of approvals come from the service itself, and that of the end once the row is written."""


def as_new_event(event: own.Event) -> NewEvent | None:
    """The event for the API; None for one that the API does not have, or that the service sends itself."""
    if (rule := _RULES.get(type(event))) is None:
        return None
    fields = event.model_dump(mode="json", include={rule.message, *rule.payload, rule.agent or ""})
    agent = fields.get(rule.agent or "", rule.agent)
    return NewEvent(rule.type, str(fields[rule.message]), {name: fields[name] for name in rule.payload}, agent)
