"""The web search tool, over whichever provider the run is configured with."""

from collections.abc import Sequence
from typing import Protocol

from pydantic import BaseModel, Field

from aiq.core.base import Record
from aiq.core.run_settings import SearchSettings
from aiq.core.tools import ToolResult
from aiq.llm.http import AsyncClient
from aiq.tools.api import Service
from aiq.tools.blocks import SEPARATOR, Words, as_source, document, escape_tags
from aiq.tools.deny import DenyList

MAX_QUERY = 400
"""Characters; a longer query is cut to 397 and `...` (search APIs refuse more)."""

NOTHING = "Search returned no results"


class SearchPage(Record):
    """A page that can be found: `published` in whatever form the provider writes dates."""

    url: str
    title: str
    text: str
    published: str | None = None


class SearchHit(SearchPage):
    """One result, as it came. `relevance`: how well it fits the query according to its provider, if it says so.

    It compares results of one provider only: what another calls 0.5 may be better or worse.
    """

    relevance: float | None = Field(default=None, ge=0, le=1)


def relevance_of(score: object) -> float | None:
    """A provider's score as a relevance; None unless it is a number from 0 to 1: its scale would be unknown."""
    if isinstance(score, int | float) and not isinstance(score, bool) and 0 <= score <= 1:
        return float(score)
    return None


class Found(Record):
    """What a provider found, best first. `answer`: its own answer to the query, which names no source."""

    hits: tuple[SearchHit, ...] = ()
    answer: str | None = None


class SearchProvider(Protocol):
    """Answers searches; created once per run. The constructor raises ConfigError if a setting is missing."""

    def __init__(self, settings: SearchSettings, client: AsyncClient) -> None: ...

    async def search(self, query: str, max_results: int) -> Found:
        """At most `max_results` hits, none if nothing is found. Raises ToolError, typed."""


class SearchArguments(BaseModel):
    """Arguments of `web_search_tool`."""

    query: Words = Field(description="What to search for, in a few words or a short question (at most 400 characters).")


class WebSearch:
    """`web_search_tool`: results as `<Document>` blocks, each of them a source; an `<Answer>` before them is not."""

    name = "web_search_tool"
    description = (
        "Search the web. Returns the best matching pages, each with its URL, title, publication date where known, and "
        "the passages that match. Search again with other words, names or dates when they do not answer the question."
    )
    parameters: type[BaseModel] = SearchArguments
    data_source: str | None = "web"

    def __init__(self, provider: SearchProvider, settings: SearchSettings, deny: Sequence[str] = ()) -> None:
        self._provider = provider
        self._service = Service("search")
        self._settings = settings
        self._deny = DenyList(deny)

    async def run(self, arguments: SearchArguments) -> ToolResult:
        limit, max_chars = self._settings.max_results, self._settings.max_content_length
        results = await self._service.ask(self._provider.search(shortened(arguments.query), limit))
        hits = [hit for hit in results.hits[:limit] if not self._deny.has(hit.url)]
        sources = [as_source(self.name, h.url, h.title, h.text[:max_chars], h.published, h.relevance) for h in hits]
        answer = (results.answer or "").strip()
        blocks = [f"<Answer>\n{escape_tags(answer)}\n</Answer>"] if answer else []
        blocks += [document(s.url or "", s.title, s.text, s.published) for s in sources]
        denied = len(results.hits[:limit]) - len(hits)
        return ToolResult(content=SEPARATOR.join(blocks) or NOTHING, sources=tuple(sources), denied=denied)


def shortened(query: str) -> str:
    return query if len(query) <= MAX_QUERY else query[: MAX_QUERY - 3] + "..."
