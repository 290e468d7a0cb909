"""What load the HTTP API can take on one machine: `python -m benchmarks.performance.serve [--quick]`.

A real server on the offline stack, and clients on loopback: 200 streams of 50 tasks must each reach the end without a
gap although the server is killed (`kill -9`) in the middle and restarted; then, during 2,000 tasks of an agent that
costs nothing, memory must stay flat. The exit code is 1 if a promise is broken.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2

MOST_GROWTH = 8.0  # MB from the 200th to the 2,000th task
_MIDDLE = 20  # of the 46 events of a task
_LIMITS = ("requests_per_minute", "tasks", "streams")
_FREE = [f"serve.key.{name}=1000000" for name in _LIMITS] + ["serve.queue=1000000"]


async def answer(question: str) -> str:
    """An agent that costs nothing."""
    return f"It says: {question}"


class Server:
    """A running server: its process and a client; its results are in a folder."""

    def __init__(self, results: str, *overrides: str) -> None:
        self._command = [sys.executable, "-m", "aiq", "serve", f"output_dir={results}", *_FREE, *overrides]
        self._killed_seconds = 0.0
        address = self._start("serve.port=0")
        limits = httpx2.Limits(max_connections=None)
        self.client = httpx2.AsyncClient(base_url=address, timeout=600, limits=limits, trust_env=False)

    def _start(self, port: str) -> str:
        self.process = subprocess.Popen([*self._command, port], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        return self.process.stdout.readline().split(" at ")[1].split()[0]

    async def kill_and_restart(self) -> None:
        self._killed_seconds = self.seconds
        self.process.kill()
        self.process.wait()
        await asyncio.to_thread(self._start, f"serve.port={self.client.base_url.port}")

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(300)

    @property
    def megabytes(self) -> float:
        """Resident memory of the process in MB, as reported by Linux."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024

    @property
    def seconds(self) -> float:
        """Processor seconds so far, including those of the killed process."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return self._killed_seconds + (int(fields[11]) + int(fields[12])) / 100

    async def ask(self, query: str, **more: Any) -> str:
        response = await self.client.post("/api/v1/tasks", json={"query": query, **more})
        response.raise_for_status()
        return str(response.json()["task_id"])

    async def follow(self, task_id: str, seen: list[str]) -> None:
        """Add a stream's events to `seen`, as JSON, until its end; reconnects after the last event if it breaks.

        Raises RuntimeError for a lost or repeated event.
        """
        while not (seen and '"type":"STREAM_END"' in seen[-1]):
            try:
                await self._follow(task_id, seen)
            except httpx2.TransportError:
                await asyncio.sleep(0.5)

    async def _follow(self, task_id: str, seen: list[str]) -> None:
        url, headers = f"/api/v1/stream/sse?workflow_id={task_id}", {"Last-Event-ID": str(len(seen))}
        async with self.client.stream("GET", url, headers=headers) as stream:
            stream.raise_for_status()
            async for line in stream.aiter_lines():
                if line.startswith("data: "):
                    seen.append(line[6:])
                    if (number := json.loads(line[6:])["seq"]) != len(seen):
                        raise RuntimeError(f"event {number} arrived as number {len(seen)}")

    async def until_done(self, task_id: str) -> str:
        while True:
            task = (await self.client.get(f"/api/v1/tasks/{task_id}")).json()
            if task["finished_at"] is not None:
                return str(task["status"])
            await asyncio.sleep(0.02)


@contextmanager
def served(*overrides: str) -> Iterator[Server]:
    """A server in a separate process, on a free port."""
    with TemporaryDirectory() as results:
        server = Server(results, *overrides)
        try:
            yield server
        finally:
            server.end()


async def streams(server: Server, tasks: int, each: int) -> bool:
    """Follow `each` streams of each of `tasks` concurrent tasks; the server is killed in the middle."""
    async with server.client:
        start, size, slowest = time.perf_counter(), 0.0, 0.0
        ids = [await server.ask(f"Which river flows through Drostewick? ({number})") for number in range(tasks)]
        seen: dict[str, list[list[str]]] = {task_id: [[] for _ in range(each)] for task_id in ids}
        followers = [asyncio.create_task(server.follow(i, stream)) for i in ids for stream in seen[i]]
        while not all(task.done() for task in followers):
            ping_start = time.perf_counter()
            await server.client.get("/health")
            slowest = max(slowest, time.perf_counter() - ping_start)
            if not size and sum(len(stream) for copies in seen.values() for stream in copies) > _MIDDLE * tasks * each:
                size = server.megabytes
                await server.kill_and_restart()
            await asyncio.sleep(0.25)
        took = time.perf_counter() - start
        statuses = [await server.until_done(task_id) for task_id in ids]
    for task in followers:
        task.result()
    same = all(stream == copies[0] for copies in seen.values() for stream in copies)
    restarts = sum('"what":"restart"' in event for copies in seen.values() for event in copies[0])
    events = sum(len(stream) for copies in seen.values() for stream in copies)
    print(f"{len(followers)} streams of {tasks} tasks, the server killed once: {events} events in {took:.1f} s,")
    print(f"  none lost or repeated: {same}; {statuses.count('completed')} tasks completed, {restarts} as attempt 2;")
    print(f"  processor {server.seconds:.1f} s, memory {size:.0f} MB, then {server.megabytes:.0f} MB,", end=" ")
    print(f"/health at most {slowest:.3f} s")
    return same and statuses == ["completed"] * tasks and restarts > 0


async def memory(server: Server, first: int, last: int) -> bool:
    """Memory after `first` and after `last` tasks."""
    async with server.client:
        count, sizes, start = 0, [], time.perf_counter()
        for end in (first, last):
            while count < end:
                ids = await asyncio.gather(*(server.ask(f"question {count + i}") for i in range(20)))
                statuses = await asyncio.gather(*map(server.until_done, ids))
                assert set(statuses) == {"completed"}
                count += len(ids)
            sizes.append(server.megabytes)
        took = time.perf_counter() - start
        growth = sizes[1] - sizes[0]
        print(
            f"{count} tasks in {took:.1f} s, processor {server.seconds:.1f} s: memory {sizes[0]:.1f} MB after {first},"
        )
        print(f"  {sizes[1]:.1f} MB after {count}: {growth:+.1f} MB, {1024 * growth / (last - first):.2f} KB a task")
        return growth < MOST_GROWTH


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="does it run? small sizes, no promises")
    quick = parser.parse_args().quick
    with served("agent=shannon", "agent.research_strategy=quick") as server:
        fast = asyncio.run(streams(server, *((3, 4) if quick else (50, 4))))
    with served("agent=python", f"agent.function={__spec__.name}:answer") as server:
        flat = asyncio.run(memory(server, *((20, 60) if quick else (200, 2000))))
    return 0 if quick or (fast and flat) else 1


if __name__ == "__main__":
    sys.exit(main())
