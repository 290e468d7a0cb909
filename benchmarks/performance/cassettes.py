"""What a replayed request costs, compared with stock vcrpy: python -m benchmarks.performance.cassettes [--quick].

Completions are recorded once, over a socket, and replayed to the `openai` client, in a separate process for each
measurement. The exit code is 1 if a promise of this folder's README is broken; `--quick` only shows that it runs.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from openai import AsyncOpenAI

from aiq.cassettes.recorder import Account, Recorder, cassette_name
from aiq.cassettes.redact import Redactor
from aiq.cassettes.store import Store
from aiq.core.run_settings import CassetteSettings
from aiq.core.samples import SampleKey
from aiq.llm.http import AsyncBaseTransport, AsyncClient, Limits, Request, Response
from aiq.llm.route import NetworkTransport

ROOT = Path(__file__).resolve().parents[2]
KEY: Final = SampleKey("all", 1)
ACCOUNT: Final[Account] = "agent"
STOCK = ("vcrpy, YAML", "vcrpy, JSON")
MATCH_ON = ("method", "scheme", "host", "port", "path", "query", "body")
"""vcrpy's defaults and the body: without it, any completion would match any prompt."""

Figures = tuple[float, float, list[float], int]
Verdict = tuple[str, str, bool]
"""What was measured, what is promised, and whether the promise is kept."""


@dataclass(frozen=True)
class Sizes:
    """Numbers of recorded exchanges, smallest first, and how many of each are replayed by vcrpy."""

    recorded: tuple[int, ...]
    asked: tuple[int, ...]


FULL = Sizes((1_000, 5_000), (1_000, 100))
QUICK = Sizes((20,), (10,))


