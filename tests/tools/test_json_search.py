"""Search APIs described in config, on a real server: SearXNG's documented form, and others by their options alone."""

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from aiq.core.errors import ConfigError, ToolError, ToolErrorKind
from aiq.core.run_settings import SearchSettings
from aiq.experiment.compose import config_of_options
from aiq.llm.http import AsyncClient
from aiq.tools.providers.json import JsonSearch
from aiq.tools.search import Found, SearchHit, SearchProvider
from aiq.tools.toolbox import make_provider
from tests.cases import table
from tests.tools.conftest import serving

each = table(__file__)

KEY = "key-0123456789-secret"
RESULTS = [
    {
        "url": "https://b.example/second",
        "title": "Second",
        "content": "Less of it.",
        "engine": "one",
        "engines": ["one"],
        "positions": [2],
        "score": 0.5,
        "category": "general",
        "publishedDate": None,
    },
    {
        "url": "https://a.example/first",
        "title": "First",
        "content": "All of it.",
        "engine": "two",
        "engines": ["one", "two"],
        "positions": [1, 1],
        "score": 4.0,
        "category": "general",
        "publishedDate": "2026-03-14T00:00:00",
    },
    {"url": "https://c.example/", "title": "Without a score", "engine": "one"},
]
ANSWER = {
    "query": "q",
    "number_of_results": 0,
    "results": RESULTS,
    "answers": [],
    "corrections": [],
    "infoboxes": [],
    "suggestions": [],
    "unresponsive_engines": [["three", "timeout"]],
}
FIRST = SearchHit(url="https://a.example/first", title="First", text="All of it.", published="2026-03-14T00:00:00")
SECOND = SearchHit(url="https://b.example/second", title="Second", text="Less of it.")


class Server:
    """What it saw, and what it answers next; without format=json it refuses, as SearXNG does if JSON is not listed."""

    def __init__(self) -> None:
        self.seen: list[Request] = []
        self.bodies: list[Any] = []
        self.answer: object = ANSWER

    async def get(self, request: Request) -> Response:
        self.seen.append(request)
        allowed = request.query_params.get("format") == "json"
        return JSONResponse(self.answer) if allowed else Response("<h1>Forbidden</h1>", 403)

    async def repeat(self, request: Request) -> Response:
        return JSONResponse({"error": f"no: {request.url}"}, 500)

    async def post(self, request: Request) -> Response:
        self.seen.append(request)
        self.bodies.append(await request.json())
        return JSONResponse(self.answer)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Server, str]]:
    monkeypatch.setenv("A_KEY", KEY)
    api = Server()
    routes = [Route("/search", api.get, methods=["GET"]), Route("/api", api.post, methods=["POST"])]
    routes.append(Route("/repeat", api.repeat))
    with serving(Starlette(routes=routes)) as port:
        yield api, f"http://127.0.0.1:{port}"


def settings(option: str, /, **changes: Any) -> SearchSettings:
    section = config_of_options([f"search={option}"])["search"]
    options = {**section["options"], **changes.pop("options", {})}
    return SearchSettings.model_validate({**section, **changes, "options": options})


async def found(made: SearchSettings, client: AsyncClient, query: str = "q", most: int = 2) -> Found:
    provider: SearchProvider = make_provider(SearchProvider, made, "search", client)
    assert isinstance(provider, JsonSearch)
    return await provider.search(query, most)


async def test_a_searxng_instance_by_its_address_alone(server: tuple[Server, str], run_client: AsyncClient) -> None:
    api, site = server
    query = "mayor of T\u00e9ssmark & {max_results}?"
    assert await found(settings("searxng", base_url=f"{site}/"), run_client, query) == Found(hits=(FIRST, SECOND))
    assert dict(api.seen[0].query_params) == {"q": query, "format": "json"}
    everything = await found(settings("searxng", base_url=site), run_client, most=10)
    assert [hit.url for hit in everything.hits][2] == "https://c.example/"
    api.answer = {**ANSWER, "results": [], "unresponsive_engines": []}
    assert await found(settings("searxng", base_url=site), run_client) == Found()
    api.answer = {**ANSWER, "results": []}
    with pytest.raises(ToolError, match=r'nothing was found, and unresponsive_engines are \[\["three", "timeout"\]\]'):
        await found(settings("searxng", base_url=site), run_client)


