"""A model endpoint for tests: a real HTTP server on loopback with scripted answers, which keeps what it received."""

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

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
    close: Callable[[], None] = lambda: None
    """Stop listening."""
    blank_every: float | None = None
    """Seconds between the blanks that follow an answer for as long as somebody reads."""

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


class Threaded:
    """A server in a thread; `get` and `post` return raw HTTP bytes for a request's headers and its JSON."""

    def __init__(self, get: Callable[[Message], bytes], post: Callable[[Any], bytes]) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.wfile.write(get(self.headers))

            def do_POST(self) -> None:
                self.wfile.write(post(json.loads(self.rfile.read(int(self.headers["content-length"])))))

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def http(status: int, body: bytes | object, **headers: str) -> bytes:
    """An HTTP answer; underscores in header names become hyphens."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {"content-length": str(len(raw)), "connection": "close", "content-type": "application/json"}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode() + raw


def error(status: int, message: str = "no", **headers: str) -> bytes:
    return http(status, {"error": {"message": message, "type": "t", "param": None, "code": None}}, **headers)


USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 40}}


def completed(text: object = "hello", usage: object = USAGE, finish: str = "stop", **message: Any) -> dict[str, Any]:
    """A chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
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
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**head, "choices": choices, "usage": usage}


OK = http(200, completed())
