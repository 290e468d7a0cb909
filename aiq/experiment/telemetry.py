"""Sends a run's events as OpenTelemetry traces, following the semantic conventions for generative AI.

The run, each attempt, judge's work, sub-agent, model call and tool call has a span, nested in that of its parent. Only
`telemetry.otlp_endpoint` switches it on: otherwise no package is imported and nothing is sent, whatever OTEL_*
variables are set; when it is on, they configure the SDK.
"""

import json
import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from aiq import __version__
from aiq.cassettes.guard import other_counter
from aiq.core.concurrency import binding
from aiq.core.errors import ConfigError
from aiq.core.events import AgentFinished, AgentStarted, Event, ModelCalled, RunFinished, ToolCalled, ToolReturned
from aiq.core.run_settings import TelemetrySettings
from aiq.core.samples import SampleKey
from aiq.core.settings import headers_of
from aiq.core.text import utf8_safe
from aiq.runs.events import Account

if TYPE_CHECKING:
    from opentelemetry.trace import Span

EXPORT_SECONDS: Final = 5.0
"""For one batch, including its retries. At its end a run waits at most for the batch in flight and one more."""

_API: Final = "openai"  # the protocol, whoever serves it
_RUN, _AGENT, _TOOL, _JUDGE = "invoke_workflow", "invoke_agent", "execute_tool", "evaluate"
"""Operations, with which span names begin; the conventions have none for a judge's work."""


class Telemetry:
    """Sends spans in its own thread. Spans that do not fit in its queue or do not arrive are dropped and counted."""

    def __init__(self, settings: TelemetrySettings) -> None:
        """Raises ConfigError if the packages are not installed or a header's variable is not set."""
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError as error:
            message = "telemetry.otlp_endpoint needs more packages: pip install 'aiq-bench[otel]'"
            raise ConfigError(f"{message} ({error})") from None

        headers = headers_of("telemetry", settings.headers_env)
        self.content = settings.content
        self._begun = 0
        self._endpoint = f"{(settings.otlp_endpoint or '').rstrip('/')}/v1/traces"
        self._log = _Log()
        self._exporter = _Exporter(OTLPSpanExporter(self._endpoint, headers=headers, timeout=EXPORT_SECONDS))
        resource = {"service.name": "aiq", "service.version": __version__}
        self._provider = TracerProvider(resource=Resource.create(resource), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(self._exporter))
        self._tracer = self._provider.get_tracer("aiq", __version__)

    def begin(
        self, operation: str, name: str, parent: "Span | None", attributes: Mapping[str, Any], **more: Any
    ) -> "Span":
        """Start a span, without attributes that are None. `more`: arguments of OpenTelemetry's `start_span`."""
        from opentelemetry.context import Context
        from opentelemetry.trace import set_span_in_context

        context = set_span_in_context(parent, Context()) if parent else Context()
        known_attributes = attributes_of({"gen_ai.operation.name": operation, **attributes})
        span = self._tracer.start_span(utf8_safe(f"{operation} {name}"), context, attributes=known_attributes, **more)
        self._begun += span.is_recording()
        return span

    def close(self) -> str | None:
        """Send what is left, and return one line about what did not arrive and why, if anything."""
        if self._exporter.failing:
            self._exporter.shutdown()  # ends the pause before its next try
        self._exporter.closing = True
        self._provider.shutdown()
        self._log.close()
        if not (n_lost := self._begun - self._exporter.sent):
            return None
        reason = self._log.first or "no time was left"
        return f"telemetry: {n_lost} of {self._begun} spans did not reach {self._endpoint} ({reason})"


