"""The events of a session as records of a timeline: calls with their results, each text once however often sent."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from aiq.site.markdown import Json

_KINDS: Mapping[str, tuple[str, str, str]] = {
    "run_started": ("start", "question", ""),
    "run_finished": ("end", "status", "error"),
    "stage_changed": ("stage", "stage", "detail"),
    "agent_started": ("agent", "agent", "task"),
    "agent_finished": ("agent_end", "agent", "output"),
    "approval": ("approval", "kind", "prompt"),
    "recovery": ("recovery", "what", "detail"),
    "report": ("report", "route", ""),
}
"""By type of event: the kind of its record, and the fields that are its title and its text."""


def timeline(events: Iterable[Json]) -> Json:
    """`events`: records in order; `texts`: (speaker, text) of messages and results, which events refer to by position.

    Every record has `seq`, `at` (seconds since the start), `kind`, `title` and `parent` (the `seq` of the call that it
    is part of). The result of a tool or subagent is in the record of its beginning; a report's parts are left out.
    `calls`: the `seq` of each tool call by its id.
    """
    builder = _Timeline()
    for event in events:
        builder.add(event)
    calls = {name: call["seq"] for name, call in builder.calls.items()}
    return {"texts": [[*text] for text in builder.texts], "events": builder.events, "calls": calls}


class _Timeline:
    """`calls` by their ids; `agents` by the id of the call that they answer, which may have no event."""

    def __init__(self) -> None:
        self.texts: dict[tuple[str, str], int] = {}
        self.calls: dict[str, Json] = {}
        self.agents: dict[str, Json] = {}
        self.events: list[Json] = []

    def add(self, event: Json) -> None:
        kind, owner = event.get("type"), event.get("parent_id") or ""
        if kind == "tool_returned" and (call := self.calls.get(event["call_id"])):
            call |= self._result_fields(event)
        elif kind == "agent_finished" and (agent := self.agents.get(owner)):
            agent["seconds"] = round(event["time_ns"] / 1e9 - agent["at"], 3)
            agent["output"] = self._position("output", event["output"])
        elif fields := self._fields(event):
            parent = self.calls.get(owner)
            record = {"seq": event.get("seq"), "at": round(event.get("time_ns", 0) / 1e9, 3), **fields}
            record["parent"] = parent["seq"] if parent else None
            if kind in ("tool_called", "tool_returned"):
                self.calls[event["call_id"]] = record
            elif kind == "agent_started" and owner:
                self.agents[owner] = record
                self.calls.setdefault(owner, record)
            self.events.append(record)

    def _position(self, speaker: str, text: Any) -> int | None:
        return self.texts.setdefault((speaker, as_text(text)), len(self.texts)) if text else None

    def _fields(self, event: Json) -> Json:
        """What is shown of an event; nothing for a type that no reader needs."""
        match event.get("type"):
            case "model_called":
                texts = [(str(message.get("role")), content(message)) for message in event.get("messages") or ()]
                messages = [self._position(role, text) for role, text in texts if text]
                return _model(event) | {
                    "messages": messages,
                    "reply": self._position("reply", content(event.get("reply") or {})),
                }
            case "tool_called":
                return {"kind": "tool", "title": event["tool"], "arguments": event["arguments"]}
            case "tool_returned":
                return {"kind": "tool", "title": event["tool"], **self._result_fields(event)}
            case "decision":
                title = f"{event['name']}: {as_text(event['value'])}"
                detail = self._position("detail", event.get("detail"))
                return {"kind": "decision", "title": title, "cause": event.get("cause"), "text": detail}
            case "round":
                fields = {"queries": event["queries"], "found": event["new_sources"], "gaps": event.get("gaps", ())}
                return {"kind": "round", "title": f"round {event['number']}", **fields}
            case str(kind) if kind in _KINDS:
                name, title, text = _KINDS[kind]
                position = self._position("detail", event.get(text))
                answer = {"answer": event["answer"]} if "answer" in event else {}
                return {"kind": name, "title": str(event.get(title) or ""), "text": position, **answer}
        return {}

    def _result_fields(self, event: Json) -> Json:
        return {
            "seconds": round((event.get("latency_ms") or 0) / 1000, 3),
            "error": None if event["success"] else event.get("error") or "failed",
            "found": event.get("sources", ()),
            "text": self._position("tool", event.get("traceback") or event.get("content")),
        }


def writer_of(report: str, found: Json) -> int | None:
    """The `seq` of the model call whose reply has most of the report's lines, the last of equals; None if none has."""
    lines = {line for raw in report.splitlines() if (line := raw.strip())}
    most, writer = 0, None
    for event in found["events"]:
        if event["kind"] == "model" and event["reply"] is not None:
            reply = {raw.strip() for raw in found["texts"][event["reply"]][1].splitlines()}
            shared = sum(map(len, lines & reply))
            if shared >= most and shared:
                most, writer = shared, event["seq"]
    return writer


def as_text(value: Any) -> str:
    if isinstance(value, dict):
        return "\n".join(
            f"{name}: {item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)}"
            for name, item in value.items()
        )
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def content(message: Mapping[str, Any], arguments: Callable[[Any], str] | None = None) -> str:
    """A message's text, and the tools that it calls; `arguments`: how to write the arguments of a call."""
    text = message.get("content")
    if isinstance(text, list):
        text = "\n".join(str(part.get("text", "")) for part in text if isinstance(part, dict))
    calls = [call.get("function") or {} for call in message.get("tool_calls") or []]
    lines = (f"-> {call.get('name')}{(arguments or _arguments)(call.get('arguments'))}" for call in calls)
    return "\n".join([*([text] if text else []), *lines])


def _arguments(text: Any) -> str:
    """The arguments of a tool call, one per line; as the model wrote them if they are not a JSON object."""
    try:
        return "".join(f"\n   {name}: {as_text(value)}" for name, value in json.loads(text or "{}").items())
    except (ValueError, AttributeError, TypeError):
        return f" {text}"


def _model(event: Json) -> Json:
    usage = event.get("usage") or {}
    return {
        "kind": "model",
        "title": event["role"],
        "model": event["model"],
        "seconds": round((event.get("latency_ms") or 0) / 1000, 3),
        "input": usage.get("input_tokens"),
        "output": usage.get("output_tokens"),
        "cost": usage.get("cost_usd"),
        "finish": event.get("finish_reason"),
        "again": event.get("attempt") or 0,
        "status": event.get("status"),
        "error": event.get("error"),
    }