async def test_a_relevance_is_a_number_from_0_to_1_at_the_configured_place(
    server: tuple[Server, str], run_client: AsyncClient
) -> None:
    api, site = server
    scores: tuple[dict[str, object], ...] = (
        {"score": 0.5},
        {"score": 1},
        {"score": 1.5},
        {"score": "0.5"},
        {"score": True},
        {},
    )
    api.answer = {"results": [{"url": f"https://a.example/{n}", **score} for n, score in enumerate(scores)]}
    fields: dict[str, str | None] = {"url": "url", "title": None, "content": None, "score": None, "date": None}
    for field, expected in ((None, [None] * 6), ("score", [0.5, 1.0, None, None, None, None])):
        search = settings("searxng", base_url=site, options={"fields": fields | {"relevance": field}})
        assert [hit.relevance for hit in (await found(search, run_client, most=9)).hits] == expected


async def test_another_api_by_its_options_alone(server: tuple[Server, str], run_client: AsyncClient) -> None:
    api, site = server
    api.answer = {"web": {"items": [{"link": {"to": "https://a.example/"}, "name": "A", "age": 2026}, {"name": "?"}]}}
    options = {
        "url": f"{site}/api?n={{max_results}}&k={{key}}",
        "method": "POST",
        "headers": {"x-api-key": "{key}", "x-more": "for {key}"},
        "body": {"q": "{query}", "num": "{max_results}", "filters": ["about {query}"], "safe": True},
        "results": "web.items",
        "fields": {"url": "link.to", "title": "name", "content": None, "score": None, "date": "age"},
    }
    search = settings("json", options=options, api_key_env="A_KEY")
    hit = SearchHit(url="https://a.example/", title="A", text="", published="2026")
    assert await found(search, run_client, "x & {key}") == Found(hits=(hit,))
    assert api.bodies == [{"q": "x & {key}", "num": 2, "filters": ["about x & {key}"], "safe": True}]
    assert dict(api.seen[0].query_params) == {"n": "2", "k": KEY}
    assert [api.seen[0].headers[name] for name in ("x-api-key", "x-more")] == [KEY, f"for {KEY}"]


@each("options")
async def test_a_field_missing_from_its_configured_place_is_a_typed_error(
    server: tuple[Server, str], run_client: AsyncClient, options: dict[str, Any], kind: ToolErrorKind, said: str
) -> None:
    if "fields" in options:
        options = {"fields": dict.fromkeys(("title", "content", "score", "date")) | options["fields"]}
    with pytest.raises(ToolError, match=rf"^web search failed: {server[1]}/\w+: {said}") as caught:
        await found(settings("searxng", base_url=server[1], options=options), run_client)
    assert caught.value.kind == kind


async def test_lists_along_a_path_are_traversed(server: tuple[Server, str], run_client: AsyncClient) -> None:
    api, site = server
    items = [{"url": "https://a.example/", "snippets": [{"text": "One."}, {"text": "Two."}, {}], "date": None}, "odd"]
    hit = SearchHit(url="https://a.example/", title="", text="One.\nTwo.")
    fields = {"url": "url", "title": None, "content": "snippets.text", "score": None, "date": "date"}
    for answer, results in ((items, None), ({"web": {"items": items}}, "web.items")):
        api.answer = answer
        search = settings("json", options={"url": f"{site}/search?format=json&q={{query}}", "fields": fields})
        search = search.model_copy(update={"options": {**search.options, "results": results}})
        assert await found(search, run_client) == Found(hits=(hit,))


async def test_no_error_shows_the_key(server: tuple[Server, str], run_client: AsyncClient, monkeypatch: Any) -> None:
    monkeypatch.setenv("A_KEY", "secret/key+1")
    options = {"url": f"{server[1]}/repeat?q={{query}}&k={{key}}"}
    with pytest.raises(ToolError) as caught:
        await found(settings("json", options=options, api_key_env="A_KEY"), run_client)
    assert "secret" not in str(caught.value)


@each("changes")
async def test_impossible_options_stop_the_run(run_client: AsyncClient, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=f"^[^\n]*{said}[^\n]*$"):
        await found(settings("searxng", **changes), run_client)
