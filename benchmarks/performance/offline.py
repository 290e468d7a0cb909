"""How long the offline stack makes a client wait: .venv/bin/python -m benchmarks.performance.offline [--quick].

Starts a real stack and times it over loopback. The exit code is 1 if a promise of this folder's README is broken;
`--quick` only shows that everything runs.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

try:
    from aiq.core.files import shipped
    from aiq.llm.http import AsyncClient
except ImportError as missing:
    sys.exit(f"{missing}; run it with the checkout's .venv/bin/python")

PAGES = shipped("benchmarks/world") / "pages.jsonl"
SENTENCE = "The council of Tessmark met in 2024 and elected Oda Prill. "
QUESTION = "Who is the mayor of Tessmark?"
PAUSE = 0.02
"""Seconds between the small requests, so that they coincide with every stage of the long one."""


@dataclass(frozen=True)
class Sizes:
    """Numbers and sizes of what is measured."""

    prompt_bytes: int
    small_requests: int
    rounds: int
    chats: int


FULL = Sizes(5_000_000, 20, 5, 200)
QUICK = Sizes(50_000, 3, 1, 10)


@dataclass(frozen=True)
class Row:
    """One line of the table; `most` is the promised maximum in milliseconds."""

    what: str
    milliseconds: float
    most: float | None = None

    @property
    def kept(self) -> bool:
        return self.most is None or self.milliseconds < self.most


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, and say whether the promises hold."""
    parser = argparse.ArgumentParser(prog="offline", description="How long the offline stack makes a client wait.")
    parser.add_argument("--quick", action="store_true", help="small sizes, no promises: does it run?")
    quick = parser.parse_args(arguments).quick
    rows = asyncio.run(_measure(QUICK if quick else FULL))
    for row in rows:
        promise = "" if row.most is None else f"  promised: under {row.most:g} ms{'' if row.kept else ': BROKEN'}"
        print(f"{row.what:<62}{row.milliseconds:>9.1f} ms{promise}")
    return 0 if quick or all(row.kept for row in rows) else 1


@contextmanager
def _stack() -> Iterator[str]:
    """The base URL of a stack that takes prompts of any length."""
    command = [sys.executable, "-m", "aiq.offline", "--pages", str(PAGES), "--context-tokens", "100000000"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        yield f"http://127.0.0.1:{json.loads(child.stdout.readline())['port']}"
        child.stdin.close()


async def _measure(sizes: Sizes) -> list[Row]:
    rows = [Row("start until the port is printed", statistics.median(_start() for _ in range(sizes.rounds)))]
    with _stack() as url:
        async with AsyncClient(base_url=url, timeout=600) as client:
            rows.append(Row("one small chat request after another, each", await _one_by_one(client, sizes.chats)))
            rows.append(Row("eight at a time, each", await _eight_at_a_time(client, sizes.chats)))
            await _search(client)  # makes the index
            rows.append(Row("search", await _typical(lambda: _search(client), sizes.rounds)))
            rows.append(
                Row(
                    "search with days",
                    await _typical(lambda: _search(client, days=365, topic="news"), sizes.rounds),
                    50,
                )
            )
            for name, ask in (("models list", _models), ("small chat request", _chat)):
                alone = [await _longest(client, ask, sizes) for _ in range(sizes.rounds)]
                beside = [await _beside_long(client, ask, sizes) for _ in range(sizes.rounds)]
                delay = statistics.median(beside) - statistics.median(alone)
                rows.append(Row(f"{name} delayed by a prompt of {sizes.prompt_bytes / 1e6:g} MB", delay, 50))
    return rows


def _start() -> float:
    start = time.perf_counter()
    with _stack():
        return _since(start)


async def _one_by_one(client: AsyncClient, count: int) -> float:
    start = time.perf_counter()
    for number in range(count):
        await _chat(client, number)
    return _since(start) / count


async def _eight_at_a_time(client: AsyncClient, count: int) -> float:
    start = time.perf_counter()
    await asyncio.gather(*(_one_by_one(client, count // 8 + 1) for _ in range(8)))
    return _since(start) / (8 * (count // 8 + 1))


async def _typical(ask: Callable[[], Awaitable[Any]], rounds: int) -> float:
    """The median time of one request."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        await ask()
        times.append(_since(start))
    return statistics.median(times)


async def _longest(client: AsyncClient, ask: Callable[[AsyncClient, int], Awaitable[Any]], sizes: Sizes) -> float:
    """The longest time of several small requests, one after another."""
    longest = 0.0
    for number in range(sizes.small_requests):
        start = time.perf_counter()
        await ask(client, number)
        longest = max(longest, _since(start))
        await asyncio.sleep(PAUSE)
    return longest


async def _beside_long(client: AsyncClient, ask: Callable[[AsyncClient, int], Awaitable[Any]], sizes: Sizes) -> float:
    """The same while a long prompt is sent, processed and answered."""
    text = SENTENCE * (sizes.prompt_bytes // len(SENTENCE)) + QUESTION
    body = json.dumps({"model": "offline-1", "messages": [{"role": "user", "content": text}]}).encode()
    pending = asyncio.create_task(client.post("/v1/chat/completions", content=body))
    longest = await _longest(client, ask, sizes)
    answer = await pending
    assert answer.status_code == 200, answer.text
    return longest


async def _chat(client: AsyncClient, number: int) -> None:
    messages = [{"role": "user", "content": f"{QUESTION} ({number})"}]
    answer = await client.post("/v1/chat/completions", json={"model": "offline-1", "messages": messages})
    assert answer.status_code == 200, answer.text


async def _models(client: AsyncClient, _: int) -> None:
    assert (await client.get("/v1/models")).status_code == 200


async def _search(client: AsyncClient, **options: Any) -> None:
    assert (await client.post("/search", json={"query": QUESTION, **options})).status_code == 200


def _since(start: float) -> float:
    return (time.perf_counter() - start) * 1000


if __name__ == "__main__":
    sys.exit(main())
