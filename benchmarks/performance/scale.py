"""Whether a run comes out the same however it is spread: python -m benchmarks.performance.scale [--samples N]

Each way of running is one row: seconds on the clock, those in which attempts were made (and how many times as fast as
one process that is; each process has the offline model beside it, on the same cores), and whether reports and scores
are those of one process. Ways that need a package that is not there (`pip install aiq-bench[ray,slurm]`) are left out,
and it says so. Exit code 1: a way came to something else.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from aiq.runs.folder import RunFolder
from aiq.runs.reader import every_sample, every_score

EXPERIMENT: Final = "shallow_freshqa"
QUIET: Final = ("runner.progress=false",)
WORKER: Final = b"ray::_work"
"""The name of a Ray process that does a shard."""


def started(home: Path, *overrides: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "aiq", "run", *overrides, *QUIET]
    return subprocess.Popen(command, cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def ended(*processes: subprocess.Popen[str]) -> None:
    for process in processes:
        _, said = process.communicate()
        if process.returncode not in (0, 3):  # 3: more of the offline model's answers failed than the experiment allows
            raise SystemExit(f"{process.args!r} ended with {process.returncode}: {said}")


def content(folder: RunFolder) -> dict[Any, Any]:
    """Reports and values by key; a key's last row counts."""
    reports: dict[Any, Any] = {row.key: (row.status, row.report) for row in every_sample(folder)}
    return reports | {(row.key, row.metric): (row.status, row.parts) for row in every_score(folder)}


def seconds_at_work(folder: RunFolder) -> float:
    """From the start of the first attempt to the end of the last: without the start of processes, and the page."""
    rows = [
        (datetime.fromisoformat(row.timing.started).timestamp(), row.timing.seconds) for row in every_sample(folder)
    ]
    return max(start + seconds for start, seconds in rows) - min(start for start, _ in rows)


class Ways:
    """Each way leaves a run in `home/results/EXPERIMENT/NAME`."""

    def __init__(self, home: Path, samples: int) -> None:
        self.home, self._common = home, (f"experiment={EXPERIMENT}", f"limit={samples}")

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
            raise SystemExit("no Ray worker was found to be killed")
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
                raise SystemExit(f"{name} ended before anything could be killed; take more --samples")
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
    parser.add_argument("--only", nargs="*", metavar="NAME", help="these ways, beside one process")
    args = parser.parse_args(arguments)
    same = True
    with tempfile.TemporaryDirectory() as home:
        ways = Ways(Path(home), args.samples)
        named: dict[str, Callable[[str], None]] = {
            way.__name__: way
            for way in (
                ways.one, ways.processes, ways.shards, ways.slurm, ways.ray, ways.ray_worker_killed,
                ways.ray_driver_killed,
            )
        }  # fmt: skip
        first: dict[Any, Any] = {}
        alone = 0.0
        for name, way in named.items():
            if name != "one" and args.only and name not in args.only:
                continue
            if name in NEEDS and find_spec(NEEDS[name]) is None:
                print(f"{name}: left out, {NEEDS[name]} is not installed")
                continue
            start = time.monotonic()
            way(name)
            seconds, found, work = (
                time.monotonic() - start,
                content(ways.folder(name)),
                seconds_at_work(ways.folder(name)),
            )
            first, alone = first or found, alone or work
            same &= found == first
            said = "the same" if found == first else "OTHERS"
            speed = f"{work:.1f} s of them at work ({alone / work:.2f}x)"
            print(f"{name}: {seconds:.1f} s, {speed}, {len(found)} reports and scores, {said}", flush=True)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
