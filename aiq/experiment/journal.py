"""Append-only JSONL files that survive a `kill -9`: one line a row, flushed and synced before the next."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import ValidationError

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
        """Write rows, together; they are on the disk when this returns (about 0.2 ms)."""
        self._file.write("".join(row.model_dump_json() + "\n" for row in rows))
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


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
