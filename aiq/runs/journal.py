"""Append-only JSONL files that survive a `kill -9`: one line a row, handed to the system before the next.

What the system has been given outlives the process, however that ends. Only a machine that loses power can
lose rows (those of its last half minute or so), which is not worth stopping every worker for a disk after each
row; files are synced when they are closed.

A journal that is also read by key while it is written: rows stay on the disk, their places in memory.
"""

import json
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from aiq.core.base import Record
from aiq.core.errors import UserError
from aiq.core.plugins import describe

RowT = TypeVar("RowT", bound=Record)

_BLOCK = 65_536


class Journal(Generic[RowT]):
    """Appends rows of one type to one file. One writer per file; the folder's lock sees to that.

    Opening cuts a torn last line; `cut` says how many bytes that took (0: none).
    """

    def __init__(self, path: Path) -> None:
        self.cut = cut_torn_line(path)
        self._file = path.open("a", encoding="utf-8")

    def append(self, *rows: RowT) -> None:
        """Write rows, together; the system has them when this returns."""
        self._file.write("".join(map(json_line, rows)))
        self._file.flush()

    def close(self) -> None:
        os.fsync(self._file.fileno())
        self._file.close()


def json_line(record: Record) -> str:
    """A record as a line; half a surrogate pair (`\\ud83d` in a model's JSON) becomes `?`, as UTF-8 has none."""
    try:
        return record.model_dump_json() + "\n"
    except PydanticSerializationError:
        return writable(json.dumps(record.model_dump(mode="json"), ensure_ascii=False)) + "\n"


def writable(text: str) -> str:
    """The text with each half of a surrogate pair replaced by `?`."""
    return text.encode("utf-8", "replace").decode("utf-8")


def cut_torn_line(path: Path) -> int:
    """Drop what follows the last line end: a row whose writing was interrupted. Bytes dropped."""
    if not path.exists():
        return 0
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        end = size
        while end:
            start = max(0, end - _BLOCK)
            file.seek(start)
            newline = file.read(end - start).rfind(b"\n")
            if newline >= 0:
                end = start + newline + 1
                break
            end = start
        file.truncate(end)
    return size - end


def whole_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file; what follows the last line end is left out, an absent file is empty.

    Bytes, because a torn line may end within a character.
    """
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield line


def read_rows(path: Path, row: type[RowT]) -> Iterator[RowT]:
    """The rows of a journal in order.

    Raises UserError, with file and line, for a whole line that is no row.
    """
    for number, line in enumerate(whole_lines(path), 1):
        try:
            yield row.model_validate_json(line)
        except ValidationError as error:
            raise UserError(f"{path}, line {number}: {describe(error)}; remove the line to go on") from None


class Shelf(Generic[RowT]):
    """Rows of one type in one file, each under the text of its field `key`; the last row of a key wins.

    A torn last line is cut. Raises UserError for a line that is no such row. The file is made with
    its first row.
    """

    def __init__(self, path: Path, row: type[RowT], key: str) -> None:
        self._path = path
        self._row = row
        self._key = key
        cut_torn_line(path)
        self._places = dict(_places(path, key))

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def read(self, key: str) -> RowT:
        self._file.seek(self._places[key])
        return self._row.model_validate_json(self._file.readline())

    def append(self, row: RowT) -> None:
        """Write a row; the system has it when this returns."""
        place = self._file.seek(0, os.SEEK_END)
        self._file.write(json_line(row).encode())
        self._file.flush()
        self._places[str(getattr(row, self._key))] = place

    def close(self) -> None:
        if "_file" in vars(self):
            self._file.close()

    @cached_property
    def _file(self) -> BinaryIO:
        return self._path.open("a+b")


def _places(path: Path, key: str) -> Iterator[tuple[str, int]]:
    """Key and place in the file, in bytes, of each row."""
    place = 0
    for number, line in enumerate(whole_lines(path), 1):
        try:
            yield str(json.loads(line)[key]), place
        except (ValueError, LookupError, TypeError):
            raise UserError(f"{path}, line {number}: this is no row of it; remove the line to go on") from None
        place += len(line)