@dataclass(frozen=True)
class Measured:
    """Processor seconds until the first request can be made and per request, and the growth of memory in bytes."""

    load: float
    mean: float
    thirds: tuple[float, float, float]
    """Medians of the first, middle and last third of the requests."""
    grown: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, and say whether the promises hold."""
    parser = argparse.ArgumentParser(prog="cassettes", description="What a replayed request costs.")
    parser.add_argument("--quick", action="store_true", help="small sizes, no promises: does it run?")
    parser.add_argument("--one", nargs=4, metavar=("WHAT", "FOLDER", "SIZE", "ASKED"), help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if args.one:
        what, folder, size, asked = args.one
        print(json.dumps(measure(what, Path(folder), int(size), int(asked))))
        return 0
    sizes = QUICK if args.quick else FULL
    with tempfile.TemporaryDirectory(prefix="cassettes-") as name:
        broken = 0
        for what, promise, kept in measured(sizes, Path(name)):
            broken += not (kept or args.quick)
            print(f"{what}; promised: {promise}{'' if kept or args.quick else ': BROKEN'}", flush=True)
    return 1 if broken else 0


def measured(sizes: Sizes, folder: Path) -> Iterator[Verdict]:
    yield from compared(sizes, folder)
    if sizes is FULL:
        yield whole_run(folder)


def compared(sizes: Sizes, folder: Path) -> Iterator[Verdict]:
    """Record, and print what each replay costs."""
    print(f"{'replay of completions of 5 kB':<32}{'load':>8}{'mean':>9}{'first':>9}{'middle':>9}{'last':>9}{'RSS':>8}")
    print(f"{'processor time, a request':<32}{'s':>8}{'ms':>9}{'ms':>9}{'ms':>9}{'ms':>9}{'MB':>8}")
    for size, asked in zip(sizes.recorded, sizes.asked, strict=True):
        path = folder / str(size)
        asyncio.run(record(path, size))
        write_stock(path)
        costs = {"aiq": in_own_process("aiq", path, size, size)}
        costs |= {what: in_own_process(what, path, size, asked) for what in STOCK}
        for what, cost in costs.items():
            thirds = "".join(f"{seconds * 1000:>9.2f}" for seconds in cost.thirds)
            name = f"{size:,}: {what}, {size if what == 'aiq' else asked:,} asked"
            print(f"{name:<32}{cost.load:>8.3f}{cost.mean * 1000:>9.2f}{thirds}{cost.grown / 1e6:>8.1f}", flush=True)
        growth = costs["aiq"].thirds[2] / costs["aiq"].thirds[0]
        yield (f"{size:,}: last third of ours is {growth:.2f} times the first", "at most 1.5", growth <= 1.5)
    faster = min(costs[what].mean for what in STOCK) / costs["aiq"].mean
    yield (f"{size:,}: ours is {faster:.0f} times faster a request than vcrpy", "at least 20", faster >= 20)


def whole_run(folder: Path) -> Verdict:
    """An experiment replayed and live, in wall-clock seconds, because the live one has a process for the models."""
    seconds = {}
    for mode in ("record", "off", "replay"):
        settings = (f"cassette.dir={folder / 'deep_drb'}", f"output_dir={folder / 'results'}", "runner.progress=false")
        start = time.perf_counter()
        python("-m", "aiq.run", "experiment=deep_drb", f"cassette={mode}", *settings)
        seconds[mode] = time.perf_counter() - start
    times = ", ".join(f"{mode} {taken:.1f} s" for mode, taken in seconds.items())
    faster = seconds["off"] >= seconds["replay"]
    return (f"deep_drb: cassette={times}", "a replay takes no longer than the run live", faster)


def in_own_process(what: str, folder: Path, size: int, asked: int) -> Measured:
    out = python("-m", "benchmarks.performance.cassettes", "--one", what, str(folder), str(size), str(asked))
    load, mean, thirds, grown = json.loads(out)
    return Measured(load, mean, tuple(thirds), grown)


def python(*arguments: str) -> str:
    """The output of Python run in the checkout. Raises SystemExit with its output if it fails."""
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    env = {**os.environ, "PYTHONPATH": paths}
    proc = subprocess.run([sys.executable, *arguments], cwd=ROOT, env=env, capture_output=True, text=True)
    if proc.returncode:
        raise SystemExit(f"cassettes: {' '.join(arguments)} ended with {proc.returncode}:\n{proc.stderr}")
    return proc.stdout


# Recording


def prompt(number: int) -> list[Any]:
    """Messages of 1.5 kB that differ only in a number in the middle."""
    text = "Summarise what the sources say of the tower. " * 16
    return [{"role": "user", "content": f"{text}This is question {number}. {text}"}]


def completion(asked: dict[str, Any]) -> dict[str, Any]:
    """An answer of 5 kB of words that hardly compress, determined by the prompt."""
    words = random.Random(json.dumps(asked["messages"]))
    text = " ".join(f"{words.getrandbits(28):07x}" for _ in range(600))
    message = {"role": "assistant", "content": text, "refusal": None}
    usage = {"prompt_tokens": 350, "completion_tokens": 1200, "total_tokens": 1550}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": asked["model"]}
    return {**head, "choices": [choice], "usage": usage}


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one request to the server that is being recorded."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    body = json.dumps(completion(json.loads(await reader.readexactly(length)))).encode()
    headers = f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close"
    writer.write(f"HTTP/1.1 200 OK\r\n{headers}\r\n\r\n".encode() + body)
    await writer.drain()
    writer.close()


async def record(folder: Path, size: int) -> None:
    """Record `size` completions, and write the port, which is part of each request, to `port`."""
    server = await asyncio.start_server(answer, "127.0.0.1")
    port = server.sockets[0].getsockname()[1]
    with recorder(folder, "record") as recording, recording.for_sample(ACCOUNT, KEY):
        async with client(port, recording.transport(NetworkTransport(Limits()))) as api:
            for number in range(size):
                await ask(api, number)
    server.close()
    (folder / "port").write_text(str(port), encoding="utf-8")


def write_stock(folder: Path) -> None:
    """Write the same exchanges in vcrpy's formats."""
    from vcr.request import Request
    from vcr.serialize import serialize
    from vcr.serializers import jsonserializer, yamlserializer

    requests, responses = [], []
    with Store(folder / f"{ACCOUNT}.sqlite", writes=False) as store:
        for exchange in store.exchanges(cassette_name(KEY)):
            headers = dict(exchange.request_headers)
            requests.append(Request(exchange.method, exchange.url, exchange.request_body, headers))
            header_map = {name: [value] for name, value in exchange.response_headers}
            status = {"code": exchange.status, "message": "OK"}
            responses.append({"status": status, "headers": header_map, "body": {"string": exchange.response_body}})
    for what, serializer in zip(STOCK, (yamlserializer, jsonserializer), strict=True):
        text = serialize({"requests": requests, "responses": responses}, serializer)
        (folder / what).write_text(text, encoding="utf-8")


