"""Connections that bypass a run's client: counted while recording, impossible while replaying."""

import asyncio
import os
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from aiq.cassettes.guard import Forbidden, Guard, in_client, other_counter
from aiq.core.concurrency import binding


@pytest.fixture
def port() -> Any:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def connect(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)):
        pass


def in_a_thread(work: Callable[[], Any]) -> list[BaseException]:
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return failures


def test_connections_are_counted_in_all_threads_except_the_clients_own(port: int) -> None:
    with Guard(forbids=False) as guard:
        connect(port)
        assert in_a_thread(lambda: connect(port)) == []
        with binding(in_client, True):
            connect(port)
    connect(port)
    assert dict(guard.connections) == {f"127.0.0.1:{port}": 2}


@pytest.mark.parametrize("forbids", [False, True])
def test_processes_at_work_are_counted_by_program(forbids: bool) -> None:
    working = ["yes"]
    with Guard(forbids=forbids, at_work=lambda: bool(working)) as guard:
        for start in (lambda: subprocess.run(["/bin/echo", "sk-secret"]), lambda: os.system("true sk-secret")):
            with suppress(Forbidden):
                start()
        with binding(other_counter, Counter()), suppress(Forbidden):
            subprocess.run(["/bin/echo"])
        working.clear()
        with suppress(Forbidden):
            subprocess.run(["/bin/echo"])
    assert guard.processes == {"echo": 1, "true": 1}
    assert guard.connections == {}


def test_connections_recorded_by_other_means_are_counted_separately(port: int) -> None:
    with Guard(forbids=False) as guard:
        separate = guard.connections.copy()
        with binding(other_counter, separate):
            connect(port)
    assert (guard.connections.total(), separate.total()) == (0, 1)


WAYS: dict[str, Callable[[int], Any]] = {
    "a connection": connect,
    "a socket": lambda port: socket.socket(),
    "a datagram": lambda port: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM),
    "a lookup": lambda port: socket.getaddrinfo("localhost", port),
    "an old-style lookup": lambda port: socket.gethostbyname("localhost"),
    "a process": lambda port: subprocess.run([sys.executable, "-c", ""], check=True),
    "an event loop's connection": lambda port: asyncio.run(_open(port)),
}


async def _open(port: int) -> None:
    await asyncio.open_connection("127.0.0.1", port)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_replay_opens_no_connection_and_starts_no_process(port: int, way: Callable[[int], Any]) -> None:
    with Guard(forbids=True) as guard:
        with pytest.raises(Forbidden, match="a replay"):
            way(port)
        assert [type(failure) for failure in in_a_thread(lambda: way(port))] == [Forbidden]
    assert guard.connections.total() == (0 if way is WAYS["a process"] else 2)
    with suppress(OSError):
        way(port)


def test_an_existing_socket_cannot_be_connected_and_local_sockets_work(port: int) -> None:
    with socket.socket() as existing, Guard(forbids=True) as guard:
        with pytest.raises(Forbidden):
            existing.connect(("127.0.0.1", port))
        first, second = socket.socketpair()
        first.send(b"x")
        assert second.recv(1) == b"x"
        first.close()
        second.close()
    assert guard.connections.total() == 1
