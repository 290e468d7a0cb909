"""Requests are worked on in processes of their own, which are replaced, and gone when the server is."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from aiq.llm.http import AsyncClient

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads the children of a process")

CHAT = {"model": "offline-1", "messages": [{"role": "user", "content": "When was Tessmark founded?"}]}
LONG = {"model": "offline-1", "messages": [{"role": "user", "content": "The council met in 2024. " * 10_000}]}


def workers(server: int) -> list[int]:
    lists = Path(f"/proc/{server}/task").glob("*/children")  # a thread's: whichever replaced a worker is its parent
    return [int(child) for children in lists for child in children.read_text().split()]


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()


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
    async with AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
        yield child, client
    child.stdin.close()
    await child.wait()


async def ask(client: AsyncClient, body: Any = CHAT) -> int:
    answer = await client.post("/v1/chat/completions", json=body)
    assert answer.json()
    return answer.status_code


async def test_others_are_answered_while_a_request_is_worked_on(pages_file: Path) -> None:
    async with server(pages_file) as (child, client):
        _, *busy = workers(child.pid)
        for process in busy:
            os.kill(process, signal.SIGSTOP)
        requests = [asyncio.create_task(ask(client)) for _ in range(len(busy) + 1)]
        await asyncio.wait(requests, return_when=asyncio.FIRST_COMPLETED)
        for _ in range(3):
            assert (await client.get("/v1/models")).status_code == 200
            assert await ask(client) == 200
        assert sum(request.done() for request in requests) == 1
        for process in busy:
            os.kill(process, signal.SIGCONT)
        assert await asyncio.gather(*requests) == [200] * len(requests)


async def test_a_long_prompt_is_answered(pages_file: Path) -> None:
    async with server(pages_file) as (_, client):
        assert await ask(client, LONG) == 200


async def test_a_worker_that_dies_is_replaced_and_its_request_answered(pages_file: Path) -> None:
    async with server(pages_file) as (child, client):
        before = workers(child.pid)
        assert len(before) >= 2
        for process in before:  # with nothing to do
            os.kill(process, signal.SIGKILL)
        for _ in range(200):  # a signal takes a moment; who dies with a request in hand answers 500
            if not any(is_alive(process) for process in before):
                break
            await asyncio.sleep(0.05)
        assert [await ask(client) for _ in before] == [200] * len(before)
        busy = workers(child.pid)
        for process in busy:
            os.kill(process, signal.SIGSTOP)
        requests = [asyncio.create_task(ask(client)) for _ in busy]
        await asyncio.wait(requests, timeout=1)  # as long as it takes until each has one
        for process in busy:
            os.kill(process, signal.SIGKILL)
        assert 500 in await asyncio.gather(*requests)
        assert [await ask(client) for _ in range(4)] == [200] * 4
        assert not set(workers(child.pid)) & {*before, *busy}


@pytest.mark.parametrize("busy", [False, True])
async def test_workers_end_when_the_server_is_killed(pages_file: Path, busy: bool) -> None:
    async with server(pages_file) as (child, client):
        known = workers(child.pid)
        long = [asyncio.create_task(client.post("/v1/chat/completions", json=LONG)) for _ in known if busy]
        if long:
            await asyncio.wait(long, timeout=0.3)
        child.kill()
        await child.wait()
        await asyncio.gather(*long, return_exceptions=True)
    for _ in range(400):
        if not any(is_alive(process) for process in known):
            return
        await asyncio.sleep(0.05)
    raise AssertionError("a worker is still there")


def test_the_benchmark_runs() -> None:
    command = [sys.executable, "-m", "benchmarks.performance.offline", "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "models list delayed by a prompt of 0.05 MB" in done.stdout
