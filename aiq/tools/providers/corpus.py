"""Search in a local file of pages (`search.corpus`) by BM25: no network, the same answer every time."""

from aiq.core.run_settings import SearchSettings
from aiq.llm.http import AsyncClient
from aiq.tools.corpus import Corpus
from aiq.tools.search import Found, SearchProvider

DEFAULT_CHARS = 4000
"""Characters of a page that a hit shows if `search.max_content_length` sets no limit."""


class CorpusSearch(SearchProvider):
    """Loads and indexes the corpus when the run starts, so that a bad file shows before the first sample."""

    def __init__(self, settings: SearchSettings, client: AsyncClient) -> None:
        self._corpus = Corpus.load(settings.corpus)
        self._corpus.build_index()
        self._max_chars = settings.max_content_length or DEFAULT_CHARS

    async def search(self, query: str, max_results: int) -> Found:
        return Found(hits=tuple(self._corpus.search(query, max_results, max_chars=self._max_chars)))
