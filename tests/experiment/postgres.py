"""A Postgres server for the tests, from this machine's binaries, which is stopped afterwards."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

UNPRIVILEGED = "nobody"
"""The user that runs the server if the tests run as root, which Postgres refuses."""


@pytest.fixture(scope="session")
def dsn() -> Iterator[str]:
    """The connection string of a running server; skips with the reason if it cannot run."""
    binaries = _binaries()
    if binaries is None:
        pytest.skip("no Postgres here: neither initdb and pg_ctl on PATH nor below /usr/lib/postgresql")
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("Postgres does not run as root, and there is no setpriv to be another user with")
    pytest.importorskip("langgraph.checkpoint.postgres", reason="the extra postgres is not installed")
    # pytest's own folders are for their owner alone
    with tempfile.TemporaryDirectory(prefix="aiq-postgres-") as folder, _running(binaries, Path(folder)) as string:
        yield string


@contextmanager
def _running(binaries: Path, folder: Path) -> Iterator[str]:
    """A server with its data in the folder; the connection string of its database."""
    data = folder / "data"
    if os.geteuid() == 0:
        shutil.chown(folder, UNPRIVILEGED)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = folder / "log"
    _run(binaries / "initdb", "-D", data, "-U", "tests", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C")
    options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories= -c fsync=off"
    _run(binaries / "pg_ctl", "-D", data, "-l", log, "-o", options, "-w", "start")
    try:
        yield f"postgresql://tests@127.0.0.1:{port}/postgres"
    finally:
        _run(binaries / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")


def _binaries() -> Path | None:
    """The folder of initdb and pg_ctl; the newest version if there are several."""
    folders = [Path(path).resolve().parent] if (path := shutil.which("initdb")) and shutil.which("pg_ctl") else []
    versions = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    folders += [path.parent for path in sorted(versions, key=lambda path: float(path.parts[-3]), reverse=True)]
    return next((folder for folder in folders if (folder / "pg_ctl").exists()), None)


def _run(*command: object) -> None:
    prefix = ["setpriv", "--reuid", UNPRIVILEGED, "--regid", "nogroup", "--clear-groups"] if os.geteuid() == 0 else []
    result = subprocess.run(
        [*prefix, *map(str, command)],
        cwd="/",
        env={**os.environ, "HOME": "/nonexistent", "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stdout
