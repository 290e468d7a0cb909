"""A recording killed at any moment is readable or absent, and `auto` completes it."""

import json
import random
import time
from pathlib import Path
from typing import Any

from aiq.__main__ import main
from aiq.cassettes.store import NoRecording, Store
from tests.experiment.conftest import Workplace

RUN = ("experiment=tiny", "agent.ask=true", "judge.letters.ask=true", "runner.progress=false")


def readable(folder: Path) -> int:
    """Read all exchanges in the folder and return how many there are."""
    count = 0
    for path in (folder / "agent.sqlite", folder / "judge.sqlite"):
        try:
            with Store(path, writes=False) as store:
                count += sum(1 for name in store.names() for _ in store.exchanges(name))
        except NoRecording:
            pass
    return count


def rows(here: Workplace, run: Path) -> list[Any]:
    """All rows of a run's samples and scores, without times."""
    kept = [{**row, "timing": None} for name in ("samples", "scores") for row in here.lines(run / f"{name}.jsonl")]
    return sorted(json.dumps(row, sort_keys=True) for row in kept)


def test_a_recording_survives_every_kill_and_auto_completes_it(here: Workplace) -> None:
    here.write_samples({f"s{number}": f"question number {number}" for number in range(12)})
    whole = rows(here, here.ran(*RUN[1:], "cassette=record", "cassette.dir=whole"))
    rng, asked = random.Random(13), here.endpoint.asked
    codes, counts = [], []
    for mode in ("record", "auto"):
        limit = len(asked) + rng.randrange(16)
        with here.start(*RUN, f"cassette={mode}", "cassette.dir=killed") as child:
            while len(asked) <= limit and child.returncode is None:
                time.sleep(0.005)
            time.sleep(rng.uniform(0, 0.02))
            child.kill()  # it may have ended already: `auto` has little left to ask
            codes.append(child.wait())
        counts.append(readable(here.path / "killed"))
    assert -9 in codes, "the runs ended before they were killed"
    assert any(0 < count < 24 for count in counts), counts

    runs = set(here.runs())
    assert main(["run", *RUN, "cassette=auto", "cassette.dir=killed"]) == 0
    before_replay = len(asked)
    assert main(["run", *RUN, "cassette=replay", "cassette.dir=killed"]) == 0
    assert len(asked) == before_replay
    completed, replayed = sorted(set(here.runs()) - runs)
    assert rows(here, completed) == rows(here, replayed) == whole
    for account in ("agent", "judge"):
        with Store(here.path / f"killed/{account}.sqlite", writes=False) as store:
            assert set(store.names().values()) == {True}
    assert sorted(path.name for path in here.path.glob("killed/*")) == ["agent.sqlite", "judge.sqlite"]
