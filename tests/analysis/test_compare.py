"""`aiq compare` on runs with known truth: equal ones, degradations, failures, and runs that cannot be compared."""

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from aiq.__main__ import main
from aiq.core.reports import Metric
from aiq.core.usage import Usage
from aiq.experiment.compose import compose
from aiq.runs.folder import RunFolder
from aiq.runs.journal import json_line
from aiq.runs.manifest import JudgeSpec, Manifest
from aiq.runs.reader import read_state
from aiq.runs.rows import RowError, SampleRow, ScoreRow, Timing
from aiq.runs.summary import summarise
from tests.cases import table

each = table(__file__)

METRICS = (Metric.share("j.right"), Metric.share("j.score"), Metric.share("j.cited", estimator="ratio", worst=None))
Given = dict[str, Any]
Captured = pytest.CaptureFixture[str]


@cache
def composed() -> Given:
    return compose(["name=made"])


class Place:
    """A results folder; `run` writes a finished run with samples of two kinds, easy and hard."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def run(
        self,
        name: str,
        right: Callable[[int, int], bool],
        *,
        n: int = 60,
        epochs: int = 1,
        failed: tuple[int, ...] = (),
        unjudged: tuple[int, ...] = (),
        tokens: int = 1000,
        unreported: int = 0,
        manifest: Given | None = None,
        judge_hash: str = "h1",
    ) -> str:
        folder = RunFolder(self.path / "results" / "made" / name)
        folder.create()
        rows, scores = [], []
        draw = random.Random(1)
        for number in range(n):
            noise = draw.random() / 10
            for epoch in range(1, epochs + 1):
                rows.append(self.row(number, epoch, number in failed, tokens + 10 * number, unreported))
                value = float(right(number, epoch)) if number not in failed else 0.0
                numbers: list[Given] = [
                    {"value": value},
                    {"value": 0.0 if number in failed else value / 2 + noise},
                    {"numerator": 2 * value, "denominator": 2.0},
                ]
                for metric, fields in zip(METRICS, numbers, strict=True):
                    scores.append(
                        self.score(number, epoch, metric, fields, number in failed, number in unjudged, judge_hash)
                    )
        folder.samples_path.write_text("".join(map(json_line, rows)), encoding="utf-8")
        folder.scores_path.write_text("".join(map(json_line, scores)), encoding="utf-8")
        judges = (JudgeSpec(name="j", version="1", hash=judge_hash, metrics=METRICS),)
        folder.write_manifest(self.manifest(name, n, manifest or {}).with_judges(judges))
        folder.write_summary(summarise(folder.read_manifest(), read_state(folder), 1.0))
        return name

    @staticmethod
    def manifest(name: str, n: int, changed: Given) -> Manifest:
        config = {**composed(), "name": name}
        fields = {
            "run_id": name,
            "experiment": "made",
            "status": "finished",
            "started": "2026-11-01",
            "config": config,
            "overrides": [f"agent.words={name}"],
            "hashes": {"config": "c", "agent": "a", "judges": {}, "prompts": {"j": "p1"}},
            "models": {"default": "m", "judge.j": "m"},
            "dataset": {"name": "mine", "fingerprint": "f", "size": n, "samples": n},
            "clock": "2026-11-01",
            "offline": False,
            "versions": {},
            "git_revision": None,
        }
        return Manifest.model_validate(fields | changed)

    @staticmethod
    def row(number: int, epoch: int, failed: bool, tokens: int, unreported: int) -> SampleRow:
        return SampleRow(
            sample_id=f"s{number}",
            epoch=epoch,
            attempt=1,
            sample_hash=f"hash of {number}",
            status="failed" if failed else "completed",
            outcome=None if failed else "ok",
            question="?",
            tags={"kind": "[/hard]" if number % 3 == 0 else "easy", "same": "hard" if number % 3 == 0 else "easy"},
            report=None if failed else f"report {number}",
            usage={
                "agent": Usage(calls=2, input_tokens=tokens, unreported_calls=unreported, cost_usd=tokens / 1e6),
            },
            timing=Timing(started="2026-11-01", seconds=1.0),
            error=RowError(type="AgentError", message="no") if failed else None,
        )

    @staticmethod
    def score(
        number: int, epoch: int, metric: Metric, given: Given, failed: bool, unjudged: bool, judge_hash: str
    ) -> ScoreRow:
        fields: Given = {"status": "scored", **given}
        if unjudged:
            fields = {"status": "error", "error": {"type": "JudgeError", "message": "no answer"}}
        elif failed:
            fields = {"status": "agent_failed", "value": metric.worst}
        key = {"sample_id": f"s{number}", "epoch": epoch, "attempt": 1, "metric": metric.name}
        judge = {"judge": "j", "judge_hash": judge_hash, "judge_version": "1", "judge_model": "m", "prompt_hash": "p1"}
        return ScoreRow.model_validate({**key, **judge, **fields})

    def compared(self, *arguments: str) -> Given:
        assert main(["compare", *arguments, "--json", str(self.path / "out.json")]) == 0
        loaded: Given = json.loads((self.path / "out.json").read_text(encoding="utf-8"))
        return loaded


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.chdir(tmp_path)
    return Place(tmp_path)


def change(found: Given, metric: str, tag: list[str] | None = None, pair: int = 0) -> Given:
    return next(c for c in found["pairs"][pair]["changes"] if (c["metric"], c["slice"]) == (metric, tag))


def by_seed(seed: int) -> Callable[[int, int], bool]:
    draw = random.Random(seed)
    values = [draw.random() < 0.7 for _ in range(400)]
    return lambda number, epoch: values[4 * number % 400 + epoch - 1]


def test_a_planted_degradation_is_found_with_its_samples_and_cost(place: Place, capsys: Captured) -> None:
    place.run("a", lambda number, _: number % 5 > 0)
    place.run("b", lambda number, _: number % 5 > 0 and number % 4 > 0, tokens=2500, unreported=1)
    comparison = place.compared("a", "b", "--markdown", "out.md")
    total = change(comparison, "j.right")
    assert (total["verdict"], total["difference"]["n"], round(total["difference"]["mean"], 3)) == ("worse", 60, -0.2)
    assert 12 == len(comparison["pairs"][0]["moved"][0]["down"]) == 60 * 0.2
    assert total["p"] == pytest.approx(min(1, comparison["family"] * total["difference"]["p"]), rel=0.9)
    (cost, tokens, calls, seconds) = comparison["pairs"][0]["spend"]
    assert cost["ratio"] == tokens["ratio"] == pytest.approx((2500 + 295) / (1000 + 295))
    assert tokens["ci95"][0] < tokens["ratio"] < tokens["ci95"][1]
    assert (calls["ratio"], calls["ci95"], seconds["ratio"]) == (1, None, 1)
    output = capsys.readouterr().out
    assert "j.right: B is worse by 0.200 (0.118 to 0.319), at 2.16 times the cost" in output
    assert "B: no usage reported for 60 calls: cost and tokens of the agent are lower bounds" in output.splitlines()
    assert next(line for line in output.splitlines() if line.startswith("cost")).split()[1:3] == ["$0.0013", "$0.0028"]
    assert max(len(line) for line in output.splitlines() if "  " in line) <= 88
    assert "[s4](results/made/b/index.html#s4.1)" in (place.path / "out.md").read_text()


def test_slices_are_those_of_the_summary_and_each_counts_once(place: Place) -> None:
    place.run("a", lambda *_: True)
    place.run("b", lambda number, _: number % 3 > 0)
    comparison = place.compared("a", "b")
    slices = {tuple(c["slice"]): c for c in comparison["pairs"][0]["changes"] if c["slice"]}
    assert list(slices) == [("kind", "[/hard]"), ("kind", "easy")]
    assert (slices["kind", "easy"]["verdict"], slices["kind", "[/hard]"]["verdict"]) == ("equal", "worse")
    assert comparison["leading"] == ["j.right"]
    assert place.compared("a", "b", "--metric", "j.score")["leading"] == ["j.score"]


def test_runs_that_differ_only_in_seed_are_not_told_apart(place: Place, capsys: Captured) -> None:
    for seed in range(4):
        place.run(f"r{seed}", by_seed(seed))
    comparison = place.compared(*(f"r{seed}" for seed in range(4)))
    assert [pair["second"] for pair in comparison["pairs"]] == list("BCD")
    assert not {c["verdict"] for pair in comparison["pairs"] for c in pair["changes"]} & {"better", "worse"}
    total = change(comparison, "j.right")
    spread, n = total["difference"]["spread"], total["difference"]["n"]
    assert total["effect"] == 0.02
    assert total["more"] + n > (2.8 * spread / 0.02) ** 2  # more than one test alone would take
    assert f"{total['more']:,} more samples would resolve 0.02" in capsys.readouterr().out


def test_a_run_against_itself_is_equal_and_nothing_is_tested(place: Place, capsys: Captured) -> None:
    place.run("a", by_seed(1))
    comparison = place.compared("a", "latest")
    assert comparison["family"] == 0
    assert {c["verdict"] for c in comparison["pairs"][0]["changes"]} == {"equal"}
    assert "B and A score the same on 60 samples" in capsys.readouterr().out


def test_failures_count_as_worst_and_unjudged_reports_are_counted(place: Place, capsys: Captured) -> None:
    place.run("a", lambda *_: True)
    place.run("b", lambda *_: True, failed=tuple(range(10)), unjudged=(20, 21))
    comparison = place.compared("a", "b")
    total = change(comparison, "j.right")
    assert (total["verdict"], total["difference"]["n"], total["lost"]) == ("worse", 58, [0, 2])
    assert total["difference"]["mean"] == pytest.approx(-10 / 58)
    assert change(comparison, "j.cited")["lost"] == [0, 12]
    assert comparison["runs"][1]["judge_errors"] == {"j": 2}
    output = capsys.readouterr().out
    assert "10 failed, j failed on 2" in output
    assert "j.right: samples without a score, left out: 2 in B" in output
    (right, score, cited) = comparison["pairs"][0]["unjudged"]
    assert (right["reports"], right["bounds"]) == ([0, 2], [pytest.approx(-12 / 60), pytest.approx(-10 / 60)])
    assert (score["reports"], cited["bounds"]) == ([0, 2], None)
    assert "j.right: reports that the judge failed on: 2 in B; " in output
    assert "B - A could be anything from -0.200 to -0.167" in output


def test_a_judge_that_failed_where_the_other_did_not(place: Place, capsys: Captured) -> None:
    place.run("a", lambda *_: True, n=8, unjudged=tuple(range(4)))
    place.run("b", lambda *_: True, n=8, unjudged=tuple(range(4, 8)))
    (pair,) = place.compared("a", "b")["pairs"]
    assert (pair["changes"], set(pair["left_out"].values())) == ([], {"no sample has a score in both runs"})
    assert pair["unjudged"][0]["bounds"] == [-1 / 2, 1 / 2]
    assert "j.right, j.score, j.cited: not compared, no sample has a score in both runs" in capsys.readouterr().out


def test_judges_are_compared_on_reports_that_exist(place: Place, capsys: Captured) -> None:
    place.run("a", lambda *_: True, failed=(1, 2))
    place.run("b", lambda *_: False, failed=(1, 2), judge_hash="h2")
    (pair,) = (comparison := place.compared("a", "b", "--judges"))["pairs"]
    assert (pair["samples"], change(comparison, "j.right")["lost"]) == (58, [0, 0])
    place.run("c", lambda *_: False, failed=(1, 2), unjudged=tuple(range(60)), judge_hash="h2")
    assert main(["compare", "a", "c", "--judges"]) == 2
    assert "j.right: B has no number: the judge failed" in capsys.readouterr().err


def test_one_sample_says_nothing(place: Place, capsys: Captured) -> None:
    place.run("a", lambda *_: True, n=1)
    place.run("b", lambda *_: False, n=1)
    total = change(place.compared("a", "b"), "j.right")
    assert (total["verdict"], total["p"], total["more"], total["difference"]["ci95"]) == ("cannot tell",) + (None,) * 3
    assert "the data cannot tell B from A: -1.000, n = 1" in capsys.readouterr().out


def test_epochs_show_how_reliable_an_agent_is(place: Place) -> None:
    place.run("a", lambda *_: True, epochs=3)
    place.run("b", lambda number, epoch: number % 2 == 0 or epoch == 2, epochs=3)
    comparison = place.compared("a", "b")
    assert change(comparison, "j.right")["difference"]["mean"] == pytest.approx(-1 / 3)
    assert change(comparison, "j.right pass@3")["verdict"] == "equal"
    assert (reliability := change(comparison, "j.right pass^3"))["verdict"] == "worse"
    assert reliability["second"] == 0.5
    assert not [c for c in comparison["pairs"][0]["changes"] if c["metric"].startswith("j.score pass")]


@each("other")
def test_different_runs_are_refused_unless_forced_to_compare_what_they_share(
    place: Place, other: Given, why: str, capsys: Captured
) -> None:
    place.run("a", lambda *_: True)
    place.run("b", lambda number, epoch: number % 4 > 0 or epoch > 1, **other)
    assert main(["compare", "a", "b"]) == 2
    assert why in capsys.readouterr().err
    comparison = place.compared("a", "b", "--force")
    assert (comparison["forced"][0].count(why), comparison["pairs"][0]["samples"]) == (1, other.get("n", 60))
    assert change(comparison, "j.right")["second"] == pytest.approx(0.75, abs=0.02)  # over the epochs that both have
    assert change(comparison, "j.right")["verdict"] == "worse"


def test_a_changed_judge_is_refused_but_judges_can_be_compared(place: Place, capsys: Captured) -> None:
    place.run("a", lambda *_: True)
    place.run("b", lambda number, _: number % 4 > 0, judge_hash="h2", manifest={"models": {"judge.j": "newer"}})
    assert main(["compare", "a", "b"]) == 2
    assert "judge j differs between A and B (judge.j m -> newer)" in capsys.readouterr().err
    assert place.compared("a", "b", "--force")["pairs"][0]["left_out"]["j.right"] == "its judges differ"
    total = change(comparison := place.compared("a", "b", "--judges"), "j.right")
    assert (total["verdict"], total["difference"]["mean"], comparison["pairs"][0]["spend"]) == ("lower", -0.25, [])
    place.run("c", lambda *_: True)
    assert main(["compare", "a", "c", "--judges"]) == 2
    paths = "results/made/a and results/made/c"
    assert f"{paths} have no judges to compare (j.right: its judge is the same" in capsys.readouterr().err


@each("arguments")
def test_a_mistake_is_one_line(place: Place, arguments: list[str], why: str, capsys: Captured) -> None:
    place.run("a", lambda *_: True, n=2)
    assert main(["compare", *arguments]) == 2
    assert why in (errors := capsys.readouterr().err)
    assert errors.count("\n") == 1
