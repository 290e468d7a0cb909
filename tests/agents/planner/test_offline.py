"""The planner on the real offline stack, over the closed world and over the events server."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from aiq.__main__ import main

EVENTS = [f"tools.mcp.events.command=[{sys.executable},-m,aiq,mcp,events]"]
if "PYTHONPATH" in os.environ:
    EVENTS.append("tools.mcp.events.env=[PYTHONPATH]")


def ran(folder: Path, name: str, *overrides: str) -> list[dict[str, Any]]:
    """The rows of a run, by sample."""
    given = ["runner.progress=false", f"name={name}", *overrides]
    assert main(["run", *given]) == 0
    (run,) = folder.glob(f"results/{name}/*-*")
    rows = [json.loads(line) for line in (run / "samples.jsonl").read_text("utf-8").splitlines()]
    return sorted(rows, key=lambda row: str(row["sample_id"]))


@pytest.mark.slow
def test_two_runs_over_the_web_are_the_same_whatever_the_concurrency(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = ["experiment=planner_freshqa", "limit=3", "judge=[citation_audit]"]
    first = ran(tmp_path, "one", *asked, "runner.concurrency=1", "agent.calls.at_once=1")
    second = ran(tmp_path, "two", *asked, "runner.concurrency=3")
    assert [row["report"] for row in first] == [row["report"] for row in second]
    assert [row["sources"] for row in first] == [row["sources"] for row in second]
    assert all(row["status"] == "completed" and row["extras"]["documents"] for row in first)
    assert all(row["audit"]["removed_citations"] == [] for row in first if row["audit"])


@pytest.mark.slow
def test_a_scan_over_the_events_server_reads_up_to_its_ceiling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (row,) = ran(tmp_path, "events", "experiment=planner_events", "dataset.ids=[2]", *EVENTS)
    extras = row["extras"]
    assert row["status"] == "completed"
    assert 0 < extras["documents"] <= 300
    assert extras["coverage"] == round(100 * extras["documents"] / extras["total_documents"], 1)
    assert row["audit"]["removed_citations"] == []
    assert row["audit"]["valid_citations"]
