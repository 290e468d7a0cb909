"""Search by the Tavily API, or anything that speaks it (the offline stack does): POST {base_url}/search.

The API's own synthesised answer is requested only if `search.include_answer` says so, because it names no source.
"""

from pydantic import BaseModel, JsonValue

from aiq.core.run_settings import SearchSettings
from aiq.llm.http import AsyncClient
from aiq.llm.models import read_key
from aiq.tools.api import ApiClient
from aiq.tools.search import Found, SearchHit, SearchProvider, relevance_of

BASE_URL = "https://api.tavily.com"


class TavilyResult(BaseModel):
    url: str
    title: str | None = None
    content: str | None = None
    published_date: str | None = None
    score: JsonValue = None


class TavilyAnswer(BaseModel):
    answer: str | None = None
    results: list[TavilyResult]


class TavilySearch(SearchProvider):
    """The key comes from the environment variable that `search.api_key_env` names; if it names none, no key is sent."""

    def __init__(self, settings: SearchSettings, client: AsyncClient) -> None:
        key = read_key(settings.api_key_env, "search.api_key_env")
        url = (settings.base_url or BASE_URL).rstrip("/") + "/search"
        headers = {"authorization": f"Bearer {key}"} if key else {}
        failure = f"web search failed: {url}: {{}}"
        self._api = ApiClient(client, url, settings.timeout_seconds, failure, headers, key)
        answer = settings.include_answer
        self._options = {"search_depth": settings.depth, **({"include_answer": answer} if answer else {})}

    async def search(self, query: str, max_results: int) -> Found:
        answer = await self._api.post({"query": query, **self._options, "max_results": max_results}, TavilyAnswer)
        hits = (
            SearchHit(
                url=r.url,
                title=r.title or "",
                text=r.content or "",
                published=r.published_date,
                relevance=relevance_of(r.score),
            )
            for r in answer.results[:max_results]
            if r.url.strip()
        )
        return Found(hits=tuple(hits), answer=answer.answer)
