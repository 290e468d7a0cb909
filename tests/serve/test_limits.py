"""Who may ask, how much, and that a refusal reveals nothing of others."""

import http.client
import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from aiq.__main__ import main
from tests.cases import table
from tests.serve.conftest import Api, served

each = table(__file__)


BUDGET = ("llm.prices.offline-1={input: 1, output: 1000000}", "serve.key.tasks=3", "serve.queue=2")


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory, one_stack: Any) -> Iterator[Api]:
    """A server with several agents and keys."""
    keys = {"first": None, "second": None, "stranger": None, "poor": 0.000001}
    with served(
        tmp_path_factory.mktemp("results"), *BUDGET, "serve.agents=[shannon]", "runner.concurrency=1", keys=keys
    ) as client:
        yield client


def refused(answer: Any, status: int, code: str) -> None:
    """Assert that it is this error, in few words that reveal nothing of the server."""
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), answer.text
    assert len(answer.text) < 400
    assert not any(word in answer.text for word in ("Traceback", ".py", "sqlite", "aiq_"))


@pytest.mark.parametrize("key", [None, "", "aiq_wrong", "first", "\x7f", "ü" * 2000])
@pytest.mark.parametrize("path", ["/api/v1/tasks", "/api/v1/tasks/x", "/api/v1/stream/sse?workflow_id=x", "/api/v2"])
def test_without_a_valid_key_nothing_is_revealed(keyed: Api, key: str | None, path: str) -> None:
    headers = {} if key is None else {b"X-API-Key": key.encode()}
    refused(Api(keyed.address).client.get(path, headers=headers), 401, "unauthorized")


def test_health_and_the_page_need_no_key(keyed: Api) -> None:
    client = Api(keyed.address).client
    for path in ("/health", "/ready"):
        assert client.get(path).json() == {"status": "ok"}
    page = client.get("/")
    assert page.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
    assert page.headers["x-content-type-options"] == "nosniff"


def test_a_key_sees_only_its_own_tasks(keyed: Api) -> None:
    task_id = keyed.done("sleep 0")["task_id"]
    stranger = Api(keyed.address, keyed.keys["stranger"])
    for path in (f"tasks/{task_id}", f"tasks/{task_id}/report", f"stream/sse?workflow_id={task_id}", "tasks/none"):
        refused(stranger.client.get(f"/api/v1/{path}"), 404, "not_found")
    refused(stranger.client.delete(f"/api/v1/tasks/{task_id}"), 404, "not_found")
    refused(stranger.decide({"task_id": task_id, "approval": {"approval_id": "x"}}, approved=True), 404, "not_found")
    assert stranger.client.get("/api/v1/tasks").json()["tasks"] == []


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"x" * 10_000_000, 413, "too_large"),
        (json.dumps({"query": "x" * 1_000_000}).encode(), 422, "invalid_request"),
        (b'{"query": "\\ud800"}', 422, "invalid_request"),
        (b'{"query": "   "}', 422, "invalid_request"),
        (b'{"query": "x", "turns": [""]}', 422, "invalid_request"),
        (b'{"query": "x", "agent": "../../etc/passwd"}', 422, "invalid_request"),
        (b'{"query": "x", "agent": ["shannon"]}', 422, "invalid_request"),
        (b'{"query": "x", "context": {"function": "os:system"}}', 422, "invalid_request"),
        (b'{"query": "x", "context": {"force_research": true}}', 422, "invalid_request"),
        (b'{"query": "x", "agent": "shannon", "context": {"target": "os:system"}}', 422, "invalid_request"),
        (b'{"query": "x", "function": "os:system"}', 422, "invalid_request"),
        (b"[" * 100_000, 422, "invalid_request"),
        (b'{"query": ' + b"9" * 10_000 + b"}", 422, "invalid_request"),
        (b"\xff\xfe", 422, "invalid_request"),
        (b"", 422, "invalid_request"),
    ],
    ids=range(15),
)
def test_oversized_and_invalid_bodies_are_refused(keyed: Api, body: bytes, status: int, code: str) -> None:
    headers = {"Content-Type": "application/json"}
    refused(keyed.client.post("/api/v1/tasks", content=body, headers=headers), status, code)


def test_a_refusal_names_what_is_wrong_in_words(keyed: Api) -> None:
    text = keyed.client.post("/api/v1/tasks", content=b"{", headers={"Content-Type": "application/json"}).text
    assert "the body is not JSON (at character 1)" in text
    assert '"query.status: Input should be ' in keyed.client.get("/api/v1/tasks?status=over").text
    assert "context.over: there is no such field; " in keyed.ask("x", context={"over": 1}).text


def test_a_body_without_a_length_is_cut_at_its_limit(keyed: Api) -> None:
    chunks = (b"x" * 65536 for _ in range(160))
    headers = {"Content-Type": "application/json"}
    refused(keyed.client.post("/api/v1/tasks", content=chunks, headers=headers), 413, "too_large")


def test_a_body_without_the_json_content_type_is_refused(keyed: Api) -> None:
    refused(keyed.client.post("/api/v1/tasks", content=b'{"query": "x"}'), 415, "not_json")


