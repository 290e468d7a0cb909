"""Sweeps with strategies other than the grid, as commands."""

import shutil

import pytest

from aiq.__main__ import main
from aiq.runs.sweeps import Sweep, SweepFolder
from aiq.stats.power import POWER, power
from tests.cases import table
from tests.experiment.conftest import Captured, Workplace

each = table(__file__)

CHOOSER = ["experiment=tiny", "agent.target=tiny_parts:Chooser", "~agent.seconds", "~agent.ask", "~agent.words"]


def latest_sweep(here: Workplace) -> tuple[SweepFolder, Sweep]:
    path = max(here.path.glob("results/*/*/sweep.json"), key=lambda path: path.stat().st_mtime_ns)
    folder = SweepFolder(path.parent)
    return folder, folder.read()


def test_halving_stops_points_that_cannot_win_and_pays_nothing_twice(here: Workplace, capsys: Captured) -> None:
    here.write_samples({f"s{number}": f"question number {number}" for number in range(32)})
    halving = ["sweep.strategy=halving", "sweep.rungs=3", "sweep.metric=letters.count"]
    overrides = ["experiment=tiny", "agent.ask=true", "agent.plain=true", "agent.words=1,2,3", *halving]
    assert main(["run", "-m", *overrides]) == 0
    folder, sweep = latest_sweep(here)
    outcomes = [(point.status, point.n_samples) for point in sweep.points]
    assert outcomes == [("stopped", 8), ("stopped", 8), ("finished", 32)]
    assert "from point 2 after 8 samples" in (sweep.points[0].note or "")
    assert len(here.endpoint.asked) == 8 + 8 + 32
    assert sweep.status == "finished"
    assert "point 0: -" in capsys.readouterr().out
    # Cut off in the second rung of the winner: the rest is done, and no more.
    winner = sweep.points[2].model_copy(update={"status": "interrupted"})
    folder.write(sweep.with_point(winner).model_copy(update={"status": "interrupted"}))
    shutil.rmtree(folder.point(2).path)
    assert main(["run", "-m", f"resume={sweep.sweep_id}"]) == 0
    assert len(here.endpoint.asked) == 48 + 32
    assert [point.status for point in folder.read().points] == ["stopped", "stopped", "finished"]


def test_random_runs_only_some_of_the_points(here: Workplace) -> None:
    overrides = ["experiment=tiny", "limit=1", "agent.words=range(1,400)", "seed=0,1,2"]
    assert main(["run", "-m", *overrides, "sweep.strategy=random", "sweep.points=2"]) == 0
    _, sweep = latest_sweep(here)
    assert [len(axis.values) for axis in sweep.axes] == [399, 3]
    assert len(sweep.points) == 2
    assert main(["run", "-m", *overrides]) == 2  # the grid would have 1197


@each("given")
def test_settings_without_effect_are_refused(here: Workplace, capsys: Captured, given: list[str], said: str) -> None:
    assert main(["run", "-m", "experiment=tiny", "seed=0,1,2", *given]) == 2
    assert said in capsys.readouterr().err
    assert not (here.path / "results").exists()


