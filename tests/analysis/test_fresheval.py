"""The official FreshEval table of a run, against counts by hand and over a real run."""

import json
from pathlib import Path
from typing import Any

import pytest

from aiq.__main__ import main
from aiq.analysis.fresheval import fresheval_tables
from aiq.core.errors import UserError
from aiq.runs.folder import RunFolder

VERSION_1 = Path(__file__).resolve().parent.parent / "experiment" / "version_1"
TIMING = {"started": "2026-11-01T09:00:00+00:00", "seconds": 1.0}


def sample(key: str, epoch: int = 1, **tags: str) -> dict[str, Any]:
    return {
        "sample_id": key, "sample_hash": "h", "epoch": epoch, "attempt": 1, "status": "completed", "question": "?",
        "tags": {"false_premise": "FALSE", "num_hops": "one-hop", **tags}, "report": "r", "timing": TIMING,
    }  # fmt: skip


def score(key: str, value: float | None, epoch: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "sample_id": key, "epoch": epoch, "attempt": 1, "judge": "fresheval", "judge_hash": "j", "judge_version": "1",
        "judge_model": "m", "prompt_hash": "p", "metric": "fresheval.relaxed",
        "status": "error" if value is None else "scored", "value": value, **more,
    }  # fmt: skip


def run_of(path: Path, samples: list[dict[str, Any]], scores: list[dict[str, Any]]) -> RunFolder:
    manifest = json.loads((VERSION_1 / "manifest.json").read_text())
    manifest["hashes"]["judges"] = {"fresheval": "j", "other": "j"}
    (path / "manifest.json").write_text(json.dumps(manifest))
    for name, rows in (("samples", samples), ("scores", scores)):
        (path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return RunFolder(path)


def test_kinds_and_splits_agree_with_counts_by_hand(tmp_path: Path) -> None:
    samples = [
        sample("1", split="TEST", fact_type="fast-changing", age="new"),
        sample("2", split="TEST", fact_type="fast-changing", age="old"),
        sample("3", split="DEV", fact_type="never-changing", num_hops="multi-hop", age="old"),
        sample("4", split="TEST", fact_type="fast-changing", false_premise="TRUE", age="old"),
        sample("5", split="DEV", fact_type="slow-changing"),
        sample("5", 2, split="DEV", fact_type="slow-changing"),
        sample("6", split="DEV", fact_type="slow-changing"),
    ]
    scores = [
        *[score("1", 0), score("1", 1), score("2", 0), score("3", 1), score("4", 0, status="agent_failed")],
        *[score("5", 1), score("5", 0, 2), score("6", None), score("2", 1, attempt=2)],
        score("1", 0, judge_hash="before its prompt changed"),
    ]
    (table,) = fresheval_tables(run_of(tmp_path, samples, scores))
    accuracies = {(k, s): (cell.percent, cell.n) for k, cells in table.accuracies.items() for s, cell in cells.items()}
    assert accuracies["overall", "all"] == (50.0, 5)  # 1, 0, 1, 0, and 0.5 of two epochs
    assert accuracies["overall", "test"][0] == pytest.approx(100 / 3)
    assert accuracies["overall", "dev"] == (75.0, 2)
    assert accuracies["fast-changing", "all"] == (50.0, 2)  # without the question whose premise is false
    assert accuracies["valid premise, old", "all"] == (50.0, 2)
    assert accuracies["valid premise, new", "test"] == (100.0, 1)
    assert accuracies["valid premise, multi-hop", "dev"] == (100.0, 1)
    assert accuracies["false premise, one-hop", "test"] == (0.0, 1)
    assert ("false premise, new", "all") not in accuracies
    assert table.unjudged == 1


def test_a_run_without_fresheval_says_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no scores of judge fresheval"):
        fresheval_tables(run_of(tmp_path, [sample("1")], [score("1", 1, judge="other")]))


def test_a_real_run_prints_the_table(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "experiment=shallow_freshqa", "limit=2", "judge.fresheval.mode=both"]) == 0
    run = next(tmp_path.glob("results/*/*/manifest.json")).parent
    summary = json.loads((run / "summary.json").read_text())
    capsys.readouterr()
    assert main(["fresheval", "latest"]) == 0
    out = capsys.readouterr().out
    percent = f"{100 * summary['metrics']['fresheval.strict']['mean']:.1f}"
    strict = out[out.index("fresheval.strict") :]
    assert percent in next(line for line in strict.splitlines() if line.startswith("overall"))
    assert "Made with the offline model" in out
    assert main(["fresheval", "nowhere"]) == 2