# Measuring


def measure(what: str, folder: Path, size: int, asked: int) -> Figures:
    """The figures of `Measured` for `asked` of the requests, evenly spaced, in order."""
    numbers = [i * size // asked for i in range(asked)]
    port = int((folder / "port").read_text(encoding="utf-8"))
    return asyncio.run(replayed(what, folder, port, numbers))


async def replayed(what: str, folder: Path, port: int, numbers: Sequence[int]) -> Figures:
    import vcr

    async with client(port, _Canned()) as warm:  # what the client loads in its first call is not counted
        await ask(warm, 0)
    before, start = resident(), time.process_time()
    if what == "aiq":
        with recorder(folder, "replay") as recording, recording.for_sample(ACCOUNT, KEY):
            load = time.process_time() - start
            async with client(port, recording.transport(NetworkTransport(Limits()))) as api:
                seconds = await timed(api, numbers)
    else:
        serializer = what.rpartition(" ")[2].lower()
        stock = vcr.VCR(record_mode="none", match_on=MATCH_ON, serializer=serializer)
        with stock.use_cassette(str(folder / what)):
            load = time.process_time() - start
            async with client(port) as api:
                seconds = await timed(api, numbers)
    third = len(seconds) // 3
    parts = seconds[:third], seconds[third:-third], seconds[-third:]
    return load, statistics.mean(seconds), [statistics.median(part) for part in parts], resident() - before


class _Canned(AsyncBaseTransport):
    """A transport with a canned answer."""

    async def handle_async_request(self, request: Request) -> Response:
        return Response(200, json=completion(json.loads(await request.aread())))


async def timed(asked: AsyncOpenAI, numbers: Sequence[int]) -> list[float]:
    """Processor seconds of each request. The answers are checked, because a fast wrong answer is worth nothing."""
    seconds = []
    for number in numbers:
        start = time.process_time()
        text = await ask(asked, number)
        seconds.append(time.process_time() - start)
        if text != completion({"model": "m", "messages": prompt(number)})["choices"][0]["message"]["content"]:
            raise SystemExit(f"the answer to question {number} belongs to another question")
    return seconds


async def ask(asked: AsyncOpenAI, number: int) -> str:
    reply = await asked.chat.completions.create(model="m", messages=prompt(number))
    return reply.choices[0].message.content or ""


def client(port: int, transport: AsyncBaseTransport | None = None) -> AsyncOpenAI:
    http_client = None if transport is None else AsyncClient(transport=transport)
    return AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=0, http_client=http_client)


@contextmanager
def recorder(folder: Path, mode: str) -> Iterator[Recorder]:
    settings = CassetteSettings.model_validate({"mode": mode, "dir": str(folder), "ignored": ()})
    recording = Recorder(settings, folder, Redactor(()))
    try:
        yield recording
    finally:
        recording.finish()
        recording.close()


def resident() -> int:
    """Resident memory of this process in bytes; the maximum so far if the system reports only that."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    raise SystemExit(main())
