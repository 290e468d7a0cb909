"""Frames of finished runs, from a run of the layout's first version."""

import json
import shutil
from pathlib import Path

import pytest

import aiq
from aiq.core.errors import UserError

RUN = Path(__file__).resolve().parent.parent / "experiment" / "version_1"


def test_frames_hold_the_last_attempts_and_their_scores(tmp_path: Path) -> None:
    old, new = tmp_path / "tiny" / "old", tmp_path / "tiny" / "new"
    for folder, axes in ((old, None), (new, {"id": "sweep", "job": 1, "axes": {"seed": "2"}})):
        shutil.copytree(RUN, folder)
        manifest = json.loads((folder / "manifest.json").read_text())
        (folder / "manifest.json").write_text(json.dumps({**manifest, "run_id": folder.name, "sweep": axes}))
    first = json.loads((new / "samples.jsonl").read_text().splitlines()[0])
    with (new / "samples.jsonl").open("a") as file:  # a second attempt, not scored yet
        file.write(json.dumps({**first, "attempt": 2, "report": "another"}) + "\n")
    frames = aiq.load_runs("old", str(new), results=str(tmp_path))
    assert frames.samples.groupby("run_id").size().to_dict() == {"new": 8, "old": 8}
    assert frames.scores.groupby("run_id").size().to_dict() == {"new": 21, "old": 24}
    assert set(frames.samples["tag.kind"]) == {"red", "blue"}
    assert frames.samples["axis.seed"].dropna().unique().tolist() == ["2"]
    assert frames.samples["report"].tolist().count("another") == 1
    counts = frames.scores[frames.scores.metric == "letters.count"]
    assert counts.groupby(["run_id", "status"]).value.mean()["old", "scored"] == 13
    assert frames.scores[frames.scores.status == "error"].error.unique().tolist() == ["this report cannot be judged"]
    ratios = frames.scores[(frames.scores.metric == "letters.vowels") & (frames.scores.status == "scored")]
    assert len(ratios) > 0
    assert (ratios.value == ratios.numerator / ratios.denominator).all()
    with pytest.raises(UserError, match="no run folder"):
        aiq.load_runs("absent", results=str(tmp_path))
