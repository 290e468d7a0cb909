"""The events of all attempts, in only as many files as there are concurrent sessions.

Each session (an agent's work on an attempt, a judge's work on its report) has a file to itself while it lasts, so its
events are contiguous; an index says where. Version 1 had a folder `events` with a file for each key.
"""

import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import chain, starmap
from typing import Any, Final, Literal

from aiq.core.events import Event
from aiq.core.samples import SampleKey
from aiq.core.seeds import derive
from aiq.runs.folder import RunFolder
from aiq.runs.journal import Journal, read_journal, read_lines, scratch_database, whole_lines
from aiq.runs.rows import AttemptRecord

Account = Literal["agent", "judge"]


_INDEX: Final = "event_index"
_FILE: Final = "events{}-{}.jsonl"
_OLD_FOLDER: Final = "events"
_UNSAFE: Final = re.compile(r"[^\w.-]|^\.")
_LONGEST_NAME: Final = 120  # bytes of a sample's part of a file name in runs of version 1


class SessionStart(AttemptRecord):
    """A line of the index: a session's events run from byte `start` of `file` to the start of the next session."""

    account: Account
    file: str
    start: int


class EventFiles:
    """Writes the events of a run; each is handed to the operating system at once."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._index: Journal[SessionStart] = Journal(folder.journal(_INDEX))
        self._files: list[Journal[Event]] = []
        self._idle: list[Journal[Event]] = []

    @contextmanager
    def session(self, key: SampleKey, attempt: int, account: Account) -> Iterator[Callable[[Event], None]]:
        """A function that writes the events of one session; events that cancelled tasks emit afterwards are dropped."""
        if not self._idle:
            self._idle.append(Journal(self._folder.path / _FILE.format(self._folder.writer, len(self._files))))
            self._files.append(self._idle[0])
        file, ended = self._idle.pop(), False
        location = {"file": file.path.name, "start": file.size}
        self._index.append(SessionStart(**key._asdict(), attempt=attempt, account=account, **location))

        def write(event: Event) -> None:
            if not ended:
                file.append(event)

        try:
            yield write
        finally:
            ended = True
            self._idle.append(file)

    def close(self) -> None:
        self._index.close()
        for file in self._files:
            file.close()


class EventReader:
    """Reads the events of a run's attempts. Reads the index once, when it is made; close it after use."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._sessions = _sessions(folder)

    def close(self) -> None:
        self._sessions.close()

    def read(self, key: SampleKey, attempt: int, account: Account = "agent") -> Iterator[dict[str, Any]]:
        """The events of an attempt, or of all judges' work on it, as plain JSON; none if nothing was recorded."""
        sessions = self._sessions.execute(
            "SELECT file, start, stop FROM sessions WHERE (sample, epoch, attempt, account) = (?, ?, ?, ?) "
            "ORDER BY rowid",
            (*key, attempt, account),
        ).fetchall()
        if not sessions:
            judge = ".judge" if account == "judge" else ""
            sessions = [(f"{_OLD_FOLDER}/{_old_name(key)}{judge}.jsonl", 0, None)]
        return chain.from_iterable(starmap(self._events, sessions if account == "judge" else sessions[-1:]))

    def _events(self, file: str, start: int, stop: int | None) -> Iterator[dict[str, Any]]:
        return (event for event, _ in read_lines(self._folder.path / file, json.loads, start, stop))


def events_of(folder: RunFolder, key: SampleKey, attempt: int, account: Account = "agent") -> list[dict[str, Any]]:
    """The events of one attempt, or of all judges' work on it, as plain JSON."""
    with closing(EventReader(folder)) as events:
        return [*events.read(key, attempt, account)]


def copy_agent_events(old: RunFolder, new: RunFolder) -> None:
    """Copy the events of one run's agents to a new run."""
    with closing(_sessions(old)) as sessions:
        rows = sessions.execute(
            "SELECT sample, epoch, attempt, file, start, stop FROM sessions WHERE rowid IN "
            "(SELECT max(rowid) FROM sessions WHERE account = 'agent' GROUP BY sample, epoch) ORDER BY rowid"
        ).fetchall()
    name = _FILE.format(new.writer, 0)
    if rows:
        index: Journal[SessionStart] = Journal(new.journal(_INDEX))
        with closing(index), (new.path / name).open("wb") as file:
            for sample, epoch, attempt, old_file, start, stop in rows:
                fields = {"sample_id": sample, "epoch": epoch, "attempt": attempt, "account": "agent"}
                index.append(SessionStart.model_validate({**fields, "file": name, "start": file.tell()}))
                file.writelines(whole_lines(old.path / old_file, start, stop))
    for path in sorted((old.path / _OLD_FOLDER).glob("*.jsonl")):
        if not path.name.endswith(".judge.jsonl"):
            (new.path / _OLD_FOLDER).mkdir(exist_ok=True)
            shutil.copyfile(path, new.path / _OLD_FOLDER / path.name)


def _sessions(folder: RunFolder) -> sqlite3.Connection:
    """Every session of all indexes, in order, and where its events are: up to `stop`, or the end of the file."""
    db = scratch_database(
        "CREATE TABLE sessions (sample, epoch, attempt, account, file, start, stop)",
        "CREATE INDEX of_attempt ON sessions (sample, epoch, attempt, account)",
    )
    rowids: dict[str, int | None] = {}
    for session in chain.from_iterable(read_journal(path, SessionStart) for path in folder.journals(_INDEX)):
        db.execute("UPDATE sessions SET stop = ? WHERE rowid = ?", (session.start, rowids.get(session.file)))
        row = (*session.key, session.attempt, session.account, session.file, session.start)
        rowids[session.file] = db.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, NULL)", row).lastrowid
    return db


def _old_name(key: SampleKey) -> str:
    """A sample's id (if it is not a safe file name, a readable part of it and a hash) and the epoch."""
    name = key.sample_id
    if not name or len(name.encode()) > _LONGEST_NAME or _UNSAFE.search(name):
        name = f"{_UNSAFE.sub('_', name)[: _LONGEST_NAME // 4]}-{derive(name):08x}"
    return f"{name}.{key.epoch}"
