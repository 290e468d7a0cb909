"""Runs in shards, which communicate only through their folder."""

import threading
from pathlib import Path

import pytest

from aiq.__main__ import main
from aiq.core.samples import Shard
from aiq.experiment.launchers.base import ShardEnd
from aiq.experiment.launchers.processes import Processes
from aiq.experiment.shards import combined_end
from aiq.runs.folder import RunFolder
from tests.cases import group, table
from tests.experiment.conftest import Captured, Workplace

each = table(__file__)

ASKING = ("agent.ask=true", "judge.letters.ask=true", "runner.progress=false")
DEFAULT = "aiq.experiment.launchers.processes:Processes"
QUESTIONS = {f"s{number}": f"question number {number}" for number in range(7)}


def run(*overrides: str) -> int:
    return main(["run", "experiment=tiny", *ASKING, *overrides])


def made(here: Workplace, *overrides: str) -> Path:
    """The folder of a new run with these settings; others may exist."""
    old_runs = set(here.runs())
    assert run(*overrides) == 0
    (folder,) = set(here.runs()) - old_runs
    return folder


def test_shards_in_any_order_have_the_outcome_of_the_whole_run(here: Workplace, capsys: Captured) -> None:
    whole = made(here, "epochs=2")
    for number in (3, 1):
        assert run("epochs=2", "run_id=parts", f"shard={number}/3") == 0
        assert "this shard of results/tiny/parts is done, but others are not" in capsys.readouterr().err
    parts = here.path / "results/tiny/parts"
    assert here.manifest(parts)["status"] == "interrupted"
    assert not (parts / "index.html").exists()
    assert run("epochs=2", "run_id=parts", "shard=2/3") == 0
    assert here.values(parts) == here.values(whole)
    assert here.summary(parts)["metrics"] == here.summary(whole)["metrics"]
    assert here.manifest(parts)["status"] == here.summary(parts)["status"] == "finished"
    assert (parts / "index.html").is_file()
    assert {path.name for path in RunFolder(parts).journals("samples")} == {
        f"samples-{number}-of-3.jsonl" for number in (1, 2, 3)
    }
    assert main(["show", str(parts)]) == 0


def test_a_stopped_shard_is_resumed_by_the_same_command(here: Workplace) -> None:
    here.endpoint.refuse_from = 3
    assert run("run_id=parts", "shard=1/2", "runner.concurrency=1") == 2
    requests = list(here.endpoint.asked)
    here.endpoint.refuse_from = None
    assert run("run_id=parts", "shard=1/2") == 0
    assert not set(requests[:3]) & set(here.endpoint.asked[len(requests) :]), "something was paid for twice"


def test_a_resume_with_other_shards_writes_files_that_are_read_after_the_old_ones(here: Workplace) -> None:
    here.write_samples({**QUESTIONS, "s3": "fail"})
    whole = made(here, "runner.max_error_rate=1")
    assert run("run_id=parts", "shard=2/2", "runner.max_error_rate=1") == 0
    folder, retry = str(here.path / "results/tiny/parts"), "runner.retry_failed=true"
    assert main(["run", f"resume={folder}", *ASKING[2:]]) == 0
    assert main(["run", f"resume={folder}", *ASKING[2:], retry, "shard=2/2"]) == 0
    names = [path.name for path in RunFolder(Path(folder)).journals("samples")]
    assert names == ["samples-2-of-2.jsonl", "samples-1.jsonl", "samples-2-2-of-2.jsonl"]
    attempts = [row["attempt"] for row in here.rows(Path(folder), "samples") if row["sample_id"] == "s3"]
    assert attempts == [1, 2]
    assert here.values(Path(folder)) == here.values(whole)


def test_working_shards_keep_others_out_of_their_work(here: Workplace, capsys: Captured) -> None:
    assert run("run_id=parts", "shard=1/2") == 0
    folder = RunFolder(here.path / "results/tiny/parts")
    with folder.lock(Shard(2, 2)):
        capsys.readouterr()
        for shard, message in (("2/2", "shard 2/2 of"), ("1/3", "shard 2/2 of it is still running")):
            assert run("run_id=parts", f"shard={shard}") == 2
            assert message in capsys.readouterr().err
        assert main(["run", f"resume={folder.path}"]) == 2
        assert "shard 2/2 of it is still running" in capsys.readouterr().err
        assert run("run_id=parts", "shard=1/2") == 0  # which has nothing left to do
        assert here.manifest(folder.path)["status"] == "running"


def test_an_impossible_shard_is_refused_in_one_line(here: Workplace, capsys: Captured) -> None:
    assert run("run_id=parts", "shard=1/2") == 0
    for case in group(__file__, "refused"):
        capsys.readouterr()
        assert run(*case["overrides"]) == 2
        assert case["said"] in (err := capsys.readouterr().err)
        assert len(err.splitlines()) == 1


@pytest.mark.parametrize("launcher", ["tiny_parts:Forks", pytest.param(DEFAULT, marks=pytest.mark.whole)])
def test_processes_share_a_run_and_one_that_dies_is_replaced(here: Workplace, launcher: str) -> None:
    here.write_samples({**QUESTIONS, "s4": "die"})
    mortal = "agent.target=tiny_parts:Mortal"
    parts = made(here, mortal, "runner.processes=2", f"runner.launcher.target={launcher}")
    assert (here.path / "died").exists()
    assert here.summary(parts)["statuses"] == {"completed": 7}
    assert here.values(parts) == here.values(made(here, mortal))
    assert here.manifest(parts)["status"] == "finished"
    assert (parts / "index.html").is_file()


async def test_a_shards_process_returns_its_exit_code_and_last_line(tmp_path: Path) -> None:
    end = await Processes(Processes.Settings()).run(tmp_path / "nowhere", Shard(1, 2))
    assert (end.code, end.error.partition(" (")[0]) == (2, f"{tmp_path}/nowhere is not a run folder")


@each("codes")
def test_what_stops_a_shard_stops_the_run(codes: list[int], ended: str, said: str | None) -> None:
    ends = [ShardEnd(code, "no key; finished work is kept, resume with: aiq run resume=a") for code in codes]
    status, error = combined_end(ends)
    assert (status, error and str(error).partition(";")[0]) == (ended, said)


def test_a_report_is_judged_while_the_next_one_is_written(here: Workplace) -> None:
    """The first judge call waits for the second agent call, which would never come if one worker did both."""
    second = threading.Event()

    def answer(text: str) -> str:
        if text == "question number 1":
            second.set()
        elif text.startswith("question number 0 "):
            assert second.wait(30)
        return text

    here.endpoint.answer = answer
    assert run("runner.concurrency=1", "llm.timeout_seconds=40") == 0
