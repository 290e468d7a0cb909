"""Telemetry: none without its setting; with it, what a collector on loopback receives from a run.

Tests that need the extra `otel` are skipped if it is not installed; `make extras` runs them.
"""

import importlib.util
import json
import runpy
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from aiq.__main__ import main
from aiq.cassettes.recorder import read_description as about
from aiq.core.events import AgentFinished, AgentStarted, Event, ModelCalled, RunFinished, ToolCalled, ToolReturned
from aiq.core.run_settings import TelemetrySettings
from aiq.core.samples import SampleKey
from aiq.core.usage import Usage
from aiq.experiment import telemetry
from aiq.experiment.telemetry import RunSpan, Telemetry
from tests.experiment.conftest import Captured, Workplace
from tests.llm.endpoint import error
from tests.settings import configured

needs_extra = pytest.mark.usefixtures("extra")
ASKING = ("agent.ask=true", "judge.letters.ask=true", "runner.progress=false")


@dataclass
class Collector:
    """Accepts OTLP over HTTP and keeps it."""

    requests: list[tuple[str, Message, bytes]] = field(default_factory=list)
    port: int = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def spans(self) -> list[Any]:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        bodies = [ExportTraceServiceRequest.FromString(body) for _, _, body in self.requests]
        parts = (part for body in bodies for resource in body.resource_spans for part in resource.scope_spans)
        return [span for part in parts for span in part.spans]

    @property
    def nested(self) -> Counter[tuple[str, str]]:
        """The number of spans by (name, name of the parent)."""
        names = {span.span_id: span.name for span in self.spans}
        return Counter((span.name, names.get(span.parent_span_id, "")) for span in self.spans)

    def named(self, beginning: str) -> list[dict[str, Any]]:
        """The attributes of spans whose names begin with this."""
        return [attributes(span) for span in self.spans if span.name.startswith(beginning)]


def attributes(span: Any) -> dict[str, Any]:
    return {item.key: getattr(item.value, item.value.WhichOneof("value")) for item in span.attributes}


