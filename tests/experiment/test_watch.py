"""`aiq runs` and `aiq watch`: what other processes can see of the runs in a results folder."""

import _thread
import json
import re
import shutil
import threading
from pathlib import Path

import pytest

from aiq.__main__ import main
from aiq.commands import watch
from aiq.core.samples import SampleKey
from aiq.runs.folder import RunFolder
from aiq.runs.follow import FollowedRun
from tests.cases import group
from tests.experiment.conftest import Captured, Workplace


def test_runs_are_listed_newest_first(here: Workplace, capsys: Captured) -> None:
    here.ran()
    assert main(["run", "experiment=tiny", "judge=[]", "limit=2"]) == 0
    broken = here.path / "results" / "tiny" / "broken" / "manifest.json"
    broken.parent.mkdir()
    broken.write_text("{}")
    capsys.readouterr()

    def list_runs(*arguments: str) -> list[str]:
        assert main(["runs", *arguments]) == 0
        output = capsys.readouterr()
        assert re.fullmatch(r"aiq: .*broken.manifest.json: run_id: must be set.*\n", output.err)
        return output.out.splitlines()

    heading, *lines = list_runs()
    assert re.sub("  +", " ", heading) == "run experiment status score metric cost when (UTC) agent model dataset"
    bare, scored = (re.split("  +", line) for line in lines)
    assert bare[1:6] == ["tiny", "finished", "-", "-", "$0.00"]
    assert bare[7:] == ["echo", "small-1", "tiny"]
    assert re.fullmatch(r"\d+\.\d+ \(\d+\.\d+ to \d+\.\d+\)", scored[3])
    assert scored[4] == "letters.count"
    assert len(list_runs("TINY", bare[0])) == 2
    rows = json.loads("\n".join(list_runs("--json")))
    assert [(row["kind"], row["samples"], row["metric"]) for row in rows] == [
        ("run", 2, None),
        ("run", 6, "letters.count"),
    ]
    for arguments, message in (
        (["nothing", "like it"], "in its columns: nothing, like it"),
        (["--results", "x"], "no runs in x/"),
    ):
        assert main(["runs", *arguments]) == 2
        assert message in capsys.readouterr().err


def test_a_run_is_followed_through_the_files_it_writes(here: Workplace) -> None:
    run = here.ran("epochs=2", "limit=2")
    samples, scores = run / "samples.jsonl", run / "scores.jsonl"
    rows, score_lines = samples.read_bytes().splitlines(keepends=True), scores.read_bytes().splitlines(keepends=True)
    samples.write_bytes(rows[0] + rows[1][:40])
    scores.write_bytes(b"")
    followed = FollowedRun(RunFolder(run))
    assert (followed.total, followed.poll()) == (4, ([], []))
    samples.write_bytes(b"".join(rows))
    scores.write_bytes(b"".join(score_lines))
    finished, retried = followed.poll()
    assert (len(finished), retried) == (4, [])
    first = json.loads(rows[0])
    with samples.open("a") as file:
        file.write(json.dumps({**first, "attempt": 2}) + "\n")
    assert followed.poll() == ([], [(first["sample_id"], first["epoch"])])
    assert len(followed.state.attempts) == 4


def test_watching_ends_with_the_run(here: Workplace, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    run = here.ran()
    monkeypatch.setattr(watch, "_EVERY_SECONDS", 0.02)
    copy = Path(shutil.copytree(run, here.path / "ended"))
    folder, codes = RunFolder(run), []
    scores = folder.scores_path.read_bytes()
    folder.write_manifest(folder.read_manifest().model_copy(update={"status": "running"}))
    folder.summary_path.unlink()
    folder.scores_path.write_bytes(b"")
    capsys.readouterr()
    looked = threading.Event()

    class Looked(FollowedRun):
        def poll(self) -> tuple[list[SampleKey], list[SampleKey]]:
            keys = super().poll()
            looked.set()
            return keys

    monkeypatch.setattr("aiq.runs.follow.FollowedRun", Looked)
    with folder.lock():
        thread = threading.Thread(target=lambda: codes.append(main(["watch"])))
        thread.start()
        assert looked.wait(60)
        assert main(["runs"]) == 0
        assert "  running  " in capsys.readouterr().out
        folder.scores_path.write_bytes(scores)
        for name in ("manifest.json", "summary.json"):
            shutil.copy(copy / name, run / name)
    thread.join()
    output = capsys.readouterr()
    assert codes == [0]
    assert re.search(r"tiny: 6 of 6 done, 0:0\d.*, letters.count \d", output.err)
    assert output.err.endswith("ended with exit code 0: done\n")
    assert "6 samples, 6 attempts: 6 completed" in output.out


def test_ctrl_c_ends_only_the_watching(here: Workplace, capsys: Captured) -> None:
    folder = RunFolder(here.ran())
    folder.write_manifest(folder.read_manifest().model_copy(update={"status": "running"}))
    with folder.lock():
        threading.Timer(0.5, _thread.interrupt_main).start()
        assert main(["watch", "tiny"]) == 130
        assert capsys.readouterr().err.endswith("aiq: interrupted\n")
        assert main(["compare", "tiny", "tiny"]) == 2
        assert "A is not finished (still running; wait for it)" in capsys.readouterr().err


def test_a_finished_run_is_reported_at_once(here: Workplace, capsys: Captured) -> None:
    folder = RunFolder(here.ran())
    for case in group(__file__, "status"):
        folder.write_manifest(folder.read_manifest().model_copy(update={"status": case["status"]}))
        folder.write_summary(folder.read_summary().model_copy(update={"status": case["status"]}))
        assert main(["watch", "tiny"]) == case["code"]
        err = capsys.readouterr().err
        assert case["said"] in err
        assert f"ended with exit code {case['code']}: " in err


def test_a_sweep_is_listed_and_watched_to_its_end(here: Workplace, capsys: Captured) -> None:
    here.write_samples({"s1": "fail", "s2": "fail"})
    assert main(["run", "-m", "experiment=tiny", "agent.words=1,2", "runner.max_error_rate=0.5"]) == 3
    (sweep,) = here.path.glob("results/tiny/*/sweep.json")
    capsys.readouterr()
    assert main(["runs"]) == 0
    assert f"{sweep.parent.name}  tiny        sweep, finished  " in capsys.readouterr().out
    assert main(["runs", "--points", "/1"]) == 0
    assert f"\n{sweep.parent.name}/1  tiny        finished" in capsys.readouterr().out
    assert main(["watch"]) == 3
    output = capsys.readouterr()
    assert "points\n" in output.out
    assert output.err.endswith("exit code 3: more failed than runner.max_error_rate allows\n")
    sweep.write_text(sweep.read_text().replace('"status": "finished"', '"status": "running"', 1))
    assert main(["watch", sweep.parent.name]) == 130
    assert "resume with: aiq run -m resume=" in capsys.readouterr().err
