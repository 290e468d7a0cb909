"""A proxy in front of the offline model that drops our headers and lists what it forwards."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request, urlopen


class Proxy(ThreadingHTTPServer):
    """A proxy in front of the stack at this local port."""

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.stack = f"http://127.0.0.1:{port}"
        self.forwarded: list[str] = []
        self.base_url = f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Proxy

    def do_POST(self) -> None:
        self.server.forwarded.append(self.path)
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {"content-type": "application/json"}
        with urlopen(Request(f"{self.server.stack}{self.path}", body, headers)) as answer:
            content = answer.read()
            self.send_response(answer.status)
            self.send_header("content-type", answer.headers["content-type"])
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def forwarding(port: int) -> Iterator[Proxy]:
    with Proxy(port) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()