def test_deciding_settings_are_swept_on_recorded_runs(here: Workplace, capsys: Captured) -> None:
    """A redecided point has the numbers of a real run with that decision; a branch that none took has no report."""
    here.write_samples({f"s{number}": "why" + "y" * number for number in range(8)} | {"x": "unknown"})
    for name, longest in (("some", 5), ("long", 0), ("short", 99), ("real", 7)):
        assert main(["run", *CHOOSER, "~agent.plain", f"+agent.longest={longest}", f"name={name}"]) == 0
    (real,) = here.path.glob("results/real/*")
    n_asked = len(here.endpoint.asked)
    (here.path / "conf/judge/routes.yaml").write_text("# @package judge.routes\n# R\ntarget: tiny_parts:Routes\n")
    rescore = ["run", "-m", "experiment=tiny", "judge=[letters,routes]", "sweep.strategy=rescore", "name=again"]
    axis = "+agent.longest=7,0,77,99"
    assert main([*rescore, "sweep.runs=[some,long,short]", axis]) == 0
    assert len(here.endpoint.asked) == n_asked
    folder, sweep = latest_sweep(here)
    assert [point.same_as for point in sweep.points] == [None, None, None, 2]
    real_values = {key: item for key, item in here.values(real).items() if key[0] != "x"}
    values = here.values(folder.point(0).path)
    assert {key: item for key, item in values.items() if key[2] != "routes.long"} == real_values
    assert sweep.points[0].note == "1 attempts are left out: nobody knows"
    assert sweep.points[0].metrics["routes.long"].mean == pytest.approx(3 / 8)
    assert sweep.recommendation is not None
    # Without a run that went the other way its reports are unknown, but not that they would have been asked for.
    assert main([*rescore, "sweep.runs=[some]", "+agent.longest=7,0"]) == 0
    _, single = latest_sweep(here)
    assert single.points[1].metrics["routes.long"].mean == 1
    assert single.points[1].metrics["letters.count"].n == 5
    assert "3 attempts took a branch that no run has recorded" in (single.points[1].note or "")
    assert single.points[1].spend["cost_usd"].mean == 1
    # What right and wrong resolve, by the exact test that they get: Student's would find it in 8 of 10 at 0.526.
    assert main([*rescore, "sweep.runs=[long,short]", "+agent.longest=5,7"]) == 0
    _, pair_sweep = latest_sweep(here)
    (change,) = [item.difference for item in pair_sweep.differences if item.metric == "routes.long"]
    assert power(pair_sweep.resolves["routes.long"] or 0, change.spread or 0, 8, step=1.0) == pytest.approx(
        POWER, abs=0.01
    )
    for message, *overrides in (
        ("sweep.runs=[RUN, ...]", "sweep.runs=[]"),
        ("other is not a run", "sweep.runs=[real,other]"),
        ("seed cannot", "sweep.runs=[real]", "seed=1"),
        ("seed cannot", "sweep.runs=[real]", "seed=0,1"),
        ("sweep.metric=nope: the judges have no such", "sweep.runs=[real]", "sweep.metric=nope"),
    ):
        assert main([*rescore, axis, *overrides]) == 2
        assert message in capsys.readouterr().err


def test_attempts_with_turns_are_not_redecided(here: Workplace, capsys: Captured) -> None:
    here.write_samples({"s1": "why"}, turns=["what"])
    assert main(["run", *CHOOSER, "~agent.plain", "+agent.longest=5", "name=one"]) == 0
    rescore = ["run", "-m", "experiment=tiny", "sweep.strategy=rescore", "sweep.runs=[one]", "+agent.longest=5,7"]
    assert main([*rescore, "name=again"]) == 2
    assert "an attempt with several turns has decided more than once" in capsys.readouterr().err


def test_recordings_of_a_sweep_can_be_continued(here: Workplace, capsys: Captured) -> None:
    """Recordings are checked before the first point starts, and know their sweep from then on."""
    (here.path / "conf/judge/routes.yaml").write_text("# @package judge.routes\n# R\ntarget: tiny_parts:Routes\n")
    command = ["run", "-m", *CHOOSER, "~agent.plain", "judge=[letters,routes]", "sweep.strategy=rescore", "name=again"]
    command += ["+agent.longest=5,19,99", "limits.run_usd=1", "runner.concurrency=1"]
    assert main([*command, "sweep.record=['+agent.longest=0','+agent.longest=many']"]) == 2
    assert not (here.path / "results").exists()
    assert main([*command, "sweep.record=['+agent.longest=0','+agent.longest=99']"]) == 130
    folder, sweep = latest_sweep(here)
    assert sweep.status == "interrupted"
    err = capsys.readouterr().err
    assert f"resume with: aiq run -m resume={folder.path.relative_to(here.path)} limits.run_usd=MORE" in err
    assert err.count("resume with") == 1
    assert main(["run", "-m", "resume=latest", "limits.run_usd=100"]) == 0
    assert len(here.endpoint.asked) == 6 + 6
    assert [point.same_as for point in folder.read().points] == [None, None, 1]
