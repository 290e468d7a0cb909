"""Finds the source that a cited URL or document means: five levels, first hit wins, never a guess.

Building the index is linear in the sources (a sort for cut-off URLs, when the first one is asked);
a look-up costs the same whatever their number. Which text is a URL is decided elsewhere.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

from aiq.citations.documents import DocumentKey, named_documents, parse_key
from aiq.citations.urls import ParsedUrl, Segments, parse_url, spelled, without_ellipsis
from aiq.core.audit import MatchLevel
from aiq.core.sources import Source

_Place = tuple[tuple[str, int | None], Segments]
_AMBIGUOUS = -1
_DEEPEST = 32
"""Path segments that prefix and child path look at; deeper ones only an exact match needs."""


@dataclass(frozen=True, slots=True)
class Match:
    """A source found, at which level; `document` is the key as the report cites it."""

    source: Source
    level: MatchLevel
    document: DocumentKey | None = None


class SourceIndex:
    """The sources of a run, made searchable; of two with the same URL the first counts."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources
        self._exact: dict[object, int] = {}
        self._at: dict[_Place, int] = {}  # path -> the source there, one without a query first
        self._below: dict[_Place, int] = {}  # path -> the only source that continues it
        self._with: dict[tuple[_Place, tuple[str, str]], list[int]] = {}  # path and parameter -> sources
        self._documents: dict[str, list[tuple[DocumentKey, int]]] = {}
        self._urls: dict[int, ParsedUrl] = {}
        for number, source in enumerate(sources):
            self._add(number, source)

    def _add(self, number: int, source: Source) -> None:
        if source.url:
            url = parse_url(source.url)
            if url is not None and self._exact.setdefault(url.key, number) == number:
                self._urls[number] = url
                self._add_paths(number, url)
        if source.citation_key:
            key = parse_key(source.citation_key)
            self._documents.setdefault(key.name, []).append((key, number))

    def _add_paths(self, number: int, url: ParsedUrl) -> None:
        place = (url.site, url.segments)
        plain = not url.query and not url.route
        self._at[place] = number if plain or place not in self._at else self._at_both(place)
        if not plain:
            _only(self._below, place, number)
        for depth in range(min(len(url.segments), _DEEPEST)):
            _only(self._below, (url.site, url.segments[:depth]), number)
        for pair in dict.fromkeys(url.query):
            self._with.setdefault((place, pair), []).append(number)

    def _at_both(self, place: _Place) -> int:
        """What stands at a path that a URL with a query shares: the plain URL there, if any."""
        other = self._at[place]
        if other == _AMBIGUOUS:
            return other
        there = self._urls[other]
        return _AMBIGUOUS if there.query or there.route else other

    def match_url(self, text: str) -> Match | None:
        """The source this URL means, or None where no level gives exactly one."""
        stub = without_ellipsis(text)
        url = parse_url(stub if stub is not None else text)
        if url is None:
            return None
        if stub is not None:
            return self._match(self._truncated(stub, url), "truncation")
        return (
            self._match(self._exact.get(url.key), "exact")
            or self._match_continued(url)
            or self._match(self._parent(url), "child_path")
            or self._match(self._with_parameters(url), "query_subset")
        )

    def match_exactly(self, text: str) -> Match | None:
        """The source with this URL, at the first level only."""
        url = parse_url(text)
        return self._match(self._exact.get(url.key), "exact") if url else None

    def match_document(self, entry: str) -> Match | None:
        """The document an entry names; its own page where a source has it, else the first of the document."""
        for key in named_documents(entry) if self._documents else ():
            known = self._documents.get(key.name)
            if known:
                number = next((n for other, n in known if _same_page(key, other)), known[0][1])
                return Match(self._sources[number], "document", key)
        return None

    def _match(self, number: int | None, level: MatchLevel) -> Match | None:
        return None if number is None or number == _AMBIGUOUS else Match(self._sources[number], level)

    def _truncated(self, stub: str, url: ParsedUrl) -> int | None:
        """Level 2, marked: the only source whose spelling starts with the stub and completes no identifier."""
        if url.key in self._exact:
            return self._exact[url.key]
        start = spelled(stub)
        if start is None or "/" not in start:
            return None
        first = bisect_left(self._spellings, (start, 0))
        found = list(takewhile(lambda item: item[0].startswith(start), self._spellings[first : first + 2]))
        if len(found) != 1 or _completes_identifier(start, found[0][0]):
            return None
        return found[0][1]

    def _match_continued(self, url: ParsedUrl) -> Match | None:
        """Levels 2 (as written) and 3 (normalised): the only source that continues a whole-segment path."""
        if url.query or url.route:
            return None  # parameters are a set and have no beginning: level 5
        number = self._below.get((url.site, url.segments))
        if number is None or number == _AMBIGUOUS:
            return None
        cut_off = len(self._urls[number].segments) > len(url.segments)
        as_written = self._urls[number].raw.startswith(url.raw)
        return self._match(number, "truncation" if cut_off and as_written else "prefix")

    def _parent(self, url: ParsedUrl) -> int | None:
        """Level 4: the nearest source above, if its path has at least two segments."""
        for depth in range(min(len(url.segments) - 1, _DEEPEST), 1, -1):
            number = self._at.get((url.site, url.segments[:depth]))
            if number is not None:
                return number
        return None

    def _with_parameters(self, url: ParsedUrl) -> int | None:
        """Level 5: the only source at this path that has all parameters of the report's URL."""
        place = (url.site, url.segments)
        lists = [self._with.get((place, pair), []) for pair in url.query]
        if not lists:
            return None
        found = (n for n in min(lists, key=len) if _includes(self._urls[n].query, url.query))
        first, second = next(found, None), next(found, None)
        return first if second is None else None

    @cached_property
    def _spellings(self) -> list[tuple[str, int]]:
        pairs = ((spelled(url.raw), number) for number, url in self._urls.items())
        return sorted((text, number) for text, number in pairs if text is not None)


def _only(table: dict[_Place, int], place: _Place, number: int) -> None:
    table[place] = _AMBIGUOUS if place in table else number


def _includes(whole: Iterable[tuple[str, str]], part: Sequence[tuple[str, str]]) -> bool:
    rest = list(whole)
    for pair in part:
        if pair not in rest:
            return False
        rest.remove(pair)
    return True


def _same_page(cited: DocumentKey, known: DocumentKey) -> bool:
    if cited.first is None or cited.last is None or known.first is None or known.last is None:
        return cited.first == known.first
    return known.first <= cited.last and cited.first <= known.last


def _completes_identifier(start: str, whole: str) -> bool:
    """Whether the cut runs through a word with a digit: `.../pull/1` never becomes `.../pull/112`."""
    left = "".join(takewhile(str.isalnum, reversed(start)))
    right = "".join(takewhile(str.isalnum, whole[len(start) :]))
    return bool(left and right) and any(c.isdigit() for c in left + right)
