"""Finds the source that a cited URL or document means: five levels, first hit wins, never a guess.

Building the index is linear in the sources (but for one sort); a look-up costs the same whatever
their number.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aiq.citations.documents import DocumentIndex, DocumentKey, named_documents, parse_key
from aiq.citations.sanitise import KnownHosts
from aiq.citations.urls import ParsedUrl, UrlKey, parse_url, without_ellipsis
from aiq.core.reports import MatchLevel
from aiq.core.sources import Source

_Pair = tuple[str, str]
_MOST_SHARED = 64
"""Sources at one path that may share every cited parameter; among more of them a query picks out none."""
_LEAST_SEGMENTS = 2
"""Segments that a parent's path must have: `/docs` is no parent of all that is below it."""
_WORD = r"[^\W_\u2e80-\u9fff\uac00-\ud7af]"
"""A letter or digit; ideographs and syllables are words of their own and belong to no identifier."""
_MARK = r"(?:_|[^\w/?&=])"
_CUT_CODE = re.compile(r"(?:%[0-9A-Fa-f]?|[\ud800-\udfff]+)\Z")
"""A percent-encoding that was cut in two; the parts that are no UTF-8 are lone surrogates."""
_AT_CUT = re.compile(rf"({_WORD}*)({_MARK}?)\x00({_WORD}*)({_MARK}?)({_WORD}*)")


class _Paths:
    """The paths of the sources as one tree: what is at a path, and what continues it.

    A place is a number; `_steps` leads from a place by the next segment (from the root by the site) to another.
    """

    def __init__(self) -> None:
        self._steps: dict[tuple[int, object], int] = {}
        self._plain: dict[int, int] = {}  # the source here whose URL has neither query nor route
        self._queried = defaultdict[int, list[int]](list)
        self._longer = defaultdict[int, list[int]](list)
        self._with_pair = defaultdict[tuple[int, _Pair], list[int]](list)

    def add(self, number: int, url: ParsedUrl) -> None:
        """Add a source; no two have the same key."""
        place = 0
        for step in (url.site, *url.segments):
            self._longer[place].append(number)
            place = self._steps.setdefault((place, step), len(self._steps) + 1)
        if not url.query and not url.route:
            self._plain[place] = number
            return
        self._longer[place].append(number)
        self._queried[place].append(number)
        for pair in dict.fromkeys(url.query):
            self._with_pair[place, pair].append(number)

    def continuing(self, url: ParsedUrl) -> int | None:
        """The only source that continues this path; a query is a set, has no beginning and is not continued."""
        return None if url.query or url.route else _only(self._longer.get(self._at(url), ()))

    def parent(self, url: ParsedUrl) -> int | None:
        """The nearest source above whose path has at least two segments."""
        nearest, filled = None, 0
        for place, segment in zip(self._along(url), ("", *url.segments[:-1]), strict=False):
            filled += bool(segment)
            if filled >= _LEAST_SEGMENTS and (place in self._plain or place in self._queried):
                nearest = self._plain.get(place, _only(self._queried.get(place, ())))
        return nearest

    def with_parameters(self, url: ParsedUrl) -> list[int]:
        """The sources at this path that have the rarest of the URL's parameters."""
        place = self._at(url)
        return min((self._with_pair.get((place, pair), []) for pair in url.query), key=len, default=[])

    def _at(self, url: ParsedUrl) -> int:
        """The place of this path, -1 if there is none."""
        places = list(self._along(url))
        return places[-1] if len(places) > len(url.segments) else -1

    def _along(self, url: ParsedUrl) -> Iterator[int]:
        """The places of a path from its site on, as far as there are any."""
        place = 0
        for step in (url.site, *url.segments):
            place = self._steps.get((place, step), -1)
            if place < 0:
                return
            yield place


def _only(numbers: Sequence[int]) -> int | None:
    return numbers[0] if len(numbers) == 1 else None


