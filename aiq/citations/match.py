"""Finds the source that a cited URL or document means: five levels, first hit wins, never a guess.

A look-up does not scan all sources, only those at one path.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from aiq.citations.documents import DocumentIndex, DocumentKey, named_documents
from aiq.citations.sanitise import KnownHosts
from aiq.citations.urls import ParsedUrl, Segments, UrlKey, parse_url, without_ellipsis
from aiq.core.reports import MatchLevel
from aiq.core.sources import Source

_LEAST_SEGMENTS = 2
"""The number of segments that a parent's path must have: `/docs` is not the parent of everything below it."""
_WORD = r"[^\W_\u2e80-\u9fff\uac00-\ud7af]"
"""A letter or digit; ideographs and Hangul syllables are words of their own and not part of identifiers."""
_MARK = r"(?:_|[^\w/?&=])"
_WORDS = re.compile(r"[^\W_]+")
_CUT_CODE = re.compile(r"(?:%[0-9A-Fa-f]?|[\ud800-\udfff]+)\Z")
"""A percent-encoding that was cut in two; bytes that are not UTF-8 appear as lone surrogates."""
_AT_CUT = re.compile(rf"({_WORD}*)({_MARK}?)\x00({_WORD}*)({_MARK}?)({_WORD}*)")


def _only(urls: Sequence[ParsedUrl]) -> ParsedUrl | None:
    return urls[0] if len(urls) == 1 else None


def completes_identifier(start: str, whole: str) -> bool:
    """Whether `whole`, which begins with `start`, continues an identifier that `start` cuts off.

    That is so if the cut is within a word with a digit (`/pull/1` and `/pull/112`, `4f2a` and
    `4f2a91c`, `article` and `article12`), or if words with digits are on both sides of one
    punctuation mark (`1706` and `1706.03762`, the groups of a UUID or a date).
    """
    cut = _AT_CUT.search(f"{start[-200:]}\x00{whole[len(start) : len(start) + 200]}")
    before, mark, after, next_mark, beyond = cut.groups() if cut else ("",) * 5
    if before and after and not mark:
        return any(map(str.isdigit, before + after))
    following = after if mark else beyond if next_mark and not after else ""
    return any(map(str.isdigit, before)) and any(map(str.isdigit, following))


@dataclass(frozen=True, slots=True)
class Match:
    """A source and the level at which it was found; `document` is the key as the report cites it.

    `marked` says that the report itself shows, with an ellipsis, that the URL is cut off.
    """

    source: Source
    level: MatchLevel
    document: DocumentKey | None = None
    marked: bool = False


