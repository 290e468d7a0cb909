"""What is lost when an endpoint fails: .venv/bin/python -m benchmarks.performance.faults [--quick].

Whole runs against an endpoint in a child process that fails on purpose. The exit code is 1 if a promise of this
folder's README is broken; `--quick` only shows that everything runs.
"""

import argparse
import asyncio
import json
import math
import os
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

try:
    from aiq.core.errors import UserError
    from aiq.core.models import Message
    from aiq.core.reports import Metric, Report, Score
    from aiq.core.samples import Sample
    from aiq.core.seeds import derive
    from aiq.core.session import Session
    from aiq.judges.base import Judge
    from aiq.run import run_experiment
    from aiq.runs.folder import RunFolder
    from aiq.runs.reader import every_sample, every_score
except ImportError as missing:
    sys.exit(f"{missing}; run it with the checkout's .venv/bin/python")

FAULTS: Mapping[str, str] = {
    "429": "HTTP 429",
    "500": "HTTP 500",
    "cut": "disconnected",
    "silence": "no answer in time",
    "truncated": "closed",
    "malformed": "the answer is not JSON",
}
"""What the endpoint does to a call, and what the error says if it does so every time."""

PER_SECOND, BURST = 10.0, 60
"""What the limited endpoint answers: 600 requests a minute, a tenth of which may come at once."""


@dataclass(frozen=True)
class Endpoint:
    """How a child answers. `faults`: share of calls; `limit`: none, with `retry-after` only, or also with `headers`."""

    port: int = 0
    faults: float = 0.0
    limit: str = ""
    dies_after: int = 0


def says(text: str) -> str:
    """The model's answer: a number that depends only on the prompt."""
    return str(derive("answer", text) % 1000)


class Server:
    """The child's side: HTTP/1.1 with keep-alive."""

    def __init__(self, how: Endpoint) -> None:
        self._spec = how
        self._tokens, self._updated = float(BURST), time.monotonic()
        self.counts: Counter[str] = Counter()
        self.first = self.last = 0.0
        """Times of the first and the latest answer, in seconds."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while await self._answer_one(reader, writer):
                await writer.drain()
        writer.close()

    async def _answer_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer a request; returns whether to keep the connection."""
        request_line, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        if request_line.startswith("GET"):
            writer.write(_http(200, {**self.counts, "seconds": self.last - self.first}))
            return True
        text = json.loads(body)["messages"][-1]["content"]
        fault = self._fault(text, headers["x-aiq-attempt"])
        self.counts[fault or "answered"] += 1
        await asyncio.sleep(0.05)
        if fault == "silence":
            await reader.read()
        if fault in ("cut", "silence"):
            return False
        now = time.monotonic()
        if fault in ("429", "500"):
            writer.write(_http(int(fault), {"error": {"message": "no"}}, self._headers() if self._spec.limit else {}))
            return True
        self.first, self.last = self.first or now, now
        response = _http(200, _completion(text), self._headers() if self._spec.limit == "headers" else {})
        if fault == "malformed":
            response = _http(200, b'{"choices": [{"message": {"content": "4')
        writer.write(response[:-30] if fault == "truncated" else response)
        if self._spec.dies_after and self.counts["answered"] >= self._spec.dies_after:
            os._exit(1)
        return fault != "truncated"

    def _fault(self, text: str, attempt: str) -> str:
        """What to do to this request: a random fault, always the one that the text names, or the limit's 429."""
        for name in FAULTS:
            if f"always {name}." in text and not text.startswith("Judge"):
                return name
        if "always unjudged." in text and text.startswith("Judge"):
            return "500"
        if self._spec.limit:
            return "" if self._admits() else "429"
        share = derive(text, attempt, "fault") / 2**31
        return [*FAULTS][int(share / self._spec.faults * len(FAULTS))] if share < self._spec.faults else ""

    def _admits(self) -> bool:
        now = time.monotonic()
        self._tokens, self._updated = min(BURST, self._tokens + (now - self._updated) * PER_SECOND), now
        allowed = self._tokens >= 1
        self._tokens -= allowed
        return allowed

    def _headers(self) -> dict[str, str]:
        headers = {} if self._tokens >= 1 else {"retry-after": str(math.ceil((1 - self._tokens) / PER_SECOND))}
        if self._spec.limit == "headers":
            headers["x-ratelimit-limit-requests"] = str(BURST)
            headers["x-ratelimit-remaining-requests"] = str(int(self._tokens))
            headers["x-ratelimit-reset-requests"] = f"{math.ceil((BURST - self._tokens) / PER_SECOND * 1000)}ms"
        return headers


