"""A task from request to row: the same rows and events as in evaluations, over real HTTP."""

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aiq.__main__ import main
from aiq.serve.store import DATABASE
from tests.cases import table
from tests.serve.conftest import Api, served

each = table(__file__)


def test_a_task_is_asked_followed_and_read(api: Api) -> None:
    response = api.ask("rounds 3")
    assert response.status_code == 202
    task_id = response.json()["task_id"]
    assert response.headers["location"] == f"/api/v1/tasks/{task_id}"
    events = api.events(task_id)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    types = [event["type"] for event in events]
    assert types[0] == "WORKFLOW_STARTED"
    assert types[-3:] == ["LLM_OUTPUT", "WORKFLOW_COMPLETED", "STREAM_END"]
    assert [event["payload"]["queries"] for event in events if event["type"] == "DATA_PROCESSING"] == [
        ["query 0"],
        ["query 1"],
        ["query 2"],
    ]
    task = api.task(task_id)
    assert task["status"] == "completed"
    assert task["result"] == "It says: 3"
    assert task["usage"]["total_tokens"] == 0
    assert task["workflow_id"] == task_id


@each("query")
def test_a_failure_is_reported_without_internals_of_the_server(
    api: Api, query: str, status: str, code: str, message: str
) -> None:
    task = api.done(query)
    assert (task["status"], task["error"]) == (status, {"code": code, "message": message})
    events = api.events(task["task_id"])
    assert [event["type"] for event in events][-3:] == ["ERROR_OCCURRED", "WORKFLOW_COMPLETED", "STREAM_END"]
    assert str(Path(__file__).parent) not in json.dumps(events)


def test_turns_are_asked_before_the_query(api: Api) -> None:
    task = api.done("sleep 0", turns=["rounds 1", "rounds 2"])
    assert task["turns"] == ["rounds 1", "rounds 2"]
    stages = [event["message"] for event in api.events(task["task_id"]) if event["type"] == "PROGRESS"]
    assert stages == ["turn", "rounds", "turn", "rounds", "turn", "sleep"]


def test_a_stream_continues_after_the_last_event_received(api: Api) -> None:
    task_id = api.ask("rounds 20").json()["task_id"]
    first = api.events(task_id, most=5)
    rest = api.events(task_id, after=first[-1]["seq"])
    assert [event["seq"] for event in first + rest] == list(range(1, rest[-1]["seq"] + 1))
    assert first + rest == api.events(task_id)
    end = api.client.get(f"/api/v1/stream/sse?workflow_id={task_id}", headers={"Last-Event-ID": str(rest[-1]["seq"])})
    assert end.status_code == 204


@pytest.mark.parametrize("query", ["sleep 30", "stubborn"])
def test_a_cancelled_task_ends_at_once(api: Api, query: str) -> None:
    task_id = api.ask(query).json()["task_id"]
    api.until(task_id, "running")
    start = time.monotonic()
    task = api.client.delete(f"/api/v1/tasks/{task_id}").json()
    assert task["status"] == "cancelled"
    assert time.monotonic() - start < 8
    assert api.events(task_id)[-2]["payload"]["status"] == "cancelled"
    assert api.client.delete(f"/api/v1/tasks/{task_id}").json() == task


def test_a_queued_task_is_cancelled_without_starting(api: Api) -> None:
    busy = [api.ask("sleep 30").json()["task_id"] for _ in range(4)]
    queued = api.ask("sleep 0").json()["task_id"]
    assert api.client.delete(f"/api/v1/tasks/{queued}").json()["started_at"] is None
    for task_id in busy:
        assert api.client.delete(f"/api/v1/tasks/{task_id}").json()["status"] == "cancelled"
    assert api.done("sleep 0")["status"] == "completed"


@each("decisions")
def test_plans_and_questions_wait_for_a_decision(
    api: Api, query: str, decisions: list[tuple[bool, str]], result: str
) -> None:
    task_id = api.ask(query).json()["task_id"]
    for approved, feedback in decisions:
        waiting = api.until(task_id, "waiting")
        assert api.decide(waiting, approved, feedback).status_code == 200
        assert api.decide(waiting, approved, feedback).status_code == 409
        while api.task(task_id)["approval"] == waiting["approval"]:
            time.sleep(0.02)
    assert api.until(task_id)["result"] == result
    types = [event["type"] for event in api.events(task_id)]
    assert types.count("APPROVAL_REQUESTED") == types.count("APPROVAL_DECISION") == len(decisions)


def test_requests_with_the_same_idempotency_key_are_one_task(api: Api) -> None:
    key = {"Idempotency-Key": "once"}
    first, repeat = api.ask("sleep 0", headers=key), api.ask("sleep 0", headers=key)
    assert (first.status_code, repeat.status_code) == (202, 200)
    assert first.json()["task_id"] == repeat.json()["task_id"]
    assert api.ask("sleep 1", headers=key).status_code == 409


def test_tasks_are_listed_page_by_page(api: Api) -> None:
    ids = [api.done("sleep 0")["task_id"] for _ in range(3)]
    first = api.client.get("/api/v1/tasks", params={"limit": 2}).json()
    assert [task["task_id"] for task in first["tasks"]] == ids[:0:-1]
    second = api.client.get("/api/v1/tasks", params={"limit": 1, "before": first["next"]}).json()
    assert [task["task_id"] for task in second["tasks"]] == ids[:1]
    completed = api.client.get("/api/v1/tasks", params={"status": "completed", "limit": 100}).json()["tasks"]
    assert {task["status"] for task in completed} == {"completed"}


def test_the_attempts_form_a_run_that_can_be_shown_and_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with served(tmp_path / "results") as api:
        task = api.done("rounds 2", turns=["rounds 1"])
        api.done("fail")
        cancelled = api.ask("sleep 30").json()["task_id"]
        api.until(cancelled, "running")
        api.client.delete(f"/api/v1/tasks/{cancelled}")
    run = tmp_path / "results" / "serve" / task["run"]
    assert json.loads((run / "summary.json").read_text())["status"] == "finished"
    assert main(["show", str(run), task["task_id"]]) == 0
    assert "It says: 2" in capsys.readouterr().out
    assert main(["show", str(run), cancelled]) == 0
    assert main(["rescore", str(run), "judge=[fact]", "runner.max_error_rate=1"]) == 0
    output = capsys.readouterr()
    assert "1 of 3 attempts were cancelled and are left out" in output.err
    assert "2 samples, 2 attempts: 1 completed, 1 failed" in output.out


@pytest.mark.parametrize(("query", "broken"), [("sleep 1", "events"), ("rounds 300", "tasks")])
def test_a_store_that_fails_for_a_while_loses_no_task_and_no_worker(
    tmp_path: Path, one_stack: Any, query: str, broken: str
) -> None:
    """As on a full disk."""
    with served(tmp_path, "runner.concurrency=1") as api:
        task_id = api.ask(query).json()["task_id"]
        api.until(task_id, "running")
        with closing(sqlite3.connect(tmp_path / "serve" / DATABASE)) as other:
            other.execute(f"ALTER TABLE {broken} RENAME TO gone")
            time.sleep(2)
            other.execute(f"ALTER TABLE gone RENAME TO {broken}")
        assert api.until(task_id)["finished_at"]
        assert [event["type"] for event in api.events(task_id)][-1] == "STREAM_END"
        assert api.done("sleep 0")["status"] == "completed"
