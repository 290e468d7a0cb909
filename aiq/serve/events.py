"""From the events of an attempt to those of the API: names and payloads of Shannon's event stream.

What prompts, replies and pages say stays in the run's own event files; errors name their kind alone, since their words
may hold addresses of this machine.
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
    "WAITING",
    "APPROVAL_REQUESTED",
    "APPROVAL_DECISION",
    "ERROR_OCCURRED",
    "ERROR_RECOVERY",
    "WORKFLOW_COMPLETED",
    "STREAM_END",
]
SYNTHESIS = "synthesis"  # the agent of reports


class Told(NamedTuple):
    """An event before it has its number and its time."""

    type: EventType
    message: str
    payload: Mapping[str, JsonValue] = {}
    agent_id: str | None = None


def told(event: own.Event) -> Told | None:
    """The event for the API; None for one that it has not, or that the service tells by itself."""
    match event:
        case own.RunStarted():
            return Told("WORKFLOW_STARTED", "started", {"clock": event.clock})
        case own.StageChanged():
            payload = {"stage": event.stage, **event.detail}
            return Told("PROGRESS", event.stage.replace("_", " "), payload)
        case own.AgentStarted():
            return Told("AGENT_STARTED", event.task, agent_id=event.agent)
        case own.AgentFinished():
            return Told("AGENT_COMPLETED", "", agent_id=event.agent)
        case own.Decision():
            return Told("AGENT_THINKING", event.cause, {"decision": event.name, "value": event.value})
        case own.Round():
            return Told("DATA_PROCESSING", f"round {event.number}", event.model_dump(mode="json", include=_OF_ROUND))
        case own.ToolCalled():
            payload = {"tool": event.tool, "call_id": event.call_id, "arguments": dict(event.arguments)}
            return Told("TOOL_INVOKED", event.tool, payload)
        case own.ToolReturned():
            fields = event.model_dump(mode="json", include=_OF_RESULT)
            return Told("TOOL_OBSERVATION", event.tool, fields)
        case own.ModelCalled():
            return Told("LLM_OUTPUT", event.role, event.model_dump(mode="json", include=_OF_CALL), event.role)
        case own.ReportChunk():
            return Told("LLM_PARTIAL", event.text, {"start": event.start}, SYNTHESIS)
        case own.ReportWritten():
            return Told("LLM_OUTPUT", event.text, {"route": event.route}, SYNTHESIS)
        case own.Approval():
            return Told("APPROVAL_DECISION", event.answer, {"kind": event.kind})
        case own.Recovery():
            return Told("ERROR_RECOVERY", event.what, {"wait_seconds": event.seconds})
    return None


_OF_ROUND = {"number", "queries", "new_sources", "gaps"}
_OF_RESULT = {"tool", "call_id", "success", "error", "sources", "latency_ms"}
_OF_CALL = {"role", "model", "status", "latency_ms", "finish_reason", "usage"}
