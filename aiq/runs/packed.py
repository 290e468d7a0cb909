"""Rows in a hundred bytes or less each: a run's state has one for each attempt and each score."""

import json
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from struct import Struct
from typing import Any, Final

_FIRST: Final = Struct("=II")


class Packed:
    """Rows by number: figures of their own, packed, and what several of them share, which is held once, as JSON.

    `figures`: their format, as `struct` has it, a whole number first. A number that was never set has no row.
    """

    def __init__(self, figures: str) -> None:
        self._form = Struct(f"=I{figures}")
        self._rows = bytearray()
        self._shared = [""]  # the first is that of no row
        self._known: dict[str, int] = {}

    def __setitem__(self, number: int, row: tuple[tuple[Any, ...], tuple[Any, ...]]) -> None:
        figures, shared = row
        text = json.dumps(shared)
        kind = self._known.setdefault(text, len(self._shared))
        if kind == len(self._shared):
            self._shared.append(text)
        start = number * self._form.size
        self._rows.extend(bytes(max(0, start + self._form.size - len(self._rows))))
        self._form.pack_into(self._rows, start, kind, *figures)

    def get(self, number: int) -> tuple[list[Any], tuple[Any, ...]] | None:
        """A row's figures, and what it shares."""
        start = number * self._form.size
        if start >= len(self._rows):
            return None
        kind, *figures = self._form.unpack_from(self._rows, start)
        return (figures, _parsed(self._shared[kind])) if kind else None

    def first(self, number: int) -> int:
        """The first figure of a row, a whole number; 0 where there is no row."""
        start = number * self._form.size
        found: int = _FIRST.unpack_from(self._rows, start)[1] if start < len(self._rows) else 0
        return found

    def kinds(self) -> Iterator[tuple[tuple[Any, ...], int]]:
        """What rows share, in the order in which it came first, and how many do."""
        counts = Counter(kind for kind, *_ in self._form.iter_unpack(self._rows))
        return ((_parsed(text), counts[kind]) for kind, text in enumerate(self._shared) if counts[kind] and kind)


@lru_cache(1000)
def _parsed(text: str) -> tuple[Any, ...]:
    return tuple(json.loads(text))
