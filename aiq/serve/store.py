"""What must survive a restart, in one SQLite file: keys, tasks, and the events sent to clients.

Every change is one transaction, and an event is in the file before it is sent to anybody: a `kill -9` neither loses nor
repeats one. Calls take microseconds and are made in the event loop; the write-ahead log is synced at its checkpoints,
so only a power failure can lose the last second. Events also come from other threads, in which LangGraph runs nodes
without `async`.
"""

import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import Json, JsonValue

from aiq.core.base import Record
from aiq.core.errors import ConfigError
from aiq.core.secrets import mask_secrets
from aiq.serve.events import NewEvent
from aiq.serve.wire import UNFINISHED, ApiError, Asked, TaskEvent, TaskStatus

DATABASE = "tasks.db"
_BUSY_SECONDS = 10.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS keys (
    digest TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, usd REAL, created TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tasks (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, owner TEXT NOT NULL, idempotency TEXT, request TEXT NOT NULL,
    status TEXT NOT NULL, attempt INTEGER NOT NULL DEFAULT 1, created TEXT NOT NULL, started TEXT, finished TEXT,
    run TEXT, place INTEGER, usd REAL NOT NULL DEFAULT 0, approval TEXT, error TEXT, UNIQUE (owner, idempotency));
CREATE INDEX IF NOT EXISTS tasks_of_owner ON tasks (owner, number);
CREATE INDEX IF NOT EXISTS tasks_by_status ON tasks (status);
CREATE TABLE IF NOT EXISTS events (
    task INTEGER NOT NULL, seq INTEGER NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (task, seq)) WITHOUT ROWID;
"""
_UNFINISHED = f"status IN {UNFINISHED}"


class Request(Record):
    """A request, as stored. `chosen`: settings of the agent for this task."""

    query: str
    agent: str
    turns: tuple[str, ...] = ()
    chosen: Mapping[str, JsonValue] = {}


class Task(Record):
    """A task, as stored. `run` and `place`: where its row is, the run's id and the byte in `samples.jsonl`.

    `usd`: what all its attempts have cost so far, as limits in money count it.
    """

    number: int
    id: str
    owner: str
    idempotency: str | None
    request: Json[Request]
    status: TaskStatus
    attempt: int
    created: str
    started: str | None
    finished: str | None
    run: str | None
    place: int | None
    usd: float
    approval: Json[Asked] | None
    error: Json[ApiError] | None


class Key(Record):
    """What is known of a key, without the key itself. `usd`: what it may spend, None: what the settings say."""

    name: str
    usd: float | None
    created: str


class Store:
    """The open file. Raises ConfigError if it is not a database of aiq serve."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        self._lock = threading.RLock()
        self._db.row_factory = sqlite3.Row
        try:
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.executescript(_SCHEMA)
        except sqlite3.DatabaseError as error:
            self._db.close()
            raise ConfigError(
                f"{path}: not a database of aiq serve ({error}); name another folder with output_dir"
            ) from None

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything inside is stored, or nothing."""
        with self._lock, self._db:  # which also rolls back if the commit fails, as on a full disk
            self._db.execute("BEGIN IMMEDIATE")
            yield

    def _run(self, query: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        with self._lock:
            return self._db.execute(query, values)

    # keys

    def add_key(self, name: str, key: str, usd: float | None) -> None:
        """Raises ConfigError if there is one of that name."""
        try:
            self._run("INSERT INTO keys VALUES (?, ?, ?, ?)", (_digest(key), name, usd, utc_now()))
        except sqlite3.IntegrityError:
            raise ConfigError(f"there is already a key {name}; remove it first, or choose another name") from None

    def remove_key(self, name: str) -> bool:
        return self._run("DELETE FROM keys WHERE name = ?", (name,)).rowcount > 0

    def all_keys(self) -> list[Key]:
        rows = self._run("SELECT name, usd, created FROM keys ORDER BY name")
        return [Key(**row) for row in map(dict, rows)]

    def key(self, key: str) -> Key | None:
        row = self._row("SELECT name, usd, created FROM keys WHERE digest = ?", _digest(key))
        return None if row is None else Key(**row)

    # tasks

    def add(self, task_id: str, owner: str, idempotency: str | None, request: Request) -> Task:
        """A new queued task. Raises sqlite3.IntegrityError if the owner's idempotency key is taken."""
        self._run(
            "INSERT INTO tasks (id, owner, idempotency, request, status, created) VALUES (?, ?, ?, ?, 'queued', ?)",
            (task_id, owner, idempotency, request.model_dump_json(), utc_now()),
        )
        return self.task(task_id)

    def task(self, task_id: str) -> Task:
        """Raises KeyError."""
        row = self._row("SELECT * FROM tasks WHERE id = ?", task_id)
        if row is None:
            raise KeyError(task_id)
        return Task(**row)

    def repeated(self, owner: str, idempotency: str) -> Task | None:
        """The task that was created with this idempotency key."""
        row = self._row("SELECT * FROM tasks WHERE owner = ? AND idempotency = ?", owner, idempotency)
        return None if row is None else Task(**row)

    def tasks(self, owner: str, status: TaskStatus | None, before: int, limit: int) -> list[Task]:
        """An owner's tasks with numbers below `before`, the latest first."""
        conditions = [("owner = ?", owner), ("status = ?", status), ("number < ?", before)]
        filters = [(text, value) for text, value in conditions if value is not None]
        where, values = " AND ".join(text for text, _ in filters), [value for _, value in filters]
        query = f"SELECT * FROM tasks WHERE {where} ORDER BY number DESC LIMIT ?"  # noqa: S608
        return [Task(**row) for row in map(dict, self._run(query, (*values, limit)))]

    def unfinished(self) -> list[Task]:
        """In the order in which they were created."""
        query = f"SELECT * FROM tasks WHERE {_UNFINISHED} ORDER BY number"  # noqa: S608
        return [Task(**row) for row in map(dict, self._run(query))]

    def unfinished_of(self, owner: str) -> int:
        """How many unfinished tasks an owner has."""
        query = f"SELECT COUNT(*) FROM tasks WHERE owner = ? AND {_UNFINISHED}"  # noqa: S608
        return int(self._run(query, (owner,)).fetchone()[0])

    def update(self, task: Task, **values: Any) -> None:
        """Set columns; records become JSON."""
        values = {
            name: value.model_dump_json() if isinstance(value, Record) else value for name, value in values.items()
        }
        columns = ", ".join(f"{name} = ?" for name in values)
        self._run(f"UPDATE tasks SET {columns} WHERE number = ?", (*values.values(), task.number))  # noqa: S608

    def spend(self, task: Task, usd: float) -> None:
        self._run("UPDATE tasks SET usd = usd + ? WHERE number = ?", (usd, task.number))

    def spent(self, owner: str) -> float:
        """What all tasks of an owner cost, in US dollars."""
        return float(self._run("SELECT TOTAL(usd) FROM tasks WHERE owner = ?", (owner,)).fetchone()[0])

    def last_place(self, run: str) -> int:
        """Where the last known row of a run begins; 0 if none is known."""
        place = self._run("SELECT MAX(place) FROM tasks WHERE run = ?", (run,)).fetchone()[0]
        return int(place or 0)

    # events

    def add_events(self, task: Task, attempt: int, events: Sequence[NewEvent]) -> None:
        """Number the events and store them."""
        last = self.last_event(task)
        for seq, new_event in enumerate(events, last + 1):
            event = TaskEvent(workflow_id=task.id, seq=seq, timestamp=utc_now(), attempt=attempt, **new_event._asdict())
            row = (task.number, seq, new_event.type, _json_line(event))
            self._run("INSERT INTO events VALUES (?, ?, ?, ?)", row)

    def last_event(self, task: Task) -> int:
        """The number of the last event; 0 if there is none."""
        return int(self._run("SELECT COALESCE(MAX(seq), 0) FROM events WHERE task = ?", (task.number,)).fetchone()[0])

    def events(self, task: Task, after: int, limit: int) -> list[tuple[int, str, str]]:
        """Number, type and JSON of the events after a number."""
        query = "SELECT seq, type, data FROM events WHERE task = ? AND seq > ? ORDER BY seq LIMIT ?"
        return [tuple(row) for row in self._run(query, (task.number, after, limit))]

    def _row(self, query: str, *values: Any) -> dict[str, Any] | None:
        row = self._run(query, values).fetchone()
        return None if row is None else dict(row)


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def _json_line(event: TaskEvent) -> str:
    """One line of JSON without secrets; a model may have cut a character in two, which UTF-8 cannot encode."""
    with suppress(ValueError):
        return mask_secrets(event.model_dump_json())
    return mask_secrets(json.dumps(event.model_dump(mode="json")))


def utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
