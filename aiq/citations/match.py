"""Finds the source that a cited URL or document means: five levels, first hit wins, never a guess.

Building the index is linear in the sources (but for one sort); a look-up costs the same whatever
their number. Which text is a URL is decided elsewhere.

The paths of the sources as a tree of segments: what lies below a path, above it, and at it with a query.

Says whether completing a cut-off URL would complete a number or an identifier, which is a guess.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aiq.citations.documents import DocumentIndex, DocumentKey, PageRule, named_documents, parse_key
from aiq.citations.sanitise import KnownHosts
from aiq.citations.urls import ParsedUrl, Query, Segments, UrlKey, parse_url, read_url, spelled, without_ellipsis
from aiq.core.reports import MatchLevel
from aiq.core.sources import Source

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


_WORD = r"[^\W_\u2e80-\u9fff\uac00-\ud7af]"
"""A letter or digit; ideographs and syllables are words of their own and belong to no identifier."""
_MARK = r"(?:_|[^\w/?&=])"
_LEFT = re.compile(rf"({_WORD}*)({_MARK}?)\Z")
_RIGHT = re.compile(rf"({_WORD}*)({_MARK}?)({_WORD}*)")


def completes_identifier(start: str, whole: str) -> bool:
    """Whether `whole`, which begins with `start`, goes on with what is part of an identifier.

    That is so where the cut runs through a word with a digit (`/pull/1` and `/pull/112`, `4f2a` and
    `4f2a91c`, `article` and `article12`), and where words with digits stand on both sides of one mark
    (`1706` and `1706.03762`, the groups of a UUID or a date).
    """
    left, right = _LEFT.search(start[-200:]), _RIGHT.match(whole, len(start), len(start) + 200)
    if left is None or right is None:
        return False
    before, mark, after = left[1], left[2] or right[2], right[1]
    if before and after and not left[2]:
        return _has_digit(before + after)
    if not before or not (left[2] or (right[2] and not after)):
        return False
    return bool(mark) and _has_digit(before) and _has_digit(after if left[2] else right[3])


def _has_digit(text: str) -> bool:
    return any(letter.isdigit() for letter in text)


@dataclass(frozen=True, slots=True)
class Match:
    """A source found, at which level; `document` is the key as the report cites it.

    `marked` says that the report itself showed the URL as cut off, with an ellipsis.
    """

    source: Source
    level: MatchLevel
    document: DocumentKey | None = None
    marked: bool = False


class SourceIndex:
    """The sources of a run, made searchable; of two with the same URL the first counts.

    `pages` and `page_window` say which page of a document will do (`CitationSettings`).
    """

    def __init__(self, sources: Sequence[Source], *, pages: PageRule = "window", page_window: int = 1) -> None:
        self._sources = sources
        self._exact: dict[UrlKey, int] = {}
        self._urls: dict[int, ParsedUrl] = {}
        self._paths = PathIndex()
        for number, source in enumerate(sources):
            url = read_url(source.url) if source.url else None
            if url is not None and self._exact.setdefault(url.key, number) == number:
                self._urls[number] = url
                self._paths.add(number, url)
        self._spellings = sorted((url.spelling, number) for number, url in self._urls.items())
        keys = ((parse_key(s.citation_key), n) for n, s in enumerate(sources) if s.citation_key)
        self._documents = DocumentIndex(keys, pages, page_window)
        self._hosts = KnownHosts({url.site[0] for url in self._urls.values()})

    def match_url(self, text: str) -> Match | None:
        """The source this URL means, or None where no level gives exactly one."""
        if exact := self.match_exactly(text):
            return exact
        stub = without_ellipsis(text)
        if stub is not None:
            return self._match(self._cut_off(stub), "truncation", marked=True)
        url = parse_url(text)
        if url is None:
            return None
        return (
            self._match_continued(url)
            or self._match(self._paths.parent(url), "child_path")
            or self._match(self._paths.with_parameters(url), "query_subset")
        )

    def match_exactly(self, text: str) -> Match | None:
        """The source with this URL, at the first level only."""
        url = parse_url(text)
        return self._match(self._exact.get(url.key), "exact") if url else None

    def match_document(self, entry: str) -> Match | None:
        """The document an entry names, where the pages agree by the index's rule."""
        for key in named_documents(entry) if self._documents else ():
            number = self._documents.find(key)
            if number is not None:
                return Match(self._sources[number], "document", key)
        return None

    def flags(self, text: str) -> tuple[str, ...]:
        """What is odd about a URL without deciding anything: `homograph_host`."""
        return self._hosts.flags(text)

    def _match(self, number: int | None, level: MatchLevel, *, marked: bool = False) -> Match | None:
        if number is None or number == AMBIGUOUS:
            return None
        return Match(self._sources[number], level, marked=marked)

    def _cut_off(self, stub: str) -> int | None:
        """Level 2, marked: the only source whose spelling starts with the stub and completes no identifier."""
        url, start = parse_url(stub), spelled(stub)
        if url is None or start is None or "/" not in start:
            return None
        at = bisect_left(self._spellings, (start, 0))
        longer = {number: text for text, number in self._spellings[at : at + 2] if text.startswith(start)}
        whole = self._exact.get(url.key)
        if whole is not None:
            return whole if longer.keys() <= {whole} else None
        if len(longer) != 1:
            return None
        number, text = next(iter(longer.items()))
        return None if completes_identifier(start, text) or _cuts_work(self._urls[number], url) else number

    def _match_continued(self, url: ParsedUrl) -> Match | None:
        """Levels 2 (as written) and 3 (normalised): the only source that continues a whole-segment path."""
        number = self._paths.continuing(url)
        if number is None or number == AMBIGUOUS:
            return None
        found = self._urls[number]
        cut_off = len(found.segments) > len(url.segments)
        as_written = found.raw.startswith(url.raw)
        return self._match(number, "truncation" if cut_off and as_written else "prefix")


def _cuts_work(source: ParsedUrl, stub: ParsedUrl) -> bool:
    """Whether a stub ends inside a DOI or an arXiv number, which is one segment however many slashes it has."""
    work = source.site[0] in ("doi.org", "arxiv.org") and "/" in "".join(source.segments[-1:])
    return work and len(stub.segments) >= len(source.segments)
