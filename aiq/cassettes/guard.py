"""Connections that bypass a run's client: noticed while a run is recorded, forbidden while it is replayed.

Python reports them as audit events (PEP 578), whichever library makes them; those made in C go unnoticed.
"""

import socket
import sys
from collections import Counter
from contextvars import ContextVar
from typing import Any, Final, Self

in_client: ContextVar[bool] = ContextVar("in_client", default=False)
"""Whether the running code is the run's client, whose exchanges are in the cassettes."""

other_counter: ContextVar[Counter[str] | None] = ContextVar("other_counter", default=None)
"""Where the connections of the running code are counted instead of in the guard, if it is recorded by other means."""

_INTERNET: Final = (socket.AF_INET, socket.AF_INET6)
_LOOK_UPS: Final = frozenset(f"socket.get{what}" for what in ("addrinfo", "hostbyname", "hostbyaddr", "nameinfo"))
_PROCESSES: Final = frozenset(
    {"subprocess.Popen", "os.posix_spawn", "os.system", "os.exec", "os.fork", "os.forkpty", "os.spawn"}
)

_active: list["Guard"] = []
_installed: list[bool] = []


class Forbidden(PermissionError):
    """Raised when a replay tries to open a connection or start a process."""


class Guard:
    """While it is on, `connections` counts connections that are not the client's own, by host and port.

    With `forbids`, every internet socket, name look-up and process raises Forbidden, in all threads.
    """

    def __init__(self, *, forbids: bool) -> None:
        self.forbids = forbids
        self.connections: Counter[str] = Counter()

    def __enter__(self) -> Self:
        if not _installed:
            _installed.append(True)  # a hook cannot be removed
            sys.addaudithook(_notify_guards)
        _active.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _active.remove(self)

    def on_event(self, event: str, args: tuple[Any, ...]) -> None:
        """Note an audit event, or raise Forbidden."""
        if event == "socket.connect" and args[0].family in _INTERNET and not in_client.get():
            self._note(f"{args[1][0]}:{args[1][1]}")
            if self.forbids:
                raise Forbidden("a replay opens no connection")
        elif self.forbids and event in _LOOK_UPS:
            self._note(str(args[0]))
            raise Forbidden(f"a replay looks up no address, but this looks up {args[0]}")
        elif self.forbids and event == "socket.__new__" and args[1] in _INTERNET:
            self._note("a socket")
            raise Forbidden("a replay opens no connection")
        elif self.forbids and event in _PROCESSES:
            raise Forbidden(f"a replay starts no process, but this starts {args[0] if args else event}")

    def _note(self, target: str) -> None:
        counts = other_counter.get()
        (self.connections if counts is None else counts)[target] += 1


def _notify_guards(event: str, args: tuple[Any, ...]) -> None:
    for guard in tuple(_active):
        guard.on_event(event, args)
