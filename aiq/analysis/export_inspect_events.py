"""The events of an attempt as those of an Inspect AI transcript: model calls, tool calls, stages, decisions.

A session, a stage, and the work within a tool call (a subagent's) are spans. What Inspect has no event for becomes an
`info` event with our own type.
"""

import hashlib
import itertools
import json
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from inspect_ai.event import Event, InfoEvent, ModelEvent, SpanBeginEvent, SpanEndEvent, ToolEvent
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.tool import ToolCall, ToolCallError

from aiq.core.usage import USAGE, Usage

_STOPS: Final = {"stop": "stop", "length": "max_tokens", "tool_calls": "tool_calls", "content_filter": "content_filter"}
_SKIPPED: Final = {"run_started", "run_finished", "tool_returned"}
_COMMON: Final = {"seq", "time_ns", "parent_id", "type"}

Recorded = Mapping[str, Any]


def usage_of(used: Usage) -> ModelUsage:
    """Usage as Inspect counts it: cached input separately, and nothing for calls whose usage was not reported."""
    return ModelUsage(
        input_tokens=used.input_tokens - used.cached_tokens,
        input_tokens_cache_read=used.cached_tokens or None,
        output_tokens=used.output_tokens,
        total_tokens=used.total_tokens,
        total_cost=used.cost_usd,
    )


def transcript(name: str, recorded: Iterable[Recorded], began: datetime, after: float = 0.0) -> Iterator[Event]:
    """The events of the session `name`, which started `after` seconds into an attempt that `began` at this time."""
    session = _Session(name, began, after)
    for event in recorded:
        session.by_call.setdefault(event["parent_id"], []).append(event)
        if event["type"] == "tool_returned":
            session.returned[event["call_id"]].append(event)
    for call in list(session.by_call):  # the first is None: events that belong to no tool call
        yield from session.span(name, None, None, {"time_ns": 0}, call)


@dataclass
class _Session:
    """What is not yet written of a session: events by the tool call that they belong to, and how tool calls ended."""

    name: str
    began: datetime
    after: float
    by_call: dict[str | None, list[Recorded]] = field(default_factory=dict)
    returned: defaultdict[str, deque[Recorded]] = field(default_factory=lambda: defaultdict(deque))
    spans: Iterator[int] = field(default_factory=itertools.count)

    def at(self, event: Recorded) -> dict[str, Any]:
        seconds = self.after + event["time_ns"] / 1e9
        return {"timestamp": self.began + timedelta(seconds=seconds), "working_start": seconds}

    def span(
        self, name: str, kind: str | None, outer: str | None, first: Recorded, call: str | None
    ) -> Iterator[Event]:
        """The events of a tool call in a span; each stage is a span inside it until the next stage begins."""
        if call not in self.by_call:
            return
        last, span = first, f"{self.name}.{next(self.spans)}"
        stage = span
        yield SpanBeginEvent(id=span, parent_id=outer, type=kind, name=name, **self.at(first))
        for event in self.by_call.pop(call):
            last = event
            if event["type"] == "stage_changed":
                if stage != span:
                    yield SpanEndEvent(id=stage, **self.at(event))
                stage = f"{self.name}.{next(self.spans)}"
                yield SpanBeginEvent(id=stage, parent_id=span, type="stage", name=event["stage"], **self.at(event))
            yield from self.one(event, stage)
        for open_span in dict.fromkeys((stage, span)):
            yield SpanEndEvent(id=open_span, **self.at(last))

    def one(self, event: Recorded, span: str) -> Iterator[Event]:
        kind, where = event["type"], {**self.at(event), "span_id": span}
        if kind == "model_called":
            yield _model(event, where)
        elif kind == "tool_called":
            call = event["call_id"]
            yield _tool(event, self.returned[call].popleft() if self.returned[call] else None, where)
            yield from self.span(event["tool"], "tool", span, event, call)
        elif kind not in _SKIPPED:
            yield InfoEvent(source=kind, data={name: event[name] for name in event if name not in _COMMON}, **where)


