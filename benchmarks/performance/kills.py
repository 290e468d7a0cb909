"""Runs that are killed: python -m benchmarks.performance.kills [--runs N] [--seed N].

Each run gets a `kill -9` at a random moment: after a number of bytes written to any files, perhaps in the middle of a
line, or at a number of model requests. It is restarted until it is finished (and sometimes killed again). The exit code
is 1 if reports, scores or estimates differ from those of an undisturbed run, events are missing, or a question of a
finished attempt or judgement was asked twice.
"""

import io
import json
import multiprocessing
import os
import signal
import sys
import traceback
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

from aiq.runs.events import EventReader
from aiq.runs.folder import RunFolder
from aiq.runs.reader import every_sample
from benchmarks.performance.echo import Endpoint, make_place
from benchmarks.performance.scale import content

SAMPLES: Final = 12
AGAIN: Final = 0.3
"""Probability that a restarted run is killed again."""
WAYS: Final = {
    "agent asks": ("agent.ask=true",),
    "judge asks": ("judge.letters.ask=true",),
    "both ask": ("agent.ask=true", "judge.letters.ask=true"),
    "two shards": ("agent.ask=true", "judge.letters.ask=true"),
}
COMMON: Final = ("experiment=echo", "runner.concurrency=4")
_FORKS: Final = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    [
        *("openai.resources.chat", "httpcore2", "anyio._backends._asyncio", "bm25s", "scipy.special"),
        *("aiq.run", "aiq.commands.run", "aiq.datasets.questions", "aiq.experiment.launchers.processes"),
        *("aiq.experiment.shards", "aiq.site.pages", "aiq.site.progress", "aiq.site.tables"),
        *("aiq.tools.providers.corpus", "aiq.tools.toolbox", "benchmarks.performance.echo"),
    ]
)


class Burning(io.FileIO):
    """A file that kills its process once `left` bytes have been written to all such files; the last write is cut."""

    left: int

    def write(self, data: Any) -> int:
        if len(data) >= Burning.left:
            super().write(bytes(data)[: Burning.left])
            os.kill(os.getpid(), signal.SIGKILL)
        Burning.left -= len(data)
        return super().write(data)


def burning_open(file: Any, mode: str = "r", buffering: int = -1, *args: Any, **more: Any) -> Any:
    """Replaces `open`; leaves alone reading, and temporary files, which have an opener."""
    if not set(mode) & {*"wax"} or isinstance(file, int) or "opener" in more:
        return _OPEN(file, mode, buffering, *args, **more)
    raw = Burning(file, mode.replace("b", "").replace("t", ""))
    if buffering == 0:
        return raw
    buffered = io.BufferedWriter(raw)
    return buffered if "b" in mode else io.TextIOWrapper(buffered, *args, **more)


_OPEN: Final = io.open


def run(place: Path, arguments: Sequence[str], burns_after: int | None) -> None:
    """Run `aiq run ARGUMENTS` in this child process and exit with its code; its output goes to the file `said`."""
    from aiq.__main__ import main as aiq

    os.chdir(place)
    sys.path.insert(0, str(place))
    sys.stdout = sys.stderr = _OPEN("said", "w", buffering=1, encoding="utf-8")
    if burns_after is not None:
        Burning.left = burns_after
        io.open = burning_open
    try:
        code = aiq(["run", *arguments])
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.exit(code)


class Deadly(Endpoint):
    """Kills its client after `after` requests, before it answers the next one."""

    def __init__(self) -> None:
        super().__init__()
        self.victim: ForkServerProcess | None = None
        self.after = 0

    def asks(self, text: str) -> None:
        super().asks(text)
        self.after -= 1
        if self.victim is not None and self.after < 0:
            self.victim.kill()
            self.victim = None


