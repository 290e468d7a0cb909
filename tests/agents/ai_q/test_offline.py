"""AI-Q on the real offline stack and the closed world that ships with it."""

import json
from pathlib import Path

import pytest

from aiq.__main__ import main
from aiq.core.samples import SampleKey
from aiq.runs.events import events_of
from aiq.runs.folder import RunFolder


def test_more_rounds_state_more_of_what_the_task_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scores = []
    for loops in (1, 2):
        options = ["dataset.ids=[1]", "judge=[world]", "runner.progress=false", f"name=rounds-{loops}"]
        few = ["agent.deep.max_researcher_calls=2", "agent.deep.max_searches_per_researcher=3"]
        assert main(["run", "experiment=deep_drb", f"agent.deep.max_loops={loops}", *few, *options]) == 0
        folder = next(tmp_path.glob(f"results/rounds-{loops}/*"))
        row, score = (json.loads((folder / f"{kind}.jsonl").read_text("utf-8")) for kind in ("samples", "scores"))
        scores.append(score["value"])
        events = events_of(RunFolder(folder), SampleKey("1", 1), row["attempt"])
        rounds = [event for event in events if event["type"] == "round"]
        assert [event["number"] for event in rounds] == list(range(1, loops + 1))
        assert all(event["queries"] and event["new_sources"] for event in rounds)
        assert row["audit"]["removed_citations"] == []
        assert len(row["audit"]["valid_citations"]) >= 5
    assert scores[0] < scores[1]
