"""The sources of one (sample, epoch), ordered by where their calls stand, not by arrival."""

from aiq.citations.documents import parse_key
from aiq.citations.urls import parse_url
from aiq.core.sources import CallPath, Source

Identity = tuple[object, ...]


class SourceRegistry:
    """Remembers what tools declared as retrieved; implements the core's `Registry`.

    A URL in two spellings is one source, as is a document key with the same page. The first by
    order gives its URL, title and call; the text is the longest that any call brought (a search
    gives a snippet, a later fetch the page).
    """

    def __init__(self) -> None:
        self._seen: dict[Identity, list[tuple[CallPath, str, Source]]] = {}

    def add(self, source: Source, order: CallPath) -> None:
        """Remember a source; one with neither URL nor citation key is nothing that can be cited."""
        key = identity(source)
        if key is not None:
            self._seen.setdefault(key, []).append((order, source.url or source.citation_key or "", source))

    def all(self) -> tuple[Source, ...]:
        """Every source once, by order."""
        groups = [sorted(group, key=lambda item: item[:2]) for group in self._seen.values()]
        return tuple(_merged(group) for group in sorted(groups, key=lambda group: group[0][:2]))


def identity(source: Source) -> Identity | None:
    """What makes two sources the same: the URL's key, or the document's name and page."""
    if source.url:
        url = parse_url(source.url)
        return ("url", url.key) if url else ("raw", source.url)
    if source.citation_key and source.citation_key.strip():
        return ("document", parse_key(source.citation_key))
    return None


def _merged(group: list[tuple[CallPath, str, Source]]) -> Source:
    sources = [source for _, _, source in group]
    first = sources[0]
    return first.model_copy(
        update={
            "title": next((s.title for s in sources if s.title), ""),
            "text": max((s.text for s in sources), key=len),
            "published": next((s.published for s in sources if s.published), None),
        }
    )
