"""Finds the retrieved document that a document citation means, and compares the pages."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from aiq.citations.documents import DocumentKey

PageRule = Literal["ignore", "window", "exact"]


@dataclass(slots=True)
class _Document:
    """What was retrieved of one document; numbers are those of the sources.

    `starts` are the first pages, in order; `reaches` is, at each of them, how far the ranges that
    begin up to there go at most, with the source that goes so far.
    """

    first: int
    literal: dict[tuple[int | None, int | None], int] = field(default_factory=dict)
    starts: list[tuple[int, int]] = field(default_factory=list)
    reaches: list[tuple[int, int]] = field(default_factory=list)

    def nearest(self, first: int, last: int) -> tuple[int, int] | None:
        """Pages between the cited range and the nearest retrieved one (0: they share a page), and its source."""
        at = bisect_right(self.starts, (last, 2**63))
        found = []
        if at:
            end, number = self.reaches[at - 1]
            found.append((max(0, first - end), number))
        if at < len(self.starts):
            start, number = self.starts[at]
            found.append((start - last, number))
        return min(found, key=lambda item: item[0], default=None)


class DocumentIndex:
    """The documents among the sources, by name; `page_window` is used by the rule `window` alone."""

    def __init__(self, keys: Iterable[tuple[DocumentKey, int]], pages: PageRule, page_window: int) -> None:
        self._window = {"exact": 0, "window": page_window, "ignore": None}[pages]
        self._documents: dict[str, _Document] = {}
        ranges: dict[str, list[tuple[int, int, int]]] = {}
        for key, number in keys:
            document = self._documents.setdefault(key.name, _Document(number))
            document.literal.setdefault((key.first, key.last), number)
            if key.first is not None and key.last is not None:
                ranges.setdefault(key.name, []).append((key.first, number, key.last))
        for name, found in ranges.items():
            _order(self._documents[name], sorted(found))

    def __bool__(self) -> bool:
        return bool(self._documents)

    def find(self, cited: DocumentKey) -> int | None:
        """The source that has the cited page: literally, by a shared page, as a whole document, or near enough.

        A citation without pages means the document as a whole: any of its sources, the same key first.
        """
        document = self._documents.get(cited.name)
        if document is None:
            return None
        literal = document.literal.get((cited.first, cited.last))
        if literal is not None:
            return literal
        if cited.first is None or cited.last is None:
            return document.first
        near = document.nearest(cited.first, cited.last)
        if near is not None and near[0] == 0:
            return near[1]
        whole = document.literal.get((None, None))
        if whole is not None or near is None:
            return whole
        return near[1] if self._window is None or near[0] <= self._window else None


def _order(document: _Document, ranges: list[tuple[int, int, int]]) -> None:
    reach = (-1, -1)
    for start, number, end in ranges:
        reach = (end, number) if end > reach[0] else reach
        document.starts.append((start, number))
        document.reaches.append(reach)
