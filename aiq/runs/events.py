"""The events of all attempts in few files, with an index: one file for each attempt that is under way at the same time.

Each session (an agent's work on an attempt, a judge's work on its report) writes to a file of its own while it
lasts and then leaves the file to the next one, so that its events lie together. `event_index.jsonl` says where.
Runs of version 1 have a file for each (sample, epoch) in a folder `events`, which is read as well.
"""

import heapq
import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Literal

from aiq.core.base import Record
from aiq.core.events import Event
from aiq.core.samples import SampleKey
from aiq.core.seeds import derive
from aiq.runs.folder import RunFolder
from aiq.runs.journal import Journal, read_journal, whole_lines

Account = Literal["agent", "judge"]

_INDEX: Final = "event_index.jsonl"
_OLD_FOLDER: Final = "events"
_UNSAFE: Final = re.compile(r"[^\w.-]|^\.")
_LONGEST_NAME: Final = 120  # bytes of a sample's part of a file name in runs of version 1


class SessionStart(Record):
    """A line of the index: a session's events begin at byte `start` of `file`, and end where the next one's begin."""

    schema_version: Literal[1] = 1
    sample_id: str
    epoch: int
    attempt: int
    account: Account
    file: str
    start: int

    @property
    def key(self) -> SampleKey:
        return SampleKey(self.sample_id, self.epoch)


class EventFiles:
    """Writes the events of a run; each is handed to the system at once."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._index: Journal[SessionStart] = Journal(folder.path / _INDEX)
        self._files: list[Journal[Event]] = []
        self._idle: list[int] = []

    @contextmanager
    def session(self, key: SampleKey, attempt: int, account: Account) -> Iterator[Callable[[Event], None]]:
        """A function that writes the events of one session.

        What the tasks of a cancelled attempt still say after the session has ended is dropped.
        """
        number = heapq.heappop(self._idle) if self._idle else self._new_file()
        file, ended = self._files[number], False
        self._index.append(
            SessionStart(**key._asdict(), attempt=attempt, account=account, file=file.path.name, start=file.size)
        )

        def write(event: Event) -> None:
            if not ended:
                file.append(event)

        try:
            yield write
        finally:
            ended = True
            heapq.heappush(self._idle, number)

    def _new_file(self) -> int:
        self._files.append(Journal(self._folder.path / _file_name(len(self._files))))
        return len(self._files) - 1

    def close(self) -> None:
        self._index.close()
        for file in self._files:
            file.close()


def read_events(
    folder: RunFolder, key: SampleKey, attempt: int, account: Account = "agent"
) -> Iterator[dict[str, Any]]:
    """The events of an attempt, or those of all judges' work on it, as plain JSON; none where nothing was recorded."""
    found = [
        (session, end)
        for session, end in _sessions(folder)
        if (session.key, session.attempt, session.account) == (key, attempt, account)
    ]
    if not found:
        judge = ".judge" if account == "judge" else ""
        yield from map(json.loads, whole_lines(folder.path / _OLD_FOLDER / f"{_old_name(key)}{judge}.jsonl"))
    for session, end in found if account == "judge" else found[-1:]:
        yield from map(json.loads, whole_lines(folder.path / session.file, session.start, end))


def copy_agent_events(old: RunFolder, new: RunFolder) -> None:
    """Give a new run the events of another one's agents."""
    last = {session.key: (session, end) for session, end in _sessions(old) if session.account == "agent"}
    if last:
        index: Journal[SessionStart] = Journal(new.path / _INDEX)
        with (new.path / _file_name(0)).open("wb") as file:
            for session, end in last.values():
                index.append(session.model_copy(update={"file": _file_name(0), "start": file.tell()}))
                file.writelines(whole_lines(old.path / session.file, session.start, end))
        index.close()
    for path in sorted((old.path / _OLD_FOLDER).glob("*.jsonl")):
        if not path.name.endswith(".judge.jsonl"):
            (new.path / _OLD_FOLDER).mkdir(exist_ok=True)
            shutil.copyfile(path, new.path / _OLD_FOLDER / path.name)


def _sessions(folder: RunFolder) -> list[tuple[SessionStart, int | None]]:
    """Every session of the index with the byte at which its events end; None: at the end of the file."""
    starts = list(read_journal(folder.path / _INDEX, SessionStart))
    following: dict[str, int] = {}
    ends: list[int | None] = []
    for session in reversed(starts):
        ends.append(following.get(session.file))
        following[session.file] = session.start
    return list(zip(starts, reversed(ends), strict=True))


def _file_name(number: int) -> str:
    return f"events-{number}.jsonl"


def _old_name(key: SampleKey) -> str:
    """A sample's id as a file name, itself where that is safe, else readable with a hash; and the epoch."""
    name = key.sample_id
    if not name or len(name.encode()) > _LONGEST_NAME or _UNSAFE.search(name):
        name = f"{_UNSAFE.sub('_', name)[: _LONGEST_NAME // 4]}-{derive(name):08x}"
    return f"{name}.{key.epoch}"
