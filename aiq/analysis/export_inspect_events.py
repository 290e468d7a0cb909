"""The events of an attempt as those of an Inspect AI transcript: model calls, tool calls, stages, decisions, scores.

Ids are derived from the sample's, so that the same run gives the same events. A stage, and a tool call that other
events belong to (a subagent's work), is a span there; what Inspect has no event for is an `info` event of our type.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from aiq.core.usage import Usage

if TYPE_CHECKING:
    from inspect_ai.event import Event, ToolEvent
    from inspect_ai.log import EvalError
    from inspect_ai.model import ChatMessage, ModelUsage
    from inspect_ai.scorer import Score
    from inspect_ai.tool import ToolCall

_STOPS: Final = {"stop": "stop", "length": "max_tokens", "tool_calls": "tool_calls", "content_filter": "content_filter"}
_SESSIONS: Final = {"agent": "solvers", "judges": "scorers"}
"""The kind of span that each session of an attempt is."""
_LEFT_OUT: Final = {"run_started", "run_finished"}
_OF_EVERY: Final = {"seq", "time_ns", "parent_id", "type"}

Recorded = Mapping[str, Any]


def usage_of(used: Usage) -> "ModelUsage":
    """Inspect counts cached input apart; it has no word for calls whose usage was not reported."""
    from inspect_ai.model import ModelUsage

    return ModelUsage(
        input_tokens=used.input_tokens - used.cached_tokens,
        input_tokens_cache_read=used.cached_tokens or None,
        output_tokens=used.output_tokens,
        total_tokens=used.total_tokens,
        total_cost=used.cost_usd,
    )


class Transcript:
    """The events of one sample, in order, and the conversation of the agent's last model call."""

    def __init__(self, name: str, started: datetime) -> None:
        self.name = name
        self.events: list[Event] = []
        self.conversation: list[ChatMessage] = []
        self._started = started
        self._after = 0.0
        self._count = 0
        self._messages: dict[str, ChatMessage] = {}
        self._functions: dict[str, str] = {}
        """The tool that each call of the model means, by the call's id."""
        self._open: dict[str | None, list[str]] = {}
        """By the tool call that events belong to (None: to none), the spans they are in, the innermost last."""

    def new_id(self) -> str:
        self._count += 1
        return f"{self.name}.{self._count}"

    def begin(self, question: str, target: str | list[str]) -> None:
        from inspect_ai.dataset import Sample
        from inspect_ai.event import SampleInitEvent

        self.events.append(SampleInitEvent(sample=Sample(input=question, target=target), **self._at(0.0)))

    def session(self, name: str, recorded: Iterable[Recorded], after: float = 0.0) -> None:
        """The events of the agent or of the judges, which began `after` so many seconds, in a span of this name."""
        events = list(recorded)
        if not events:
            return
        self._after, self._open = after, {}
        parents = {event["parent_id"] for event in events}
        returned: defaultdict[str, list[Recorded]] = defaultdict(list)
        for event in events:
            if event["type"] == "tool_returned":
                returned[event["call_id"]].append(event)
        self._enter(name, _SESSIONS[name], events[0], None)
        for event in events:
            self._add(event, parents, returned)
        for parent in reversed(list(self._open)):
            self._leave(parent, events[-1])

    def end(self, error: "EvalError | None", scores: "Mapping[str, Score]", target: str | list[str]) -> None:
        """What ended the attempt, where an error did, and its scores."""
        from inspect_ai.event import ErrorEvent, ScoreEvent

        if error is not None:
            self.events.append(ErrorEvent(error=error, **self._at(self._after)))
        for name, score in scores.items():
            self.events.append(ScoreEvent(score=score, target=target, scorer=name, **self._at(self._after)))

    def _add(self, event: Recorded, parents: Set[str | None], returned: Mapping[str, list[Recorded]]) -> None:
        from inspect_ai.event import InfoEvent

        kind, parent = event["type"], event["parent_id"]
        if kind == "stage_changed" and parent is None:  # a stage lasts until the next one
            self._leave(None, event, but=1)
            self._enter(event["stage"], "stage", event, None)
        elif kind == "agent_started" and parent is not None:
            self._enter(event["agent"], "agent", event, parent)
        if kind == "model_called":
            self._model(event)
        elif kind == "tool_called":
            call = event["call_id"]
            if call in parents and call not in self._open:
                self._enter(event["tool"], "tool", event, call, below=parent)
            ended = returned[call].pop(0) if returned[call] else None
            self.events.append(_tool(event, ended, self._place(event, call if call in self._open else parent)))
        elif kind == "tool_returned":
            self._leave(event["call_id"], event)
        elif kind not in _LEFT_OUT:
            data = {name: value for name, value in event.items() if name not in _OF_EVERY}
            self.events.append(InfoEvent(source=kind, data=data, **self._place(event, parent)))
            if kind == "agent_finished" and parent in self._open:
                self._leave(parent, event, but=len(self._open[parent]) - 1)

    def _enter(self, name: str, kind: str, event: Recorded, call: str | None, below: str | None = None) -> None:
        """Begin a span for the events of `call`, inside of what these, or those of the call `below`, are in."""
        from inspect_ai.event import SpanBeginEvent

        span, outer = self.new_id(), self._span(call if call in self._open else below)
        place = {**self._place(event, call), "span_id": span}
        self.events.append(SpanBeginEvent(id=span, parent_id=outer, type=kind, name=name, **place))
        self._open.setdefault(call, []).append(span)

    def _leave(self, call: str | None, event: Recorded, *, but: int = 0) -> None:
        """End the spans of a call, the innermost first, `but` so many."""
        from inspect_ai.event import SpanEndEvent

        spans = self._open.get(call, [])
        while len(spans) > but:
            span = spans.pop()
            self.events.append(SpanEndEvent(id=span, **{**self._place(event, call), "span_id": span}))
        if not spans:
            self._open.pop(call, None)

    def _span(self, call: str | None) -> str | None:
        spans = self._open.get(call) or self._open.get(None)
        return spans[-1] if spans else None

    def _place(self, event: Recorded, call: str | None) -> dict[str, Any]:
        return {**self._at(self._after + event["time_ns"] / 1e9), "span_id": self._span(call)}

    def _at(self, seconds: float) -> dict[str, Any]:
        return {
            "uuid": self.new_id(),
            "timestamp": self._started + timedelta(seconds=seconds),
            "working_start": seconds,
        }

    def _model(self, event: Recorded) -> None:
        """A model call is recorded when it has ended."""
        from inspect_ai.event import ModelEvent
        from inspect_ai.model import ChatCompletionChoice, GenerateConfig, ModelOutput

        place, seconds = self._place(event, event["parent_id"]), event["latency_ms"] / 1000
        messages = [self._message(message) for message in event["messages"] or ()]
        usage = usage_of(Usage.model_validate(event["usage"])) if event["usage"] else None
        output = ModelOutput(model=event["model"], usage=usage, time=seconds)
        if isinstance(event["reply"], Mapping):
            answer: Any = self._message({**event["reply"], "role": "assistant"})
            stop = _STOPS.get(event["finish_reason"], "unknown")
            output = ModelOutput(
                model=event["model"],
                choices=[ChatCompletionChoice(message=answer, stop_reason=stop)],
                usage=usage,
                time=seconds,
            )
            self.conversation = self.conversation if self._after else [*messages, answer]
        called = {
            "timestamp": place["timestamp"] - timedelta(seconds=seconds),
            "completed": place["timestamp"],
            "working_start": max(place["working_start"] - seconds, 0.0),
            "working_time": seconds,
        }
        self.events.append(
            ModelEvent(
                model=event["model"],
                role=event["role"],
                input=messages,
                tools=[],
                tool_choice="auto",
                config=GenerateConfig(),
                output=output,
                error=event["error"],
                metadata={name: event[name] for name in ("status", "attempt", "request_sha256")},
                **{**place, **called},
            )
        )

    def _message(self, raw: Recorded) -> "ChatMessage":
        """A message of a chat completion; the same one each time it is sent, which a log then holds once."""
        from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageTool, ChatMessageUser

        digest = hashlib.sha256(json.dumps(raw, sort_keys=True).encode()).hexdigest()[:22]
        if (known := self._messages.get(digest)) is not None:
            return known
        role, content = raw.get("role"), _text(raw.get("content"))
        message: ChatMessage
        if role == "assistant":
            calls = [_call(call) for call in raw.get("tool_calls") or ()]
            self._functions |= {call.id: call.function for call in calls}
            message = ChatMessageAssistant(id=digest, content=_thought(raw, content), tool_calls=calls or None)
        elif role == "tool":
            call = str(raw.get("tool_call_id"))
            message = ChatMessageTool(id=digest, content=content, tool_call_id=call, function=self._functions.get(call))
        else:
            kind = ChatMessageSystem if role in ("system", "developer") else ChatMessageUser
            message = kind(id=digest, content=content)
        self._messages[digest] = message
        return message


