"""Sweeps: everything is checked before the first job starts, a failing job stops nothing, the worst code counts."""

import pytest

from aiq.__main__ import main
from tests.experiment.conftest import Workplace


def test_each_job_has_a_folder_that_knows_its_place(here: Workplace, capsys: pytest.CaptureFixture[str]) -> None:
    here.write_samples({f"s{number}": f"question number {number}" for number in range(12)})
    assert main(["run", "-m", "experiment=tiny", "agent.words=1,3", "seed=0,1"]) == 0
    places = [here.manifest(run)["sweep"] for run in here.runs()]
    assert len({place["id"] for place in places}) == 1
    assert [place["job"] for place in places] == [0, 1, 2, 3]
    assert places[2]["axes"] == {"agent.words": "3", "seed": "0"}
    assert [run.name for run in here.runs()] == [f"{places[0]['id']}.{job}" for job in range(4)]
    assert not [path for path in here.path.iterdir() if path.name in ("multirun", "outputs", ".hydra")]
    out = capsys.readouterr().out
    table = out[out.index("\nsweep ") :]
    assert table.count("finished") == 4
    count = here.summary(here.runs()[2])["metrics"]["letters.count"]["mean"]
    first = here.summary(here.runs()[0])["metrics"]["letters.count"]["mean"]
    assert f"{count:.3f}" in table
    difference = next(line for line in table.splitlines() if f"+{count - first:.3f}" in line)
    assert ")*" in difference  # three times the words: certain, on the same samples
    assert "corrected by Holm's method" in " ".join(table.split())


def test_nothing_starts_when_one_job_is_wrong(here: Workplace, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "-m", "experiment=tiny", "agent.words=1,many"]) == 2
    assert "agent.words='many'" in capsys.readouterr().err
    assert main(["run", "-m", "experiment=tiny,tinny"]) == 2
    assert main(["run", "-m", "experiment=tiny", "dataset.path=tiny.jsonl,absent.jsonl"]) == 2
    assert not (here.path / "results").exists()


def test_a_failing_job_stops_nothing_and_the_worst_code_counts(
    here: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = "http://127.0.0.1:1/v1"
    given = ["experiment=tiny", f"llm.base_url={bad},{here.endpoint.base_url}", "limit=1"]
    assert main(["run", "-m", *given]) == 2
    assert [here.manifest(run)["sweep"]["job"] for run in here.runs()] == [1]
    captured = capsys.readouterr()
    assert "not started" in captured.out
    assert bad in captured.err
    here.write_samples({"a": "fail", "b": "fine"})
    assert main(["run", "-m", *given, "runner.max_error_rate=0"]) == 3


def test_a_job_of_a_sweep_is_resumed_by_itself(here: Workplace) -> None:
    assert main(["run", "-m", "experiment=tiny", "seed=0,1"]) == 0
    run = here.runs()[1]
    rows = (run / "samples.jsonl").read_text().splitlines(keepends=True)
    before = here.values(run)
    (run / "samples.jsonl").write_text("".join(rows[:2]))
    assert main(["run", f"resume={run}"]) == 0
    assert here.values(run) == before
    assert here.manifest(run)["sweep"]["axes"] == {"seed": "1"}


def test_cfg_prints_the_resolved_config_and_runs_nothing(here: Workplace, capsys: pytest.CaptureFixture[str]) -> None:
    from omegaconf import OmegaConf

    assert main(["run", "--cfg", "experiment=tiny", "agent.words=3"]) == 0
    config = OmegaConf.create(capsys.readouterr().out)
    assert config.agent.words == 3
    assert config.clock.startswith("2026-11-01")
    assert main(["run", "--cfg", "-m", "experiment=tiny", "seed=1,2"]) == 0
    assert capsys.readouterr().out.count("---\n") == 2
    assert not (here.path / "results").exists()
