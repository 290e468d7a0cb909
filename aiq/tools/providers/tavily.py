"""Search by the Tavily API, or anything that speaks it (the offline stack does): POST {base_url}/search.

Request and answer as Tavily's API reference has them; its own synthesised answer is asked for only
where `search.include_answer` says so, because it names no source. Retries are the client's.
"""

import json

from pydantic import BaseModel, ValidationError

from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.plugins import describe
from aiq.core.settings import SearchSettings
from aiq.core.text import whole
from aiq.llm.http import SEND_ERRORS, AsyncClient, Response, Timeout, TimeoutException, without_key
from aiq.llm.models import read_key
from aiq.tools.search import Found, SearchHit

BASE_URL = "https://api.tavily.com"

KINDS = {
    400: ToolErrorKind.INVALID_ARGUMENTS,
    401: ToolErrorKind.UNAUTHORIZED,
    403: ToolErrorKind.UNAUTHORIZED,
    422: ToolErrorKind.INVALID_ARGUMENTS,
    429: ToolErrorKind.QUOTA,
    432: ToolErrorKind.QUOTA,  # the plan's limit
    433: ToolErrorKind.QUOTA,  # the pay-as-you-go limit
}
"""Documented statuses; any other is `http`."""


class _Result(BaseModel):
    url: str
    title: str | None = None
    content: str | None = None
    published_date: str | None = None


class _Answer(BaseModel):
    answer: str | None = None
    results: list[_Result]


class Provider:
    """The key comes from the environment variable that `search.api_key_env` names; without one none is sent."""

    def __init__(self, settings: SearchSettings, client: AsyncClient) -> None:
        self._client = client
        self._url = (settings.base_url or BASE_URL).rstrip("/") + "/search"
        self._options: dict[str, object] = {"search_depth": settings.depth}
        if settings.include_answer is not None:
            self._options["include_answer"] = settings.include_answer
        self._timeout = Timeout(settings.timeout_seconds, pool=None)
        self._seconds = settings.timeout_seconds
        self._key = "" if settings.api_key_env is None else read_key(settings.api_key_env, "search.api_key_env")

    async def search(self, query: str, max_results: int) -> Found:
        """At most `max_results` hits. Raises ToolError: see `KINDS`; timeout, http (no connection), malformed."""
        response = await self._post({"query": query, **self._options, "max_results": max_results})
        if response.status_code != 200:
            kind = KINDS.get(response.status_code, ToolErrorKind.HTTP)
            raise self._error(kind, f"HTTP {response.status_code}: {self._detail(response)}")
        try:
            answer = _Answer.model_validate_json(response.content)
        except ValidationError as error:
            raise self._error(ToolErrorKind.MALFORMED, f"not a search answer ({describe(error)[:200]})") from None
        hits = (
            SearchHit(url=r.url, title=r.title or "", text=r.content or "", published=r.published_date)
            for r in answer.results[:max_results]
            if r.url.strip()
        )
        return Found(hits=tuple(hits), answer=answer.answer)

    async def _post(self, body: dict[str, object]) -> Response:
        headers = {"authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            return await self._client.post(self._url, json=body, headers=headers, timeout=self._timeout)
        except TimeoutException:
            raise self._error(ToolErrorKind.TIMEOUT, f"no answer within {self._seconds:g} s") from None
        except SEND_ERRORS as error:
            raise self._error(ToolErrorKind.HTTP, f"no connection ({error or type(error).__name__})") from None

    def _error(self, kind: ToolErrorKind, message: str) -> ToolError:
        return ToolError(kind, without_key(f"web search failed: {self._url}: {message}", self._key))

    def _detail(self, response: Response) -> str:
        """What the API says: `detail.error`, or the beginning of the body; without the key, should that stand in it."""
        try:
            said = json.loads(response.content)["detail"]
            said = said["error"] if isinstance(said, dict) else said
        except (ValueError, LookupError, TypeError):
            said = response.text
        return " ".join(without_key(whole(str(said)), self._key).split())[:200] or "no reason given"
