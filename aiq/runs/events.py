"""The events of all attempts in few files: as many as there are sessions at once.

Each session (an agent's work on an attempt, a judge's work on its report) has a file to itself while it lasts, so that
its events lie together; an index says where. Version 1 had a folder `events` with a file for each key.
"""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal

from aiq.core.events import Event
from aiq.core.samples import SampleKey
from aiq.core.seeds import derive
from aiq.runs.folder import RunFolder
from aiq.runs.journal import Journal, read_journal, read_lines, whole_lines
from aiq.runs.rows import OfAttempt

Account = Literal["agent", "judge"]


_INDEX: Final = "event_index"
_FILE: Final = "events{}-{}.jsonl"
_OLD_FOLDER: Final = "events"
_UNSAFE: Final = re.compile(r"[^\w.-]|^\.")
_LONGEST_NAME: Final = 120  # bytes of a sample's part of a file name in runs of version 1


class SessionStart(OfAttempt):
    """A line of the index: a session's events begin at byte `start` of `file`, and end where the next one's begin."""

    account: Account
    file: str
    start: int


@dataclass(slots=True)
class _Place:
    """A file, the byte where a session's events begin, and where they end; None at the end of the file."""

    path: Path
    start: int
    end: int | None = None

    def lines(self) -> Iterator[bytes]:
        return whole_lines(self.path, self.start, self.end)

    def events(self) -> Iterator[dict[str, Any]]:
        return (event for event, _ in read_lines(self.path, json.loads, self.start, self.end))


class EventFiles:
    """Writes the events of a run; each is handed to the system at once."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._index: Journal[SessionStart] = Journal(folder.journal(_INDEX))
        self._files: list[Journal[Event]] = []
        self._idle: list[Journal[Event]] = []

    @contextmanager
    def session(self, key: SampleKey, attempt: int, account: Account) -> Iterator[Callable[[Event], None]]:
        """A function that writes the events of one session; what cancelled tasks say after its end is dropped."""
        if not self._idle:
            self._idle.append(Journal(self._folder.path / _FILE.format(self._folder.writer, len(self._files))))
            self._files.append(self._idle[0])
        file, ended = self._idle.pop(), False
        place = {"file": file.path.name, "start": file.size}
        self._index.append(SessionStart(**key._asdict(), attempt=attempt, account=account, **place))

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
    """Reads the events of a run's attempts. The index is read once, when the reader is made."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._places: dict[tuple[SampleKey, int, Account], list[_Place]] = {}
        for session, place in _sessions(folder):
            self._places.setdefault((session.key, session.attempt, session.account), []).append(place)

    def read(self, key: SampleKey, attempt: int, account: Account = "agent") -> Iterator[dict[str, Any]]:
        """The events of an attempt, or of all judges' work on it, as plain JSON; none where nothing was recorded."""
        found = [place.events() for place in self._places.get((key, attempt, account), [])]
        if not found:
            judge = ".judge" if account == "judge" else ""
            found = [_Place(self._folder.path / _OLD_FOLDER / f"{_old_name(key)}{judge}.jsonl", 0).events()]
        return chain.from_iterable(found if account == "judge" else found[-1:])


def copy_agent_events(old: RunFolder, new: RunFolder) -> None:
    """Give a new run the events of another one's agents."""
    last = {session.key: (session, place) for session, place in _sessions(old) if session.account == "agent"}
    name = _FILE.format(new.writer, 0)
    if last:
        index: Journal[SessionStart] = Journal(new.journal(_INDEX))
        with closing(index), (new.path / name).open("wb") as file:
            for session, place in last.values():
                index.append(session.model_copy(update={"file": name, "start": file.tell()}))
                file.writelines(place.lines())
    for path in sorted((old.path / _OLD_FOLDER).glob("*.jsonl")):
        if not path.name.endswith(".judge.jsonl"):
            (new.path / _OLD_FOLDER).mkdir(exist_ok=True)
            shutil.copyfile(path, new.path / _OLD_FOLDER / path.name)


def _sessions(folder: RunFolder) -> Iterator[tuple[SessionStart, _Place]]:
    """Every session of each index, and where the lines of its events are: its end is set when the next one is read."""
    under_way: dict[str, _Place] = {}
    for session in chain.from_iterable(read_journal(path, SessionStart) for path in folder.journals(_INDEX)):
        last = under_way.get(session.file)
        if last is not None:
            last.end = session.start
        under_way[session.file] = place = _Place(last.path if last else folder.path / session.file, session.start)
        yield session, place


def _old_name(key: SampleKey) -> str:
    """A sample's id as a file name, itself where that is safe, else readable with a hash; and the epoch."""
    name = key.sample_id
    if not name or len(name.encode()) > _LONGEST_NAME or _UNSAFE.search(name):
        name = f"{_UNSAFE.sub('_', name)[: _LONGEST_NAME // 4]}-{derive(name):08x}"
    return f"{name}.{key.epoch}"
