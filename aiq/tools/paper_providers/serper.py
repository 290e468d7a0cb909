"""Google Scholar by Serper: POST {base_url}/scholar with the key in `X-API-KEY`.

Request: {"q", "num", "as_ylo", "as_yhi"}. Answer: {"organic": [{"title", "link", "publicationInfo", "snippet", "year",
"citedBy", ...}]}; an error is {"message", "statusCode"}, and an empty account answers 400 "Not enough credits".
"""

from pydantic import BaseModel, Field

from aiq.core.errors import ConfigError, ToolError, ToolErrorKind
from aiq.core.settings import PapersSettings
from aiq.llm.http import AsyncClient
from aiq.llm.models import read_key
from aiq.tools.api import ApiClient
from aiq.tools.papers import Paper

BASE_URL = "https://google.serper.dev"


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
        key = read_key(settings.api_key_env, "papers.api_key_env")
        self._api = ApiClient(
            client,
            (settings.base_url or BASE_URL).rstrip("/") + "/scholar",
            settings.timeout_seconds,
            failure="Paper search failed: unable to fetch results from Serper ({})",
            headers={"x-api-key": key},
            key=key,
            kinds={402: ToolErrorKind.QUOTA},
        )

    async def search(self, query: str, years: tuple[int | None, int | None], max_results: int) -> list[Paper]:
        bounds = {name: year for name, year in zip(("as_ylo", "as_yhi"), years, strict=True) if year is not None}
        try:
            answer = await self._api.post({"q": query, "num": max_results, **bounds}, _Answer)
        except ToolError as error:
            if error.kind is not ToolErrorKind.TIMEOUT:
                raise
            message = f"Paper search timed out after {self._api.seconds:g}s for query: {query}"
            raise ToolError(ToolErrorKind.TIMEOUT, message) from None
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
