"""Append-only JSONL files that survive a `kill -9`: a line per row, handed to the operating system before the next.

Only a power failure can lose rows (of the last half minute or so); preventing that is not worth making every worker
wait for the disk after each row. Files are synced when they are closed. A damaged line is reported on stderr and
skipped: what it held counts as not done.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from aiq.core.base import Record
from aiq.core.errors import RunAborted, UserError, say
from aiq.core.plugins import describe
from aiq.core.secrets import mask_secrets

RowT = TypeVar("RowT", bound=Record)
T = TypeVar("T")


class Journal(Generic[RowT]):
    """Appends rows to a file, as its only writer. Opening cuts a torn last line of `cut` bytes (0: there was none).

    Raises RunAborted if the file cannot be written or the disk is full; the file then still ends with a whole line.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.cut = torn_bytes(path)
            self._file = path.open("ab", buffering=0)
            self.size = self._file.tell() - self.cut
            """The size of the file in bytes, where the next row begins."""
            if self.cut:
                self._file.truncate(self.size)
        except OSError as error:
            raise unwritable(path, error) from None

    def append(self, *rows: RowT) -> None:
        """Write rows together; the operating system has them when this returns."""
        text = mask_secrets("".join(map(json_line, rows))).encode()
        end = self.size + len(text)
        try:
            while text:
                text = text[self._file.write(text) :]
        except OSError as error:
            self._file.seek(self._file.truncate(self.size))
            raise unwritable(self.path, error) from None
        self.size = end

    def close(self) -> None:
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise unwritable(self.path, error) from None
        finally:
            self._file.close()


def unwritable(path: Path, error: OSError) -> RunAborted:
    """The error to raise if a file of a run cannot be written."""
    return RunAborted(f"{path} cannot be written: {error.strerror}")


def json_line(record: Record) -> str:
    """A record as a line; a lone surrogate (`\\ud83d` in a model's JSON), which UTF-8 cannot encode, becomes `?`."""
    try:
        return record.model_dump_json() + "\n"
    except PydanticSerializationError:
        return writable(json.dumps(record.model_dump(mode="json"), ensure_ascii=False)) + "\n"


def writable(text: str) -> str:
    """The text with each lone surrogate replaced by `?`."""
    return text.encode("utf-8", "replace").decode("utf-8")


def torn_bytes(path: Path) -> int:
    """How many bytes of a file follow its last line end."""
    size = path.stat().st_size if path.exists() else 0
    if size == 0:  # an empty file cannot be mapped
        return 0
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as text:
        return size - (text.rfind(b"\n") + 1)


def whole_lines(path: Path, start: int = 0, end: int | None = None) -> Iterator[bytes]:
    """The lines of a file from byte `start` to `end`, without a torn last line; none if there is no file."""
    if not path.exists():
        return
    with path.open("rb") as file:
        file.seek(start)
        for line in file:
            if not line.endswith(b"\n") or (end is not None and start >= end):
                return
            start += len(line)
            yield line


def read_lines(
    path: Path, read: Callable[[bytes], T], start: int = 0, end: int | None = None
) -> Iterator[tuple[T, int]]:
    """The result of `read` for each whole line, and the byte at which the line begins.

    A line for which it raises ValueError is reported on stderr, once, and skipped. Raises UserError for a row of
    another version: skipping it would mean paying for it again.
    """
    for line in whole_lines(path, start, end):
        try:
            result = read(line)
        except ValueError as error:
            number = path.read_bytes()[:start].count(b"\n") + 1
            reason = describe(error) if isinstance(error, ValidationError) else str(error)
            if isinstance(error, ValidationError) and is_other_version(error):
                raise UserError(f"{path}, line {number}: {reason}; another version of aiq wrote it") from None
            _say_once(f"aiq: {path}, line {number} is damaged and skipped: {' '.join(reason.split())[:300]}")
        else:
            yield result, start
        start += len(line)


def is_other_version(error: ValidationError) -> bool:
    """Whether all that is wrong with a record is unknown fields or an unknown schema version."""
    return all(item["type"] == "extra_forbidden" or "schema_version" in item["loc"] for item in error.errors())


_say_once = cache(say)  # a process may read a file several times


def read_journal(path: Path, row: type[RowT]) -> Iterator[RowT]:
    """The rows of a journal in order, without damaged ones. Raises UserError as `read_lines` does."""
    return (record for record, _ in read_lines(path, row.model_validate_json))


def scratch_database(*statements: str) -> sqlite3.Connection:
    """A database in its own temporary file: it takes next to no memory, however much of a run is in it."""
    database = sqlite3.connect("")
    for statement in ("PRAGMA journal_mode = OFF", "PRAGMA cache_size = -256", *statements):  # kB
        database.execute(statement)
    return database


class KeyedJournal(Generic[RowT]):
    """A journal that is also read while it is written, by the rows' field `key`; the last row of a key wins.

    Rows stay on disk, their positions in memory. The file is created with its first row. `others`: files of other
    writers, whose present rows are found as well. Raises as `read_journal` and `Journal` do.
    """

    def __init__(self, path: Path, row: type[RowT], key: str, others: Iterable[Path] = ()) -> None:
        self._path, self._row, self._key = path, row, key
        self._places: dict[str, tuple[Path, int]] = {}
        for file in dict.fromkeys([*others, path]):
            self._places |= {
                str(getattr(record, key)): (file, start) for record, start in read_lines(file, row.model_validate_json)
            }
        self._journal: Journal[RowT] | None = None

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def read(self, key: str) -> RowT:
        return self._row.model_validate_json(next(whole_lines(*self._places[key])))

    def append(self, row: RowT) -> None:
        self._journal = self._journal or Journal(self._path)
        self._places[str(getattr(row, self._key))] = (self._path, self._journal.size)
        self._journal.append(row)

    def close(self) -> None:
        if self._journal is not None:
            self._journal.close()
