"""The real server on loopback, in a thread of the test's process, with an agent that does what questions say."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue
from typing import Any

import httpx2
import pytest

from aiq.serve.keys import new_key
from aiq.serve.server import Serving, serve
from aiq.serve.settings import setup_of
from aiq.serve.store import DATABASE, Store
from aiq.site.markdown import render

AGENT = (
    *("agent=python", "agent.function=tests.serve.answers:answer"),
    "serve.key.requests_per_minute=100000",
)
ENDED = ("completed", "limit", "failed", "cancelled")


@dataclass
class Api:
    """A client of a running server."""

    address: str
    key: str | None = None
    keys: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        headers = {} if self.key is None else {"X-API-Key": self.key}
        self.client = httpx2.Client(base_url=self.address, headers=headers, timeout=30, trust_env=False, verify=False)

    def ask(self, query: str, headers: Mapping[str, str] | None = None, **more: Any) -> httpx2.Response:
        return self.client.post("/api/v1/tasks", json={"query": query, **more}, headers=headers)

    def task(self, task_id: str) -> dict[str, Any]:
        response = self.client.get(f"/api/v1/tasks/{task_id}")
        assert response.status_code == 200, response.text
        body: dict[str, Any] = response.json()
        return body

    def until(self, task_id: str, *statuses: str) -> dict[str, Any]:
        """The task once it has one of these statuses, or has ended."""
        deadline = time.monotonic() + 120
        while (task := self.task(task_id))["status"] not in (statuses or ENDED):
            assert time.monotonic() < deadline, task
            time.sleep(0.02)
        return task

    def done(self, query: str, **more: Any) -> dict[str, Any]:
        response = self.ask(query, **more)
        assert response.status_code == 202, response.text
        return self.until(response.json()["task_id"])

    def events(self, task_id: str, after: int | None = None, most: int | None = None) -> list[dict[str, Any]]:
        """The events of a stream until it ends, or the first of them."""
        headers = {} if after is None else {"Last-Event-ID": str(after)}
        events_seen: list[dict[str, Any]] = []
        with self.client.stream("GET", f"/api/v1/stream/sse?workflow_id={task_id}", headers=headers) as response:
            assert response.status_code == 200, response.read()
            for line in response.iter_lines():
                if line.startswith("data: "):
                    events_seen.append(json.loads(line.removeprefix("data: ")))
                    if len(events_seen) == most:
                        break
        return events_seen

    def decide(self, task: Mapping[str, Any], approved: bool, feedback: str = "") -> httpx2.Response:
        decision = {"workflow_id": task["task_id"], "approval_id": task["approval"]["approval_id"]}
        return self.client.post(
            "/api/v1/approvals/decision", json={**decision, "approved": approved, "feedback": feedback}
        )


Serve = Callable[..., AbstractContextManager[Api]]


@contextmanager
def served(folder: Path, *overrides: str, keys: Mapping[str, float | None] | None = None) -> Iterator[Api]:
    """A server with its results in a folder; `keys`: by name, what a key may spend; the client has the first."""
    settings = {text.partition("=")[0] for text in overrides}
    arguments = [
        *(
            text
            for text in AGENT
            if text.partition("=")[0] not in settings and not ("agent" in settings and text.startswith("agent"))
        ),
        "serve.port=0",
        f"output_dir={folder}",
        *overrides,
    ]
    secrets = {name: new_key() for name in keys or ()}
    if keys:
        (folder / "serve").mkdir(parents=True, exist_ok=True)
        store = Store(folder / "serve" / DATABASE)
        for name, usd in keys.items():
            store.add_key(name, secrets[name], usd)
        store.close()
    outcomes: Queue[Serving | BaseException] = Queue()
    loops: list[asyncio.AbstractEventLoop] = []

    def greet(serving: Serving) -> None:
        loops.append(asyncio.get_running_loop())
        outcomes.put(serving)

    def run() -> None:
        try:
            asyncio.run(serve(setup_of(arguments), render, greet))
        except BaseException as error:
            outcomes.put(error)

    thread = threading.Thread(target=run)
    thread.start()
    serving = outcomes.get(timeout=180)
    if isinstance(serving, BaseException):
        raise serving
    api = Api(serving.address, next(iter(secrets.values()), None), secrets)
    try:
        yield api
    finally:
        api.client.close()
        loops[0].call_soon_threadsafe(serving.server.end)
        thread.join(timeout=120)
        assert not thread.is_alive()
        assert outcomes.empty(), outcomes.get()


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def api(results: Path, one_stack: Any) -> Iterator[Api]:
    """A server without keys."""
    with served(results, "runner.concurrency=4") as client:
        yield client
