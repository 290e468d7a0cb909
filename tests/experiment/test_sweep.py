"""Sweeps: everything is checked before the first job starts, a failing job stops nothing, the worst code counts."""

import shutil
import signal

import pytest

from aiq.__main__ import main
from aiq.analysis.sweeps import evaluate
from aiq.core.interrupts import terminated_as_interrupted
from aiq.runs.folder import RunFolder, find_run
from aiq.runs.sweeps import Point, Sweep, SweepFolder
from tests.experiment.conftest import Captured, Workplace


def sweep_of(here: Workplace) -> Sweep:
    """The only sweep."""
    (path,) = here.path.glob("results/*/*/sweep.json")
    return SweepFolder(path.parent).read()


def test_a_sweep_is_a_result_whose_points_are_runs(here: Workplace, capsys: Captured) -> None:
    here.write_samples({f"s{number}": f"question number {number}" for number in range(12)})
    assert main(["run", "-m", "experiment=tiny", "agent.words=1,3", "seed=0,1"]) == 0
    sweep, runs = sweep_of(here), here.runs()
    assert [run.relative_to(here.path).parts for run in runs] == [
        ("results", "tiny", sweep.sweep_id, str(n)) for n in range(4)
    ]
    assert [here.manifest(run)["run_id"] for run in runs] == [f"{sweep.sweep_id}/{n}" for n in range(4)]
    assert [here.manifest(run)["sweep"]["job"] for run in runs] == [0, 1, 2, 3]
    assert here.manifest(runs[2])["sweep"]["axes"] == sweep.points[2].axes == {"agent.words": "3", "seed": "0"}
    assert (sweep.status, sweep.exit_code, sweep.samples) == ("finished", 0, 12)
    assert [axis.values for axis in sweep.axes] == [("1", "3"), ("0", "1")]
    assert not [path for path in here.path.iterdir() if path.name in ("multirun", "outputs", ".hydra")]
    for point, run in zip(sweep.points, runs, strict=True):
        assert {name: one.mean for name, one in point.metrics.items()} == {
            name: one["mean"] for name, one in here.summary(run)["metrics"].items()
        }
    pairs = {(one.against, one.point) for one in sweep.differences if one.kind == "neighbour"}
    assert pairs == {(0, 2), (1, 3), (0, 1), (2, 3)}
    rise = next(one for one in sweep.differences if (one.against, one.point, one.metric) == (0, 2, "letters.count"))
    means = [point.metrics["letters.count"].mean for point in sweep.points]
    assert rise.difference.mean == pytest.approx(means[2] - means[0])
    assert rise.p is not None
    assert rise.p == pytest.approx(4 * (rise.difference.p or 0))  # of six pairs two are equal but for a seed
    stopped_sweep = sweep.with_point(sweep.points[1].model_copy(update={"status": "stopped"}))
    differences = evaluate(stopped_sweep, SweepFolder(runs[0].parent)).differences
    rise = next(one for one in differences if (one.against, one.point, one.metric) == (0, 2, "letters.count"))
    assert rise.p == pytest.approx(5 * (rise.difference.p or 0))  # what was looked at counts, stopped or not
    out = capsys.readouterr().out
    assert out.index("12 samples should, by the first point, resolve") < out.index("\npoints\n")
    table = out[out.index("\npoints\n") :]
    assert table.count("finished") == 4
    assert f"{means[2]:.3f}" in table
    assert "no recommendation: neither dollars, tokens nor calls are known for all points and above 0" in table


