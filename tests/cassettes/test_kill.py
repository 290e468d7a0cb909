"""A recording that is killed at any moment is readable or absent, and `auto` completes it."""

import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from aiq.__main__ import main
from aiq.cassettes.store import NoRecording, Store
from tests.experiment.conftest import Workplace

pytestmark = pytest.mark.slow

TURNS = ("record", "auto", "auto", "record", "auto")
FOLDERS = 2
RUN = ("experiment=tiny", "agent.ask=true", "judge.letters.ask=true", "runner.progress=false")

KILLED = f"""
import os, sys
from aiq.__main__ import main

def run(*own):
    return main(["run", *{RUN!r}, *own])

said, sys.stdout, sys.stderr = sys.stdout, open(os.devnull, "w"), open(os.devnull, "w")
assert run("cassette=record", "cassette.dir=whole") == 0
for folder in range({FOLDERS}):
    for mode in {TURNS!r}:
        child = os.fork()
        if child == 0:
            sys.stdin.readline()
            os._exit(run(f"cassette={{mode}}", f"cassette.dir=killed/{{folder}}"))
        print(folder, child, file=said, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=said, flush=True)
"""


def readable(folder: Path) -> int:
    """How many exchanges are there, all of which can be read."""
    count = 0
    for path in (folder / "agent.sqlite", folder / "judge.sqlite"):
        try:
            with Store(path, writes=False) as store:
                count += sum(1 for name in store.names() for _ in store.exchanges(name))
        except NoRecording:
            pass
    return count


def rows(here: Workplace, run: Path) -> list[Any]:
    """All that a run says of its samples and scores, but for times."""
    kept = [{**row, "timing": None} for name in ("samples", "scores") for row in here.lines(run / f"{name}.jsonl")]
    return sorted(json.dumps(row, sort_keys=True) for row in kept)


def test_a_recording_survives_every_kill_and_auto_completes_it(here: Workplace) -> None:
    here.write_samples({f"s{number}": f"question number {number}" for number in range(12)})
    moments, asked = random.Random(13), here.endpoint.asked
    with subprocess.Popen(
        [sys.executable, "-c", KILLED], cwd=here.path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        ends, found = [], []
        for line in process.stdout:
            folder, child = map(int, line.split())
            until = len(asked) + moments.randrange(16)
            process.stdin.write("\n")
            process.stdin.flush()
            ended = select.poll()
            ended.register(process.stdout)
            while len(asked) <= until and not ended.poll(1):
                pass
            time.sleep(moments.uniform(0, 0.02))
            with suppress(ProcessLookupError):  # an `auto` that had little left to ask
                os.kill(child, signal.SIGKILL)
            ends.append(int(process.stdout.readline()))
            found.append(readable(here.path / "killed" / str(folder)))
    assert len(ends) == FOLDERS * len(TURNS)
    assert ends.count(-9) >= FOLDERS, "the runs ended before they were killed"
    assert any(0 < count < 24 for count in found), found

    whole = rows(here, here.runs()[0])
    for folder in range(FOLDERS):
        before = set(here.runs())
        assert main(["run", *RUN, "cassette=auto", f"cassette.dir=killed/{folder}"]) == 0
        before_replay = len(asked)
        assert main(["run", *RUN, "cassette=replay", f"cassette.dir=killed/{folder}"]) == 0
        assert len(asked) == before_replay
        completed, replayed = sorted(set(here.runs()) - before)
        assert rows(here, completed) == rows(here, replayed) == whole
        for account in ("agent", "judge"):
            with Store(here.path / "killed" / str(folder) / f"{account}.sqlite", writes=False) as store:
                assert set(store.names().values()) == {True}
        assert sorted(path.name for path in here.path.glob(f"killed/{folder}/*")) == ["agent.sqlite", "judge.sqlite"]
