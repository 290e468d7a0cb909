"""`aiq gate` on runs with known truth: their own baseline, other seeds, degradations, runs that cannot be compared."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from aiq.__main__ import main
from aiq.analysis.baselines import Baseline, BaselineFile
from aiq.analysis.gate import GateSettings, gate
from aiq.core.plugins import validate
from aiq.experiment.compose import compose_group
from aiq.runs.folder import RunFolder
from tests.analysis.test_compare import Captured, Given, Place, by_seed, place
from tests.cases import table

each = table(__file__)

__all__ = ["place"]  # the fixture
HASHES = {"config": "d", "agent": "b", "judges": {}}
N = 90
TENTH = {f"s{number}" for number in range(0, N, 10)}
METRICS = ["j.right", "j.score", "j.cited"]


def right(number: int, _: int) -> bool:
    return number % 5 < 4


Based = Callable[..., None]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that caches what `based` makes."""
    return tmp_path_factory.mktemp("based")


@pytest.fixture
def based(place: Place, made: Path) -> Based:
    """Makes run `a` and its baseline, or copies cached ones."""

    def make(**settings: Any) -> None:
        cached = made / f"{settings}"
        if not cached.exists():
            Place(cached).run("a", right, **{"n": N, **settings})
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(cached)
                assert main(["gate", "a", "--baseline", "base.json", "--update"]) == 0
        shutil.copytree(cached, place.path, dirs_exist_ok=True)

    return make


def gated(name: str, *arguments: str) -> tuple[int, Given]:
    """The exit code, and all figures."""
    code = main(["gate", name, "--baseline", "base.json", "--json", "out.json", *arguments])
    figures: Given = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert (code == 0) == figures["passed"]
    return code, figures


def gate_settings(*overrides: str) -> GateSettings:
    return validate(GateSettings, compose_group("gate", "default", overrides), "gate")


def worse(found: Given) -> dict[str, set[str]]:
    """The metrics that got worse, with the samples that did."""
    metrics = {metric["metric"]: set(metric["samples"]) for metric in found["metrics"] if metric["standing"] == "worse"}
    return metrics | {limit["name"]: set(limit["samples"]) for limit in found["limits"] if limit["broken"]}


def edited(run: str, metric: str, change: Given, samples: set[str]) -> None:
    path = Path("results/made") / run / "scores.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        if row["metric"] == metric and row["sample_id"] in samples:
            row |= change
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


@pytest.mark.parametrize("epochs", [1, 3])
def test_a_run_passes_against_its_own_baseline(place: Place, based: Based, epochs: int, capsys: Captured) -> None:
    based(epochs=epochs, failed=(1, 2), unjudged=(5,))
    before = Path("base.json").read_bytes()
    _, figures = gated("a", "gate.inconclusive=fail", "--update")
    assert [metric["standing"] for metric in figures["metrics"]] == ["equal"] * 3
    assert (figures["causes"], figures["changed"], Path("base.json").read_bytes()) == ([], [], before)
    run, baseline = RunFolder(Path("results/made/a")), BaselineFile(Path("base.json"))
    for name, estimate in run.read_summary().metrics.items():
        assert baseline.read_summary().metrics[name].ci95 == pytest.approx(estimate.ci95)
    capsys.readouterr()
    compared = place.compared("base.json", "a")
    assert {change["verdict"] for change in compared["pairs"][0]["changes"]} == {"equal"}
    assert [spend["name"] for spend in compared["pairs"][0]["spend"]] == ["cost", "tokens", "calls"]
    assert "A = made/base: " in capsys.readouterr().out


def test_at_most_one_of_66_pairs_that_differ_only_in_seed_fails(place: Place) -> None:
    settings, files = gate_settings("gate.margin=0"), []
    for seed in range(12):
        place.run(f"r{seed}", by_seed(seed), n=30)
        Baseline.of(RunFolder(Path(f"results/made/r{seed}"))).write(Path(f"r{seed}.json"))
        files.append(BaselineFile(Path(f"r{seed}.json")))
    results = [gate(a, b, settings) for a, b in combinations(files, 2)]
    assert sum(not result.passed for result in results) <= 1


def test_wrong_answers_fail_the_gate_with_metric_and_samples(place: Place, based: Based, capsys: Captured) -> None:
    based()
    content = BaselineFile(Path("base.json")).content
    content.model_copy(update={"attempts": content.attempts[::-1]}).write(Path("base.json"))
    manifest = {"hashes": {**HASHES, "prompts": {"j": "p1"}}, "overrides": ["agent.words=b", "run_id=b", "shard=1/2"]}
    place.run("b", lambda number, epoch: right(number, epoch) and number % 10 > 0, n=N, manifest=manifest)
    capsys.readouterr()
    code, figures = gated("b", "--junit", "new/junit.xml", "--markdown", "new/page.md")
    assert code == 1
    assert worse(figures) == dict.fromkeys(METRICS, TENTH)
    first = figures["metrics"][0]
    assert (round(first["change"], 6), first["change"] < first["bound"] < 0 < first["p"] < 0.05) == (-0.1, True)
    output = capsys.readouterr().out
    assert "gate FAILED: results/made/b against base.json" in output
    assert "changed since the baseline: settings ['agent.words=a'] -> ['agent.words=b']" in output
    assert "j.right is worse in 9 samples: s0, s10, s20, s30, s40, s50, s60, s70, ..." in output
    assert max(len(line) for line in output.splitlines() if "  " in line) <= 80
    suite = ElementTree.parse("new/junit.xml").getroot()
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert (failed, suite.get("failures"), suite.get("tests")) == (METRICS, "3", str(len(suite)))
    assert "| j.right | 0.800 | 0.700 | -0.100 |" in Path("new/page.md").read_text(encoding="utf-8")