def test_cost_is_weighed_and_the_choice_is_written_as_a_config(here: Workplace, capsys: Captured) -> None:
    """The metric counts words: of three points, the one with two words is the best and costs as much as the others."""
    here.write_samples({f"s{number}": f"question number {number}" for number in range(8)})
    axes = "sweep.axes={agent.words: [1, 2], agent.ask: [true], agent.plain: [true, false]}"
    assert main(["run", "-m", "experiment=tiny", "limit=6", axes, "sweep.metric=letters.vowels"]) == 0
    sweep = sweep_of(here)
    assert sweep.recommendation is not None
    assert (sweep.metric, sweep.spend) == ("letters.vowels", "cost_usd")
    assert sweep.recommendation.n == 6
    assert sum(sweep.recommendation.chosen.values()) == pytest.approx(1)
    by_hand = max(sweep.points, key=lambda point: (point.metrics["letters.vowels"].mean, -point.number))
    assert sweep.recommendation.point == sweep.recommendation.best == by_hand.number
    capsys.readouterr()
    assert main(["recommend", "latest", "--metric", "letters.count", "--write", "conf/experiment/tuned.yaml"]) == 0
    out = capsys.readouterr().out
    assert "recommended: words=2" in out
    assert "aiq run experiment=tuned" in out
    assert main(["run", "experiment=tuned"]) == 0
    run = next(path.parent for path in here.path.glob("results/tuned/*/manifest.json"))
    config = here.manifest(run)["config"]
    assert (config["agent"]["words"], config["agent"]["ask"], config["limit"]) == (2, True, None)
    for file in ("conf/experiment/tuned.yaml", "other/tiny.yaml"):
        assert main(["recommend", "latest", "--write", file]) == 2
        assert "choose another name" in capsys.readouterr().err
    assert "tuned" in (here.path / "conf/experiment/tuned.yaml").read_text()
    assert main(["recommend", sweep.sweep_id, "--metric", "letters.consonants"]) == 2
    assert "not all points have the metric letters.consonants" in capsys.readouterr().err


def test_nothing_starts_when_one_job_is_wrong(here: Workplace, capsys: Captured) -> None:
    assert main(["run", "-m", "experiment=tiny", "agent.words=1,many"]) == 2
    assert "agent.words='many'" in capsys.readouterr().err
    assert main(["run", "-m", "experiment=tiny,tinny"]) == 2
    assert main(["run", "-m", "experiment=tiny", "seed=0,1", "sweep.metric=letters.digits"]) == 2
    assert "the judges have no such metric; they have letters.count" in capsys.readouterr().err
    assert main(["run", "-m", "experiment=tiny", "dataset.path=tiny.jsonl,absent.jsonl"]) == 2
    assert not (here.path / "results").exists()


def test_a_failing_job_stops_nothing_and_the_worst_code_counts(here: Workplace, capsys: Captured) -> None:
    bad = "http://127.0.0.1:1/v1"
    overrides = ["experiment=tiny", f"llm.base_url={bad},{here.endpoint.base_url}", "limit=1"]
    assert main(["run", "-m", *overrides]) == 2
    assert [here.manifest(run)["sweep"]["job"] for run in here.runs()] == [1]
    output = capsys.readouterr()
    assert "failed (exit code 2)" in output.out
    assert bad in output.err
    here.write_samples({"a": "fail", "b": "fine"})
    assert main(["run", "-m", *overrides, "runner.max_error_rate=0"]) == 3


def test_a_sweep_is_resumed_as_a_whole(here: Workplace, capsys: Captured) -> None:
    """One point is finished, one was cut off, one never started, as after a `kill -9`."""
    assert main(["run", "-m", "experiment=tiny", "agent.ask=true", "seed=0,1,2"]) == 0
    sweep, runs = sweep_of(here), here.runs()
    values = [here.values(run) for run in runs]
    folder = SweepFolder(runs[0].parent)
    for name in ("samples.jsonl", "scores.jsonl"):
        rows = (runs[1] / name).read_text().splitlines(keepends=True)
        (runs[1] / name).write_text("".join(rows[:2]))
    manifest = RunFolder(runs[1]).read_manifest()
    RunFolder(runs[1]).write_manifest(manifest.model_copy(update={"status": "running"}))
    shutil.rmtree(runs[2])
    pending = [Point(number=p.number, axes=p.axes, overrides=p.overrides) for p in sweep.points[1:]]
    folder.write(sweep.model_copy(update={"status": "running", "points": (sweep.points[0], *pending)}))
    n_asked = len(here.endpoint.asked)
    assert main(["run", "resume=latest", "runner.concurrency=1"]) == 0
    assert len(here.endpoint.asked) - n_asked == 4 + 6
    assert [here.values(run) for run in here.runs()] == values
    assert here.manifest(runs[2])["config"]["runner"]["concurrency"] == 1
    resumed_sweep = folder.read()
    assert [point.status for point in resumed_sweep.points] == ["finished"] * 3
    assert resumed_sweep.differences == sweep.differences
    content = folder.sweep_path.read_bytes()
    assert main(["run", "-m", f"resume={resumed_sweep.sweep_id}"]) == 0
    assert len(here.endpoint.asked) - n_asked == 10
    assert folder.sweep_path.read_bytes() == content
    assert main(["run", "resume=latest"]) == 2
    assert main(["run", "-m", f"resume={resumed_sweep.sweep_id}", "seed=3"]) == 2
    assert "seed cannot change" in capsys.readouterr().err


