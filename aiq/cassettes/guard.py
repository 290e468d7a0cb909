"""Connections and processes that bypass a run's client: noticed while it is recorded, forbidden while it is replayed.

Python reports them as audit events (PEP 578), whichever library makes them; those made in C go unnoticed.
"""

import os
import platform
import socket
import sys
from collections import Counter
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
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

    With `forbids`, every internet socket, name look-up and process raises Forbidden, in all threads. `processes` counts
    those started by code that is `at_work` for a sample, by program; what libraries try is no reason to end a replay.
    """

    def __init__(self, *, forbids: bool, at_work: Callable[[], bool] = lambda: True) -> None:
        self.forbids = forbids
        self.connections: Counter[str] = Counter()
        self.processes: Counter[str] = Counter()
        self._at_work = at_work

    def __enter__(self) -> Self:
        if not _installed:
            _installed.append(True)  # a hook cannot be removed
            sys.addaudithook(_notify_guards)
        platform.platform()  # `openai` asks for it in the midst of work; the first time, Python runs uname
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
        elif event in _PROCESSES:
            program = _program(event, args)
            if self._at_work() and other_counter.get() is None:
                self.processes[program] += 1
            if self.forbids:
                raise Forbidden(f"a replay starts no process, but this starts {program}")

    def _note(self, target: str) -> None:
        counts = other_counter.get()
        (self.connections if counts is None else counts)[target] += 1


def _program(event: str, args: tuple[Any, ...]) -> str:
    """The name of the program that an event starts, without its arguments, which may hold secrets."""
    commands = (os.fsdecode(arg) for arg in args if isinstance(arg, str | bytes | os.PathLike))
    return Path((next(commands, "").split() or [event])[0]).name


def _notify_guards(event: str, args: tuple[Any, ...]) -> None:
    for guard in tuple(_active):
        guard.on_event(event, args)
