"""Frames of finished runs, and the summary worked out from a folder alone; from a run of the layout's first version."""

import json
import shutil
from pathlib import Path

import pytest

import aiq
from aiq.core.errors import UserError
from aiq.core.reports import Metric
from aiq.core.settings import RunnerSettings
from aiq.runs.folder import RunFolder
from aiq.runs.manifest import JudgeSpec, RunSpec
from aiq.runs.reader import every_sample, every_score, read_samples
from aiq.runs.state import RunState
from aiq.runs.summary import summarise

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
    with pytest.raises(UserError, match="no run folder"):
        aiq.load_runs("absent", results=str(tmp_path))


def test_the_summary_comes_from_manifest_and_rows_alone() -> None:
    folder = RunFolder(RUN)
    written = folder.read_summary()
    estimators = {name: estimate.estimator for name, estimate in written.metrics.items()}
    worst = {"letters.count": 0.0}
    metrics = tuple(Metric(name=n, estimator=kind, worst=worst.get(n)) for n, kind in estimators.items())
    manifest = folder.read_manifest()
    judge = JudgeSpec(name="letters", version="1", hash=manifest.hashes.judges["letters"], metrics=metrics)
    manifest = manifest.with_judges([judge])
    runner = manifest.section("runner", RunnerSettings)
    state = RunState(RunSpec(tuple(read_samples(folder)), manifest.judges, runner))
    state.add_scores(every_score(folder))
    for row in every_sample(folder):
        state.add_attempt(row)
    found = summarise(manifest, state, written.timing.run_seconds)
    assert found.model_dump(exclude={"metrics", "slices", "routes", "agent_failures"}) == written.model_dump(
        exclude={"metrics", "slices", "routes", "agent_failures"}
    )
    for name, estimate in written.metrics.items():
        assert found.metrics[name].mean == pytest.approx(estimate.mean)
        assert found.metrics[name].ci95 == pytest.approx(estimate.ci95)
    assert found.agent_failures.failed == written.agent_failures.failed
    assert list(found.routes) == list(written.routes)
