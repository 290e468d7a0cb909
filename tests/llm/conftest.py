"""A model endpoint of the tests' own: a real HTTP server on loopback with scripted answers, which keeps what it got."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from aiq.core.events import AnyEvent, EventLog, ModelCalled
from aiq.core.samples import SampleKey
from aiq.core.session import ApprovingUser, RunSpend, Session
from aiq.core.settings import LlmSettings
from aiq.core.sources import CallPath, Source, SourceKind
from aiq.core.usage import Limits
from aiq.llm.models import RunModels
from aiq.llm.transport import open_client

CUT = b""
"""A scripted answer that closes the connection without a word."""


@dataclass
class Got:
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Endpoint:
    """Answers each request with the next of `script` (raw HTTP bytes), the last one again and again."""

    script: list[bytes]
    port: int = 0
    got: list[Got] = field(default_factory=list)
    delay: float = 0.0
    blank_every: float | None = None
    """After the answer, as long as somebody reads: seconds between blanks."""

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in head[1:] if line)}
            raw = await reader.readexactly(int(headers.get("content-length", "0")))
            method, path, _ = head[0].split(" ")
            self.got.append(Got(method, path, headers, json.loads(raw) if raw else None))
            answer = self.script[min(len(self.got), len(self.script)) - 1]
            await asyncio.sleep(self.delay)
            writer.write(answer)
            await writer.drain()
            with contextlib.suppress(ConnectionError):
                while self.blank_every is not None:
                    await asyncio.sleep(self.blank_every)
                    writer.write(b" ")
                    await writer.drain()
        finally:
            writer.close()


def http(status: int, body: bytes | object, **headers: str) -> bytes:
    """An HTTP answer; underscores in header names become hyphens."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {"content-length": str(len(raw)), "connection": "close", "content-type": "application/json"}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
    return f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode() + raw


def error(status: int, message: str = "no", **headers: str) -> bytes:
    return http(status, {"error": {"message": message, "type": "t", "param": None, "code": None}}, **headers)


USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 40}}


def completed(text: str = "hello", usage: object = USAGE, **message: Any) -> dict[str, Any]:
    """A chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": "stop"}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def streamed(*events: object, done: bool = True, cut: bool = False) -> bytes:
    """A chunked stream of server-sent events; `cut` closes it without the last chunk."""
    lines = [f"data: {json.dumps(event)}\n\n" for event in events] + (["data: [DONE]\n\n"] if done else [])
    chunks = b"".join(f"{len(line.encode()):x}\r\n{line}\r\n".encode() for line in lines)
    head = (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    )
    return head + chunks + (b"" if cut else b"0\r\n\r\n")


def chunk(finish: str | None = None, usage: object = None, **delta: Any) -> dict[str, Any]:
    """One event of a streamed completion."""
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}] if usage is None else []
    return {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": choices,
        "usage": usage,
    }


OK = http(200, completed())


class NoSources:
    """A registry for sessions that retrieve nothing."""

    def add(self, source: Source, order: CallPath) -> None:
        raise AssertionError("nothing is retrieved here")

    def note(self, text: str, kind: SourceKind, order: CallPath, *, call_id: str, tool: str) -> None:
        raise AssertionError("nothing is called here")

    def all(self) -> tuple[Source, ...]:
        return ()

    def known(self) -> tuple[Source, ...]:
        return ()


@dataclass
class Bench:
    """An endpoint, a client with our transport on it, the run's models, and a bound session."""

    endpoint: Endpoint
    models: RunModels
    session: Session
    events: list[AnyEvent]

    @property
    def calls(self) -> list[ModelCalled]:
        return [event for event in self.events if isinstance(event, ModelCalled)]


def make_session(models: RunModels, events: list[AnyEvent], limits: Limits, epoch: int = 1) -> Session:
    return Session(
        key=SampleKey("s1", epoch),
        run_seed=7,
        now=datetime(2026, 11, 1, tzinfo=UTC),
        models=models,
        tools=None,  # type: ignore[arg-type]  # no tool is called here
        web=None,  # type: ignore[arg-type]
        user=ApprovingUser(),
        limits=limits,
        events=EventLog(events.append),
        sources=NoSources(),
        spend=RunSpend(),
    )


BenchMaker = Callable[..., Any]


@pytest.fixture
def bench() -> BenchMaker:
    """`async with bench([answers], limits=..., llm settings...) as b`: everything real, retries without long waits."""

    @contextlib.asynccontextmanager
    async def make(
        script: list[bytes],
        *,
        limits: Limits | None = None,
        delay: float = 0.0,
        blank_every: float | None = None,
        **llm: Any,
    ) -> AsyncIterator[Bench]:
        endpoint = Endpoint(script, delay=delay, blank_every=blank_every)
        server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0)
        endpoint.port = server.sockets[0].getsockname()[1]
        given: dict[str, Any] = {
            "base_url": endpoint.base_url,
            "model": "m",
            "retry": {"attempts": 3, "first_seconds": 0.01},
        }
        settings = LlmSettings.model_validate({**given, **llm})
        events: list[AnyEvent] = []
        async with server, open_client(settings, offline_port=None) as client:
            models = RunModels(settings, client)
            session = make_session(models, events, limits or Limits())
            with session.bind():
                yield Bench(endpoint, models, session, events)

    return make


@pytest.fixture
def answers() -> Any:
    """The words of endpoint scripts: `OK`, `CUT`, `http`, `error`, `completed`, `streamed`, `chunk`, `USAGE`."""
    return SimpleNamespace(
        OK=OK, CUT=CUT, USAGE=USAGE, http=http, error=error, completed=completed, streamed=streamed, chunk=chunk
    )
