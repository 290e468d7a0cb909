"""Official result files: the published figures to all printed digits, and malformed files in one clear line."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aiq.__main__ import main
from aiq.analysis.official import RACE_FIGURES, fact_scores, race_scores
from aiq.core.errors import DatasetError

FIGURES = dict.fromkeys(RACE_FIGURES, 0.5)


def write(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def cited(*results: str, error: str | None = None) -> dict[str, Any]:
    return {
        "facts": [f"fact {n}" for n in range(len(results))],
        "url_content": "text",
        "validate_res": [{"idx": n, "result": result} for n, result in enumerate(results)],
        "validate_error": error,
    }


def report(key: int, **pages: Any) -> dict[str, Any]:
    citations = [{"fact": fact, "ref_idx": "0", "url": url} for url, page in pages.items() for fact in page["facts"]]
    return {"id": key, "prompt": "p", "article": "a", "citations": citations, "citations_deduped": pages}


def figures(out: Path, kind: str, file: Path) -> dict[str, Any]:
    assert main(["score", kind, str(file), "--json", str(out)]) == 0
    loaded: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return loaded


@pytest.mark.shared_data
def test_race_gives_the_published_file(shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    race = shared_data / "deep_research_bench/results/race"
    scores = figures(tmp_path / "out.json", "race", race / "claude-3-7-sonnet-latest.raw_results.jsonl")
    published = (race / "claude-3-7-sonnet-latest.race_result.txt").read_text(encoding="utf-8").strip()
    assert published in capsys.readouterr().out
    assert (scores["reports"], scores["errors"]) == (100, 0)
    assert scores["metrics"]["race.overall"]["mean"] == pytest.approx(scores["official"]["overall_score"])


@pytest.mark.shared_data
def test_fact_of_the_two_report_sample(shared_data: Path, tmp_path: Path) -> None:
    """19 supported and 33 unsupported over two reports, by hand: 52 / 2, 19 / 2, 19 / 52; (5/5 + 14/47) / 2."""
    sample = shared_data / "deep_research_bench/results/fact/validated_sample.jsonl.gz"
    scores = figures(tmp_path / "out.json", "fact", sample)
    assert scores["official"] == {"total_citations": 26.0, "total_valid_citations": 9.5, "valid_rate": 19 / 52}
    assert scores["metrics"]["fact.citation_accuracy"]["mean"] == 19 / 52
    assert scores["metrics"]["fact.citation_accuracy_per_task"]["mean"] == pytest.approx((1 + 14 / 47) / 2)


def test_a_failed_race_task_is_left_out_and_counted(tmp_path: Path) -> None:
    failed = {"id": 2, "prompt": "p", "error": "no answer"}
    plain = write(tmp_path / "r.jsonl", {"id": 1, **FIGURES}, failed)
    scores = figures(tmp_path / "o", "race", plain)
    assert (scores["reports"], scores["errors"], scores["official"]["insight"]) == (2, 1, 0.5)
    assert scores["metrics"]["race.overall"]["n"] == 1
    packed = tmp_path / "r.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert race_scores(packed) == race_scores(plain)
    with pytest.raises(DatasetError, match="the judging of all 1 tasks failed"):
        race_scores(write(tmp_path / "r.jsonl", failed))


def test_uncited_reports_count_only_in_ours_and_pages_with_an_error_in_neither(tmp_path: Path) -> None:
    pages = {"u": cited("supported", "unsupported", "unknown"), "w": cited("supported", error="timeout")}
    scores = figures(tmp_path / "o", "fact", write(tmp_path / "v.jsonl", report(1, **pages), report(2)))
    assert scores["official"] == {"total_citations": 2.0, "total_valid_citations": 1.0, "valid_rate": 0.5}
    assert scores["metrics"]["fact.citations"]["mean"] == 1.0
    assert (scores["without_citations"], scores["errors"]) == (1, 1)


def test_an_empty_error_counts_as_one_as_officially(tmp_path: Path) -> None:
    pages = {"u": cited("supported", "unsupported"), "w": cited("supported", error="")}
    scores = figures(tmp_path / "o", "fact", write(tmp_path / "v.jsonl", report(1, **pages)))
    assert (scores["errors"], scores["official"]["valid_rate"]) == (1, 0.5)
    rows = [{"id": 1, **FIGURES}, {"id": 2, "error": "", **dict.fromkeys(FIGURES, 1.0)}]
    scores = figures(tmp_path / "o", "race", write(tmp_path / "r.jsonl", *rows))
    assert (scores["errors"], scores["official"]["insight"]) == (1, 0.5)


def cited_with(**change: Any) -> dict[str, Any]:
    row = report(1, u=cited("supported"))
    row["citations_deduped"]["u"] |= change
    return row


@pytest.mark.parametrize(
    ("scores", "row", "said"),
    [
        (race_scores, {"id": 1}, "comprehensiveness: must be set"),
        (race_scores, {"id": 1, **FIGURES, "insight": 1.5}, r"insight=1\.5: Input should be less than or equal to 1"),
        (race_scores, {"id": 1, **FIGURES, "insight": True}, r"insight=True: Input should be a valid number"),
        (race_scores, {**FIGURES}, "no id"),
        (fact_scores, cited_with(validate_res=[{"idx": 1, "result": "supported"}]), "u: idx 1 .* not one of the 1"),
        (
            fact_scores,
            cited_with(validate_res=[{"idx": 0, "result": "perhaps"}]),
            "u: validate_res.0.result='perhaps': Input should be 'supported', 'unsupported' or 'unknown'",
        ),
        (fact_scores, cited_with(validate_res=[{"result": "supported"}]), "u: validate_res.0.idx: must be set"),
        (fact_scores, cited_with(facts=None), "u: facts=None: "),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, scores: Callable[[Path], object], row: dict[str, Any], said: str) -> None:
    with pytest.raises(DatasetError, match=f"line 1.*{said}"):
        scores(write(tmp_path / "f.jsonl", row))


def test_a_repeated_task_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"line 2: id 1 is already in .*line 1; keep one"):
        race_scores(write(tmp_path / "r.jsonl", {"id": 1, **FIGURES}, {"id": 1, **FIGURES}))


@pytest.mark.parametrize("text", ["", "{", "[1]\n", "\x1f\x8b broken"])
def test_an_invalid_file_is_one_line_and_exit_2(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "f.jsonl"
    file.write_text(text, encoding="latin-1")
    assert main(["score", "race", str(file)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
