"""A journal that is also read by key while it is written: rows stay on the disk, their places in memory."""

import json
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

from aiq.core.base import Record
from aiq.core.errors import UserError
from aiq.experiment.journal import cut_torn_line, json_line, whole_lines

RowT = TypeVar("RowT", bound=Record)


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