class _Exporter:
    """An exporter that counts what has arrived, and whose connections do not count as a model's.

    `failing`: the last batch did not arrive. While `closing`, nothing is sent after a failure.
    """

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.sent = 0
        self.failing = self.closing = False

    def export(self, spans: Sequence[Any]) -> Any:
        from opentelemetry.sdk.trace.export import SpanExportResult

        if self.failing and self.closing:
            return SpanExportResult.FAILURE
        with binding(other_counter, Counter[str]()):
            result = self._inner.export(spans)
        self.failing = result is not SpanExportResult.SUCCESS
        self.sent += 0 if self.failing else len(spans)
        return result

    def shutdown(self) -> None:
        self._inner.shutdown()


class _Log(logging.Handler):
    """Catches the messages that OpenTelemetry would repeat on stderr, and keeps the first."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.first = ""
        self._logger = logging.getLogger("opentelemetry")
        self._propagated, self._logger.propagate = self._logger.propagate, False
        self._logger.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.first = self.first or " ".join(record.getMessage().split())

    def close(self) -> None:
        self._logger.removeHandler(self)
        self._logger.propagate = self._propagated
        super().close()


class RunSpan:
    """The span of a run, from its construction until it is closed, and the spans of its sessions."""

    def __init__(self, telemetry: Telemetry, experiment: str, run_id: str) -> None:
        self._telemetry = telemetry
        self._attributes = {"aiq.run.id": run_id}
        self._span = telemetry.begin(_RUN, experiment, None, {"gen_ai.workflow.name": experiment, **self._attributes})

    @contextmanager
    def session(self, account: Account, name: str, key: SampleKey, attempt: int) -> Iterator[Callable[[Event], None]]:
        """Open the span of a session of the agent or judge of this name; yields the receiver of its events."""
        conversation = f"{self._attributes['aiq.run.id']}/{key.sample_id}/{key.epoch}/{attempt}"
        agent = {"gen_ai.agent.name": name, "gen_ai.conversation.id": conversation}
        operation, attributes = (_AGENT, agent) if account == "agent" else (_JUDGE, {"aiq.judge": name})
        key_attributes = {"aiq.sample.id": key.sample_id, "aiq.epoch": key.epoch, "aiq.attempt": attempt}
        root = self._telemetry.begin(operation, name, self._span, {**attributes, **self._attributes, **key_attributes})
        spans = _SessionSpans(self._telemetry, root)
        try:
            yield spans.on_event
        finally:
            spans.end()

    def close(self) -> None:
        self._span.end()


class _SessionSpans:
    """The spans of one session. Events are received as they happen, so the current time is theirs."""

    def __init__(self, telemetry: Telemetry, root: "Span") -> None:
        self._telemetry = telemetry
        self._root = root
        self._open: defaultdict[tuple[str, str], list[Span]] = defaultdict(list)
        """By operation and call; several if a model gave calls the same id. A sub-agent's call is its dispatch."""

    def on_event(self, event: Event) -> None:
        if not self._root.is_recording():
            return  # it has ended, or was not sampled
        match event:
            case ModelCalled():
                self._model_call(event)
            case ToolCalled():
                attributes = {"gen_ai.tool.type": "function", "gen_ai.tool.call.id": event.call_id}
                attributes |= {"gen_ai.tool.name": event.tool}
                texts = self._texts({"gen_ai.tool.call.arguments": event.arguments})
                self._begin(event, _TOOL, event.tool, event.call_id, {**attributes, **texts})
            case ToolReturned():
                self._end(_TOOL, event.call_id, event.error, {"gen_ai.tool.call.result": event.content})
            case AgentStarted():
                call = event.parent_id or event.agent
                self._begin(event, _AGENT, event.agent, call, {"gen_ai.agent.name": event.agent})
            case AgentFinished():
                self._end(_AGENT, event.parent_id or event.agent, None, {})
            case RunFinished() if event.status != "completed":
                self._fail(self._root, event.status, event.error)

    def end(self) -> None:
        """End all open spans."""
        for span in (*(span for spans in self._open.values() for span in spans), self._root):
            span.end()

    def _parent(self, event: Event) -> "Span":
        """The span that the event belongs to: of a sub-agent, a tool call or the session."""
        candidates = (self._open[operation, event.parent_id or ""] for operation in (_AGENT, _TOOL))
        return next((spans[-1] for spans in candidates if spans), self._root)

    def _begin(self, event: Event, operation: str, name: str, call: str, attributes: Mapping[str, Any]) -> None:
        span = self._telemetry.begin(operation, name, self._parent(event), attributes)
        self._open[operation, call].append(span)

    def _end(self, operation: str, call: str, error: str | None, texts: Mapping[str, Any]) -> None:
        if spans := self._open[operation, call]:
            span = spans.pop(0)
            span.set_attributes(attributes_of(self._texts(texts)))
            if error is not None:
                self._fail(span, error, None)
            span.end()

    def _model_call(self, event: ModelCalled) -> None:
        """A model call, which is reported once it has ended."""
        from opentelemetry.trace import SpanKind

        end_time = time.time_ns()
        attributes: dict[str, Any] = {
            "gen_ai.provider.name": _API,
            "gen_ai.request.model": event.model,
            "gen_ai.response.finish_reasons": event.finish_reason and [event.finish_reason],
            "aiq.role": event.role,
            "aiq.send": event.attempt,
        }
        if (usage := event.usage) and not usage.unreported_calls:
            attributes |= {
                "gen_ai.usage.input_tokens": usage.input_tokens,
                "gen_ai.usage.output_tokens": usage.output_tokens,
                "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
                "aiq.cost_usd": usage.cost_usd,
            }
        if self._telemetry.content:
            reply = [{"role": "assistant", **event.reply}] if isinstance(event.reply, Mapping) else []
            texts = {"gen_ai.input.messages": messages_of(event.messages), "gen_ai.output.messages": messages_of(reply)}
            attributes |= self._texts(texts)
        options = {"kind": SpanKind.CLIENT, "start_time": end_time - round(event.latency_ms * 1e6)}
        span = self._telemetry.begin(event.operation, event.model, self._parent(event), attributes, **options)
        if event.error is not None:
            answered = event.status not in (None, 200)
            self._fail(span, str(event.status) if answered else "_OTHER", event.error)
        span.end(end_time)

    def _texts(self, texts: Mapping[str, Any]) -> dict[str, Any]:
        """Attributes with contents, if these are to be sent; anything but text as JSON."""
        if not self._telemetry.content:
            return {}
        return {
            name: content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
            for name, content in texts.items()
        }

    def _fail(self, span: "Span", kind: str, message: str | None) -> None:
        from opentelemetry.trace import StatusCode

        span.set_attribute("error.type", str(kind))
        span.set_status(StatusCode.ERROR, utf8_safe(message) if message and self._telemetry.content else None)


def attributes_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as attributes: without those that are None, and with text that can be encoded as UTF-8."""
    known = {name: value for name, value in values.items() if value is not None}
    return {name: utf8_safe(value) if isinstance(value, str) else value for name, value in known.items()}


def messages_of(wire: Any) -> list[dict[str, Any]]:
    """Messages of chat completions in the form of the conventions: a role, and parts that each have a type.

    https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/
    """
    return [{"role": message.get("role"), "parts": list(_parts(message))} for message in _objects(wire)]


def _parts(message: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    content = message.get("content")
    if message.get("role") == "tool":
        yield {"type": "tool_call_response", "id": message.get("tool_call_id"), "response": content}
    elif isinstance(content, str):
        yield {"type": "text", "content": content}
    else:
        for part in _objects(content):
            yield {"type": "text", "content": part["text"]} if "text" in part else part
    for call in _objects(message.get("tool_calls")):
        for function in _objects([call.get("function")]):
            fields = {name: function.get(name) for name in ("name", "arguments")}
            yield {"type": "tool_call", "id": call.get("id"), **fields}


def _objects(values: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; an agent may have sent anything."""
    return [value for value in values if isinstance(value, Mapping)] if isinstance(values, Sequence) else []
