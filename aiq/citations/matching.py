"""Finds the source that a cited URL or document means: five levels, first hit wins, never a guess.

Building the index is linear in the sources (but for one sort); a look-up costs the same whatever
their number. Which text is a URL is decided elsewhere.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from aiq.citations.documents import DocumentKey, named_documents, parse_key
from aiq.citations.homographs import KnownHosts
from aiq.citations.pages import DocumentIndex, PageRule
from aiq.citations.paths import AMBIGUOUS, PathIndex
from aiq.citations.stubs import completes_identifier
from aiq.citations.urls import ParsedUrl, UrlKey, parse_url, read_url, spelled, without_ellipsis
from aiq.core.audit import MatchLevel
from aiq.core.sources import Source


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
