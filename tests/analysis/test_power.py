"""`aiq power` on runs with known variances."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aiq.__main__ import main
from aiq.analysis.baselines import BaselineFile
from aiq.analysis.power import plan
from aiq.core.errors import UserError
from aiq.stats.power import detectable_effect, samples_needed
from benchmarks.false_alarms import Simulated, World

OWN, CHANCE = 0.08, 0.06  # standard deviations of a score between samples and between epochs
SCORES = World(("score",), 150, epochs=3)


def runs(world: World, number: int) -> list[BaselineFile]:
    return world.runs(np.random.default_rng(1), *[0.0] * number)


def test_one_run_gives_bounds() -> None:
    (bounds,) = plan(runs(SCORES, 1), effect=0.01).plans
    assert (bounds.n, bounds.epochs, bounds.effect) == (150, 3, 0.01)
    assert [bounds.between or 0, bounds.within or 0] == pytest.approx([OWN, CHANCE], rel=0.2)
    assert bounds.least is not None
    assert [bounds.least.steady, bounds.least.chance] == pytest.approx([0.0, 2 * CHANCE**2], rel=0.3)
    assert bounds.most.steady == pytest.approx(2 * OWN**2, rel=0.3)
    spread = (bounds.most.steady + bounds.most.chance / 3) ** 0.5
    assert bounds.most.resolves == pytest.approx(detectable_effect(spread, 150))
    assert bounds.most.samples == samples_needed(spread, 0.01)
    assert bounds.least.epochs == math.ceil(bounds.least.chance / (0.01 / (detectable_effect(1.0, 150) or 0)) ** 2) > 3
    assert bounds.most.epochs is None
    assert bounds.least.by_epochs[10] == pytest.approx((bounds.least.by_epochs[1] or 0) / 10**0.5)


def test_two_runs_say_how_much_samples_change() -> None:
    (half,) = (planning := plan(runs(replace(SCORES, alike=0.5), 2))).plans
    assert (planning.paired, planning.family, half.least) == (True, 1, half.most)
    assert [half.between or 0, half.within or 0] == pytest.approx([OWN, CHANCE], rel=0.2)
    (alike,) = plan(runs(replace(SCORES, alike=1.0), 2)).plans
    assert (alike.most.samples or math.inf) < (half.most.samples or 0) / 2
    assert (alike.between or 0) < OWN / 3


def test_one_epoch_cannot_separate_chance_from_difficulty() -> None:
    once = replace(SCORES, epochs=1)
    (forecast,) = plan(runs(once, 1)).plans
    assert (forecast.least, forecast.within, forecast.between) == (None, None, None)
    assert forecast.most.by_epochs[1] == forecast.most.by_epochs[10] == forecast.most.resolves
    (forecast,) = plan(runs(once, 2)).plans
    assert forecast.least is not None
    assert forecast.least.resolves == forecast.most.resolves
    assert (forecast.least.by_epochs[10] or 1) < (forecast.most.by_epochs[10] or 0) / 3


def test_the_level_holds_for_the_whole_comparison() -> None:
    world = World(("right", "score", "sources"), 60, tags=True)
    planning = plan(runs(world, 1))
    assert planning.family == 3 + 5  # slices of the first metric: three of hops, two of split
    alone = plan(runs(world, 1), metrics=["score1"])
    assert alone.family == 1 + 5
    assert alone.plans[0].most.samples is not None
    assert planning.plans[-1].effect == pytest.approx(0.02 * 2.9, rel=0.2)  # a count: a share of its mean


def test_the_command_works_on_baseline_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, run in zip("ab", runs(World(("right", "score"), 40), 2), strict=True):
        run.content.write(Path(f"{name}.json"))
    assert main(["power", "a.json", "--effect", "0.1", "--json", "out.json"]) == 0
    output = capsys.readouterr().out
    assert "epochs=2 does" in output
    assert "Holm's correction of 2 tests" in output
    (right, _) = json.loads(Path("out.json").read_text(encoding="utf-8"))["plans"]
    assert f"up to {right['most']['resolves']:.3f}  up to {right['most']['samples']:,}" in output
    assert main(["power", "a.json", "b.json"]) == 0
    assert "aiq power RUN OTHER" not in capsys.readouterr().out
    assert main(["power", "a.json", "a.json"]) == 0
    assert capsys.readouterr().out == "Nothing varies, so nothing is known: right0, score1\n"
    unscored = [attempt.model_copy(update={"scores": {}}) for attempt in run.content.attempts]
    run.content.model_copy(update={"attempts": tuple(unscored)}).write(Path("unscored.json"))
    assert main(["power", "unscored.json"]) == 0
    assert capsys.readouterr().out == "Nothing was scored, so there is nothing to plan\n"
    for wrong in (["--effect", "2"], ["--metric", "none"]):
        capsys.readouterr()
        assert main(["power", "a.json", *wrong]) == 2
    assert "there is no metric none in the run; there are right0, score1" in capsys.readouterr().err


def test_constant_metrics_are_named_and_incomparable_runs_refused() -> None:
    (run,) = runs(World(("right",), 40), 1)
    same = [attempt.model_copy(update={"scores": {"right0": 1.0}}) for attempt in run.content.attempts]
    still = Simulated(run.path, run.content.model_copy(update={"attempts": tuple(same)}))
    assert (planning := plan([still])).plans == ()
    assert planning.alike == ("right0",)
    with pytest.raises(UserError, match="lacks 30 samples"):
        plan([run, *runs(World(("right",), 10), 1)])
