"""Google Scholar through Serper: POST {base_url}/scholar with the key in `X-API-KEY`.

Request: {"q", "num", "as_ylo", "as_yhi"}. Answer: {"organic": [{"title", "link", "publicationInfo", "snippet", "year",
"citedBy", ...}]}; an error is {"message", "statusCode"}, and an empty account gets 400 "Not enough credits".
"""

from pydantic import BaseModel, Field

from aiq.core.errors import ConfigError, ToolError, ToolErrorKind
from aiq.core.run_settings import PapersSettings
from aiq.llm.http import AsyncClient
from aiq.llm.models import read_key
from aiq.tools.api import ApiClient
from aiq.tools.papers import Paper, PaperProvider, Years

BASE_URL = "https://google.serper.dev"
FAILURE = "Paper search failed: unable to fetch results from Serper ({})"


class ScholarResult(BaseModel):
    title: str = Field(min_length=1)
    link: str | None = None
    publication: str | None = Field(default=None, alias="publicationInfo")
    snippet: str | None = None
    year: int | None = None
    citations: int | None = Field(default=None, alias="citedBy")


class ScholarAnswer(BaseModel):
    organic: list[ScholarResult]


class SerperPapers(PaperProvider):
    """Needs a key: Serper refuses requests without one."""

    def __init__(self, settings: PapersSettings, client: AsyncClient) -> None:
        if settings.api_key_env is None:
            raise ConfigError("papers.api_key_env must name the variable that holds the Serper key")
        key = read_key(settings.api_key_env, "papers.api_key_env")
        url = (settings.base_url or BASE_URL).rstrip("/") + "/scholar"
        self._api = ApiClient(client, url, settings.timeout_seconds, FAILURE, {"x-api-key": key}, key)

    async def search(self, query: str, years: Years, max_results: int) -> list[Paper]:
        bounds = {name: year for name, year in zip(("as_ylo", "as_yhi"), years, strict=True) if year is not None}
        try:
            answer = await self._api.post({"q": query, "num": max_results, **bounds}, ScholarAnswer)
        except ToolError as error:
            if error.kind is not ToolErrorKind.TIMEOUT:
                raise
            message = f"Paper search timed out after {self._api.seconds:g}s for query: {query}"
            raise ToolError(ToolErrorKind.TIMEOUT, message) from None
        return [Paper(**result.model_dump(exclude_none=True)) for result in answer.organic[:max_results]]
