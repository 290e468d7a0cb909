"""What the HTTP API bears on one machine: `python -m benchmarks.performance.serve [--quick]`.

A real server on the offline stack, and clients on loopback: 200 streams of 50 tasks, each to its end without a gap;
then 2,000 tasks of an agent that costs nothing, during which memory stays flat. Exits with 1 where a promise is broken.
"""

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2

MOST_GROWTH = 8.0  # MB from the 200th to the 2,000th task
_LIMITS = ("requests_per_minute", "tasks", "streams")
_FREE = [f"serve.key.{name}=1000000" for name in _LIMITS] + ["serve.queue=1000000", "serve.port=0"]


async def answer(question: str) -> str:
    """The agent that costs nothing."""
    return f"It says: {question}"


@dataclass
class Server:
    """A server that runs, as its process and a client have it."""

    pid: int
    client: httpx2.AsyncClient

    @property
    def megabytes(self) -> float:
        """Resident memory of the process, by Linux."""
        lines = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024

    @property
    def seconds(self) -> float:
        """Of the processor, so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100

    async def ask(self, query: str, **more: Any) -> str:
        made = await self.client.post("/api/v1/tasks", json={"query": query, **more})
        made.raise_for_status()
        return str(made.json()["task_id"])

    async def follow(self, task_id: str) -> int:
        """The events of a stream to its end. Raises RuntimeError for a gap."""
        seen = 0
        async with self.client.stream("GET", f"/api/v1/stream/sse?workflow_id={task_id}") as stream:
            stream.raise_for_status()
            async for line in stream.aiter_lines():
                if line.startswith("id: "):
                    seen += 1
                    if int(line[4:]) != seen:
                        raise RuntimeError(f"event {line[4:]} came as number {seen}")
                if line == "event: STREAM_END":
                    return seen
        raise RuntimeError(f"a stream ended after {seen} events")

    async def until_done(self, task_id: str) -> str:
        while True:
            found = (await self.client.get(f"/api/v1/tasks/{task_id}")).json()
            if found["finished_at"] is not None:
                return str(found["status"])
            await asyncio.sleep(0.02)


@contextmanager
def served(*overrides: str) -> Iterator[Server]:
    """A server in a process of its own, on a free port."""
    with TemporaryDirectory() as results:
        command = [sys.executable, "-m", "aiq", "serve", f"output_dir={results}", *_FREE, *overrides]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            address = process.stdout.readline().split(" at ")[1].split()[0]
            limits = httpx2.Limits(max_connections=None)
            client = httpx2.AsyncClient(base_url=address, timeout=600, limits=limits, trust_env=False)
            yield Server(process.pid, client)
            process.terminate()
            process.wait(300)


async def streams(server: Server, tasks: int, each: int) -> bool:
    """So many streams of each of so many tasks at once."""
    async with server.client:
        began = time.perf_counter()
        ids = [await server.ask(f"Which river flows through Drostewick? ({number})") for number in range(tasks)]
        following = [asyncio.create_task(server.follow(task_id)) for task_id in ids for _ in range(each)]
        slowest = 0.0
        while not all(task.done() for task in following):
            asked = time.perf_counter()
            await server.client.get("/health")
            slowest = max(slowest, time.perf_counter() - asked)
            await asyncio.sleep(0.25)
        events = sum([await task for task in following])
        took = time.perf_counter() - began
        statuses = {await server.until_done(task_id) for task_id in ids}
        print(
            f"{len(following)} streams of {tasks} tasks: {events} events in {took:.1f} s, every stream without a gap;"
        )
        print(f"  processor {server.seconds:.1f} s, memory {server.megabytes:.0f} MB, /health at most {slowest:.3f} s")
        return statuses == {"completed"}


async def memory(server: Server, first: int, last: int) -> bool:
    """Memory after so many tasks, and after more."""
    async with server.client:
        done, sizes, began = 0, [], time.perf_counter()
        for end in (first, last):
            while done < end:
                ids = await asyncio.gather(*(server.ask(f"question {done + i}") for i in range(20)))
                statuses = await asyncio.gather(*map(server.until_done, ids))
                assert set(statuses) == {"completed"}
                done += len(ids)
            sizes.append(server.megabytes)
        took = time.perf_counter() - began
        grown = sizes[1] - sizes[0]
        print(
            f"{done} tasks in {took:.1f} s, processor {server.seconds:.1f} s: memory {sizes[0]:.1f} MB after {first},"
        )
        print(f"  {sizes[1]:.1f} MB after {done}: {grown:+.1f} MB, {1024 * grown / (last - first):.2f} KB a task")
        return grown < MOST_GROWTH


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