class Killed:
    """One run, killed and restarted; `wrong`: what is not as it should be."""

    def __init__(self, place: Path, endpoint: Deadly, random: Random, size: int) -> None:
        self._place, self._endpoint, self._random, self._size = place, endpoint, random, size
        self.kills = 0
        self.wrong: list[str] = []

    def to_its_end(self, folder: RunFolder, overrides: Sequence[str], shard: str | None = None) -> None:
        dies = True
        while True:
            is_new = shard or not folder.manifest_path.exists()
            name = folder.path.relative_to(self._place)
            command = [*COMMON, *overrides, f"run_id={folder.path.name}"] if is_new else [f"resume={name}"]
            finished, asked_before = _paid_questions(folder), self._endpoint.asked.copy()
            code = self._run_once([*command, *([f"shard={shard}"] if shard else [])], dies)
            if repeated := [text for text in finished if self._endpoint.asked[text] > asked_before[text]]:
                self.wrong.append(f"asked again: {repeated}")
            if code == 0:
                return
            if code != -signal.SIGKILL:
                self.wrong.append(f"exit code {code}: {(self._place / 'said').read_text()}")
                return
            self.kills += 1
            dies = self._random.random() < AGAIN

    def _run_once(self, arguments: Sequence[str], dies: bool) -> int | None:
        by_bytes = dies and self._random.random() < 0.6
        burns_after = self._random.randrange(self._size) if by_bytes else None
        process = _FORKS.Process(target=run, args=(self._place, arguments, burns_after))
        self._endpoint.after = self._random.randrange(SAMPLES)
        self._endpoint.victim = process if dies and not by_bytes else None
        process.start()
        process.join()
        self._endpoint.victim = None
        return process.exitcode


def _paid_questions(folder: RunFolder) -> set[str]:
    """The questions that finished attempts and complete judgements have paid for, read directly from the journals."""
    rows = [row for path in folder.journals("samples") for row in _lines(path) if row["status"] == "completed"]
    scores = Counter(row["sample_id"] for path in folder.journals("scores") for row in _lines(path))
    judged = {f"judge: {row['report']}" for row in rows if scores[row["sample_id"]] >= 2}
    return judged | {row["question"] for row in rows}


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.endswith("\n"):
            yield json.loads(line)


def found_in(folder: RunFolder) -> tuple[Any, ...]:
    """What must be the same in a killed and an undisturbed run."""
    bounds = {}
    with closing(EventReader(folder)) as events:
        for row in every_sample(folder):
            types = [event["type"] for event in events.read(row.key, row.attempt)]
            bounds[row.key] = (types[0], types[-1], types.count("model_called"))
    summary, manifest = folder.read_summary(), folder.read_manifest()
    return content(folder), bounds, summary.metrics, summary.statuses, manifest.status, folder.page_path.exists()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = ArgumentParser(prog="python -m benchmarks.performance.kills", description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(arguments)
    broken, kills = 0, Counter[str]()
    with TemporaryDirectory() as home, closing(Deadly()) as endpoint:
        place = Path(home)
        make_place(place, SAMPLES, endpoint.base_url)
        undisturbed = {}
        for name, overrides in WAYS.items():
            folder = RunFolder(place / f"results/echo/undisturbed-{name.replace(' ', '-')}")
            undisturbed[name] = Killed(place, endpoint, Random(0), 1), folder
            process = _FORKS.Process(
                target=run, args=(place, [*COMMON, *overrides, f"run_id={folder.path.name}"], None)
            )
            process.start()
            process.join()
            if process.exitcode:
                raise SystemExit((place / "said").read_text())
        expected = {name: found_in(folder) for name, (_, folder) in undisturbed.items()}
        size = sum(path.stat().st_size for path in folder.path.rglob("*"))
        for number in range(args.runs):
            name = list(WAYS)[number % len(WAYS)]
            folder = RunFolder(place / f"results/echo/run-{number}")
            killed = Killed(place, endpoint, Random(f"{args.seed} {number}"), size)
            for shard in ("1/2", "2/2") if name == "two shards" else (None,):
                killed.to_its_end(folder, WAYS[name], shard)
            if not killed.wrong and (state := found_in(folder)) != expected[name]:
                killed.wrong += [
                    f"{is_!r} instead of {was!r}" for is_, was in zip(state, expected[name], strict=True) if is_ != was
                ]
            kills[name] += killed.kills
            for problem in killed.wrong:
                print(f"run {number} ({name}, {killed.kills} kills): {problem}", flush=True)
            broken += bool(killed.wrong)
    print(f"{args.runs} runs, killed {kills.total()} times ({dict(kills)}): {broken} had a different outcome")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