def _tool(event: Recorded, ended: Recorded | None, place: Mapping[str, Any]) -> "ToolEvent":
    """A tool call with how it ended; without that, where the attempt ended before it did."""
    from inspect_ai.event import ToolEvent
    from inspect_ai.tool import ToolCallError

    error, result, lasted = None, "", None
    if ended is None:
        error = ToolCallError("cancelled", "the attempt ended first")
    else:
        lasted = (ended["time_ns"] - event["time_ns"]) / 1e9
        result = ended["content"]
        if not ended["success"]:
            kind = "timeout" if ended["error"] == "timeout" else "unknown"
            error = ToolCallError(kind, f"{ended['error']}: {result}")
    return ToolEvent(
        id=event["call_id"],
        function=event["tool"],
        arguments=dict(event["arguments"]),
        result=result,
        error=error,
        failed=error is not None or None,
        completed=None if lasted is None else place["timestamp"] + timedelta(seconds=lasted),
        working_time=lasted,
        metadata={"sources": ended["sources"]} if ended else None,
        **place,
    )


def _call(raw: Recorded) -> "ToolCall":
    from inspect_ai.tool import ToolCall

    function = raw.get("function") or {}
    written = function.get("arguments") or "{}"
    try:
        arguments = written if isinstance(written, dict) else json.loads(written)
        problem = None if isinstance(arguments, dict) else "the arguments are no object"
    except ValueError as error:
        arguments, problem = {}, str(error)
    given = {"written": written} if problem else arguments
    return ToolCall(id=str(raw.get("id")), function=str(function.get("name")), arguments=given, parse_error=problem)


def _thought(raw: Recorded, content: str) -> Any:
    """The content, after the model's reasoning where the endpoint gave it apart."""
    from inspect_ai.model import ContentReasoning, ContentText

    thought = raw.get("reasoning_content") or raw.get("reasoning")
    if not isinstance(thought, str):
        return content
    return [ContentReasoning(reasoning=thought), ContentText(text=content)]


def _text(content: Any) -> str:
    """The text of a message; of content in parts, that of each, and other parts as JSON."""
    if isinstance(content, list):
        parts = (part if isinstance(part, Mapping) else {"text": part} for part in content)
        return "\n".join(str(part["text"]) if "text" in part else json.dumps(part) for part in parts)
    return "" if content is None else str(content)