class SourceIndex:
    """A searchable index of a run's sources; of two with the same URL the first counts.

    `window`: how many pages a cited page of a document may be from a retrieved one. `hosts` recognise
    the look-alikes of the sources' hosts.
    """

    def __init__(self, sources: Sequence[Source], window: int = 0) -> None:
        self._exact: dict[UrlKey, Source] = {}
        self._by_path = defaultdict[Segments, list[ParsedUrl]](list)
        self._by_parameter = defaultdict[Any, list[ParsedUrl]](list)  # and by path
        for source in sources:
            url = parse_url(source.url or "")
            if url is not None and self._exact.setdefault(url.key, source) is source:
                self._by_path[url.path].append(url)
                for parameter in set(url.query):
                    self._by_parameter[url.path, parameter].append(url)
        self._depths = sorted({len(path) for path in self._by_path}, reverse=True)
        self._paths = sorted(self._by_path)
        self._spellings = sorted((url.spelling, url) for urls in self._by_path.values() for url in urls)
        self._documents = DocumentIndex(sources, window)
        self.hosts = KnownHosts({path[0] for path in self._paths})

    def match_url(self, text: str) -> Match | None:
        """The source that this URL means, or None if no level gives exactly one."""
        if exact := self.match_exactly(text):
            return exact
        stub, url = without_ellipsis(text), parse_url(text)
        if stub is not None:
            return self._match(self._cut_off(stub), "truncation", marked=True)
        return url and (
            self._match_continued(url)
            or self._match(self._parent(url), "child_path")
            or self._match(self._with_parameters(url), "query_subset")
            or self._match(self._query_begun(url), "truncation")
        )

    def match_exactly(self, text: str) -> Match | None:
        """The source with this URL, at the first level only."""
        url = parse_url(text)
        return self._match(url if url and url.key in self._exact else None, "exact")

    def match_document(self, entry: str) -> Match | None:
        """The document that an entry names, provided that the pages agree within the index's `window`."""
        for key in named_documents(entry) if self._documents else ():
            if source := self._documents.find(key):
                return Match(source, "document", key)
        return None

    def _match(self, url: ParsedUrl | None, level: MatchLevel, *, marked: bool = False) -> Match | None:
        return None if url is None else Match(self._exact[url.key], level, marked=marked)

    def _cut_off(self, stub: str) -> ParsedUrl | None:
        """Level 2, marked: the only source whose spelling starts with the stub, unless it completes an identifier."""
        url = parse_url(stub)
        start = _CUT_CODE.sub("", url.spelling) if url and "%" in stub else url.spelling if url else ""
        if url is None or "/" not in start:
            return None
        at = bisect_left(self._spellings, (start,))
        longer = [found for text, found in self._spellings[at : at + 2] if text.startswith(start)]
        if url.key in self._exact:
            return url if all(found.key == url.key for found in longer) else None
        found = _only(longer)
        return None if found is None or completes_identifier(start, found.spelling) or _cuts_work(found, url) else found

    def _query_begun(self, url: ParsedUrl) -> ParsedUrl | None:
        """Level 2, as written: the only source that continues after the URL's last parameter.

        A single word is a complete value: `?country=Niger` is not a cut-off `?country=Nigeria`; so is a video's id.
        """
        complete = len(url.query) == 1 and len(_WORDS.findall(url.query[0][1])) == 1
        found = self._cut_off(url.raw) if url.query and not complete and "#" not in url.raw else None
        return None if found is None or found.spelling == url.spelling else found

    def _match_continued(self, url: ParsedUrl) -> Match | None:
        """Levels 2 (as written) and 3 (normalised): the only source whose path continues the URL's whole segments."""
        at = bisect_left(self._paths, url.path)
        paths = (path for path in self._paths[at : at + 2] if path[: len(url.path)] == url.path)
        # a query is a set: whole parameters may be any of a source's, which level 5 decides
        found = _only([longer for path in paths for longer in self._by_path[path]]) if url.bare else None
        cut_off = found and len(found.segments) > len(url.segments) and found.raw.startswith(url.raw)
        return self._match(found, "truncation" if cut_off else "prefix")

    def _parent(self, url: ParsedUrl) -> ParsedUrl | None:
        """Level 4: the nearest source above, with at least two path segments; of several, the one without a query."""
        path = url.path
        for depth in self._depths:
            candidates = self._by_path.get(path[:depth], ()) if depth < len(path) else ()
            if candidates and sum(map(bool, path[2:depth])) >= _LEAST_SEGMENTS:
                return _only([above for above in candidates if above.bare] or candidates)
        return None

    def _with_parameters(self, url: ParsedUrl) -> ParsedUrl | None:
        """Level 5: the only source at this path that has all parameters of the URL, and its route if there is one."""
        rarest = min((self._by_parameter.get((url.path, pair), ()) for pair in url.query), key=len, default=())
        candidates = (found for found in rarest if url.route in ("", found.route))
        # a repeated parameter must occur as often; two candidates suffice to know that there is more than one
        return _only(list(islice((found for found in candidates if Counter(url.query) <= Counter(found.query)), 2)))


def _cuts_work(source: ParsedUrl, stub: ParsedUrl) -> bool:
    """Whether a stub ends inside a DOI or an arXiv number, which is one segment however many slashes it has."""
    is_work = source.site[0] in ("doi.org", "arxiv.org") and "/" in "".join(source.segments[-1:])
    return is_work and len(stub.segments) >= len(source.segments)


NOTHING: Final = SourceIndex(())
"""The index of an agent that has seen no sources."""
