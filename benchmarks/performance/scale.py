"""Whether a run has the same outcome however it is distributed: python -m benchmarks.performance.scale [--samples N]

`--stub`: use a model that costs nothing, and no judges, to measure the harness itself: one process of it takes one
core, while a run with the offline model, whose workers use all cores, does not gain from a second process.

Each way of running has one row: wall-clock seconds, seconds at work on attempts (and the speed-up over one process;
each process has its model on the same cores), and whether reports and scores are those of one process. Ways that need
a package that is not installed (`pip install aiq-bench[ray,slurm]`) are left out with a message. The exit code is 1 if
the outcome of a way differs.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from aiq.runs.folder import RunFolder
from aiq.runs.reader import every_sample, every_score
from benchmarks.performance.stub import running

EXPERIMENT: Final = "shallow_freshqa"
QUIET: Final = ("runner.progress=false",)
WORKER: Final = b"ray::_work"
"""The name of a Ray process that runs a shard."""
SEARCH: Final = "benchmarks.performance.overhead:search"


def started(home: Path, *overrides: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "aiq", "run", *overrides, *QUIET]
    return subprocess.Popen(command, cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def ended(*processes: subprocess.Popen[str]) -> None:
    for process in processes:
        _, stderr = process.communicate()
        if process.returncode not in (0, 3):  # 3: more of the offline model's answers failed than the experiment allows
            raise SystemExit(f"{process.args!r} ended with {process.returncode}: {stderr}")


def content(folder: RunFolder) -> dict[Any, Any]:
    """Reports and scores by key; the last row of a key counts."""
    reports: dict[Any, Any] = {row.key: (row.status, row.report) for row in every_sample(folder)}
    return reports | {(row.key, row.metric): (row.status, row.parts) for row in every_score(folder)}


def seconds_at_work(folder: RunFolder) -> float:
    """From the start of the first attempt to the end of the last: without starting processes and writing the page."""
    rows = [
        (datetime.fromisoformat(row.timing.started).timestamp(), row.timing.seconds) for row in every_sample(folder)
    ]
    return max(start + seconds for start, seconds in rows) - min(start for start, _ in rows)


def by_stub(home: Path, samples: int, port: int) -> list[str]:
    """Settings for `samples` questions to the stub at this port, with five tool calls each."""
    questions, corpus = home / "questions.jsonl", home / "corpus.jsonl"
    rows = ({"id": str(number), "question": f"Which river is number {number}?"} for number in range(samples))
    questions.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    page = {"url": "https://a.example/", "title": "Rivers", "text": "A river is 88 km long."}
    corpus.write_text(json.dumps(page), encoding="utf-8")
    model = ["llm=vllm", "llm.model=m", f"llm.base_url=http://127.0.0.1:{port}/5/0/v1", "llm.max_connections=50"]
    tools = ["search=corpus", "web=corpus", f"search.corpus={corpus}", "+tool.search.target=" + SEARCH]
    settings = ["dataset=questions", f"dataset.path={questions}", "judge=[]", "runner.concurrency=50"]
    return [*settings, *model, *tools, "agent.shallow.tools=[search]"]


class Ways:
    """The ways of running; each leaves a run in `home/results/EXPERIMENT/NAME`."""

    def __init__(self, home: Path, *common: str) -> None:
        self.home, self._common = home, common

    def folder(self, name: str) -> RunFolder:
        return RunFolder(self.home / "results" / EXPERIMENT / name)

    def _start(self, name: str, *overrides: str) -> subprocess.Popen[str]:
        return started(self.home, *self._common, f"run_id={name}", *overrides)

    def one(self, name: str) -> None:
        ended(self._start(name))

    def processes(self, name: str) -> None:
        ended(self._start(name, "runner.processes=2"))

    def shards(self, name: str) -> None:
        ended(*(self._start(name, f"shard={number}/4") for number in range(1, 5)))

    def slurm(self, name: str) -> None:
        """Without Slurm: submitit's executor for one machine."""
        ended(self._start(name, "runner=slurm", "runner.launcher.cluster=local", "runner.launcher.poll_seconds=0.2"))

    def ray(self, name: str) -> None:
        ended(self._start(name, "runner=ray"))

    def ray_worker_killed(self, name: str) -> None:
        run = self._start(name, "runner=ray")
        self._wait_for_rows(name, run)
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if (process / "cmdline").read_bytes().startswith(WORKER) and _descends(int(process.name), run.pid):
                    os.kill(int(process.name), signal.SIGKILL)
                    break
        else:
            raise SystemExit("found no Ray worker to kill")
        ended(run)

    def ray_driver_killed(self, name: str) -> None:
        run = self._start(name, "runner=ray")
        self._wait_for_rows(name, run)
        run.kill()
        run.wait()
        ended(started(self.home, f"resume={self.folder(name).path}"))

    def _wait_for_rows(self, name: str, run: subprocess.Popen[str]) -> None:
        while not any(path.stat().st_size for path in self.folder(name).journals("samples")):
            if run.poll() is not None:
                ended(run)
                raise SystemExit(f"{name} ended before anything could be killed; use more --samples")
            time.sleep(0.02)


def _descends(process: int, ancestor: int) -> bool:
    while process > 1:
        if process == ancestor:
            return True
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    return False


NEEDS: Final = {"ray": "ray", "ray_worker_killed": "ray", "ray_driver_killed": "ray", "slurm": "submitit"}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=48)
    parser.add_argument("--stub", action="store_true", help="use a model that costs nothing, and no judges")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="only these ways, besides one process")
    args = parser.parse_args(arguments)
    same = True
    with tempfile.TemporaryDirectory() as home, running() if args.stub else nullcontext() as port:
        common = by_stub(Path(home), args.samples, port) if port else [f"limit={args.samples}"]
        ways = Ways(Path(home), f"experiment={EXPERIMENT}", *common)
        methods: dict[str, Callable[[str], None]] = {
            way.__name__: way
            for way in (
                ways.one, ways.processes, ways.shards, ways.slurm, ways.ray, ways.ray_worker_killed,
                ways.ray_driver_killed,
            )
        }  # fmt: skip
        reference: dict[Any, Any] = {}
        baseline = 0.0
        for name, way in methods.items():
            if name != "one" and args.only and name not in args.only:
                continue
            if name in NEEDS and find_spec(NEEDS[name]) is None:
                print(f"{name}: left out, {NEEDS[name]} is not installed")
                continue
            start = time.monotonic()
            way(name)
            seconds, outcome, work = (
                time.monotonic() - start,
                content(ways.folder(name)),
                seconds_at_work(ways.folder(name)),
            )
            reference, baseline = reference or outcome, baseline or work
            same &= outcome == reference
            verdict = "the same" if outcome == reference else "OTHERS"
            speed = f"{work:.1f} s of them at work ({baseline / work:.2f}x)"
            print(f"{name}: {seconds:.1f} s, {speed}, {len(outcome)} reports and scores, {verdict}", flush=True)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
