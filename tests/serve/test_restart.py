"""`kill -9` in the middle, and a restart: no task is lost, no event lost or repeated."""

import json
import shutil
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.experiment.conftest import Workplace
from tests.experiment.postgres import dsn as dsn
from tests.forked import Forked
from tests.serve.conftest import Api

pytestmark = pytest.mark.usefixtures("children_share_a_stack")

GIVEN = (
    *("serve", "agent=python", "agent.function=answers:answer", "serve.agents=[ai_q_chat]"),
    *("runner.concurrency=4", "serve.key.requests_per_minute=100000"),
)


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(Path(__file__).parent / "answers.py", tmp_path)
    return tmp_path


def start(folder: Path, port: int, checkpointer: str) -> tuple[Forked, Api]:
    server = Forked("aiq", *GIVEN, f"serve.port={port}", f"checkpointer={checkpointer}", cwd=folder)
    api, deadline = Api(f"http://127.0.0.1:{port}"), time.monotonic() + 180
    while True:
        with suppress(httpx2.HTTPError):
            api.client.get("/ready")
            return server, api
        assert server.returncode is None, server.err
        assert time.monotonic() < deadline
        time.sleep(0.1)


def follow(api: Api, task_id: str, found: list[dict[str, Any]]) -> None:
    """Follow a stream like a browser: reconnect again and again, each time after the last event received."""
    while not found or found[-1]["type"] != "STREAM_END":
        headers = {"Last-Event-ID": str(found[-1]["seq"])} if found else {}
        url = f"/api/v1/stream/sse?workflow_id={task_id}"
        with suppress(httpx2.HTTPError), api.client.stream("GET", url, headers=headers) as answer:
            for line in answer.iter_lines():
                if line.startswith("data: "):
                    found.append(json.loads(line.removeprefix("data: ")))
        time.sleep(0.1)


@pytest.mark.parametrize("checkpointer", ["sqlite", pytest.param("postgres", marks=pytest.mark.whole)])
def test_after_a_kill_nothing_is_lost_or_repeated(
    folder: Path, port: int, checkpointer: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if checkpointer == "postgres":
        monkeypatch.setenv("AIQ_POSTGRES_DSN", request.getfixturevalue("dsn"))
    server, api = start(folder, port, checkpointer)
    with server:
        plan_id = api.ask("Write a report on energy.", agent="ai_q_chat").json()["task_id"]
        prompt = api.until(plan_id, "waiting")["approval"]["prompt"]
        ids = [api.ask(query).json()["task_id"] for query in (*["broken_off 5"] * 3, *["rounds 5"] * 3)]
        streams: dict[str, list[dict[str, Any]]] = {task_id: [] for task_id in ids}
        readers = [threading.Thread(target=follow, args=(Api(api.address), *item)) for item in streams.items()]
        for reader in readers:
            reader.start()
        while not all(streams[task_id] for task_id in ids[:3]):
            time.sleep(0.05)
        server.kill()
        server.wait(10)
    server, api = start(folder, port, checkpointer)
    with server:
        plan_task = api.until(plan_id, "waiting")
        assert (plan_task["attempt"], plan_task["approval"]["prompt"]) == (2, prompt)
        while (task := api.until(plan_id, "waiting", "completed"))["approval"]:
            api.decide(task, approved=False)
            time.sleep(0.1)
        for reader in readers:
            reader.join(120)
        assert [api.until(task_id)["status"] for task_id in ids] == ["completed"] * 6
        assert (task["status"], task["route"]) == ("completed", "rejected")
        second_events = {event["type"]: event for event in api.events(plan_id) if event["attempt"] == 2}
        assert second_events["ERROR_RECOVERY"]["payload"] == {"what": "restart", "attempt": 2, "from": "checkpoint"}
        for task_id, events in streams.items():
            assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
            assert events == api.events(task_id)
        recoveries = [
            event["payload"] for events in streams.values() for event in events if event["type"] == "ERROR_RECOVERY"
        ]
        assert recoveries == [{"what": "restart", "attempt": 2, "from": "start"}] * 3
        server.send_signal(15)
        assert server.wait(120) == 0
        assert server.err == ""
    runs = [path.parent for path in (folder / "results" / "serve").glob("*/summary.json")]
    assert len(runs) == 2
    for run in runs:
        questions, rows = (Workplace.lines(run / f"{name}.jsonl") for name in ("questions", "samples"))
        assert [question["id"] for question in questions] == [row["sample_id"] for row in rows]
