"""Frames of finished runs, from runs in the layout's first version."""

import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import aiq
from aiq.core.errors import UserError
from aiq.runs.frames import COLUMNS

ROOT = Path(__file__).resolve().parent.parent.parent
RUN = ROOT / "tests" / "experiment" / "version_1"


def made(folder: Path, **manifest: Any) -> Path:
    """A copy of the run, under the name of its folder."""
    shutil.copytree(RUN, folder)
    original = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**original, "run_id": folder.name, **manifest}))
    return folder


def test_frames_hold_the_last_attempts_and_their_scores(tmp_path: Path) -> None:
    made(tmp_path / "tiny" / "old")
    new = made(tmp_path / "tiny" / "new", sweep={"id": "sweep", "job": 1, "axes": {"seed": "2"}})
    first = json.loads((new / "samples.jsonl").read_text().splitlines()[0])
    with (new / "samples.jsonl").open("a") as file:  # a second attempt, not scored yet
        file.write(json.dumps({**first, "attempt": 2, "report": "another"}) + "\n")
    frames = aiq.load_runs("old", new, results=tmp_path)
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


def test_runs_and_metrics_are_those_of_the_summaries(tmp_path: Path) -> None:
    run = made(tmp_path / "tiny" / "one")
    summary = json.loads((run / "summary.json").read_text())
    frames = aiq.load_runs(run)
    (row,) = frames.runs.to_dict("records")
    assert (row["n_samples"], row["n_errors"], row["status"]) == (summary["n_samples"], summary["n_errors"], "finished")
    for account, usage in summary["usage"].items():
        assert row[f"{account}_input_tokens"] == usage["total"]["input_tokens"]
    overall = frames.metrics[frames.metrics.tag.isna()].set_index("metric")
    assert list(overall.index) == list(summary["metrics"])
    for name, metric in summary["metrics"].items():
        assert [overall["mean"][name], overall["n"][name]] == [metric["mean"], metric["n"]]
        interval = metric["ci95"] or [math.nan, math.nan]
        assert [overall.ci_low[name], overall.ci_high[name]] == pytest.approx(interval, nan_ok=True)
    slices = frames.metrics[frames.metrics.tag == "kind"].set_index(["tag_value", "metric"])["mean"]
    assert slices["red", "letters.count"] == summary["slices"]["kind"]["red"]["letters.count"]["mean"]


def test_scores_of_an_older_version_of_a_judge_are_left_out(tmp_path: Path) -> None:
    run = made(tmp_path / "tiny" / "one")
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["hashes"]["judges"]["letters"] = "changed"
    (run / "manifest.json").write_text(json.dumps(manifest))
    scores = aiq.load_runs(run).scores
    assert len(scores) == 0
    assert list(scores.columns) == list(COLUMNS["scores"])
    assert scores.value.dtype == float


NAMES = {
    "(none)": ((), ["a/1", "a/2", "b/s/2", "b/s/10"]),
    "run": (("a/2",), ["a/2"]),
    "id": (("2",), ["a/2"]),
    "experiment: its latest": (("a",), ["a/2"]),
    "sweep by id": (("s",), ["b/s/2", "b/s/10"]),
    "folder": (("{results}/b",), ["b/s/2", "b/s/10"]),
    "pattern": (("a/*",), ["a/1", "a/2"]),
    "absolute pattern": (("{results}/*/[1s]",), ["a/1", "b/s/2", "b/s/10"]),
    "several, one of them twice": (("a/2", "a/*"), ["a/2", "a/1"]),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    for name in ("a/1", "b/s/10", "b/s/2", "a/2"):
        made(folder / name)
    return folder


@pytest.mark.parametrize(("names", "found"), NAMES.values(), ids=NAMES)
def test_load_runs_finds_runs(results: Path, names: tuple[str, ...], found: list[str]) -> None:
    frames = aiq.load_runs(*(name.format(results=results) for name in names), results=results)
    assert [str(folder.path.relative_to(results)) for folder in frames.folders] == found


@pytest.mark.parametrize("name", ["absent", "absent/*", "{empty}"])
def test_a_name_without_a_run_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match=r"no runs? "):
        aiq.load_runs(name.format(empty=tmp_path), results=str(tmp_path))


def test_the_reference_documents_every_column() -> None:
    page = (ROOT / "docs/reference/frames.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## `(\w+)`\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
    rows = {name: re.findall(r"^\| (`.*?) \|", text, re.MULTILINE) for name, text in sections}
    written = {
        name: [column for row in cells for column in re.findall(r"`(\w+)`", row)] for name, cells in rows.items()
    }
    assert written == {name: list(columns) for name, columns in COLUMNS.items()}
