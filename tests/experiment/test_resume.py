"""Runs that were killed, interrupted or damaged, and then resumed."""

import json
import signal
import sys

import pytest

from aiq.__main__ import main
from aiq.core.samples import SampleKey
from aiq.runs.events import events_of
from aiq.runs.folder import RunFolder
from aiq.runs.reader import read_state
from tests.experiment.conftest import Captured, Workplace
from tests.forked import Forked

SLOW = ("agent.ask=true", "judge.letters.ask=true", "agent.seconds=0.2", "runner.concurrency=2")


def start_and_wait_for_rows(place: Workplace, rows: int) -> tuple[Forked, str]:
    """A run in a separate process, once this many attempts are on disk, and its folder."""
    place.write_samples({f"s{number:02}": f"question number {number}" for number in range(16)})
    process = place.start("experiment=tiny", *SLOW)
    place.wait_for(lambda: bool(place.runs()) and len(place.lines(place.only_run() / "samples.jsonl")) >= rows)
    return process, str(place.only_run().relative_to(place.path))


def test_a_run_killed_in_the_middle_ends_after_a_resume_like_an_undisturbed_one(here: Workplace) -> None:
    process, folder = start_and_wait_for_rows(here, 5)
    process.kill()
    process.wait()
    killed_run = here.only_run()
    rows = here.lines(killed_run / "samples.jsonl")
    assert all(row["extras"]["client_loaded"] for row in rows), "the first attempts were timed with an import"
    scored_ids = {row["sample_id"] for row in here.lines(killed_run / "scores.jsonl")}
    assert 5 <= len(rows) < 16
    assert here.manifest(killed_run)["status"] == "running"

    old_requests = list(here.endpoint.asked)
    assert main(["run", f"resume={folder}", "runner.concurrency=8"]) == 0
    new_requests = here.endpoint.asked[len(old_requests) :]
    assert not {row["question"] for row in rows} & set(new_requests), "a finished attempt was paid twice"
    reports = {row["sample_id"]: row["report"] for row in rows}
    assert not {reports[sample] for sample in scored_ids} & set(new_requests), "a finished score was paid twice"
    assert here.manifest(killed_run)["status"] == "finished"

    assert main(["run", "experiment=tiny", *SLOW[:2]]) == 0
    whole_run = next(run for run in here.runs() if run != killed_run)
    assert here.values(killed_run) == here.values(whole_run)
    assert here.summary(killed_run)["metrics"] == here.summary(whole_run)["metrics"]


