"""Finds the source that a cited URL or document means: five levels, first hit wins, never a guess.

A look-up reads no list of all sources, only those at one path.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from aiq.citations.documents import DocumentIndex, DocumentKey, named_documents, parse_key
from aiq.citations.sanitise import KnownHosts
from aiq.citations.urls import ParsedUrl, Segments, UrlKey, parse_url, without_ellipsis
from aiq.core.reports import MatchLevel
from aiq.core.sources import Source

_LEAST_SEGMENTS = 2
"""Segments that a parent's path must have: `/docs` is no parent of all that is below it."""
_WORD = r"[^\W_\u2e80-\u9fff\uac00-\ud7af]"
"""A letter or digit; ideographs and syllables are words of their own and belong to no identifier."""
_MARK = r"(?:_|[^\w/?&=])"
_CUT_CODE = re.compile(r"(?:%[0-9A-Fa-f]?|[\ud800-\udfff]+)\Z")
"""A percent-encoding that was cut in two; the parts that are no UTF-8 are lone surrogates."""
_AT_CUT = re.compile(rf"({_WORD}*)({_MARK}?)\x00({_WORD}*)({_MARK}?)({_WORD}*)")


def _path(url: ParsedUrl) -> Segments:
    """Host, port and segments: a path below another one begins with all of its parts."""
    host, port = url.site
    return host, str(port), *url.segments


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
        self._at = defaultdict[Segments, list[int]](list)
        for number, source in enumerate(sources):
            url = parse_url(source.url) if source.url else None
            if url is not None and self._exact.setdefault(url.key, number) == number:
                self._urls[number] = url
                self._at[_path(url)].append(number)
        self._depths = sorted({len(path) for path in self._at}, reverse=True)
        self._paths = sorted((_path(url), number) for number, url in self._urls.items())
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
            or self._match(self._parent(url), "child_path")
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

    def _parent(self, cited: ParsedUrl) -> int | None:
        """Level 4: the nearest source above whose path has at least two segments; of several the one without query."""
        path = _path(cited)
        for depth in self._depths:
            there = self._at.get(path[:depth], ()) if depth < len(path) else ()
            if there and sum(map(bool, path[2:depth])) >= _LEAST_SEGMENTS:
                return _only([number for number in there if self._urls[number].bare] or there)
        return None

    def _with_parameters(self, cited: ParsedUrl) -> int | None:
        """Level 5: the only source at this path that has all parameters of the URL, and its route if it has one."""
        there = [(number, self._urls[number]) for number in self._at.get(_path(cited), ()) if cited.query]
        routed = [(number, url.query) for number, url in there if cited.route in ("", url.route)]
        # a repeated parameter counts as often
        return _only([number for number, query in routed if Counter(cited.query) <= Counter(query)])

    def _match_continued(self, url: ParsedUrl) -> Match | None:
        """Levels 2 (as written) and 3 (normalised): the only source that continues a whole-segment path."""
        if not url.bare:  # a query is a set, has no beginning and is not continued
            return None
        path = _path(url)
        at = bisect_left(self._paths, (path, 0))
        number = _only([number for longer, number in self._paths[at : at + 2] if longer[: len(path)] == path])
        found = None if number is None else self._urls[number]
        cut_off = found and len(found.segments) > len(url.segments) and found.raw.startswith(url.raw)
        return self._match(number, "truncation" if cut_off else "prefix")


def _cuts_work(source: ParsedUrl, stub: ParsedUrl) -> bool:
    """Whether a stub ends inside a DOI or an arXiv number, which is one segment however many slashes it has."""
    work = source.site[0] in ("doi.org", "arxiv.org") and "/" in "".join(source.segments[-1:])
    return work and len(stub.segments) >= len(source.segments)