def completes_identifier(start: str, whole: str) -> bool:
    """Whether `whole`, which begins with `start`, goes on with what is part of an identifier.

    That is so where the cut runs through a word with a digit (`/pull/1` and `/pull/112`, `4f2a` and
    `4f2a91c`, `article` and `article12`), and where words with digits are on both sides of one mark
    (`1706` and `1706.03762`, the groups of a UUID or a date).
    """
    cut = _AT_CUT.search(f"{start[-200:]}\x00{whole[len(start) : len(start) + 200]}")
    before, mark, after, next_mark, beyond = cut.groups() if cut else ("",) * 5
    if before and after and not mark:
        return any(map(str.isdigit, before + after))
    following = after if mark else beyond if next_mark and not after else ""
    return any(map(str.isdigit, before)) and any(map(str.isdigit, following))


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

    `window`: pages that a cited page of a document may be away from a retrieved one. `hosts` tell what passes for one
    of theirs.
    """

    def __init__(self, sources: Sequence[Source], window: int = 0) -> None:
        self._sources = sources
        self._exact: dict[UrlKey, int] = {}
        self._urls: dict[int, ParsedUrl] = {}
        self._paths = _Paths()
        for number, source in enumerate(sources):
            url = parse_url(source.url) if source.url else None
            if url is not None and self._exact.setdefault(url.key, number) == number:
                self._urls[number] = url
                self._paths.add(number, url)
        self._spellings = sorted((url.spelling, number) for number, url in self._urls.items())
        keys = ((parse_key(s.citation_key), n) for n, s in enumerate(sources) if s.citation_key)
        self._documents = DocumentIndex(keys, window)
        self.hosts = KnownHosts({url.site[0] for url in self._urls.values()})

    def match_url(self, text: str) -> Match | None:
        """The source this URL means, or None where no level gives exactly one."""
        if exact := self.match_exactly(text):
            return exact
        stub, url = without_ellipsis(text), parse_url(text)
        if stub is not None:
            return self._match(self._cut_off(stub), "truncation", marked=True)
        return url and (
            self._match_continued(url)
            or self._match(self._paths.parent(url), "child_path")
            or self._match(self._with_parameters(url), "query_subset")
        )

    def match_exactly(self, text: str) -> Match | None:
        """The source with this URL, at the first level only."""
        url = parse_url(text)
        return url and self._match(self._exact.get(url.key), "exact")

    def match_document(self, entry: str) -> Match | None:
        """The document an entry names, where the pages agree by the index's rule."""
        for key in named_documents(entry) if self._documents else ():
            number = self._documents.find(key)
            if number is not None:
                return Match(self._sources[number], "document", key)
        return None

    def _match(self, number: int | None, level: MatchLevel, *, marked: bool = False) -> Match | None:
        return None if number is None else Match(self._sources[number], level, marked=marked)

    def _cut_off(self, stub: str) -> int | None:
        """Level 2, marked: the only source whose spelling starts with the stub and completes no identifier."""
        url = parse_url(stub)
        start = _CUT_CODE.sub("", url.spelling) if url and "%" in stub else url.spelling if url else ""
        if url is None or "/" not in start:
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

    def _with_parameters(self, cited: ParsedUrl) -> int | None:
        """Level 5: the only source at this path that has all parameters of the URL, and its route if it has one."""
        shared = self._paths.with_parameters(cited)
        if len(shared) > _MOST_SHARED:
            return None
        routed = [number for number in shared if cited.route in ("", self._urls[number].route)]
        # a repeated parameter counts as often
        return _only([number for number in routed if Counter(cited.query) <= Counter(self._urls[number].query)])

    def _match_continued(self, url: ParsedUrl) -> Match | None:
        """Levels 2 (as written) and 3 (normalised): the only source that continues a whole-segment path."""
        number = self._paths.continuing(url)
        found = None if number is None else self._urls[number]
        cut_off = found and len(found.segments) > len(url.segments) and found.raw.startswith(url.raw)
        return self._match(number, "truncation" if cut_off else "prefix")


def _cuts_work(source: ParsedUrl, stub: ParsedUrl) -> bool:
    """Whether a stub ends inside a DOI or an arXiv number, which is one segment however many slashes it has."""
    work = source.site[0] in ("doi.org", "arxiv.org") and "/" in "".join(source.segments[-1:])
    return work and len(stub.segments) >= len(source.segments)