def test_the_documented_number_of_worse_samples_fails_the_gate(place: Place, based: Based) -> None:
    """The table of docs/gate.md."""
    based()
    spoilt = [number for number in range(N) if right(number, 1)]
    files = {}
    for count in (5, 6, 7, 8):
        place.run("b", lambda number, _: right(number, 1) and number not in spoilt[:count], n=N)  # noqa: B023
        Baseline.of(RunFolder(Path("results/made/b"))).write(Path(f"{count}.json"))
        files[count] = BaselineFile(Path(f"{count}.json"))
    for level, metrics, least in ((0.02, 1, 6), (0.02, 2, 7), (0.02, 3, 8), (0.05, 1, 6), (0.05, 3, 6)):
        margins = dict.fromkeys(METRICS[:metrics], 0.0)
        settings = gate_settings(f"gate.level={level}", "gate.margin=null").model_copy(update={"margins": margins})
        passed = [gate(BaselineFile(Path("base.json")), files[count], settings).passed for count in (least - 1, least)]
        assert passed == [True, False], (level, metrics)


@pytest.mark.parametrize(("arguments", "code"), [([], 1), (["--update"], 0)])
def test_a_closed_pipe_ends_it_silently_with_its_own_exit_code(
    place: Place, based: Based, arguments: list[str], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    based()
    place.run("b", lambda number, epoch: right(number, epoch) and number % 10 > 0, n=N)
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as stream, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        assert main(["gate", "b", *arguments, "--baseline", "base.json", "--json", "out.json"]) == code
    assert Path("out.json").exists()


@pytest.mark.parametrize(
    ("metric", "change"), [("j.cited", {"numerator": 0.0}), ("j.right", {"value": 0.0}), ("j.score", {"value": 0.0})]
)
def test_each_metric_is_gated_separately(place: Place, based: Based, metric: str, change: Given) -> None:
    based()
    place.run("b", right, n=N)
    edited("b", metric, change, TENTH)
    code, figures = gated("b")
    assert (code, worse(figures)) == (1, {metric: TENTH})
    assert gated("b", f"gate.margins.{metric}=0.2")[1]["passed"]


def test_a_rise_fails_the_gate_if_lower_is_better(place: Place, based: Based) -> None:
    based()
    place.run("b", lambda *_: True, n=N)
    for file, run in (("base.json", "a"), ("b.json", "b")):
        text = Baseline.of(RunFolder(Path("results/made") / run)).text()
        judges = text.replace('"name": "j.right",', '"name": "j.right",\n     "higher_is_better": false,')
        Path(file).write_text(judges, encoding="utf-8")
    _, figures = gated("b.json")
    assert worse(figures) == {"j.right": {f"s{number}" for number in range(N) if number % 5 == 4}}
    assert figures["metrics"][0]["bound"] > 0.1


@each("broken")
def test_limits_are_hard(place: Place, based: Based, given: Given, settings: list[str], broken: list[str]) -> None:
    based()
    place.run("b", right, n=N, **given)
    _, figures = gated("b", *settings)
    assert sorted(limit["name"] for limit in figures["limits"] if limit["broken"]) == broken


@each("other")
def test_incomparable_runs_fail_with_the_cause_before_any_score(
    place: Place, based: Based, other: Given, why: str, capsys: Captured
) -> None:
    based()
    place.run("b", lambda *_: False, **{"n": N, **other})
    capsys.readouterr()
    code, figures = gated("b")
    assert (code, figures["causes"]) == (1, [why])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == f"cause: {why}"[: len(lines[1])]


def test_an_inconclusive_metric_says_how_many_samples_would_decide(
    place: Place, based: Based, capsys: Captured
) -> None:
    based()
    place.run("b", lambda number, epoch: right(number, epoch) is not (number in (0, 1, 4)), n=N)
    code, figures = gated("b")
    first = figures["metrics"][0]
    assert (code, first["standing"], first["worst"] < -first["margin"] < first["change"]) == (0, "cannot tell", True)
    assert first["more"] > N
    output = capsys.readouterr().out
    assert "gate passed; 3 metrics inconclusive: results/made/b against base.json" in output
    assert f"{first['more']:,}" in output
    assert gated("b", "gate.inconclusive=fail")[0] == 1
    assert [metric["standing"] for metric in gated("b", "gate.margin=0.2")[1]["metrics"]] == ["holds"] * 3


def test_a_users_own_gate_takes_three_lines(place: Place, based: Based, capsys: Captured) -> None:
    based()
    place.run("b", lambda number, epoch: right(number, epoch) and number % 10 > 0, n=N)
    Path("conf/gate").mkdir(parents=True)
    text = "defaults: [default, _self_]\nmargin: null\nmargins: {j.right: 0.2}\n"
    Path("conf/gate/mine.yaml").write_text(text, encoding="utf-8")
    assert [metric["margin"] for metric in gated("b", "gate=mine")[1]["metrics"]] == [0.2]
    assert gated("b", "gate=mine", "gate.margins.j.right=0.01")[0] == 1
    assert gated("b")[0] == 1
    Path("conf/gate/made.yaml").write_text(text, encoding="utf-8")  # the name of the experiment
    assert gated("b")[0] == 0
    capsys.readouterr()
    assert main(["run", "gate=mine"]) == 2
    assert "gate" in capsys.readouterr().err


def test_lost_scores_do_not_pass_unnoticed(place: Place, based: Based, capsys: Captured) -> None:
    based(unjudged=tuple(range(45)))
    place.run("b", right, n=N, unjudged=tuple(range(45, N)))
    code, figures = gated("b", "gate.margins.j.score=null")
    assert (code, figures["metrics"]) == (1, [])
    why = "is not compared: no sample has a score in both runs"
    assert figures["causes"] == [f"{name} {why}" for name in ("j.right", "j.cited")]
    based()
    place.run("b", right, n=N, unjudged=(1, 2))
    capsys.readouterr()
    _, figures = gated("b")
    assert [(metric["standing"], metric["lost"]) for metric in figures["metrics"]] == [("equal", 2)] * 3
    assert "j.right, j.score, j.cited: 2 samples have a score only in the baseline" in capsys.readouterr().out


def test_a_limit_of_the_run_needs_no_price_in_the_baseline(place: Place, based: Based, capsys: Captured) -> None:
    based()
    priced = Path("base.json").read_bytes()
    content = BaselineFile(Path("base.json")).content
    free = [a.model_copy(update={"spend": replace(a.spend, cost_usd=None)}) for a in content.attempts]
    content.model_copy(update={"attempts": tuple(free)}).write(Path("base.json"))
    (_, cost, *_) = gated("a", "gate.limits.cost_usd=1")[1]["limits"]
    assert (cost["name"], cost["baseline"], cost["broken"]) == ("cost", None, False)
    assert cost["value"] > 0
    Path("free.json").write_bytes(Path("base.json").read_bytes())
    assert gated("free.json", "gate.limits.cost_usd=1")[0] == 1
    assert "cost of the run is unknown; llm.prices lacks a model of the run" in capsys.readouterr().out
    Path("base.json").write_bytes(priced)
    assert [limit["name"] for limit in gated("free.json")[1]["limits"] if limit["broken"]] == ["cost (1.5 times)"]


def test_a_gate_says_when_it_checks_little(place: Place, based: Based, capsys: Captured) -> None:
    based(failed=(3, 4))
    assert main(["gate", "a", "--baseline", "anew.json", "--update"]) == 0
    assert gated("a", "gate.margin=null")[0] == 0
    output = capsys.readouterr().out
    assert "2 attempts of 90 failed" in output
    assert "no metric is compared with the baseline" in output


def test_the_gate_says_whose_cost_and_tokens_are_lower_bounds(place: Place, based: Based, capsys: Captured) -> None:
    based()
    place.run("b", right, n=N, unreported=1)
    gated("b", "--markdown", "page.md")
    for text in (capsys.readouterr().out, Path("page.md").read_text(encoding="utf-8")):
        assert "run: no usage reported for 90 calls: cost and tokens of the agent are lower bounds" in text


def test_an_update_says_what_changes(place: Place, based: Based, capsys: Captured) -> None:
    based()
    place.run("b", lambda number, epoch: right(number, epoch) and number > 0, n=N)
    capsys.readouterr()
    assert main(["gate", "b", "--baseline", "base.json", "--update"]) == 0
    output = capsys.readouterr().out
    assert "settings ['agent.words=a'] -> ['agent.words=b']" in output
    assert "s0, epoch 1: j.cited" in output
    assert "j.right 1.0 -> 0.0" in output
    assert gated("b", "gate.inconclusive=fail")[0] == 0


@each("arguments")
def test_misuse_is_one_line(place: Place, based: Based, arguments: list[str], why: str, capsys: Captured) -> None:
    based(n=2)
    baseline = json.loads(Path("base.json").read_text(encoding="utf-8"))
    attempts = [{**attempt, "sample": "x"} for attempt in baseline["attempts"][:1]]
    for name, changed in (("none_declares", {"judges": []}), ("others", {"attempts": attempts})):
        Path(f"{name}.json").write_text(json.dumps({**baseline, **changed}), encoding="utf-8")
    capsys.readouterr()
    assert main(["gate", *arguments]) == 2
    assert why in (errors := capsys.readouterr().err)
    assert errors.count("\n") == 1
