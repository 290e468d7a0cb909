"""A model endpoint for tests that repeats what it is asked and keeps a list of it."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Endpoint(ThreadingHTTPServer):
    """A model that repeats the question and the key it was sent, on any path."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []
        self.base_url = f"http://127.0.0.1:{self.server_port}/v1"

    def new(self) -> list[str]:
        """The questions since the last call, sorted."""
        questions, self.asked = sorted(self.asked), []
        return questions


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"][-1]["content"]
        self.server.asked.append(question)
        message = {"role": "assistant", "content": f"You asked: {question}, with {self.headers['authorization']}"}
        answer = {"id": "1", "object": "chat.completion", "created": 0, "model": "m"}
        body = json.dumps({**answer, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.send_response(404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def running() -> Iterator[Endpoint]:
    """Run an endpoint in its own thread, so that child processes can ask it too."""
    with Endpoint() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()