def _http(status: int, body: Any, headers: Mapping[str, str] | None = None) -> bytes:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {"content-type": "application/json", "content-length": str(len(raw)), **(headers or {})}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode() + raw


def _completion(text: str) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": says(text)}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


async def serve(how: Endpoint) -> None:
    """Print the port and serve until the parent is gone."""
    server = await asyncio.start_server(Server(how).serve, "127.0.0.1", how.port)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    os._exit(0)


@contextmanager
def running(how: Endpoint) -> Iterator[int]:
    """The port of an endpoint in a child process that lives inside the `with` block."""
    command = [sys.executable, "-m", "benchmarks.performance.faults", "--serve", json.dumps(asdict(how))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            yield int(child.stdout.readline())
        finally:
            child.stdin.close()


class Reads(Judge):
    """`reads.value`: what the model says of the report."""

    metrics = (Metric.share("reads.value", notices=()),)
    roles = ("judge.reads",)

    async def score(self, sample: Sample, report: Report, session: Session) -> list[Score]:
        message = Message(role="user", content=prompt(sample.question.text, report.text))
        reply = await session.models.complete("judge.reads", [message])
        return [Score(metric="reads.value", value=int(reply.text) / 1000)]


def prompt(question: str, report: str) -> str:
    return f"Judge {question} {report}"


def run(folder: Path, port: int, questions: Sequence[str], *more: str) -> None:
    """Run these questions. Raises UserError if the run was stopped."""
    rows = [{"id": f"s{number}", "question": text} for number, text in enumerate(questions)]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    address = f"http://127.0.0.1:{port}/v1"
    settings = [
        *("name=faults", f"output_dir={folder}", "runner.progress=false", "runner.max_error_rate=1"),
        *("dataset=questions", f"dataset.path={folder}/questions.jsonl", "search=searxng", "web=live"),
        "search.base_url=http://127.0.0.1:9",
        *("agent=endpoint", f"agent.base_url={address}", "agent.model=m", "agent.timeout_seconds=3"),
        *("llm=openai", f"llm.base_url={address}", "llm.model=m", "llm.api_key_env=null", "llm.timeout_seconds=3"),
        *("llm.retry.first_seconds=0.1", "llm.retry.most_seconds=1", *more),
    ]
    run_experiment(settings)


JUDGED = ("judge=[]", "+judge.reads.target=benchmarks.performance.faults:Reads")


def only_run(folder: Path) -> RunFolder:
    (manifest,) = folder.glob("faults/*/manifest.json")
    return RunFolder(manifest.parent)


def scores(run: RunFolder) -> dict[str, float | None]:
    """The scores by sample, without samples that have none."""
    return {row.sample_id: row.value for row in every_score(run) if row.status == "scored"}


Row = tuple[str, str, bool]
"""What was measured, the figure, and whether it is as promised."""


def faulty(samples: int) -> Iterator[Row]:
    """An endpoint at which 30 % of the calls fail, some of them always."""
    kinds = [*FAULTS, "unjudged"]
    questions = [f"Question {i}?" for i in range(samples)]
    questions[: len(kinds)] = [f"Question {i} is always {kind}." for i, kind in enumerate(kinds)]
    with TemporaryDirectory() as folder, running(Endpoint(faults=0.3)) as port:
        run(Path(folder), port, questions, *JUDGED)
        counts = _stats(port)
        result = only_run(Path(folder))
        rows = {row.sample_id: row for row in every_sample(result)}
        errors = {row.sample_id: row.error for row in every_score(result) if row.status == "error"}
        noisy = scores(result)
    failed = {name: row for name, row in rows.items() if row.status != "completed"}
    expected = {f"s{number}": message for number, message in enumerate(FAULTS.values())}
    classified = [
        name
        for name, message in expected.items()
        if name in failed and failed[name].error and message in str(failed[name].error)
    ]
    truth = {f"s{i}": int(says(prompt(text, says(text)))) / 1000 for i, text in enumerate(questions) if i >= len(kinds)}
    faults, calls = sum(counts[name] for name in FAULTS), sum(counts[name] for name in [*FAULTS, "answered"])
    yield f"{calls} calls, of which failed", f"{faults / calls:.0%}", True
    yield "samples with exactly one row", f"{len(rows)} of {samples}", len(rows) == samples
    yield "samples failed despite an available answer", f"{len(failed.keys() - expected)}", failed.keys() == {*expected}
    yield "failures that say what happened", f"{len(classified)} of {len(expected)}", len(classified) == len(expected)
    yield "scores as without faults", f"{sum(noisy[k] == truth.get(k) for k in noisy)} of {len(truth)}", noisy == truth
    yield "judge errors, where the judge got no answer", f"{len(errors)} of 1", [*errors] == [f"s{len(expected)}"]


def limited(samples: int, limit: str) -> Iterator[Row]:
    """An endpoint that answers 600 requests a minute."""
    with TemporaryDirectory() as folder, running(Endpoint(limit=limit)) as port:
        questions = [f"Question {i}?" for i in range(samples)]
        run(Path(folder), port, questions, "judge=[]", "runner.concurrency=64")
        counts = _stats(port)
        statuses = Counter(row.status for row in every_sample(only_run(Path(folder))))
    share = counts["answered"] / (BURST + PER_SECOND * counts["seconds"])
    yield f"{limit}: samples completed", f"{statuses['completed']} of {samples}", statuses == {"completed": samples}
    yield f"{limit}: used of what it allows, in {counts['seconds']:.0f} s", f"{share:.1%}", share >= 0.95
    yield f"{limit}: calls refused with 429", f"{counts['429']}", limit != "headers" or counts["429"] <= 64


def dying(samples: int) -> Iterator[Row]:
    """An endpoint that dies in the middle of a run and is back when the run is resumed."""
    questions = [f"Question {i}?" for i in range(samples)]
    settings = (*JUDGED, "llm.give_up_seconds=3")
    with TemporaryDirectory() as folder, TemporaryDirectory() as undisturbed:
        with running(Endpoint()) as port:
            run(Path(undisturbed), port, questions, *settings)
        endpoint, line, start = Endpoint(dies_after=samples), "", time.monotonic()
        with running(endpoint) as port:
            try:
                run(Path(folder), port, questions, *settings)
            except UserError as error:
                line = str(error)
        seconds, result = time.monotonic() - start, only_run(Path(folder))
        statuses = Counter(row.status for row in every_sample(result))
        with running(replace(endpoint, port=port, dies_after=0)):
            run_experiment([f"resume={result.path}"])
        counts = Counter(row.sample_id for row in every_sample(result) if row.status == "completed")
        same = scores(result) == scores(only_run(Path(undisturbed)))
    print(f"  the run says: {line}")
    one_line = "has not answered for" in line and "resume=" in line and "\n" not in line
    yield f"stopped with one line after {seconds:.0f} s", "yes" if one_line else "no", one_line
    yield "attempts when it stopped", f"{dict(statuses)}", set(statuses) <= {"completed", "cancelled"}
    yield "samples completed once when resumed", f"{len(counts)} of {samples}", counts == dict.fromkeys(counts, 1)
    yield "scores as of an undisturbed run", "yes" if same else "no", same and len(counts) == samples


def _stats(port: int) -> Counter[str]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/stats") as answer:
        return Counter(json.load(answer))


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the runs, print the figures, and check the promises."""
    parser = argparse.ArgumentParser(prog="faults", description="What is lost when an endpoint fails.")
    parser.add_argument("--quick", action="store_true", help="small sizes, no promises: does it run?")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.serve:
        asyncio.run(serve(Endpoint(**json.loads(options.serve))))
    small = options.quick
    scenes = {
        "30 % of the calls fail": faulty(20 if small else 150),
        "600 requests a minute, 429 and Retry-After beyond": limited(70 if small else 600, "retry-after"),
        "the same, and headers that say what is left": limited(70 if small else 600, "headers"),
        "the endpoint dies and comes back": dying(12 if small else 60),
    }
    broken = 0
    for title, rows in scenes.items():
        print(title)
        for label, figure, kept in rows:
            broken += not kept
            print(f"  {label:<58}{figure:>28}{'' if kept else '  BROKEN'}", flush=True)
    return int(bool(broken) and not small)


if __name__ == "__main__":
    sys.exit(main())
