"""The shipped experiments on the real offline stack, in this process: what the first command of a user does."""

import json
from pathlib import Path

import pytest

from aiq.__main__ import main


def last_run() -> Path:
    return max(Path("results").glob("*/*"), key=lambda path: path.name)


@pytest.mark.parametrize("experiment", ["shallow_freshqa", "deep_drb"])
def test_a_shipped_experiment_runs_without_key_and_network(
    experiment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", f"experiment={experiment}", "limit=2"]) == 0
    out = capsys.readouterr().out
    assert "Made with the offline model" in out
    run = last_run()
    summary = json.loads((run / "summary.json").read_text())
    assert summary["statuses"] == {"completed": 2}
    assert summary["cost_usd"] == 0
    assert summary["judge_errors"] == {}
    assert summary["usage"]["agent"]["total"]["calls"] > 2
    row = json.loads((run / "samples.jsonl").read_text().splitlines()[0])
    assert all(".offline.example" in source["url"] for source in row["sources"])
    assert {path.name for path in tmp_path.iterdir()} == {"results"}
    assert main(["show", "latest", row["sample_id"]]) == 0
    assert "tool web_search_tool" in capsys.readouterr().out
