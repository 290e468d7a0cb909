"""`aiq export drb` of a real offline run: the official files, and the same figures when they are read back."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from aiq.__main__ import main
from aiq.analysis.export_drb import export
from aiq.runs.folder import RunFolder
from tests.cases import rows


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two research reports judged by RACE and FACT, and a third task that the agent failed on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("drb"))
        overrides = ["agent=ai_q_shallow", "limit=2", "judge=[race,fact]", "runner.progress=false"]
        assert main(["run", "experiment=deep_drb", *overrides]) == 0
        folder = next(Path("results/deep_drb").iterdir()).absolute()
        last = json.loads((folder / "samples.jsonl").read_text().splitlines()[-1])
        failed = {**last, "sample_id": "99", "status": "failed", "report": None, "outcome": None}
        with (folder / "samples.jsonl").open("a") as file:
            file.write(json.dumps(failed) + "\n")
        yield folder


def test_the_files_have_the_official_shape(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "drb", str(run), "--out", str(tmp_path), "--name", "mine"]) == 0
    assert "1 sample without a report, not written: 99" in capsys.readouterr().out
    reports = {row["sample_id"]: row["report"] for row in rows(run / "samples.jsonl")}
    raw = rows(tmp_path / "data/test_data/raw_data/mine.jsonl")
    assert [set(row) for row in raw] == [{"id", "prompt", "article"}] * 2
    assert [row["id"] for row in raw] == [1, 2]
    assert all(row["article"] == reports[str(row["id"])] for row in raw)

    fact = tmp_path / "results/fact/mine"
    extracted, deduplicated, scraped, validated = (
        rows(fact / f"{stage}.jsonl") for stage in ("extracted", "deduplicated", "scraped", "validated")
    )
    assert [row["id"] for row in validated] == [1, 2]
    citation = extracted[0]["citations"][0]
    assert set(citation) == {"fact", "ref_idx", "url"}
    assert citation["ref_idx"].isdecimal()
    grouped = deduplicated[0]["citations_deduped"]
    assert {entry["url"] for entry in extracted[0]["citations"]} == set(grouped)
    assert citation["fact"] in grouped[citation["url"]]["facts"]
    page = scraped[0]["citations_deduped"][citation["url"]]
    stored = {row["url"]: row for row in rows(run / "pages.jsonl")}[citation["url"]]
    assert page["url_content"] == f"{stored['title']}\n\n{stored['text']}"
    page = validated[0]["citations_deduped"][citation["url"]]
    assert [result["idx"] for result in page["validate_res"]] == list(range(len(page["facts"])))
    assert {result["result"] for result in page["validate_res"]} <= {"supported", "unsupported", "unknown"}
    assert page["validate_error"] is None


def test_a_page_that_could_not_be_judged_keeps_its_statements(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(run, folder)
    scores = rows(folder / "scores.jsonl")
    fact = next(row for row in scores if row["metric"] == "fact.citation_accuracy" and row["status"] == "scored")
    page = fact["detail"]["pages"][0]
    statements = [judged["statement"] for judged in page["judged"]]
    page |= {"judged": [], "error": "http: it is away", "unread": "http: it is away", "cited": len(statements)}
    (folder / "scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in scores), encoding="utf-8")
    export(RunFolder(folder), tmp_path, "mine")
    for stage in ("deduplicated", "validated"):
        written = {str(row["id"]): row for row in rows(tmp_path / f"results/fact/mine/{stage}.jsonl")}
        assert written[fact["sample_id"]]["citations_deduped"][page["url"]]["facts"] == statements != []
    exported = written[fact["sample_id"]]["citations_deduped"][page["url"]]
    assert exported["url_content"] == "This page could not be fetched: http: it is away"


@pytest.mark.parametrize("target", ["aiq.datasets.freshqa:FreshQA", "aiq.datasets:load"])
def test_a_run_over_another_benchmark_is_refused(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], target: str
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(run, folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["config"]["dataset"]["target"] = target
    manifest["dataset"]["name"] = "freshqa_mini"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert main(["export", "drb", str(folder), "--out", str(tmp_path / "out")]) == 2
    assert "is a run over freshqa_mini, not over Deep Research Bench" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["fact", "race"])
def test_read_back_they_give_the_figures_of_the_run(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    export(RunFolder(run), tmp_path, "mine")
    file = {"fact": "validated.jsonl", "race": "raw_results.jsonl"}[kind]
    written = tmp_path / f"results/{kind}/mine"
    assert main(["score", kind, str(written / file), "--json", str(tmp_path / "out.json")]) == 0
    scores = json.loads((tmp_path / "out.json").read_text())
    metrics = json.loads((run / "summary.json").read_text())["metrics"]
    assert scores["metrics"].keys() <= metrics.keys()
    for name, estimate in scores["metrics"].items():
        assert estimate["mean"] == pytest.approx(metrics[name]["mean"], abs=1e-12), name
    assert (written / f"{kind}_result.txt").read_text() in capsys.readouterr().out
    if kind == "fact":
        official = {name: metrics[f"fact.{name}"]["mean"] for name in ("total_citations", "total_valid_citations")}
        expected = {**official, "valid_rate": metrics["fact.citation_accuracy"]["mean"]}
        assert scores["official"] == pytest.approx(expected, abs=1e-12)
