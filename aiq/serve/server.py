"""The server: the service, a socket with uvicorn on it, and an orderly shutdown."""

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from aiq.core.errors import ConfigError
from aiq.runs.folder import RunFolder
from aiq.serve.app import make_app
from aiq.serve.settings import ServeSettings, Setup
from aiq.serve.tasks import Service, running_service

_KEEP_ALIVE_SECONDS = 30
_EXTRA_CONNECTIONS = 200  # besides streams


def listen(settings: ServeSettings) -> socket.socket:
    """A bound socket. Raises ConfigError, one line."""
    try:
        family = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((settings.host, settings.port), family=family, backlog=512)
    except OSError as error:
        reason = str(error.strerror or error).partition(" (")[0]
        raise ConfigError(f"serve.host={settings.host} serve.port={settings.port}: {reason}; choose another") from None


class Connection(H11Protocol):
    """Closed if no request comes within `seconds`: idle connections would keep out others."""

    def __init__(self, seconds: float, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._seconds = seconds

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self.loop.call_later(self._seconds, self._check_idle, (None, True))

    def _check_idle(self, last_state: tuple[Any, bool]) -> None:
        """Close the connection if it waits for a request, as it already did at the last look."""
        state = (self.cycle, self.cycle is None or self.cycle.response_complete)
        if state == last_state and state[1]:
            self.transport.close()
        elif not self.transport.is_closing():
            self.loop.call_later(self._seconds, self._check_idle, state)


class Server(uvicorn.Server):
    """Calls `ending` on the first signal and shuts down in order; on the second it ends at once."""

    def __init__(self, app: ASGIApp, settings: ServeSettings, ending: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=partial(Connection, settings.body_seconds),  # type: ignore[arg-type]  # called like a class
                lifespan="off",
                ws="none",
                access_log=False,
                log_level="warning",
                proxy_headers=False,
                server_header=False,
                timeout_keep_alive=_KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=5,
                limit_concurrency=settings.streams + _EXTRA_CONNECTIONS,
            )
        )
        self._ending = ending

    def end(self) -> None:
        """End as a signal does."""
        self.force_exit = self.should_exit
        self.should_exit = True
        self._ending()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Instead of uvicorn's, which sends itself the signal again and so cuts off what is still to be written."""
        loop = asyncio.get_running_loop()
        with ExitStack() as stack:
            for number in (signal.SIGINT, signal.SIGTERM):
                try:
                    loop.add_signal_handler(number, self.end)
                except (ValueError, RuntimeError):  # not the main thread, so no signal arrives
                    break
                stack.callback(loop.remove_signal_handler, number)
            yield


@dataclass(frozen=True)
class Serving:
    """A server that listens."""

    service: Service
    server: Server
    address: str


async def serve(setup: Setup, render: Callable[[str], str], greet: Callable[[Serving], None]) -> RunFolder:
    """Serve until a signal comes; `greet` is called once it listens. Returns the run of this start, which has ended.

    `render` turns untrusted Markdown into HTML that is safe to show. Raises UserError, one line.
    """
    with listen(setup.api) as connection:
        async with running_service(setup) as service:
            server = Server(make_app(service, render), setup.api, service.streams.stop)
            host, port = connection.getsockname()[:2]
            greet(Serving(service, server, f"http://{f'[{host}]' if ':' in host else host}:{port}"))
            await server.serve(sockets=[connection])
    return service.run.folder
