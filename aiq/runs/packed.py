"""Rows of a hundred bytes or less: a run's state has one for each attempt and each score."""

import marshal
from collections.abc import Iterator, Sequence
from struct import Struct
from typing import Any, Final

_HEADER: Final = Struct("=II")
_VERSION: Final = 2  # of marshal's format: the last one in which equal values give equal bytes


class Packed:
    """Rows by number: packed figures of their own, and plain data that several rows share, stored once.

    `figures`: their `struct` format, beginning with an integer. `rows`: how many are likely; untouched memory is never
    really allocated. A number that was never set has no row.
    """

    def __init__(self, figures: str, rows: int) -> None:
        self._struct = Struct(f"=I{figures}")
        self._rows = bytearray(rows * self._struct.size)
        self._indices: dict[bytes, int] = {b"": 0}  # the first means that there is no row
        self._shared = [*self._indices]
        self._counts = [0]

    def set(self, number: int, figures: Sequence[Any], shared: Sequence[Any]) -> None:
        start, size = number * self._struct.size, self._struct.size
        self._rows.extend(bytes(max(0, start + size - len(self._rows))))
        data = marshal.dumps(tuple(shared), _VERSION)
        if (index := self._indices.setdefault(data, len(self._shared))) == len(self._shared):
            self._shared.append(data)
            self._counts.append(0)
        self._counts[_HEADER.unpack_from(self._rows, start)[0]] -= 1
        self._counts[index] += 1
        self._struct.pack_into(self._rows, start, index, *figures)

    def get(self, number: int) -> tuple[list[Any], tuple[Any, ...]] | None:
        """A row's own figures, and its shared data."""
        start = number * self._struct.size
        if start >= len(self._rows):
            return None
        index, *figures = self._struct.unpack_from(self._rows, start)
        return (figures, marshal.loads(self._shared[index])) if index else None  # noqa: S302  its own

    def first(self, number: int) -> int:
        """The first figure of a row, an integer; 0 if there is no row."""
        start = number * self._struct.size
        figure: int = _HEADER.unpack_from(self._rows, start)[1] if start < len(self._rows) else 0
        return figure

    def groups(self) -> Iterator[tuple[tuple[Any, ...], int]]:
        """The shared data, in order of first appearance, and how many rows share each."""
        return ((marshal.loads(data), n) for data, n in zip(self._shared, self._counts, strict=True) if n > 0)  # noqa: S302
