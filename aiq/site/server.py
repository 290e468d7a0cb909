"""Serves the results site on this machine, and rewrites the pages of running experiments as they progress."""

import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from aiq.core.errors import UserError
from aiq.site.results import write_site

_INTERVAL: Final = 3.0  # seconds between updates
_MAX_SHARE: Final = 0.1  # share of a processor spent on writing


class _Pages(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Log nothing, because a page sends a request every few seconds."""

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")  # no other page may load the data scripts
        super().end_headers()

    def send_head(self) -> Any:
        """Serve only what a page may load, its HTML, scripts and styles, and only under this machine's own names."""
        host = self.headers.get("Host", "").rpartition(":")[0]
        path = self.path.partition("?")[0]
        if host not in ("localhost", "127.0.0.1") or not path.endswith(("/", ".html", ".js", ".css")):
            self.send_error(404)
            return None
        return super().send_head()


def server_of(results: Path, port: int) -> ThreadingHTTPServer:
    """A server that is not yet started. Raises UserError if the port is taken."""
    try:
        return ThreadingHTTPServer(("127.0.0.1", port), partial(_Pages, directory=str(results)))
    except OSError as error:
        raise UserError(f"port {port}: {error.strerror}; choose another with --port") from None


def serve(results: Path, port: int) -> None:
    """Serve until Ctrl-C. Raises UserError if the port is taken."""
    server = server_of(results, port)
    print(f"http://127.0.0.1:{server.server_port}/ (Ctrl-C ends it)", flush=True)
    threading.Thread(target=_follow, args=(results,), daemon=True).start()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


def _follow(results: Path) -> None:
    while True:
        start = time.thread_time()
        write_site(results)
        time.sleep(max(_INTERVAL, (time.thread_time() - start) / _MAX_SHARE))
