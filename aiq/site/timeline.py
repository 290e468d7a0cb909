"""The events of a session as the records of a timeline: calls with what came back, texts once however often sent."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]
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
    """`events`: a record each, in order; `texts`: (speaker, text) of messages and results, which events name by place.

    Every record has `seq`, `at` (seconds since the start), `kind`, `title` and `parent` (the `seq` of the call that it
    is part of). A tool's result is in the record of its call; a report's parts are left out. `calls`: the `seq` of each
    tool call by its id.
    """
    texts: dict[tuple[str, str], int] = {}
    calls: dict[str, Json] = {}
    shown: list[Json] = []

    def place(speaker: str, text: Any) -> int | None:
        return texts.setdefault((speaker, as_text(text)), len(texts)) if text else None

    for event in events:
        kind, parent = event.get("type"), calls.get(event.get("parent_id") or "")
        if kind == "tool_returned" and (call := calls.get(event["call_id"])):
            call |= _returned(event) | {"text": place("tool", event.get("traceback") or event.get("content"))}
            continue
        record: Json = {"seq": event.get("seq"), "at": round(event.get("time_ns", 0) / 1e9, 3)}
        record["parent"] = parent["seq"] if parent else None
        match kind:
            case "model_called":
                record |= _model(event)
                record["messages"] = [
                    place(str(message.get("role")), content(message))
                    for message in event.get("messages") or ()
                    if content(message)
                ]
                record["reply"] = place("reply", content(event.get("reply") or {}))
            case "tool_called" | "tool_returned":
                record |= {"kind": "tool", "title": event["tool"], "arguments": event.get("arguments", {})}
                calls[event["call_id"]] = record
                if kind == "tool_returned":
                    record |= _returned(event) | {"text": place("tool", event.get("content"))}
            case "decision":
                title = f"{event['name']}: {as_text(event['value'])}"
                record |= {"kind": "decision", "title": title, "cause": event.get("cause")}
                record["text"] = place("detail", event.get("detail"))
            case "round":
                record |= {"kind": "round", "title": f"round {event['number']}", "queries": event["queries"]}
                record |= {"found": event["new_sources"], "gaps": event.get("gaps", ())}
            case str() if kind in _KINDS:
                name, title, text = _KINDS[kind]
                record |= {"kind": name, "title": str(event.get(title) or ""), "text": place("detail", event.get(text))}
                record |= {"answer": event["answer"]} if "answer" in event else {}
            case _:
                continue
        shown.append(record)
    return {
        "texts": [[*text] for text in texts],
        "events": shown,
        "calls": {name: one["seq"] for name, one in calls.items()},
    }


def writer_of(report: str, found: Json) -> int | None:
    """The `seq` of the model call whose reply has most of the report's lines, the last of several; None for none."""
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
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def content(message: Mapping[str, Any]) -> str:
    """A message's text, and the tools that it calls."""
    text = message.get("content")
    if isinstance(text, list):
        text = "\n".join(str(part.get("text", "")) for part in text if isinstance(part, dict))
    calls = [call.get("function") or {} for call in message.get("tool_calls") or []]
    called = (f"-> {call.get('name')}{_arguments(call.get('arguments'))}" for call in calls)
    return "\n".join([*([text] if text else []), *called])


def _arguments(written: Any) -> str:
    """Those of a tool call, a line each; as the model wrote them where they are no JSON object."""
    try:
        return "".join(f"\n   {name}: {as_text(value)}" for name, value in json.loads(written or "{}").items())
    except (ValueError, AttributeError, TypeError):
        return f" {written}"


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


def _returned(event: Json) -> Json:
    seconds = round((event.get("latency_ms") or 0) / 1000, 3)
    error = None if event["success"] else event.get("error") or "failed"
    return {"seconds": seconds, "error": error, "found": event.get("sources", ())}
