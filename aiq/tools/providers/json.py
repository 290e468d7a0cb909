"""Search by any API that answers in JSON, described in config alone (`search.options`): SearXNG and the like."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final, Literal
from urllib.parse import quote

from pydantic import Field, JsonValue, RootModel, model_validator

from aiq.core.errors import ConfigError, ToolErrorKind
from aiq.core.plugins import validate
from aiq.core.run_settings import SearchSettings
from aiq.core.settings import Settings
from aiq.llm.http import MESSAGE_CHARS, URL, AsyncClient, InvalidURL
from aiq.llm.models import read_key
from aiq.tools.api import ApiClient
from aiq.tools.search import Found, SearchHit, SearchProvider, relevance_of

_QUERY: Final = "{query}"
_SECRET: Final = re.compile(r"(?<![a-z])(?:api)?(?:auth|authorization|cookie|key|secret|token)(?![a-z])", re.IGNORECASE)
"""Found in the name of a header whose value is a secret."""


class FieldNames(Settings):
    """Where a result has each field; names of nested objects are joined by dots. null: the API does not say.

    From a list, the field of each item is taken, and texts are put one below the other.
    """

    url: str = Field(description="its address; results without one are skipped")
    title: str | None = Field(description="its title")
    content: str | None = Field(description="the text shown of it")
    score: str | None = Field(description="a number that the results are sorted by, greatest first")
    date: str | None = Field(description="when it was published, in any form")
    relevance: str | None = Field(  # null in manifests of older versions, which lack it
        default=None, description="how well it fits, a number from 0 to 1; any other value is ignored"
    )


class JsonSearchSettings(Settings):
    """`search.options` of `search.provider=json`.

    In `url`, `headers` and `body`, `{query}`, `{max_results}`, `{base_url}` and `{key}` (the value of the variable
    that `search.api_key_env` names) are filled in; in a URL they are quoted.
    """

    url: str = Field(pattern=r"^(https?://|\{base_url\})", description="of a search, with {query} in it or in body")
    method: Literal["GET", "POST"] = Field(description="of the request")
    headers: Mapping[str, str] = Field(description="of the request, e.g. {x-api-key: '{key}'}")
    body: Mapping[str, JsonValue] | None = Field(description="sent as JSON")
    results: str | None = Field(
        description="where the answer has the list of results, e.g. results or web.results; null: it is the list"
    )
    fields: FieldNames = Field(description="where a result has each field")
    failures: str | None = Field(  # null in manifests of older versions, which lack it
        default=None, description="where the answer says what failed; if it says so and has no result, it is an error"
    )

    @model_validator(mode="after")
    def _asks_something(self) -> "JsonSearchSettings":
        if _QUERY not in self.url and _QUERY not in str(self.body):
            raise ValueError("neither url nor body has {query}: write it where the search terms go")
        for name in self.headers:
            if _SECRET.search(name) and "{key}" not in self.headers[name]:
                raise ValueError(f"headers.{name}: write {{key}} and name its variable in search.api_key_env")
        try:
            URL(self.url.replace("{base_url}", "http://base.example"))
        except (InvalidURL, ValueError) as error:
            raise ValueError(f"url={self.url}: {error}") from None
        return self


class _Answer(RootModel[Any]):
    """Any JSON."""


class JsonSearch(SearchProvider):
    """An answer that lacks what config says it has is malformed, never empty."""

    def __init__(self, settings: SearchSettings, client: AsyncClient) -> None:
        self._options: JsonSearchSettings = validate(JsonSearchSettings, dict(settings.options), "search.options")
        if settings.base_url is None and "{base_url}" in self._options.url:
            raise ConfigError("search.base_url must be set: search.options.url has {base_url} in it")
        self._base = (settings.base_url or "").rstrip("/")
        self._key = read_key(settings.api_key_env, "search.api_key_env")
        headers = _fill(dict(self._options.headers), {"{key}": self._key})
        endpoint = self._options.url.partition("?")[0].replace("{base_url}", self._base)
        failure = f"web search failed: {endpoint}: {{}}"
        self._api = ApiClient(client, endpoint, settings.timeout_seconds, failure, headers, self._key)

    async def search(self, query: str, max_results: int) -> Found:
        options, limit = self._options, {"{max_results}": max_results}
        quoted = {"{key}": quote(self._key, safe=""), **limit, _QUERY: quote(query, safe="")}
        url = _fill(options.url, {"{base_url}": self._base, **quoted})
        body = None if options.body is None else _fill(options.body, {"{key}": self._key, **limit, _QUERY: query})
        answer = (await self._api.send(options.method, url, body, _Answer)).root
        items = answer if options.results is None else _value_at(answer, options.results)
        if not isinstance(items, list):
            raise self._api.error(ToolErrorKind.MALFORMED, f"no list at search.options.results={options.results}")
        if not items and (failures := _value_at(answer, options.failures)):
            excerpt = json.dumps(failures, ensure_ascii=False)[:MESSAGE_CHARS]
            raise self._api.error(ToolErrorKind.HTTP, f"nothing was found, and {options.failures} are {excerpt}")
        names = options.fields
        results = [result for result in items if _text(result, names.url)]
        if items and not results:
            raise self._api.error(ToolErrorKind.MALFORMED, f"no result has search.options.fields.url={names.url}")
        if names.score is not None:
            results.sort(key=lambda result: _number(_value_at(result, names.score)), reverse=True)
        return Found(hits=tuple(self._hit(result) for result in results[:max_results]))

    def _hit(self, result: Any) -> SearchHit:
        names = self._options.fields
        url, title, text, date = (_text(result, name) for name in (names.url, names.title, names.content, names.date))
        relevance = relevance_of(_value_at(result, names.relevance))
        return SearchHit(url=url, title=title, text=text, published=date or None, relevance=relevance)


def _fill(template: Any, placeholders: Mapping[str, Any]) -> Any:
    """The template with its placeholders filled in, in order; a text that is only a placeholder becomes its value."""
    if isinstance(template, Mapping):
        return {name: _fill(value, placeholders) for name, value in template.items()}
    if isinstance(template, list):
        return [_fill(value, placeholders) for value in template]
    if isinstance(template, str):
        for placeholder, value in placeholders.items():
            template = value if template == placeholder else template.replace(placeholder, str(value))
            if not isinstance(template, str):
                break
    return template


def _value_at(value: Any, path: str | None) -> Any:
    """The value at a dotted path of nested objects, for each item of a list on the way; None if there is nothing."""
    name, _, rest = (path or "").partition(".")
    if isinstance(value, list):
        return [_value_at(item, path) for item in value]
    inner = value.get(name) if isinstance(value, dict) else None
    return _value_at(inner, rest) if rest else inner


def _text(result: Any, path: str | None) -> str:
    """The texts and numbers at a path, one below the other."""
    value = _value_at(result, path)
    items = value if isinstance(value, list) else [value]
    return "\n".join(str(item) for item in items if isinstance(item, str | int | float)).strip()


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else float("-inf")