def _model(event: Recorded, where: Mapping[str, Any]) -> ModelEvent:
    """A model call, which is recorded when it ends."""
    seconds, choices = event["latency_ms"] / 1000, []
    if isinstance(event["reply"], Mapping):
        (answer,) = _messages([{**event["reply"], "role": "assistant"}])
        if isinstance(answer, ChatMessageAssistant):
            stop = _STOPS.get(event["finish_reason"], "unknown")
            choices = [ChatCompletionChoice(message=answer, stop_reason=stop)]
    return ModelEvent(
        model=event["model"],
        role=event["role"],
        input=_messages(event["messages"] or ()),
        tools=[],
        tool_choice="auto",
        config=GenerateConfig(),
        output=ModelOutput(
            model=event["model"],
            choices=choices,
            usage=usage_of(USAGE.validate_python(event["usage"])) if event["usage"] else None,
            time=seconds,
        ),
        error=event["error"],
        span_id=where["span_id"],
        timestamp=where["timestamp"] - timedelta(seconds=seconds),
        completed=where["timestamp"],
        working_start=max(where["working_start"] - seconds, 0.0),
        working_time=seconds,
    )


def _tool(event: Recorded, returned: Recorded | None, where: Mapping[str, Any]) -> ToolEvent:
    """A tool call with its result; `returned` is None if the attempt ended before the call."""
    seconds = None if returned is None else (returned["time_ns"] - event["time_ns"]) / 1e9
    error = None
    if returned is None:
        error = ToolCallError("cancelled", "the attempt ended first")
    elif not returned["success"]:
        kind = "timeout" if returned["error"] == "timeout" else "unknown"
        error = ToolCallError(kind, f"{returned['error']}: {returned['content']}")
    return ToolEvent(
        id=event["call_id"],
        function=event["tool"],
        arguments=dict(event["arguments"]),
        result=returned["content"] if returned else "",
        error=error,
        failed=error is not None or None,
        completed=None if seconds is None else where["timestamp"] + timedelta(seconds=seconds),
        working_time=seconds,
        metadata={"sources": returned["sources"]} if returned else None,
        **where,
    )


def _messages(wire: Iterable[Recorded]) -> list[ChatMessage]:
    """Messages of chat completions. The same message has the same id whenever it is sent, so a log stores it once."""
    messages: list[ChatMessage] = []
    functions: dict[str, str] = {}
    for raw in wire:
        digest = hashlib.sha256(json.dumps(raw, sort_keys=True).encode()).hexdigest()[:22]
        role, content = raw.get("role"), _text(raw.get("content"))
        if role == "assistant":
            calls = [_call(call) for call in raw.get("tool_calls") or ()]
            functions |= {call.id: call.function for call in calls}
            messages.append(ChatMessageAssistant(id=digest, content=_content(raw, content), tool_calls=calls or None))
        elif role == "tool":
            call = str(raw.get("tool_call_id"))
            function = functions.get(call)
            messages.append(ChatMessageTool(id=digest, content=content, tool_call_id=call, function=function))
        else:
            kind = ChatMessageSystem if role in ("system", "developer") else ChatMessageUser
            messages.append(kind(id=digest, content=content))
    return messages


def _call(raw: Recorded) -> ToolCall:
    function, problem = raw.get("function") or {}, None
    raw_arguments = function.get("arguments") or "{}"
    try:
        arguments = raw_arguments if isinstance(raw_arguments, dict) else json.loads(raw_arguments)
    except ValueError as error:
        arguments, problem = None, str(error)
    if not isinstance(arguments, dict):
        arguments, problem = {"written": raw_arguments}, problem or "the arguments are no object"
    return ToolCall(id=str(raw.get("id")), function=str(function.get("name")), arguments=arguments, parse_error=problem)


def _content(raw: Recorded, content: str) -> Any:
    """The content, after the model's reasoning if the endpoint sent it separately."""
    thought = raw.get("reasoning_content") or raw.get("reasoning")
    return [ContentReasoning(reasoning=thought), ContentText(text=content)] if isinstance(thought, str) else content


def _text(content: Any) -> str:
    """The text of a message; of content in parts, the text of each, and other parts as JSON."""
    if isinstance(content, list):
        parts = (part if isinstance(part, Mapping) else {"text": part} for part in content)
        return "\n".join(str(part["text"]) if "text" in part else json.dumps(part) for part in parts)
    return "" if content is None else str(content)
