"""The sources of one (sample, epoch) by kind, in the order of the calls, not of arrival."""

import hashlib
from collections.abc import Sequence
from operator import itemgetter

from aiq.citations.documents import parse_key
from aiq.citations.links import find_urls
from aiq.citations.urls import parse_url
from aiq.core.sources import CallPath, Source, SourceKind

Identity = tuple[object, ...]
_RANK: dict[SourceKind, int] = {"retrieved": 0, "mentioned": 1, "echoed": 2}
_Sighting = tuple[int, CallPath, str, Source]
"""The rank of the kind, the call, the address, and the source; sightings of one source count in this order."""
_FIRST = itemgetter(0, 1, 2)


class SourceRegistry:
    """Remembers what tools declare as retrieved, and what else was seen; implements the core's `Registry`.

    Two spellings of a URL are one source, and so are document keys with the same page. The first
    retrieval by order determines URL, title and call; the text is the longest of any call (a search
    returns a snippet, a later fetch the page), and the relevance is the highest for any query.
    """

    def __init__(self) -> None:
        self._sightings: dict[Identity, list[_Sighting]] = {}
        self._echoes: set[tuple[Identity, str]] = set()  # URLs in the arguments of calls: (identity, call id)

    def add(self, source: Source, order: CallPath) -> None:
        """Remember a source, unless it has neither URL nor citation key and so cannot be cited."""
        key = identity(source)
        if key is not None:
            self._sightings.setdefault(key, []).append((_RANK[source.kind], order, source.address, source))

    def note(self, text: str, kind: SourceKind, order: CallPath, *, call_id: str, tool: str) -> None:
        """Remember the URLs of a text. A URL in a call's result that was in its arguments is still only an echo."""
        for url in dict.fromkeys(find_urls(text)):
            source = Source(url=url, kind=kind, call_id=call_id, tool=tool)
            echo = (identity(source) or (), call_id)
            if kind == "echoed":
                self._echoes.add(echo)
            elif echo in self._echoes:
                continue
            self.add(source, order)

    def all(self) -> tuple[Source, ...]:
        """Every retrieved source once, by order: the sources that verify citations by default."""
        return tuple(source for source in self.known() if source.kind == "retrieved")

    def known(self) -> tuple[Source, ...]:
        """Every source seen, of any kind, once: retrieved ones first, each kind by order."""
        groups = [sorted(group, key=_FIRST) for group in self._sightings.values()]
        return tuple(map(_merged, sorted(groups, key=lambda group: _FIRST(group[0]))))


def identity(source: Source) -> Identity | None:
    """A key that is equal for equal sources: the URL's key, or the document's name and page."""
    if source.url:
        url = parse_url(source.url)
        return ("url", url.key) if url else ("raw", source.url)
    if source.citation_key and source.citation_key.strip():
        return ("document", parse_key(source.citation_key))
    return None


def sources_to_keep(sources: Sequence[Source], report: str) -> tuple[Source, ...]:
    """The retrieved sources, and those of the others (there may be thousands) whose URL the report contains."""
    identities = {identity(Source(url=url)) for url in find_urls(report)}
    return tuple(source for source in sources if source.kind == "retrieved" or identity(source) in identities)


def _merged(group: Sequence[_Sighting]) -> Source:
    """Merge the sightings of one source, which are in order; a weaker kind adds nothing to a stronger one."""
    sources = [source for rank, _, _, source in group if rank == group[0][0]]
    text = max((source.text for source in sources), key=len)
    digest = hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()[:16] if text else ""
    title = next((source.title for source in sources if source.title), "")
    published = next((source.published for source in sources if source.published), None)
    relevance = max((source.relevance for source in sources if source.relevance is not None), default=None)
    fields = {"title": title, "text": text, "published": published, "relevance": relevance, "digest": digest}
    return sources[0].model_copy(update=fields)
