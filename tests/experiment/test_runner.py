"""Whole runs inside this process: real agent, judge and dataset plugins, a real endpoint on loopback; and signals."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from aiq.__main__ import main
from aiq.core.samples import SampleKey
from aiq.experiment.runner import stop_on_signal
from aiq.runs.events import events_of
from aiq.runs.folder import RunFolder
from aiq.site.pages import data_records
from tests.experiment.conftest import Captured, Workplace
from tests.llm.endpoint import error


def run(*overrides: str) -> int:
    return main(["run", "experiment=tiny", *overrides])


def test_a_run_leaves_the_specified_folder(here: Workplace, capsys: Captured) -> None:
    assert run("agent.ask=true", "judge.letters.ask=true", "limit=2", "seed=5") == 0
    folder = here.only_run()
    names = {path.name for path in folder.iterdir()}
    assert names == {
        "manifest.json",
        "samples.jsonl",
        "scores.jsonl",
        "summary.json",
        "index.html",
        "site",
        "event_index.jsonl",
        "events-0.jsonl",
        "events-1.jsonl",
        "run.lock",
    }

    row = next(row for row in here.lines(folder / "samples.jsonl") if row["sample_id"] == "s0")
    columns = {"sample_id", "sample_hash", "epoch", "attempt", "status", "report", "raw_report", "route", "sources"}
    assert columns | {"audit", "usage", "timing", "error", "schema_version"} <= set(row)
    assert (row["status"], row["attempt"], row["route"]) == ("completed", 1, "echo")
    assert row["raw_report"] == row["report"] + "!"
    assert row["usage"]["echo.writer"]["calls"] == 1
    assert row["sources"][0]["url"] == "https://example.org/s0"

    scores = [row for row in here.lines(folder / "scores.jsonl") if row["sample_id"] == "s0"]
    assert [score["metric"] for score in scores] == ["letters.count", "letters.vowels", "letters.pages"]
    assert sum(score["usage"]["judge.letters"]["calls"] for score in scores if score["usage"]) == 1

    manifest = here.manifest(folder)
    assert (manifest["status"], manifest["run_id"], manifest["experiment"]) == ("finished", folder.name, "tiny")
    assert manifest["clock"].startswith("2026-11-01")
    assert manifest["config"]["seed"] == 5
    assert manifest["overrides"] == ["experiment=tiny", "agent.ask=true", "judge.letters.ask=true", "limit=2", "seed=5"]
    assert manifest["dataset"] == {**manifest["dataset"], "name": "tiny", "size": 6, "samples": 2}
    assert manifest["models"] == {"default": "small-1", "echo.writer": "small-1", "judge.letters": "small-1"}
    assert {"config", "agent", "judges", "prompts"} == set(manifest["hashes"])

    totals = here.summary(folder)
    assert totals["usage"]["agent"]["total"] == {**totals["usage"]["agent"]["total"], "calls": 2, "cost_usd": 2.0}
    assert totals["cost_usd"] == 4.0
    assert totals["metrics"]["letters.count"]["n"] == 2
    assert totals["metrics"]["letters.vowels"]["estimator"] == "ratio"
    out = capsys.readouterr().out
    assert "letters.count" in out
    assert "$4.00" in out
    assert str(folder.relative_to(here.path)) in out


def test_every_ending_of_an_attempt_is_a_row_and_failures_get_the_worst_score(here: Workplace) -> None:
    here.write_samples(
        {
            "good": "good one",
            "failed": "fail please",
            "bug": "break please",
            "itself": "stop_itself please",
            "slow": "hang please",
            "rejected": "reject please",
            "unjudged": "unjudgeable words",
        }
    )
    assert run("limits.sample_seconds=1", "runner.max_error_rate=0.5") == 0
    folder = here.only_run()
    rows = {row["sample_id"]: row for row in here.lines(folder / "samples.jsonl")}
    assert {key: row["status"] for key, row in rows.items()} == {
        "good": "completed",
        "failed": "failed",
        "bug": "failed",
        "itself": "failed",
        "slow": "limit",
        "rejected": "completed",
        "unjudged": "completed",
    }
    assert rows["failed"]["error"] == {"type": "AgentError", "message": "this question fails"}
    assert rows["slow"]["error"]["message"] == "limits.sample_seconds=1 reached"
    (*_, end) = events_of(RunFolder(folder), SampleKey("bug", 1), 1)
    assert "Traceback" in end["error"]

    counts = {row["sample_id"]: row for row in here.lines(folder / "scores.jsonl") if row["metric"] == "letters.count"}
    assert counts["good"]["status"] == "scored"
    assert counts["unjudged"]["status"] == "error"
    assert counts["unjudged"]["value"] is None
    for key in ("failed", "bug", "itself", "slow", "rejected"):
        assert (counts[key]["status"], counts[key]["value"]) == ("agent_failed", 0.0)
        assert events_of(RunFolder(folder), SampleKey(key, 1), 1, "judge") == []

    summary = here.summary(folder)
    good = counts["good"]["value"]
    assert summary["metrics"]["letters.count"]["n"] == 6
    assert summary["metrics"]["letters.count"]["mean"] == pytest.approx(good / 6)
    failures = summary["agent_failures"]
    assert (failures["policy"], failures["failed"], failures["alternative"]) == ("worst", 5, "exclude")
    assert failures["metrics"]["letters.count"] == {**failures["metrics"]["letters.count"], "mean": good, "n": 1}
    assert summary["judge_errors"]["letters"] == {"n": 1, "causes": {"this report cannot be judged": 1}}
    # letters.vowels has no worst value: a failed attempt has no such number
    assert summary["metrics"]["letters.vowels"]["n"] == 1


def test_reports_and_values_depend_on_epoch_and_seed_but_not_on_concurrency(here: Workplace) -> None:
    for concurrency in (1, 8):
        assert run("epochs=3", f"runner.concurrency={concurrency}", "agent.ask=true") == 0
    first, second = (here.values(folder) for folder in here.runs())
    assert len(first) == 6 * 3 * 4
    assert first == second
    assert len({first["s0", epoch, "report"] for epoch in (1, 2, 3)}) == 3
    assert here.summary(here.runs()[0])["metrics"] == here.summary(here.runs()[1])["metrics"]
    assert run("epochs=3", "seed=1") == 0
    assert here.values(here.runs()[2])["s0", 1, "report"] != first["s0", 1, "report"]


def test_unavailable_metrics_slices_and_the_order_of_samples(here: Workplace) -> None:
    here.write_samples({"z": "red x", "a": "red fail", "m": "blue z"})
    assert run("+judge.none.target=tiny_parts:Never") == 0
    summary = here.summary(here.only_run())
    assert "none.x" not in summary["metrics"]
    assert summary["unavailable"] == {"none.x": "there are no sources"}
    assert list(summary["slices"]) == ["kind"]
    counts = {value: metrics["letters.count"]["n"] for value, metrics in summary["slices"]["kind"].items()}
    assert counts == {"blue": 1, "red": 2}
    ids = [record["id"] for record in data_records(here.only_run() / "site/samples-0.js")]
    assert ids == ["z", "a", "m"]  # as read


def test_a_limit_of_model_calls_ends_one_attempt(here: Workplace) -> None:
    assert run("agent.ask=true", "limits.sample_usd=0.5", "limit=1") == 0  # the one call was allowed
    n_asked = len(here.endpoint.asked)
    assert run("agent.target=tiny_parts:Chatty", "limits.sample_model_calls=1", "limit=1") == 0
    assert len(here.endpoint.asked) == n_asked + 1
    row = here.lines(here.runs()[1] / "samples.jsonl")[0]
    assert (row["status"], row["error"]["message"]) == ("limit", "limits.sample_model_calls=1 reached")


def test_the_budget_stops_the_run_which_can_be_resumed_with_a_larger_one(here: Workplace, capsys: Captured) -> None:
    assert run("agent.ask=true", "limits.run_usd=2.5", "runner.concurrency=1") == 130
    folder = here.only_run()
    assert [row["status"] for row in here.lines(folder / "samples.jsonl")] == ["completed"] * 3 + ["cancelled"]
    err = capsys.readouterr().err
    assert "limits.run_usd=2.5 reached" in err
    assert f"resume with: aiq run resume={folder.relative_to(here.path)} limits.run_usd=MORE\n" in err
    assert here.summary(folder)["agent_failures"]["failed"] == 0  # what is cancelled has not failed
    resume = f"resume={folder.relative_to(here.path)}"
    assert main(["run", resume, "limits.run_usd=100"]) == 0
    assert len(here.endpoint.asked) == 6
    assert here.summary(folder)["statuses"] == {"completed": 6}
    assert here.summary(folder)["cost_usd"] == 6.0


def test_the_key_is_in_no_file_and_only_the_run_folder_is_written(
    here: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    names = {path.name for path in here.path.iterdir()}
    assert run("llm.api_key_env=MY_KEY", "agent.ask=true", "limit=1") == 0
    assert {path.name for path in here.path.iterdir()} - names <= {"results", "__pycache__"}
    for file in here.only_run().rglob("*"):
        assert file.is_dir() or b"very-secret" not in file.read_bytes()


def test_half_a_surrogate_pair_breaks_neither_the_run_nor_a_row(here: Workplace) -> None:
    here.write_samples({"a": "fine", "b": "fail"})
    assert run("agent.target=tiny_parts:Halves", "runner.concurrency=1") == 0
    first, second = here.lines(here.only_run() / "samples.jsonl")
    assert (first["report"], first["extras"]) == ("?ab", {"half": "?"})
    assert second["error"]["message"] == "odd ?"
    assert here.summary(here.only_run())["failures"] == {"AgentError: odd ?": 1}


def test_an_agent_that_swallows_its_cancellation_gets_no_further_sample(here: Workplace) -> None:
    here.write_samples({"a": "abort", "b": "fine", "c": "fine", "d": "fine"})
    assert run("agent.target=tiny_parts:Stubborn", "runner.concurrency=2") == 2
    rows = here.lines(here.only_run() / "samples.jsonl")
    assert {row["sample_id"]: row["status"] for row in rows} == {"a": "cancelled", "b": "completed"}


def test_a_run_without_judges_says_that_nothing_scores_it(here: Workplace, capsys: Captured) -> None:
    assert main(["run", "experiment=tiny", "judge=[]"]) == 0
    output = capsys.readouterr()
    assert "judge=[] names no judge: the reports are written but not scored" in output.err
    assert "nothing was scored" in output.out
    assert here.summary(here.only_run())["metrics"] == {}


async def test_the_second_signal_ends_the_process_and_names_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    exit_codes: list[int] = []
    monkeypatch.setattr(os, "_exit", exit_codes.append)
    stop = asyncio.Event()
    with stop_on_signal(stop, Path("results/tiny/1")):
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.wait_for(stop.wait(), 5)
        assert exit_codes == []
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(0.05)
    assert exit_codes == [130]
    assert "resume with: aiq run resume=results/tiny/1" in capsys.readouterr().err


ASKING = ("agent.ask=true", "judge.letters.ask=true", "runner.concurrency=1")


def test_a_model_that_does_not_exist_stops_the_run_at_its_first_call(here: Workplace, capsys: Captured) -> None:
    here.endpoint.unknown = ("small-1",)
    base = here.endpoint.base_url.removesuffix("/v1")
    assert run(*ASKING, f"llm.base_url={base}") == 2
    assert len(here.endpoint.asked) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert "HTTP 404: no such model; check the model of echo.writer (it is 'small-1': llm.model or llm.roles)" in line
    assert line.endswith("whose path is missing: usually /v1; no attempt has finished: start a new run")
    folder = here.only_run()
    assert [row["status"] for row in here.lines(folder / "samples.jsonl")] == ["cancelled"]
    here.endpoint.unknown = ()
    assert main(["run", f"resume={folder}", f"llm.base_url={here.endpoint.base_url}"]) == 0


def test_a_judges_model_that_does_not_exist_stops_the_run_and_the_answer_is_kept(
    here: Workplace, capsys: Captured
) -> None:
    here.endpoint.unknown = ("other",)
    assert run(*ASKING, "llm.roles.judge.model=other") == 2
    assert (
        "(settings other than runner.*, limits.*, cassette.*, llm.base_url, llm.*_per_minute, intervals, shard, "
        "telemetry.* need a new run)" in capsys.readouterr().err
    )
    assert len(here.endpoint.asked) in (2, 3)  # while the judge was refused the next attempt may have begun
    assert here.lines(here.only_run() / "samples.jsonl")[0]["status"] == "completed"


def test_a_refused_request_stops_the_run_only_before_any_answer(here: Workplace, capsys: Captured) -> None:
    here.endpoint.refuse_from, here.endpoint.refusal = 0, error(400, "extra fields")
    assert run(*ASKING) == 2
    assert len(here.endpoint.asked) == 1
    stderr = capsys.readouterr().err
    assert "HTTP 400: extra fields (llm.model=small-1 has not answered once: check" in stderr
    assert stderr.endswith("no attempt has finished: start a new run\n")
    folder = here.only_run()
    assert [row["status"] for row in here.lines(folder / "samples.jsonl")] == ["failed"]
    here.endpoint.refuse_from = 5  # two samples, agent and judge, and the agent's question of a third
    assert main(["run", f"resume={folder}", "runner.max_error_rate=1"]) == 0
    rows = {row["sample_id"]: row["status"] for row in here.lines(folder / "samples.jsonl")}
    assert {rows[sample] for sample in ("s0", "s4", "s5")} == {"failed"}
    assert {rows[sample] for sample in ("s1", "s2")} == {"completed"}


def test_with_unreported_usage_costs_are_shown_as_lower_bounds_everywhere(here: Workplace, capsys: Captured) -> None:
    here.endpoint.usage = None
    assert run(*ASKING, "limit=2") == 0
    folder, output = here.only_run(), capsys.readouterr()
    assert "at least $0.00 (no usage reported for 4 calls)" in output.err
    assert "at least $0.00 (no usage reported for 2 calls)" in output.out
    assert "at least $0.00 (no usage reported for 4 calls)" in output.out
    summary = here.summary(folder)
    assert (summary["cost_usd"], summary["unreported_calls"]) == (0.0, 4)
    assert summary["routes"]["echo"]["unreported_calls"] == 2
    assert "at least $0.00 (no usage reported for 1 call)" in (folder / "site/samples-0.js").read_text()
    assert main(["show", str(folder), "s0"]) == 0
    output = capsys.readouterr()
    assert "1 model call, 0 tokens, at least $0.00 (no usage reported for 1 call)" in output.out
    assert "usage not reported" in output.out


def test_a_limit_in_money_holds_even_if_no_usage_is_reported(here: Workplace, capsys: Captured) -> None:
    here.endpoint.usage = None
    assert run(*ASKING, "limits.run_usd=9") == 130
    assert len(here.endpoint.asked) == 1  # at a dollar a token
    assert "limits.run_usd=9 reached (usage not reported: " in capsys.readouterr().err
    assert main(["run", f"resume={here.only_run()}", "limits.run_usd=10"]) == 130
    assert len(here.endpoint.asked) == 1  # what earlier starts may have spent counts


def test_an_agent_without_model_calls_is_reported_as_unmeasured(here: Workplace, capsys: Captured) -> None:
    assert run("limit=1") == 0
    assert "The agent made no model call through its session." in capsys.readouterr().out
    assert "The agent made no model call through its session." in (here.only_run() / "site/summary.js").read_text()
