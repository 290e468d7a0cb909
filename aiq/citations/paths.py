"""The paths of the sources as a tree of segments: what lies below a path, above it, and at it with a query."""

from collections.abc import Iterator

from aiq.citations.urls import ParsedUrl, Query
from aiq.citations.works import Segments

AMBIGUOUS = -1
"""In place of a source's number where there are several."""

_Pair = tuple[str, str]
_MOST_SHARED = 64
"""Sources at one path that may share every cited parameter; among more of them a query picks out none."""
_LEAST_SEGMENTS = 2
"""Segments that a parent's path must have (specification, level 4)."""


class _Place:
    """A path: the source there (one without a query first), and the only one that continues it.

    A branch with a single source is that source's number; it grows when another one comes.
    """

    __slots__ = ("below", "branches", "here", "plain", "with_pair")

    def __init__(self) -> None:
        self.branches: dict[object, _Place | int] = {}
        self.here: int | None = None
        self.plain = False
        self.below: int | None = None
        self.with_pair: dict[_Pair, list[int]] | None = None

    def add(self, number: int, url: ParsedUrl) -> None:
        """A source whose path ends here."""
        plain = not url.query and not url.route
        if not plain:
            self.continue_with(number)
            self.with_pair = {} if self.with_pair is None else self.with_pair
            for pair in dict.fromkeys(url.query):
                self.with_pair.setdefault(pair, []).append(number)
        if self.here is None or (plain and not self.plain):
            self.here, self.plain = number, plain
        elif plain == self.plain:
            self.here = AMBIGUOUS

    def continue_with(self, number: int) -> None:
        """A source whose path or query goes on from here."""
        self.below = number if self.below is None else AMBIGUOUS


class PathIndex:
    """Adds one source after the other, no two with the same key; a look-up walks the URL it is asked for."""

    def __init__(self) -> None:
        self._root = _Place()
        self._urls: dict[int, ParsedUrl] = {}

    def add(self, number: int, url: ParsedUrl) -> None:
        self._urls[number] = url
        place, depth = self._put(self._root, number, 0), 1
        while place is not None:
            place, depth = self._put(place, number, depth), depth + 1

    def _put(self, place: _Place, number: int, depth: int) -> _Place | None:
        """Make a source known to one place of its path; the place that comes next, if it needs to know too."""
        url = self._urls[number]
        if depth > len(url.segments):
            place.add(number, url)
            return None
        place.continue_with(number)
        step = _step(url, depth)
        branch = place.branches.get(step)
        if branch is None:
            place.branches[step] = number
            return None
        if isinstance(branch, int):
            alone, branch = branch, _Place()
            place.branches[step] = branch
            self._put(branch, alone, depth + 1)
        return branch

    def continuing(self, url: ParsedUrl) -> int | None:
        """The only source that continues this path; a query is a set, has no beginning and is not continued."""
        if url.query or url.route:
            return None
        place = self._at(url)
        if isinstance(place, int):
            segments = self._urls[place].segments
            return place if segments[: len(url.segments)] == url.segments else None
        return place.below if place else None

    def parent(self, url: ParsedUrl) -> int | None:
        """The nearest source above, if its path has at least two segments."""
        nearest, filled = None, 0
        for depth, place in enumerate(self._along(url)):  # at a depth of 2 the first segment is behind us
            filled += depth > 1 and bool(url.segments[depth - 2])
            if isinstance(place, int):
                return place if _is_parent(self._urls[place].segments, url.segments) else nearest
            if place.here is not None and filled >= _LEAST_SEGMENTS and depth <= len(url.segments):
                nearest = place.here
        return nearest

    def with_parameters(self, url: ParsedUrl) -> int | None:
        """The only source at this path that has all parameters of the URL, and its route if it has one."""
        place = self._at(url) if url.query else None
        if isinstance(place, int):
            return place if self._urls[place].segments == url.segments and self._has(place, url) else None
        if place is None or place.with_pair is None:
            return None
        shared = min((place.with_pair.get(pair, []) for pair in url.query), key=len)
        if len(shared) > _MOST_SHARED:
            return AMBIGUOUS
        found = [number for number in shared if self._has(number, url)]
        return found[0] if len(found) == 1 else AMBIGUOUS

    def _has(self, number: int, cited: ParsedUrl) -> bool:
        url = self._urls[number]
        return cited.route in ("", url.route) and _includes(url.query, cited.query)

    def _at(self, url: ParsedUrl) -> _Place | int | None:
        """The place of this path, or the only source on the way there, or nothing."""
        places = list(self._along(url))
        reached = isinstance(places[-1], int) or len(places) == len(url.segments) + 2
        return places[-1] if reached else None

    def _along(self, url: ParsedUrl) -> Iterator[_Place | int]:
        """The places of a path from the root on, as far as there are any; a single source ends the way."""
        place: _Place | int | None = self._root
        for depth in range(len(url.segments) + 2):
            if place is None:
                return
            yield place
            if isinstance(place, int) or depth > len(url.segments):
                return
            place = place.branches.get(_step(url, depth))


def _step(url: ParsedUrl, depth: int) -> object:
    """What leads on from a place: the site from the root, then the segments."""
    return url.segments[depth - 1] if depth else url.site


def _is_parent(above: Segments, below: Segments) -> bool:
    return len(above) < len(below) and below[: len(above)] == above and sum(map(bool, above)) >= _LEAST_SEGMENTS


def _includes(whole: Query, part: Query) -> bool:
    """Whether all of `part` is in `whole`, as often; both are in order."""
    rest = iter(whole)
    return all(pair in rest for pair in part)
