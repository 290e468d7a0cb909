"""The sources of one (sample, epoch), in the order of their calls, not of arrival, and kept apart by kind."""

import hashlib
from collections.abc import Sequence
from operator import itemgetter

from aiq.citations.documents import parse_key
from aiq.citations.links import addresses
from aiq.citations.urls import parse_url
from aiq.core.sources import CallPath, Source, SourceKind

Identity = tuple[object, ...]
_STRENGTH: dict[SourceKind, int] = {"retrieved": 0, "mentioned": 1, "echoed": 2}
_Seen = tuple[int, CallPath, str, Source]
"""How strong, where, as what, and the source: the order in which what was seen of one thing counts."""
_FIRST = itemgetter(0, 1, 2)


class SourceRegistry:
    """Remembers what tools declared as retrieved, and what else was seen; implements the core's `Registry`.

    A URL in two spellings is one source, as is a document key with the same page. The first
    retrieval by order gives its URL, title and call; the text is the longest that any call brought
    (a search gives a snippet, a later fetch the page), the relevance the greatest: to the query that it fits best.
    """

    def __init__(self) -> None:
        self._seen: dict[Identity, list[_Seen]] = {}
        self._echoes: set[tuple[Identity, str]] = set()  # what a call was asked with: (identity, call id)

    def add(self, source: Source, order: CallPath) -> None:
        """Remember a source; one with neither URL nor citation key is nothing that can be cited."""
        key = identity(source)
        if key is not None:
            self._seen.setdefault(key, []).append((_STRENGTH[source.kind], order, source.address, source))

    def note(self, text: str, kind: SourceKind, order: CallPath, *, call_id: str, tool: str) -> None:
        """Remember the URLs of a text. What a call was asked with and gives back is still an echo."""
        for url in dict.fromkeys(addresses(text)):
            source = Source(url=url, kind=kind, call_id=call_id, tool=tool)
            asked = (identity(source) or (), call_id)
            if kind == "echoed":
                self._echoes.add(asked)
            elif asked in self._echoes:
                continue
            self.add(source, order)

    def all(self) -> tuple[Source, ...]:
        """Every retrieved source once, by order: what verifies."""
        return tuple(source for source in self.known() if source.kind == "retrieved")

    def known(self) -> tuple[Source, ...]:
        """Everything seen, of every kind, once: retrieved sources first, each kind by order."""
        groups = [sorted(group, key=_FIRST) for group in self._seen.values()]
        return tuple(map(_one, sorted(groups, key=lambda group: _FIRST(group[0]))))


def identity(source: Source) -> Identity | None:
    """What makes two sources the same: the URL's key, or the document's name and page."""
    if source.url:
        url = parse_url(source.url)
        return ("url", url.key) if url else ("raw", source.url)
    if source.citation_key and source.citation_key.strip():
        return ("document", parse_key(source.citation_key))
    return None


def worth_keeping(sources: Sequence[Source], report: str) -> tuple[Source, ...]:
    """The retrieved sources, and of the others (there may be thousands) those whose URL the report names."""
    named = {identity(Source(url=url)) for url in addresses(report)}
    return tuple(source for source in sources if source.kind == "retrieved" or identity(source) in named)


def _one(group: Sequence[_Seen]) -> Source:
    """One source of all that was seen of it, in order; a weaker kind adds nothing to a stronger one."""
    sources = [source for strength, _, _, source in group if strength == group[0][0]]
    text = max((source.text for source in sources), key=len)
    digest = hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()[:16] if text else ""
    title = next((source.title for source in sources if source.title), "")
    published = next((source.published for source in sources if source.published), None)
    relevance = max((source.relevance for source in sources if source.relevance is not None), default=None)
    found = {"title": title, "text": text, "published": published, "relevance": relevance, "digest": digest}
    return sources[0].model_copy(update=found)
