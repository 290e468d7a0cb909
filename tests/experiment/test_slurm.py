"""`runner=slurm`: real submitit, on this machine and beside a Slurm that refuses."""

import stat
from pathlib import Path

import pytest

from aiq.__main__ import main
from tests.experiment.conftest import Captured, Workplace

pytest.importorskip("submitit", reason="the extra slurm is not installed")

SHARDS = ("run", "experiment=tiny", "runner=slurm", "runner.processes=2", "runner.progress=false")
HERE = ("runner.launcher.cluster=local", "runner.launcher.poll_seconds=0.2")


def test_jobs_on_this_machine_share_a_run(here: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    assert main([*SHARDS, *HERE]) == 0
    (run,) = here.runs()
    assert here.summary(run)["statuses"] == {"completed": 6}
    assert {path.name for path in run.glob("samples*")} == {"samples-1-of-2.jsonl", "samples-2-of-2.jsonl"}


@pytest.mark.parametrize(
    ("given", "said", "runs"),
    [
        (["runner.launcher.parameters={}"], 'Could not detect "srun"', 0),
        ([*HERE, "runner.launcher.parameters={timeout_min: soon}"], 'Parameter "timeout_min" expected type', 0),
        ([*HERE, "runner.launcher.parameters={nope: 1}"], "Parameter 'nope' need to be prefixed", 0),
        (["runner.launcher.parameters={slurm_partition: none}"], "invalid partition specified: none", 1),
    ],
)
def test_what_slurm_refuses_is_one_line(
    here: Workplace, capsys: Captured, monkeypatch: pytest.MonkeyPatch, given: list[str], said: str, runs: int
) -> None:
    """It ends the run before anything is written, except for jobs that are refused when they are submitted."""
    for name in ("srun", "sbatch") if runs else ():
        script = here.path / name
        script.write_text("#!/bin/sh\necho 'sbatch: error: invalid partition specified: none' >&2\nexit 1\n")
        script.chmod(stat.S_IRWXU)
        monkeypatch.setenv("PATH", str(here.path), prepend=":")
    assert main([*SHARDS, *given]) == 2
    *before, last = capsys.readouterr().err.splitlines()
    assert last.startswith("aiq: runner.launcher: ")
    assert said in last
    assert not [line for line in before if not line.startswith("sbatch")]  # submitit passes them on
    assert len(here.runs()) == runs
