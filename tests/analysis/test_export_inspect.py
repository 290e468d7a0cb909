"""A run as an Inspect AI log, read back by Inspect itself; skipped if the extra is not installed."""

import json
import math
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest

from aiq.__main__ import main
from aiq.core.samples import SampleKey
from aiq.runs.events import Account, events_of
from aiq.runs.folder import RunFolder
from aiq.runs.reader import read_samples

log = pytest.importorskip("inspect_ai.log")
export = pytest.importorskip("aiq.analysis.export_inspect").export
transcript = pytest.importorskip("aiq.analysis.export_inspect_events").transcript


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunFolder]:
    """Two questions, twice each: the first reached a limit; at the second, the agent and a judge failed.

    The other attempt at the second one was cancelled.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("inspect"))
        assert main(["run", "experiment=full_freshqa", "limit=2", "epochs=2", "runner.progress=false"]) == 0
        folder = RunFolder(next(Path("results/full_freshqa").iterdir()).absolute())
        rows = [json.loads(line) for line in folder.samples_path.read_text().splitlines()]
        changes: dict[tuple[str, int], dict[str, Any]] = {
            ("1", 2): {"status": "limit", "error": {"type": "LimitReached", "message": "limits.sample_seconds=9"}},
            ("2", 1): {"status": "cancelled", "error": {"type": "CancelledError", "message": "stopped"}},
            ("2", 2): {"status": "failed", "error": {"type": "ValueError", "message": "broken"}},
        }
        rows = [row | changes.get((row["sample_id"], row["epoch"]), {}) for row in rows]
        folder.samples_path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        manifest = json.loads(folder.manifest_path.read_text())
        manifest["config"]["limits"]["sample_seconds"] = 9
        folder.manifest_path.write_text(json.dumps(manifest))
        scores = [json.loads(line) for line in folder.scores_path.read_text().splitlines()]
        for score in scores:
            if (score["sample_id"], score["epoch"], score["metric"]) == ("2", 2, "fresheval.relaxed"):
                score |= {"status": "error", "value": None, "error": {"type": "JudgeError", "message": "no verdict"}}
        folder.scores_path.write_text("".join(json.dumps(row) + "\n" for row in scores))
        yield folder


@pytest.fixture(scope="module")
def read(run: RunFolder, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path, problem = export(run, tmp_path_factory.mktemp("logs"))
    assert problem is None
    return log.read_eval_log(str(path), resolve_attachments=True)


def test_the_log_has_the_numbers_of_the_run(run: RunFolder, read: Any) -> None:
    summary = run.read_summary()
    assert (read.status, read.eval.task, read.eval.config.epochs) == ("success", "full_freshqa", 2)
    assert {
        score.name: score.metrics[estimate.estimator].value
        for score in read.results.scores
        for estimate in [summary.metrics[score.name]]
    } == {name: estimate.mean for name, estimate in summary.metrics.items()}
    assert (read.results.total_samples, read.results.completed_samples) == (4, 2)
    assert read.eval.metadata["aiq"]["hashes"]["config"] == run.read_manifest().hashes.config


def test_samples_have_input_target_output_scores_usage_and_ends(run: RunFolder, read: Any) -> None:
    rows = read_samples(run)
    samples = sorted(read.samples, key=lambda sample: (sample.id, sample.epoch))
    assert [(sample.id, sample.epoch) for sample in samples] == sorted(rows)
    for sample in samples:
        row = rows[SampleKey(sample.id, sample.epoch)]
        assert (sample.input, sample.output.completion) == (row.question, row.report)
        assert sample.target
        assert isinstance(sample.target, list)
        used = {role: usage.total_tokens for role, usage in sample.role_usage.items() if not role.startswith("judge.")}
        assert used == {role: usage.total_tokens for role, usage in row.usage.items()}
    whole, limited, _, failed = samples
    assert whole.scores["fresheval.relaxed"].value in (0, 1)
    assert (whole.error, whole.limit, limited.error, failed.limit) == (None,) * 4
    assert (limited.limit.type, limited.limit.limit) == ("time", 9)
    assert failed.error.message == "ValueError: broken"
    assert math.isnan(failed.scores["fresheval.relaxed"].value)
    assert failed.scores["fresheval.relaxed"].explanation == "no verdict"


def test_the_transcript_has_every_call_in_its_stage(run: RunFolder, read: Any) -> None:
    sample, row = read.samples[0], read_samples(run)[SampleKey("1", 1)]
    recorded = [event for account in get_args(Account) for event in events_of(run, row.key, row.attempt, account)]
    for kind, ours in {"model": "model_called", "tool": "tool_called"}.items():
        assert [event.event for event in sample.events].count(kind) == [event["type"] for event in recorded].count(ours)
    calls = [event for event in sample.events if event.event == "model"]
    expected = [event for event in recorded if event["type"] == "model_called"]
    for call, event in zip(calls, expected, strict=True):
        assert [message.text for message in call.input] == [message["content"] or "" for message in event["messages"]]
        assert call.output.completion == (event["reply"]["content"] or "")
        tool_names = [tool_call["function"]["name"] for tool_call in event["reply"].get("tool_calls") or ()]
        assert [tool_call.function for tool_call in call.output.choices[0].message.tool_calls or ()] == tool_names
    tools = [event for event in sample.events if event.event == "tool"]
    assert tools
    assert all(tool.result and tool.error is None for tool in tools)
    spans = {event.id: event.name for event in sample.events if event.event == "span_begin"}
    assert {"agent", "judges", *(event["stage"] for event in recorded if event["type"] == "stage_changed")} == {
        *spans.values()
    }
    assert {spans[tool.span_id] for tool in tools} <= {"shallow_research", "deep_research"}
    ended = [event.id for event in sample.events if event.event == "span_end"]
    assert sorted(ended) == sorted(spans)


def test_a_dataset_that_has_changed_gives_no_targets(run: RunFolder, tmp_path: Path) -> None:
    manifest = run.read_manifest()
    dataset = manifest.dataset.model_copy(update={"fingerprint": "other"})
    try:
        run.write_manifest(manifest.model_copy(update={"dataset": dataset}))
        path, problem = export(run, tmp_path)
    finally:
        run.write_manifest(manifest)
    assert problem == "the dataset freshqa_mini has changed since the run"
    assert {sample.target for sample in log.read_eval_log(str(path)).samples} == {""}


def test_work_within_a_tool_call_is_a_span_and_ids_may_repeat() -> None:
    def event(kind: str, parent: str | None, **fields: Any) -> dict[str, Any]:
        return {"type": kind, "seq": 0, "time_ns": 0, "parent_id": parent, **fields}

    called = [event("tool_called", None, call_id="a", tool=name, arguments={}) for name in ("first", "second")]
    ended = [event("tool_returned", None, call_id="a", success=True, content=text, sources=[]) for text in "12"]
    inner = event("decision", "a", name="inner")
    events = list(transcript("agent", [called[0], inner, ended[0], called[1], ended[1]], datetime.now(UTC)))
    spans = {e.id: e.name for e in events if e.event == "span_begin"}
    assert [*spans.values()] == ["agent", "first"]
    assert [spans[e.span_id] for e in events if e.event == "info"] == ["first"]
    tools = [e for e in events if e.event == "tool"]
    assert [(e.function, e.result) for e in tools] == [
        ("first", "1"),
        ("second", "2"),
    ]
