"""Requests are processed in separate processes, which are replaced if they die and end with the server."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from aiq.llm.http import AsyncClient

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads the children of a process"),
]

CHAT = {"model": "offline-1", "messages": [{"role": "user", "content": "When was Tessmark founded?"}]}
LONG = {"model": "offline-1", "messages": [{"role": "user", "content": "The council met in 2024. " * 40_000}]}


def children(process: int) -> list[int]:
    lists = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for file in lists for child in file.read_text().split()]


def workers(server: int) -> list[int]:
    """The processes started by the server's fork server."""
    return [worker for child in children(server) for worker in children(child)]


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False


def kill(processes: list[int]) -> None:
    """Kill them all; the pool ends the others itself once it notices that one died."""
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


async def gone(processes: list[int]) -> None:
    """Wait until they have ended."""
    for _ in range(400):
        if not any(is_alive(process) for process in processes):
            return
        await asyncio.sleep(0.05)
    raise AssertionError("a worker is still there")


@asynccontextmanager
async def server(pages_file: Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, AsyncClient]]:
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "aiq.offline", "--pages", str(pages_file), "--context-tokens", "100000000"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    port = json.loads(await child.stdout.readline())["port"]
    async with AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120, verify=False) as client:
        yield child, client
    child.stdin.close()
    await child.wait()


async def ask(client: AsyncClient, body: Any = CHAT) -> int:
    answer = await client.post("/v1/chat/completions", json=body)
    assert answer.json()
    return answer.status_code


async def test_workers_leave_the_server_free_are_replaced_and_end_with_it(pages_file: Path) -> None:
    """A single test, since each server takes seconds of computing to start."""
    async with server(pages_file) as (child, client):
        assert await ask(client) == 200
        pending = asyncio.create_task(ask(client, LONG))
        await asyncio.sleep(0.05)
        for _ in range(3):
            assert (await client.get("/v1/models")).status_code == 200
            assert await ask(client) == 200
        assert not pending.done()
        busy = workers(child.pid)
        assert busy
        kill(busy)  # one of them is working
        assert await pending == 500
        assert [await ask(client) for _ in range(4)] == [200] * 4
        idle = workers(child.pid)
        assert idle
        kill(idle)
        await gone(idle)
        assert await ask(client) in (200, 500)  # 500: if it was sent before the death was noticed
        assert await ask(client) == 200
        restarted = workers(child.pid)
        assert not set(restarted) & {*busy, *idle}
        last = asyncio.create_task(client.post("/v1/chat/completions", json=LONG))  # now one worker is busy
        await asyncio.wait([last], timeout=0.3)
        child.kill()
        await child.wait()
        await asyncio.gather(last, return_exceptions=True)
    await gone(restarted)


@pytest.mark.whole
def test_the_benchmark_runs() -> None:
    command = [sys.executable, "-m", "benchmarks.performance.offline", "--quick"]
    proc = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert proc.returncode == 0, proc.stderr
    assert "models list delayed by a prompt of 0.05 MB" in proc.stdout