@each("path")
def test_tricks_with_paths_find_nothing(keyed: Api, path: str) -> None:
    """The path is sent as it is; an HTTP client would resolve the dots."""
    parts = urlsplit(keyed.address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    connection.request("GET", path, headers={"X-API-Key": keyed.key or ""})
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())["error"]["code"]) == (404, "not_found")
    connection.close()


def test_tasks_are_limited_per_key_and_in_the_queue(keyed: Api) -> None:
    busy = keyed.ask("sleep 30").json()["task_id"]
    keyed.until(busy, "running")
    waiting = [keyed.ask("sleep 0").json()["task_id"] for _ in range(2)]
    second = Api(keyed.address, keyed.keys["second"])
    answer = second.ask("sleep 0")
    refused(answer, 503, "queue_full")
    assert int(answer.headers["retry-after"]) > 0
    keyed.client.delete(f"/api/v1/tasks/{waiting[0]}")
    assert second.ask("sleep 0").status_code == 202
    keyed.client.delete(f"/api/v1/tasks/{busy}")
    assert keyed.until(waiting[1])["status"] == "completed"


def test_a_key_whose_budget_is_used_up_is_not_served(keyed: Api) -> None:
    poor = Api(keyed.address, keyed.keys["poor"])
    task = poor.done("spend 5")
    assert task["status"] == "failed"
    assert task["error"] == {"code": "budget_used_up", "message": "the budget of this key is used up"}
    assert task["usage"]["calls"] <= 1
    if task["usage"]["calls"]:
        refused(poor.ask("sleep 0"), 402, "budget_used_up")


def test_a_keys_requests_and_streams_are_limited(tmp_path: Path) -> None:
    with served(tmp_path, "serve.key.requests_per_minute=3", "serve.key.streams=1", keys={"one": None}) as api:
        task_id = api.ask("sleep 30").json()["task_id"]
        with api.client.stream("GET", f"/api/v1/stream/sse?workflow_id={task_id}"):
            refused(api.client.get(f"/api/v1/stream/sse?workflow_id={task_id}"), 429, "too_many_streams")
        answer = api.client.get("/api/v1/tasks")
        refused(answer, 429, "too_many_requests")
        assert 0 < int(answer.headers["retry-after"]) <= 60
        assert api.client.get("/health").status_code == 200


def test_a_stalled_reader_is_disconnected_and_the_task_goes_on(tmp_path: Path) -> None:
    with served(tmp_path, "serve.stall_seconds=2", "serve.key.streams=1") as api:
        task_id = api.ask("flood 15").json()["task_id"]
        parts = urlsplit(api.address)
        with socket.create_connection((parts.hostname, parts.port or 0)) as idle:
            path = f"/api/v1/stream/sse?workflow_id={task_id}"
            idle.sendall(f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
            assert api.until(task_id)["status"] == "completed"
            deadline = time.monotonic() + 60
            while api.client.get(path, headers={"Last-Event-ID": "15"}).status_code == 429:
                assert time.monotonic() < deadline
                time.sleep(0.2)
        assert len(api.events(task_id)) == 20


def test_idle_and_slow_connections_are_closed(tmp_path: Path) -> None:
    with served(tmp_path, "serve.body_seconds=0.5") as api, ExitStack() as stack:
        parts = urlsplit(api.address)
        idle, slow, prompt = (
            stack.enter_context(socket.create_connection((parts.hostname, parts.port or 0), timeout=5)) for _ in "123"
        )
        slow.sendall(b"GET /health HTTP/1.1\r\nHost: ")
        prompt.sendall(f"GET /health HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
        answer = b"".join(iter(lambda: prompt.recv(9999), b""))  # until it is closed
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert [connection.recv(1) for connection in (idle, slow)] == [b"", b""]


@each("headers")
def test_without_keys_only_this_machine_is_served(api: Api, headers: dict[str, str], code: str) -> None:
    refused(api.client.get("/api/v1/tasks", headers=headers), 403, code)
    assert "access-control-allow-origin" not in api.client.get("/", headers={"Origin": api.address}).headers


@each("arguments")
def test_what_cannot_be_served_is_one_line(
    arguments: list[str], line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = str(busy.getsockname()[1])
        assert main(["serve", *(text.replace("{busy}", port) for text in arguments)]) == 2
    stderr = capsys.readouterr().err
    assert line.replace("{busy}", port) in stderr
    assert stderr.count("\n") == 1
    assert not [*Path("results").glob("serve/*/")]


def test_keys_are_shown_once_and_kept_as_hashes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["serve", "--add-key", "team", "--usd", "5"]) == 0
    key = capsys.readouterr().out.split()[0]
    assert main(["serve", "--add-key", "team"]) == 2
    assert main(["serve", "--keys"]) == 0
    assert "team\t" in (listing := capsys.readouterr().out)
    assert "$0.00 spent of $5" in listing
    stored = b"".join(path.read_bytes() for path in Path("results/serve").glob("tasks.db*"))
    assert key.encode() not in stored
    assert main(["serve", "--remove-key", "team"]) == 0
