"""The planner on the real offline stack, over the closed world and over the events server."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from aiq.__main__ import main
from aiq.tools.mcp.events_server import make_server
from tests.experiment.conftest import Workplace
from tests.tools.conftest import serving
from tests.tools.mcp.shipped_events import shipped_engine

EVENTS = [f"tools.mcp.events.command=[{sys.executable},-m,aiq,mcp,events]"]
if "PYTHONPATH" in os.environ:
    EVENTS.append("tools.mcp.events.env=[PYTHONPATH]")


def ran(folder: Path, name: str, *overrides: str) -> list[dict[str, Any]]:
    """The rows of a run, by sample."""
    options = ["runner.progress=false", f"name={name}", *overrides]
    assert main(["run", *options]) == 0
    rows = Workplace.lines(run_of(folder, name) / "samples.jsonl")
    return sorted(rows, key=lambda row: str(row["sample_id"]))


def run_of(folder: Path, name: str) -> Path:
    (run,) = folder.glob(f"results/{name}/*-*")
    return run


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(["experiment=planner_freshqa", "limit=2", "judge=[citation_audit]"], id="web"),
        pytest.param(
            ["experiment=planner_events", "dataset.ids=[9,22]", *EVENTS], id="events", marks=pytest.mark.whole
        ),
    ],
)
def test_two_runs_are_the_same_whatever_the_concurrency(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    first = ran(tmp_path, "one", *asked, "runner.concurrency=1", "agent.calls.at_once=1")
    second = ran(tmp_path, "two", *asked, "runner.concurrency=8")
    assert [row | {"timing": None} for row in first] == [row | {"timing": None} for row in second]
    assert Workplace.values(run_of(tmp_path, "one")) == Workplace.values(run_of(tmp_path, "two"))
    assert all(row["status"] == "completed" and row["extras"]["documents"] for row in first)
    assert all(row["audit"]["removed_citations"] == [] for row in first if row["audit"])


@contextmanager
def over_stdio() -> Iterator[list[str]]:
    yield EVENTS


@contextmanager
def over_http() -> Iterator[list[str]]:
    with serving(make_server(shipped_engine()).streamable_http_app(), lifespan="on") as port:
        yield ["tools.mcp.events.command=null", f"tools.mcp.events.url=http://127.0.0.1:{port}/mcp"]


@pytest.mark.parametrize("served", [over_stdio, pytest.param(over_http, marks=pytest.mark.whole)])
def test_a_scan_over_the_events_server_is_replayed_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: Callable[[], AbstractContextManager[list[str]]]
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["experiment=planner_events", "dataset.ids=[14]", "cassette.dir=recording"]
    with served() as events:
        (row,) = ran(tmp_path, "recorded", *options, "cassette=record", *events)
    extras = row["extras"]
    assert row["status"] == "completed"
    assert 0 < extras["documents"] <= 300
    assert extras["coverage"] == round(100 * extras["documents"] / extras["total_documents"], 1)
    assert row["audit"]["removed_citations"] == []
    assert row["audit"]["valid_citations"]

    (replayed,) = ran(tmp_path, "replayed", *options, "cassette=replay", "tools.mcp.events.command=[no-such-program]")
    assert replayed | {"timing": None} == row | {"timing": None}
    assert Workplace.values(run_of(tmp_path, "replayed")) == Workplace.values(run_of(tmp_path, "recorded"))
