"""What a run keeps in memory and on disk: python -m benchmarks.performance.memory [--small].

1,000, 10,000 and 100,000 echo samples (`benchmarks.performance.echo`) go through the whole harness, page included, in
separate processes. Then the run of 10,000 is resumed with nothing left to do, and compared with a run of one of its
samples (`limit=1`): the cost of reading settings and dataset, starting and ending. The exit code is 1 if a promise is
broken.
"""

import os
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.performance.echo import Endpoint, make_place

ROOT: Final = Path(__file__).parents[2]
MOST_GROWTH: Final = 1.25  # growth of peak memory, for ten times the samples
MOST_RESUME: Final = 1.2  # relative to the processor time of a run of one sample of the same dataset
MOST_FILES: Final = 200
LINEAR: Final = 1.05  # growth of bytes per sample on disk, for ten times the samples, whose numbers have one more digit
TIMES: Final = 5  # starts, of which the median counts


@dataclass(frozen=True)
class Cost:
    """Cost of a process: peak resident memory in MB, processor seconds."""

    megabytes: float
    seconds: float


def ran(place: Path, *overrides: str) -> Cost:
    """The cost of `aiq run` in that folder. Raises SystemExit if it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with (place / "said").open("w+") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "aiq", "run", *overrides],
            cwd=place,
            env={**environment, "PYTHONPATH": str(ROOT)},
            stdout=log,
            stderr=log,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"aiq run {' '.join(overrides)}: {(place / 'said').read_text()}")
    return Cost(usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime)


def files_of(run: Path) -> list[Path]:
    return [path for path in run.rglob("*") if path.is_file()]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = ArgumentParser(prog="python -m benchmarks.performance.memory", description=__doc__)
    parser.add_argument("--small", action="store_true", help="does it run? a tenth of the samples, no promises")
    small = parser.parse_args(arguments).small
    sizes = (100, 1_000, 10_000) if small else (1_000, 10_000, 100_000)
    costs: dict[int, Cost] = {}
    on_disk: dict[int, float] = {}
    with TemporaryDirectory() as folder, closing(Endpoint()) as endpoint:
        for samples in sizes:
            home = Path(folder, str(samples))
            make_place(home, samples, endpoint.base_url)
            costs[samples] = ran(home, "experiment=echo", "run_id=run")
            files = files_of(home / "results/echo/run")
            on_disk[samples] = sum(path.stat().st_size for path in files if path.suffix == ".jsonl") / samples
            megabytes, milliseconds = costs[samples].megabytes, 1000 * costs[samples].seconds / samples
            print(
                f"{samples:,} samples: {megabytes:.0f} MB at most, {milliseconds:.2f} ms of processor time a sample, "
                f"{on_disk[samples]:.0f} bytes of journals a sample, {len(files)} files"
            )
        few, many, most = sizes
        single, resumed = [], []
        for number in range(1 if small else TIMES):  # in turns
            single.append(ran(Path(folder, str(many)), "experiment=echo", f"run_id=one-{number}", "limit=1"))
            resumed.append(ran(Path(folder, str(many)), "resume=results/echo/run"))
        start, resume = (median(cost.seconds for cost in costs) for costs in (single, resumed))
    print(
        f"a run of 1 of {many:,} samples: {start:.2f} s of processor time, {single[0].megabytes:.0f} MB; "
        f"resuming a finished run of all: {resume:.2f} s, {resumed[0].megabytes:.0f} MB"
    )
    growth = {n: costs[n].megabytes / costs[few].megabytes for n in (many, most)}
    promises = {
        f"{many:,} samples in at most {MOST_GROWTH}x the memory of {few:,}: {growth[many]:.2f}x": (
            growth[many] <= MOST_GROWTH
        ),
        f"{most:,} samples in at most {MOST_GROWTH}x the memory of {few:,}: {growth[most]:.2f}x": (
            growth[most] <= MOST_GROWTH
        ),
        f"journals are linear: {on_disk[most] / on_disk[few]:.3f}x the bytes a sample": (
            on_disk[most] <= LINEAR * on_disk[few]
        ),
        f"{len(files)} files, fewer than {MOST_FILES}": len(files) < MOST_FILES,
        f"resumed in under {MOST_RESUME}x of a run of 1 of the samples: {resume / start:.2f}x": (
            resume < MOST_RESUME * start
        ),
    }
    for promise, is_kept in promises.items():
        print(f"{'kept  ' if is_kept else 'BROKEN'} {promise}")
    return 0 if small or all(promises.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
