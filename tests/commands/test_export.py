"""`aiq export` of a small run in the layout's first version, with hostile questions."""

import importlib.util
import json
import re
import shutil
import socket
from pathlib import Path

import pandas as pd
import pytest

import aiq
from aiq.__main__ import main
from aiq.analysis.export_tables import escape_formula
from aiq.analysis.export_trackers import read_tracked
from aiq.core.reports import Metric
from aiq.runs.folder import RunFolder
from aiq.runs.listing import list_runs
from aiq.runs.manifest import JudgeSpec

Captured = pytest.CaptureFixture[str]

RUN = Path(__file__).resolve().parent.parent / "experiment" / "version_1"
QUESTIONS = [
    "=1+1",
    "+49 30 1234?",
    "-1 or @you",
    "\t=HYPERLINK(A1)",
    "'quoted'",
    "ＳUM",
    'plain, with "commas"\nand lines',
    "＝1",
]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The run with hostile questions, and with markup as the names of a metric and the experiment."""
    folder = tmp_path / "run"
    shutil.copytree(RUN, folder)
    rows = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
    lines = [json.dumps({**row, "question": text}) for row, text in zip(rows, QUESTIONS, strict=True)]
    (folder / "samples.jsonl").write_text("\n".join(lines) + "\n")
    for name in ("manifest.json", "summary.json"):
        text = (folder / name).read_text().replace('"experiment": "tiny"', '"experiment": "50%_of|$a&b"')
        (folder / name).write_text(text)
    return folder


@pytest.fixture(params=["at its first start", "when it was resumed"])
def cut_off(run: Path, request: pytest.FixtureRequest) -> Path:
    """The run in the current layout, killed: it has no summary, or one of fewer attempts."""
    folder = RunFolder(run)
    manifest = folder.read_manifest()
    metrics = (
        Metric(name="letters.count"),
        Metric(name="letters.vowels", estimator="ratio"),
        Metric(name="letters.pages"),
    )
    judge = JudgeSpec(name="letters", version="1", hash=manifest.hashes.judges["letters"], metrics=metrics)
    folder.write_manifest(manifest.with_judges([judge]).model_copy(update={"status": "running"}))
    if request.param == "at its first start":
        folder.summary_path.unlink()
    else:
        folder.write_summary(folder.read_summary().model_copy(update={"n_attempts": 1, "metrics": {}}))
    return run


def test_csv_has_the_frames_without_formulas(run: Path, tmp_path: Path, capsys: Captured) -> None:
    assert main(["export", str(run), "--format", "csv", "--to", str(tmp_path / "out")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    tables = {path.stem: pd.read_csv(path, keep_default_na=False) for path in (tmp_path / "out").iterdir()}
    frames = aiq.load_runs(run)
    assert {name: len(frame) for name, frame in tables.items()} == {name: len(getattr(frames, name)) for name in tables}
    assert "folder" not in tables["runs"]
    questions = tables["samples"].question.tolist()
    assert not [text for text in questions if re.match(r"\s*[=+\-@＝]", text)]
    assert [text.removeprefix("'") for text in questions] == QUESTIONS
    assert [text for text in QUESTIONS if escape_formula(text) == text] == ["ＳUM", QUESTIONS[6]]
    assert escape_formula(-1.5) == -1.5


def test_parquet_has_the_frames_unchanged(run: Path, tmp_path: Path) -> None:
    assert main(["export", str(run), "--format", "parquet", "--to", str(tmp_path)]) == 0
    frames = aiq.load_runs(run)
    for name in ("metrics", "samples", "scores"):
        pd.testing.assert_frame_equal(
            pd.read_parquet(tmp_path / f"{name}.parquet"), getattr(frames, name), check_dtype=False
        )
    assert frames.samples.question.tolist() == QUESTIONS


def test_latex_is_escaped_and_has_rules(run: Path, capsys: Captured) -> None:
    assert main(["export", str(run), "--format", "latex"]) == 0
    text = capsys.readouterr().out
    assert r"50\%\_of\textbar{}\$a\&b" in text
    assert [text.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\end{table}")] == [2, 2, 2, 2]
    tables = re.findall(r"\\begin{tabular}{(\w+)}(.*?)\\end{tabular}", text, re.DOTALL)
    for columns, body in tables:
        rows = [line for line in body.splitlines() if line.endswith(r"\\")]
        assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {len(columns)}
    assert not re.search(r"(?<!\\)[#$%_&]", re.sub(r"(?m)^%.*| & |\$-\$(?=\d)", "", text))


def test_markdown_has_metrics_intervals_n_and_spend(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "other"
    shutil.copytree(run, copy)
    manifest = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps({**manifest, "run_id": "other"}))
    file = tmp_path / "results.md"
    assert main(["export", str(run), str(copy), "--format", "markdown", "--to", str(file)]) == 0
    text = file.read_text()
    tables = [[line for line in block.splitlines() if line.startswith("|")] for block in text.split("## ")[1:]]
    assert [len({len(re.findall(r"(?<!\\)\|", line)) for line in table}) for table in tables] == [1, 1]
    summary = json.loads((run / "summary.json").read_text())
    for name, metric in summary["metrics"].items():
        assert len(re.findall(rf"\| {name} \| {metric['mean']:.3f} \| .* \| {metric['n']} \|", text)) == 2
    assert len([line for line in tables[1] if line.startswith("| other |")]) == 3
    assert "8 attempts" in text


def test_trackers_get_config_intervals_spend_and_hashes(run: Path) -> None:
    tracked = read_tracked(RunFolder(run))
    summary, manifest = (json.loads((run / f"{name}.json").read_text()) for name in ("summary", "manifest"))
    assert tracked.parameters["llm.retry.attempts"] == manifest["config"]["llm"]["retry"]["attempts"]
    assert tracked.metrics["letters.count"] == summary["metrics"]["letters.count"]["mean"]
    assert tracked.metrics["spend.agent.calls"] == summary["usage"]["agent"]["total"]["calls"]
    assert tracked.tags["aiq.hashes.agent"] == manifest["hashes"]["agent"]
    assert tracked.tags["aiq.dataset.fingerprint"] == manifest["dataset"]["fingerprint"]
    assert tracked.tags["aiq.started"] == manifest["started"]
    assert {path.name for path in tracked.files} >= {"summary.json", "manifest.json"}


def test_mlflow_has_the_run_once(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    client = pytest.importorskip("mlflow").MlflowClient
    text = (run / "manifest.json").read_text()
    for status in ("finished", "interrupted"):
        (run / "manifest.json").write_text(text.replace('"status": "finished"', f'"status": "{status}"'))
        assert main(["export", str(run), "--format", "mlflow", "--to", str(tmp_path / "ml")]) == 0
    store = client(f"sqlite:///{tmp_path / 'ml' / 'mlflow.db'}")
    (experiment,) = [candidate for candidate in store.search_experiments() if candidate.name != "Default"]
    (logged,) = store.search_runs([experiment.experiment_id])
    tracked = read_tracked(RunFolder(run))
    assert logged.info.status == "KILLED"
    assert logged.data.metrics == pytest.approx(tracked.metrics)
    assert logged.data.params["llm.retry.attempts"] == str(tracked.parameters["llm.retry.attempts"])
    assert logged.data.tags["aiq.hashes.agent"] == tracked.tags["aiq.hashes.agent"]
    assert {file.path for file in store.list_artifacts(logged.info.run_id)} == {path.name for path in tracked.files}
    store.delete_experiment(experiment.experiment_id)
    assert main(["export", str(run), "--format", "mlflow", "--to", str(tmp_path / "ml")]) == 2
    assert "MLflow refuses the run" in capsys.readouterr().err


def test_wandb_writes_an_offline_run(
    run: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("wandb")
    monkeypatch.setattr(socket, "gethostname", lambda: "this-machine")
    manifest = json.loads((run / "manifest.json").read_text())
    point = {"run_id": "sweep/1", "status": "interrupted", "sweep": {"id": "sweep", "job": 1, "axes": {"seed": "2"}}}
    (run / "manifest.json").write_text(json.dumps({**manifest, **point}))
    assert main(["export", str(run), "--format", "wandb", "--to", str(tmp_path / "wb")]) == 0
    folder = Path(capsys.readouterr().out.splitlines()[-1].removeprefix("wandb sync "))
    (log,) = folder.glob("*.wandb")
    tracked, data = read_tracked(RunFolder(run)), log.read_bytes()
    assert [name for name in (*tracked.metrics, *tracked.parameters, *tracked.tags) if name.encode() not in data] == []
    assert b"this-machine" not in data
    assert {path.name for path in (folder / "files").iterdir()} >= {path.name for path in tracked.files}


@pytest.mark.parametrize("extra", ["inspect", "mlflow", "wandb"])
def test_a_missing_extra_is_named(
    run: Path, tmp_path: Path, extra: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = {"inspect": "inspect_ai"}.get(extra, extra)
    if importlib.util.find_spec(module) is not None:
        pytest.skip(f"{module} is installed")
    monkeypatch.chdir(tmp_path)
    assert main(["export", str(run), "--format", extra]) == 2
    assert f"pip install 'aiq-bench[{extra}]'" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_an_unwritable_path_is_one_line(run: Path, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "file").write_text("")
    words = {"csv": "--to", "parquet": "--to", "markdown": "another place"}
    extras = {"inspect": "inspect_ai", "mlflow": "mlflow", "wandb": "wandb"}
    words |= {kind: "--to" for kind, module in extras.items() if importlib.util.find_spec(module) is not None}
    for kind, word in words.items():
        assert main(["export", str(run), "--format", kind, "--to", str(tmp_path / "file" / "below")]) == 2
        assert word in capsys.readouterr().err
    assert main(["export", str(run), "--format", "drb"]) == 2
    assert "one RUN" in capsys.readouterr().err
    assert main(["export", str(run), "--epoch", "2"]) == 2
    assert "are only for --format drb" in capsys.readouterr().err


def test_a_run_that_was_cut_off_is_exported_as_such(cut_off: Path, capsys: Captured) -> None:
    assert main(["export", str(cut_off)]) == 0
    assert "8 attempts" in (text := capsys.readouterr().out)
    assert "the run is running, not finished" in text
    assert "## Attempts without a judgement" in text
    tracked = read_tracked(RunFolder(cut_off))
    assert tracked.status == "running"
    assert (
        tracked.metrics["letters.count"]
        == json.loads((RUN / "summary.json").read_text())["metrics"]["letters.count"]["mean"]
    )
    assert "run.seconds" not in tracked.metrics
    assert aiq.load_runs(cut_off).runs.n_attempts.tolist() == [8]
    (results := cut_off.parent / "results").mkdir()
    shutil.copytree(cut_off, results / "tiny" / "run")
    assert [listed.summarised for listed in list_runs(str(results))] == [False]


def test_missing_scores_are_counted_by_metric(cut_off: Path) -> None:
    assert aiq.load_runs(RUN).metrics.unjudged.isna().all()  # an older summary does not say
    metrics = aiq.load_runs(cut_off).metrics
    rows = [json.loads(line) for line in (cut_off / "scores.jsonl").read_text().splitlines()]
    for metric in metrics[metrics.tag.isna()].itertuples():
        statuses = [row["status"] for row in rows if row["metric"] == metric.metric]
        assert (metric.unjudged, metric.failed) == (statuses.count("error"), statuses.count("agent_failed"))
    assert metrics.unjudged.max() > 0
