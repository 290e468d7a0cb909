"""Google Scholar by Serper: POST {base_url}/scholar with the key in `X-API-KEY`. Retries are the client's.

Request: {"q", "num", "as_ylo", "as_yhi"}. Answer: {"organic": [{"title", "link", "publicationInfo", "snippet", "year",
"citedBy", ...}]}; an error is {"message", "statusCode"}, and an empty account answers 400 "Not enough credits".
"""

import json

from pydantic import BaseModel, Field, ValidationError

from aiq.core.errors import ConfigError, ToolError, ToolErrorKind
from aiq.core.plugins import describe
from aiq.core.settings import PapersSettings
from aiq.core.text import whole
from aiq.llm.http import SEND_ERRORS, AsyncClient, Response, Timeout, TimeoutException, without_key
from aiq.llm.models import read_key
from aiq.tools.papers import Paper

BASE_URL = "https://google.serper.dev"

KINDS = {
    400: ToolErrorKind.INVALID_ARGUMENTS,
    401: ToolErrorKind.UNAUTHORIZED,
    402: ToolErrorKind.QUOTA,
    403: ToolErrorKind.UNAUTHORIZED,
    422: ToolErrorKind.INVALID_ARGUMENTS,
    429: ToolErrorKind.QUOTA,
}
"""Any other status is `http`."""


class _Result(BaseModel):
    title: str = Field(min_length=1)
    link: str | None = None
    publicationInfo: str | None = None  # noqa: N815  the API's name
    snippet: str | None = None
    year: int | None = None
    citedBy: int | None = None  # noqa: N815


class _Answer(BaseModel):
    organic: list[_Result]


class Provider:
    """Needs a key: Serper answers nobody without one."""

    def __init__(self, settings: PapersSettings, client: AsyncClient) -> None:
        if settings.api_key_env is None:
            raise ConfigError("papers.api_key_env must name the variable that holds the Serper key")
        self._client = client
        self._url = (settings.base_url or BASE_URL).rstrip("/") + "/scholar"
        self._seconds = settings.timeout_seconds
        self._timeout = Timeout(settings.timeout_seconds, pool=None)
        self._key = read_key(settings.api_key_env, "papers.api_key_env")

    async def search(self, query: str, years: tuple[int | None, int | None], max_results: int) -> list[Paper]:
        """At most `max_results` papers. Raises ToolError: see `KINDS`; timeout, http (no connection), malformed."""
        bounds = {name: year for name, year in zip(("as_ylo", "as_yhi"), years, strict=True) if year is not None}
        response = await self._post(query, {"q": query, "num": max_results, **bounds})
        if response.status_code != 200:
            raise self._refused(response)
        try:
            answer = _Answer.model_validate_json(response.content)
        except ValidationError as error:
            raise self._error(ToolErrorKind.MALFORMED, f"not a search answer ({describe(error)[:200]})") from None
        return [
            Paper(
                title=result.title,
                link=result.link or "",
                year=result.year,
                publication=result.publicationInfo or "",
                citations=result.citedBy,
                snippet=result.snippet or "",
            )
            for result in answer.organic[:max_results]
        ]

    async def _post(self, query: str, body: dict[str, object]) -> Response:
        try:
            return await self._client.post(
                self._url, json=body, headers={"x-api-key": self._key}, timeout=self._timeout
            )
        except TimeoutException:
            message = f"Paper search timed out after {self._seconds:g}s for query: {query}"
            raise ToolError(ToolErrorKind.TIMEOUT, message) from None
        except SEND_ERRORS as error:
            raise self._error(ToolErrorKind.HTTP, f"no connection: {error or type(error).__name__}") from None

    def _refused(self, response: Response) -> ToolError:
        try:
            said = str(json.loads(response.content)["message"])
        except (ValueError, LookupError, TypeError):
            said = response.text
        said = " ".join(without_key(whole(said), self._key).split())[:200] or "no reason given"
        empty = response.status_code == 400 and "credit" in said.lower()
        kind = ToolErrorKind.QUOTA if empty else KINDS.get(response.status_code, ToolErrorKind.HTTP)
        return self._error(kind, f"HTTP {response.status_code}: {said}")

    def _error(self, kind: ToolErrorKind, reason: str) -> ToolError:
        message = f"Paper search failed: unable to fetch results from Serper ({reason})"
        return ToolError(kind, without_key(message, self._key))
