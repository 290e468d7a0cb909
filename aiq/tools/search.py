"""The web search tool, over whichever provider the run is configured with."""

from typing import Annotated, Protocol

from pydantic import BaseModel, Field, StringConstraints

from aiq.core.base import Record
from aiq.core.settings import SearchSettings
from aiq.core.sources import Source
from aiq.core.tools import ToolResult
from aiq.llm.http import AsyncClient
from aiq.tools.blocks import SEPARATOR, document, harmless, iso_date, safe_url

MAX_QUERY = 400
"""Characters; a longer query is cut to 397 and `...` (search APIs refuse more)."""

NOTHING = "Search returned no results"


class SearchHit(Record):
    """One result of a provider, as it came: `published` in whatever form the provider writes dates."""

    url: str
    title: str
    text: str
    published: str | None = None


class Found(Record):
    """What a provider found, best first. `answer`: its own words on the query, which name no source."""

    hits: tuple[SearchHit, ...] = ()
    answer: str | None = None


class SearchProvider(Protocol):
    """Who answers searches: a class `Provider` in `aiq/tools/providers/<name>.py`, made once per run.

    Raises ConfigError in the constructor when a setting that it needs is missing.
    """

    def __init__(self, settings: SearchSettings, client: AsyncClient) -> None: ...

    async def search(self, query: str, max_results: int) -> Found:
        """At most `max_results` hits, none when nothing is found. Raises ToolError, typed."""


class SearchArguments(BaseModel):
    """Arguments of `web_search_tool`."""

    query: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)] = Field(
        description="What to search for, in a few words or a short question (at most 400 characters)."
    )


class WebSearch:
    """`web_search_tool`: results as `<Document>` blocks, each of them a source; an `<Answer>` before them is none."""

    name = "web_search_tool"
    description = (
        "Search the web. Returns the best matching pages, each with its URL, title, publication date where known, and "
        "the passages that match. Search again with other words, names or dates when they do not answer the question."
    )
    parameters: type[BaseModel] = SearchArguments
    data_source: str | None = "web"

    def __init__(self, provider: SearchProvider, settings: SearchSettings) -> None:
        self._provider = provider
        self._max_results = settings.max_results
        self._max_chars = settings.max_content_length

    async def run(self, arguments: SearchArguments) -> ToolResult:
        found = await self._provider.search(shortened(arguments.query), self._max_results)
        sources = tuple(self._source(hit) for hit in found.hits[: self._max_results])
        said = (found.answer or "").strip()
        blocks = [f"<Answer>\n{harmless(said)}\n</Answer>"] if said else []
        blocks += [document(s.url or "", s.title, s.text, s.published) for s in sources]
        return ToolResult(content=SEPARATOR.join(blocks) or NOTHING, sources=sources)

    def _source(self, hit: SearchHit) -> Source:
        return Source(
            url=safe_url(hit.url),
            title=" ".join(hit.title.split()),
            text=hit.text[: self._max_chars],
            published=iso_date(hit.published),
            tool=self.name,
        )


def shortened(query: str) -> str:
    return query if len(query) <= MAX_QUERY else query[: MAX_QUERY - 3] + "..."