@pytest.fixture(scope="module")
def collectors() -> Iterator[Collector]:
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            collector.requests.append((self.path, self.headers, self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector.port = server.server_port
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield collector
    server.shutdown()
    server.server_close()


@pytest.fixture
def collector(collectors: Collector) -> Collector:
    collectors.requests.clear()
    return collectors


@pytest.fixture
def extra() -> None:
    pytest.importorskip("opentelemetry.exporter.otlp")


def settings(collector: Collector, **more: Any) -> TelemetrySettings:
    return configured(TelemetrySettings, otlp_endpoint=collector.address, **more)


def test_without_the_setting_nothing_is_imported_or_sent(
    here: Workplace, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if variables of OpenTelemetry are set. MCP and LangSmith import its API by themselves."""
    values = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.address, "OTEL_TRACES_EXPORTER": "otlp", "OTEL_SDK_DISABLED": ""}
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    for name in imported():
        monkeypatch.delitem(sys.modules, name)
    runpy.run_path(telemetry.__file__)
    here.ran(*ASKING)
    assert imported() == []
    assert collector.requests == []


def imported() -> list[str]:
    return [name for name in sys.modules if name.partition(".")[0] == "opentelemetry"]


@pytest.mark.skipif(importlib.util.find_spec("opentelemetry.exporter") is not None, reason="the extra is installed")
def test_without_its_packages_it_is_one_line(here: Workplace, capsys: Captured) -> None:
    assert refused(here, capsys).startswith(
        "aiq: telemetry.otlp_endpoint needs more packages: pip install 'aiq-bench[otel]' (No module named"
    )


@needs_extra
def test_a_variable_that_is_not_set_is_one_line(here: Workplace, capsys: Captured) -> None:
    assert refused(here, capsys, "telemetry.headers_env.Authorization=NO_SUCH_VARIABLE") == (
        "aiq: telemetry.headers_env.Authorization: the environment variable NO_SUCH_VARIABLE is not set; export it"
    )


def refused(here: Workplace, capsys: Captured, *overrides: str) -> str:
    """The message of a run that is refused before anything is written."""
    assert main(["run", "experiment=tiny", "telemetry.otlp_endpoint=http://127.0.0.1:9", *ASKING, *overrides]) == 2
    assert here.runs() == []
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_telemetry_does_not_change_a_runs_identity(here: Workplace) -> None:
    assert main(["run", "experiment=tiny", "run_id=one", "shard=1/2", *ASKING]) == 0
    assert main(["run", "experiment=tiny", "run_id=one", "shard=2/2", *ASKING, "telemetry.content=true"]) == 0
    assert here.manifest(here.only_run())["status"] == "finished"


@needs_extra
def test_a_run_is_a_tree_of_spans_with_its_tokens_and_no_text(
    collector: Collector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLLECTORS_KEY", "abc")
    endpoint = f"telemetry.otlp_endpoint={collector.address}"
    key = "telemetry.headers_env.authorization=COLLECTORS_KEY"
    assert main(["run", "experiment=shallow_freshqa", "limit=2", "runner.progress=false", endpoint, key]) == 0
    (run,) = tmp_path.glob("results/*/*/summary.json")
    events = [json.loads(line) for path in run.parent.glob("events*.jsonl") for line in path.read_text().splitlines()]
    counts = Counter(event["type"] for event in events)
    by_judges = sum(event["type"] == "model_called" and event["role"].startswith("judge.") for event in events)
    assert collector.nested == {
        ("invoke_workflow shallow_freshqa", ""): 1,
        ("invoke_agent AiqAgent", "invoke_workflow shallow_freshqa"): 2,
        ("chat offline-1", "invoke_agent AiqAgent"): counts["model_called"] - by_judges,
        ("execute_tool web_search_tool", "invoke_agent AiqAgent"): counts["tool_called"],
        ("evaluate fresheval", "invoke_workflow shallow_freshqa"): 2,
        ("evaluate citation_audit", "invoke_workflow shallow_freshqa"): 2,
        ("chat offline-1", "evaluate fresheval"): by_judges,
    }
    assert len({span.trace_id for span in collector.spans}) == 1
    usage = json.loads(run.read_text())["usage"]
    for name in ("input_tokens", "output_tokens"):
        n_tokens = sum(account["total"][name] for account in usage.values())
        assert sum(span[f"gen_ai.usage.{name}"] for span in collector.named("chat")) == n_tokens > 0
    conventions = known_names()
    assert {name for span in collector.spans for name in attributes(span) if name[:4] != "aiq."} <= conventions
    (question, *_) = [event["question"] for event in events if event["type"] == "run_started"]
    payload = b"".join(body for _, _, body in collector.requests)
    assert question.encode() not in payload
    assert {(path, headers["authorization"]) for path, headers, _ in collector.requests} == {
        ("/v1/traces", "Bearer abc")
    }


def known_names() -> set[str]:
    """Attributes of the semantic conventions, from their package."""
    from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
    from opentelemetry.semconv.attributes import error_attributes

    return {
        value
        for part in (gen_ai_attributes, error_attributes)
        for value in vars(part).values()
        if isinstance(value, str)
    }


@needs_extra
def test_texts_are_sent_only_if_the_setting_says_so(here: Workplace, collector: Collector) -> None:
    here.write_samples({"s1": "question number 1"})
    endpoint = f"telemetry.otlp_endpoint={collector.address}"
    here.ran(*ASKING, endpoint, "telemetry.content=true")
    inputs = [json.loads(span["gen_ai.input.messages"]) for span in collector.named("chat")]
    outputs = [json.loads(span["gen_ai.output.messages"]) for span in collector.named("chat")]
    parts = [{"type": "text", "content": "question number 1"}]
    assert {"role": "user", "parts": parts} in inputs[0]
    assert outputs[0] == [{"role": "assistant", "parts": parts}]


@needs_extra
def test_failures_are_marked(here: Workplace, collector: Collector) -> None:
    here.write_samples({"s1": "fail", "s2": "question number 2", "s3": "question number 3"})
    here.endpoint.refuse_from, here.endpoint.refusal = 1, error(400, "not this text")
    alone = ("agent.ask=true", "judge=[]", "runner.concurrency=1", "runner.progress=false")
    assert main(["run", "experiment=tiny", *alone, f"telemetry.otlp_endpoint={collector.address}"]) == 0
    errors = {
        (span.name, attributes(span).get("error.type"), span.status.code, span.status.message)
        for span in collector.spans
        if span.status.code
    }
    assert errors == {("invoke_agent EchoAgent", "failed", 2, ""), ("chat small-1", "400", 2, "")}
    assert len(collector.named("chat")) == 2


def model(call_id: str, **more: Any) -> ModelCalled:
    fields: dict[str, Any] = {"role": "r", "model": "m", "attempt": 0, "status": 200, "latency_ms": 5.0, **more}
    return ModelCalled(call_id=call_id, **fields)


def called(call: str, parent: str | None = None) -> ToolCalled:
    return ToolCalled(call_id=call, tool=call, arguments={"query": "a\ud800"}, parent_id=parent)


def returned(call: str, **more: Any) -> ToolReturned:
    return ToolReturned(**{"call_id": call, "tool": call, "success": True, **more})


SUBAGENTS: list[Event] = [
    called("write"),
    model("of write", parent_id="write", model="inner"),
    returned("write"),
    AgentStarted(agent="planner", parent_id="dispatch"),
    called("search", "dispatch"),
    called("search", "dispatch"),
    model("of planner", parent_id="dispatch", model="planning", usage=Usage(calls=1, unreported_calls=1)),
    returned("search", success=False, error="timeout"),
    returned("search"),
    AgentFinished(agent="planner", parent_id="dispatch"),
    AgentStarted(agent="scanner"),
    model("vectors", model="embedder", operation="embeddings", messages=["no", {"content": 3}], reply="none"),
    AgentFinished(agent="scanner"),
    called("cut off"),
    RunFinished(status="limit", error="too long"),
]


@needs_extra
@pytest.mark.parametrize("content", [False, True])
def test_spans_nest_like_calls(collector: Collector, content: bool) -> None:
    telemetry = Telemetry(settings(collector, content=content))
    run = RunSpan(telemetry, "e", "r")
    with run.session("agent", "A", SampleKey("s", 1), 1) as on_event:
        for event in SUBAGENTS:
            on_event(event)
    on_event(model("late"))
    run.close()
    assert telemetry.close() is None
    assert collector.nested == {
        ("invoke_workflow e", ""): 1,
        ("invoke_agent A", "invoke_workflow e"): 1,
        ("execute_tool write", "invoke_agent A"): 1,
        ("chat inner", "execute_tool write"): 1,
        ("invoke_agent planner", "invoke_agent A"): 1,
        ("execute_tool search", "invoke_agent planner"): 2,
        ("chat planning", "invoke_agent planner"): 1,
        ("invoke_agent scanner", "invoke_agent A"): 1,
        ("embeddings embedder", "invoke_agent A"): 1,
        ("execute_tool cut off", "invoke_agent A"): 1,
    }
    assert [span.get("error.type") for span in collector.named("execute_tool search")] == ["timeout", None]
    assert "gen_ai.usage.input_tokens" not in collector.named("chat planning")[0]
    (attempt,) = (span for span in collector.spans if span.name == "invoke_agent A")
    assert (attributes(attempt)["error.type"], attempt.status.message) == ("limit", "too long" if content else "")
    (chat,) = (span for span in collector.spans if span.name == "chat inner")
    assert chat.end_time_unix_nano - chat.start_time_unix_nano == 5_000_000
    queries = [json.loads(span["gen_ai.tool.call.arguments"]) for span in collector.named("execute_tool") if content]
    assert queries == [{"query": "a\ufffd"}] * 4 * content


@needs_extra
def test_recordings_ignore_telemetry_and_replays_send_nothing(
    here: Workplace, collector: Collector, capsys: Captured
) -> None:
    overrides = ("cassette.dir=tape", f"telemetry.otlp_endpoint={collector.address}")
    for mode, sends in (("record", True), ("replay", False)):
        collector.requests.clear()
        assert main(["run", "experiment=tiny", *ASKING, *overrides, f"cassette={mode}"]) == 0
        assert bool(collector.requests) is sends
        assert str(collector.port) not in capsys.readouterr().err
    assert "telemetry" not in str(about("replay", here.path / "tape"))


@needs_extra
@pytest.mark.parametrize("silent", [False, True])
def test_an_absent_collector_costs_a_run_one_line(here: Workplace, capsys: Captured, silent: bool) -> None:
    """Whether nothing listens, or something does but never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        if not silent:
            server.close()
        start = time.monotonic()
        assert main(["run", "experiment=tiny", *ASKING, f"telemetry.otlp_endpoint=http://127.0.0.1:{port}"]) == 0
    assert time.monotonic() - start < 20
    (line,) = (line for line in capsys.readouterr().err.splitlines() if "span" in line.lower())
    assert line.startswith(f"aiq: telemetry: 25 of 25 spans did not reach http://127.0.0.1:{port}/v1/traces (")
    assert here.summary(here.only_run())["status"] == "finished"