def test_ctrl_c_stops_cleanly_and_says_how_to_resume(here: Workplace) -> None:
    process, folder = start_and_wait_for_rows(here, 3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert f"resume with: aiq run resume={folder}" in err
    assert "Traceback" not in out + err
    run = here.only_run()
    statuses = [row["status"] for row in here.lines(run / "samples.jsonl")]
    assert set(statuses) <= {"completed", "cancelled"}
    assert here.summary(run)["status"] == "interrupted"
    assert (run / "index.html").is_file()
    assert main(["run", f"resume={folder}"]) == 0
    assert here.summary(run)["statuses"] == {"completed": 16}
    assert here.summary(run)["metrics"]["letters.count"]["n"] == 16


def test_a_damaged_line_is_named_and_its_content_made_again(here: Workplace, capsys: Captured) -> None:
    run = here.ran()
    values = here.values(run)
    for file in ("samples", "scores", "event_index", "events-0"):
        path = run / f"{file}.jsonl"
        lines = path.read_bytes().splitlines(keepends=True)
        middle = len(lines) // 2
        lines[middle] = b"\0" * 40 + b"\n"
        path.write_bytes(b"".join(lines))
        (run / "index.html").unlink()
        assert main(["run", f"resume={run}"]) == 0
        assert f"{path}, line {middle + 1} is damaged and skipped" in capsys.readouterr().err
        path.write_bytes(path.read_bytes().replace(b"\0" * 40 + b"\n", b""))
        assert here.values(run) == values


@pytest.mark.parametrize(("file", "text"), [("scores", "report"), ("samples", "question")])
def test_a_torn_row_is_cut_and_reported_and_only_its_work_is_done_again(
    here: Workplace, capsys: Captured, file: str, text: str
) -> None:
    """A judge's work is done by the judge alone, with the sources that the agent left (`letters.pages`)."""
    run = here.ran("agent.ask=true", f"judge.letters.ask={file == 'scores'}")
    values = here.values(run)
    attempt = next(row for row in here.lines(run / "samples.jsonl") if row["sample_id"] == "s3")
    path = run / f"{file}.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    sample_lines = [line for line in lines if json.loads(line)["sample_id"] == "s3"]
    path.write_text("".join(line for line in lines if line not in sample_lines) + sample_lines[0][:40])
    here.endpoint.asked.clear()
    assert main(["run", f"resume={run}"]) == 0
    assert f"{file}.jsonl: cut a torn last line" in capsys.readouterr().err
    assert here.endpoint.asked == [attempt[text]]
    assert here.values(run) == values


def test_resuming_a_finished_run_asks_nothing_and_changes_nothing(here: Workplace) -> None:
    """Even if the endpoint has moved: `llm.base_url` is then the same service at another address."""
    run = here.ran(*SLOW[:2])
    names = ("samples.jsonl", "scores.jsonl", "summary.json", "index.html", "site/summary.js")
    files = [((run / name).read_bytes(), (run / name).stat().st_mtime_ns) for name in names]
    hashes = here.manifest(run)["hashes"]
    here.endpoint.close()
    for address in ("http://127.0.0.1:9/v1", "http://127.0.0.1:9/v2"):
        assert main(["run", f"resume={run}", f"llm.base_url={address}"]) == 0
    assert [((run / name).read_bytes(), (run / name).stat().st_mtime_ns) for name in names] == files
    assert here.manifest(run)["hashes"] == hashes
    assert here.manifest(run)["config"]["llm"]["known_as"] == here.endpoint.base_url


def test_resume_latest_resumes_the_latest_unfinished_run(here: Workplace, capsys: Captured) -> None:
    finished_run = here.ran("limit=1")
    limits = ("agent.ask=true", "runner.concurrency=1", "limits.run_usd=1")
    assert main(["run", "experiment=tiny", *limits]) == 130
    assert main(["run", "experiment=tiny", "name=other", *limits]) == 130
    assert main(["run", "experiment=tiny", "limit=1", "output_dir=elsewhere"]) == 0
    capsys.readouterr()
    (tiny,) = (run for run in here.runs() if run.parent.name == "tiny" and run != finished_run)
    (other_run,) = (run for run in here.runs() if run.parent.name == "other")
    assert main(["run", "resume=latest", "experiment=tiny", "limits.run_usd=100"]) == 0
    assert f"resuming {tiny.relative_to(here.path)}" in capsys.readouterr().err
    assert here.summary(tiny)["statuses"] == {"completed": 6}
    assert main(["run", f"resume={other_run.name}", "limits.run_usd=2"]) == 130  # by its id, too
    assert main(["run", "resume=latest", "output_dir=results", "limits.run_usd=100"]) == 0
    assert here.summary(other_run)["statuses"] == {"completed": 6}
    capsys.readouterr()
    for overrides, message in (
        ([], "there is no unfinished run in results/\n"),
        (["experiment=nobody"], "there is no unfinished run of nobody in results/\n"),
        (["output_dir=elsewhere"], "no unfinished run in elsewhere/"),
        (["limit=2"], "no unfinished run"),
    ):
        assert main(["run", "resume=latest", *overrides]) == 2
        assert message in capsys.readouterr().err
    here.write_samples({"s0": "please fail"})
    assert main(["run", "experiment=tiny", "output_dir=elsewhere"]) == 0
    assert main(["run", "resume=latest", "output_dir=elsewhere"]) == 2
    assert "; to retry failed attempts: aiq run resume=elsewhere/tiny/" in capsys.readouterr().err


def test_missing_judgements_are_reported_with_the_command_to_resume(here: Workplace, capsys: Captured) -> None:
    here.write_samples({"a": "unjudgeable words", "b": "good words", "c": "fail"})
    assert main(["run", "experiment=tiny", "runner.max_error_rate=0.3"]) == 3
    folder = here.only_run().relative_to(here.path)
    stderr = capsys.readouterr().err
    assert "aiq: 1 of 3 attempts failed, more than runner.max_error_rate allows (exit code 3)\n" in stderr
    assert f"aiq: to retry failed judgements: aiq run resume={folder}\n" in stderr
    assert f"aiq: to retry failed attempts: aiq run resume={folder} runner.retry_failed=true\n" in stderr
    assert main(["run", "experiment=tiny", "dataset.ids=[b]"]) == 0  # a later one, with nothing left
    (here.path / "tiny_parts.py").write_text((here.path / "tiny_parts.py").read_text().replace('"unjudgeable"', '"-"'))
    del sys.modules["tiny_parts"]
    capsys.readouterr()
    assert main(["run", "resume=latest", "runner.max_error_rate=1"]) == 0
    assert f"resuming {folder}" in capsys.readouterr().err
    assert here.summary(folder)["judge_errors"] == {}


def test_counting_failures_differently_makes_a_new_summary_and_page(here: Workplace) -> None:
    here.write_samples({"a": "fail", "b": "fine"})
    run = here.ran()
    page = (run / "site/summary.js").read_text()
    assert main(["run", f"resume={run}", "runner.agent_failures=exclude"]) == 0
    assert here.summary(run)["metrics"]["letters.count"]["n"] == 1
    assert (run / "site/summary.js").read_text() != page


def test_what_a_judge_spent_before_it_was_stopped_stays_counted(here: Workplace) -> None:
    overrides = ("experiment=tiny", "judge.letters.target=tiny_parts:Twice", "limit=2", "runner.concurrency=1")
    assert main(["run", *overrides, "limits.run_usd=3"]) == 130
    run = here.only_run()
    assert here.endpoint.asked == ["one", "two", "one"]
    assert here.summary(run)["cost_usd"] == 3.0
    assert main(["run", f"resume={run}", "limits.run_usd=100"]) == 0
    assert here.summary(run)["cost_usd"] == 5.0
    assert here.summary(run)["judge_errors"] == {}


def test_judges_events_belong_to_the_last_attempt_and_rows_have_the_cost_of_both(here: Workplace) -> None:
    here.write_samples({"a": "question"})
    run = here.ran(*SLOW[:2])
    row = json.loads((run / "samples.jsonl").read_text())
    (run / "samples.jsonl").write_text(json.dumps({**row, "status": "cancelled"}) + "\n")
    assert main(["run", f"resume={run}"]) == 0
    events = events_of(RunFolder(run), SampleKey("a", 1), 2, "judge")
    assert [event["type"] for event in events].count("run_started") == 1
    assert read_state(RunFolder(run)).spent().cost_usd == here.summary(run)["cost_usd"] == len(here.endpoint.asked)


def test_failed_attempts_are_kept_unless_retried_and_then_lose_their_old_scores(here: Workplace) -> None:
    here.write_samples({"a": "fail first", "b": "fine"})
    run = here.ran()
    assert main(["run", f"resume={run}"]) == 0
    assert len(here.lines(run / "samples.jsonl")) == 2
    code = (here.path / "tiny_parts.py").read_text().replace('if "fail" in text', "if False")
    (here.path / "tiny_parts.py").write_text(code)
    del sys.modules["tiny_parts"]  # as a new process would load it
    assert main(["run", f"resume={run}", "runner.retry_failed=true"]) == 0
    rows = {row["sample_id"]: row for row in here.lines(run / "samples.jsonl")}
    assert (rows["a"]["attempt"], rows["a"]["status"], rows["b"]["attempt"]) == (2, "completed", 1)
    assert here.summary(run)["metrics"]["letters.vowels"]["n"] == 2


def test_only_settings_that_change_no_number_may_change_on_resume(here: Workplace, capsys: Captured) -> None:
    run = here.ran("limit=1")
    with RunFolder(run).lock():
        assert main(["run", f"resume={run}"]) == 2
    assert "still running" in capsys.readouterr().err
    text = (run / "manifest.json").read_text()
    for override in ("seed=1", "agent.words=2", "llm.model=other", "experiment=tiny", "runner=default"):
        assert main(["run", f"resume={run}", override]) == 2
        assert "cannot change" in capsys.readouterr().err
    assert (run / "manifest.json").read_text() == text
    assert main(["run", f"resume={run}", "runner.concurrency=3", "limits.sample_seconds=60"]) == 0
    manifest = here.manifest(run)
    assert manifest["config"]["runner"]["concurrency"] == 3
    assert manifest["resumed"][0]["overrides"] == ["runner.concurrency=3", "limits.sample_seconds=60"]
    assert manifest["overrides"] == ["experiment=tiny", "limit=1"]


def test_a_resume_with_a_changed_dataset_is_refused(here: Workplace, capsys: Captured) -> None:
    run = here.ran()
    here.write_samples({f"s{number}": f"another question {number}" for number in range(6)})
    assert main(["run", f"resume={run}"]) == 2
    err = capsys.readouterr().err
    assert "dataset tiny has changed since" in err
    manifest = here.manifest(run)
    manifest["dataset"]["fingerprint"] = err.split("now ")[1].split(")")[0]
    (run / "manifest.json").write_text(json.dumps(manifest))
    assert main(["run", f"resume={run}"]) == 2  # rows guard themselves, whatever the fingerprint says
    assert "sample s0 is another question" in capsys.readouterr().err