def test_a_killed_sweep_loses_nothing_finished(here: Workplace, capsys: Captured) -> None:
    process = here.start("-m", "experiment=tiny", "agent.ask=true", "agent.seconds=0.1,0.2", "runner.concurrency=1")
    here.wait_for(lambda: any((run / "samples.jsonl").exists() for run in here.runs() if run.name == "1"))
    process.kill()
    process.communicate()
    sweep = sweep_of(here)
    assert [point.status for point in sweep.points] == ["finished", "pending"]
    n_asked = len(here.endpoint.asked)
    assert main(["run", "-m", "resume=latest"]) == 0
    assert sweep_of(here).status == "finished"
    assert len(here.endpoint.asked) - n_asked <= 6
    assert "written to" in capsys.readouterr().out
    assert len([*here.path.glob("results/*/*/index.html")]) == 1


def test_sigterm_between_runs_is_an_interruption(here: Workplace) -> None:
    """A run has its own handler, after which the sweep's is active again."""
    handler = signal.getsignal(signal.SIGTERM)
    with terminated_as_interrupted():
        here.ran("limit=1")
        assert signal.getsignal(signal.SIGTERM) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is handler


def test_a_sweep_of_few_samples_says_that_they_resolve_nothing(here: Workplace, capsys: Captured) -> None:
    here.write_samples({"s1": "why", "s2": "who else", "s3": "what is that"})
    assert main(["run", "-m", "experiment=tiny", "agent.words=1,2"]) == 0
    table = capsys.readouterr().out.partition("\npoints\n")[2]
    assert "3 samples are too few to resolve any difference between points of: letters.count" in table
    assert "too few" in SweepFolder(here.runs()[0].parent).page_path.read_text()


def test_without_prices_cost_decides_nothing(here: Workplace, capsys: Captured) -> None:
    prices = "llm.prices={small-1: {input: 0, output: 0}}"
    assert main(["run", "-m", "experiment=tiny", "agent.ask=true", "agent.words=1,2", prices]) == 0
    assert main(["recommend", "latest", "--spend", "cost_usd"]) == 2
    assert "cost_usd is 0 at every point: no prices are known (llm.prices)" in capsys.readouterr().err


def test_runs_and_sweeps_are_distinguished(here: Workplace, capsys: Captured) -> None:
    assert main(["run", "experiment=tiny", "name=alone"]) == 0
    assert main(["run", "-m", "experiment=tiny", "seed=0,1"]) == 0
    sweep_id = sweep_of(here).sweep_id
    capsys.readouterr()
    assert find_run("latest").path.parts[-2:] == (sweep_id, "1")
    assert find_run(f"{sweep_id}/0").run_id == f"{sweep_id}/0"
    assert find_run("alone").sweep_path is None
    for arguments, code, message in (
        (
            ["show", sweep_id, "s1"],
            2,
            f"is a sweep of several runs; name one of its points, e.g. results/tiny/{sweep_id}/0",
        ),
        (["recommend", "alone"], 2, "alone is not a sweep"),
        (["run", "-m", "resume=alone"], 2, "alone is not a sweep"),
    ):
        assert main(arguments) == code
        assert message in capsys.readouterr().err
    old_point = here.path / "results/tiny/20250101-000000-000000.0"  # a point as older versions have it
    shutil.copytree(here.runs()[-1], old_point)
    assert find_run("20250101-000000-000000.0").path.name == old_point.name


def test_cfg_prints_the_resolved_config_and_runs_nothing(here: Workplace, capsys: Captured) -> None:
    from omegaconf import OmegaConf

    assert main(["run", "--cfg", "experiment=tiny", "agent.words=3"]) == 0
    config = OmegaConf.create(capsys.readouterr().out)
    assert config.agent.words == 3
    assert config.clock.startswith("2026-11-01")
    assert main(["run", "--cfg", "-m", "experiment=tiny", "seed=1,2"]) == 0
    assert capsys.readouterr().out.count("---\n") == 2
    assert not (here.path / "results").exists()
