"""Search APIs on a real server that speaks their formats: what is sent and read, and every failure typed."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from aiq.core.errors import ConfigError, ToolError, ToolErrorKind
from aiq.core.session import Session
from aiq.core.settings import PapersSettings, SearchSettings
from aiq.core.tools import Tool
from aiq.llm.http import AsyncClient
from aiq.tools.paper_providers import serper
from aiq.tools.papers import Paper, PaperSearch
from aiq.tools.providers import tavily
from aiq.tools.search import Found, SearchHit, WebSearch
from aiq.tools.toolbox import paper_provider
from tests.settings import configured

KEY = "key-0123456789-secret"
Years = tuple[int | None, int | None]
Kinds = tuple[ToolErrorKind | None, ToolErrorKind | None]
"""Of the error by Tavily and by Serper; None: it is no error."""


class Server:
    """What it saw, and what it answers next; it speaks for every API."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []
        self.answer = Response()

    async def __call__(self, request: Request) -> Response:
        self.seen.append({"headers": dict(request.headers), "body": json.loads(await request.body())})
        return self.answer

    def answers(self, value: object, status: int = 200) -> None:
        self.answer = JSONResponse(value, status) if not isinstance(value, bytes) else Response(value, status)


@pytest.fixture(scope="module")
def server() -> Server:
    return Server()


@pytest.fixture(scope="module")
def port(server: Server, serve: Callable[[Starlette], AbstractContextManager[int]]) -> Iterator[int]:
    async def endpoint(request: Request) -> Response:
        return await server(request)

    with serve(
        Starlette(routes=[Route(path, endpoint, methods=["POST"]) for path in ("/search", "/scholar")])
    ) as number:
        yield number


@pytest.fixture(autouse=True)
def a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", KEY)


def at(port: int, **more: Any) -> dict[str, Any]:
    return {"base_url": f"http://127.0.0.1:{port}/", "api_key_env": "A_KEY", "timeout_seconds": 2.0, **more}


@pytest.fixture
def web(port: int, run_client: AsyncClient) -> tavily.Provider:
    return tavily.Provider(configured(SearchSettings, provider="tavily", depth="advanced", **at(port)), run_client)


@pytest.fixture
def papers(port: int, run_client: AsyncClient) -> serper.Provider:
    return serper.Provider(configured(PapersSettings, provider="serper", **at(port)), run_client)


def tool_of(provider: str, port: int, client: AsyncClient) -> Tool:
    if provider == "tavily":
        settings = configured(SearchSettings, provider="tavily", **at(port))
        return WebSearch(tavily.Provider(settings, client), settings)
    papers = configured(PapersSettings, provider="serper", **at(port))
    return PaperSearch(serper.Provider(papers, client), papers)


async def test_a_web_search_is_sent_and_read_as_tavily_has_it(web: tavily.Provider, server: Server) -> None:
    tessmark = {
        "title": "Tessmark",
        "url": "https://a.example/tessmark",
        "content": "As of March 2026 ...",
        "score": 0.98,
        "raw_content": None,
        "published_date": "Sat, 14 Mar 2026 08:00:00 GMT",
    }
    bare = {"title": None, "url": "https://a.example/2", "content": None, "score": 0.1}
    over = {"title": "over the limit", "url": "https://a.example/3", "content": "", "score": 0.1}
    server.answers({"query": "q", "answer": None, "images": [], "results": [tessmark, bare, over], "request_id": "x"})
    found = await web.search("mayor of Tessmark", 2)
    assert found.hits == (
        SearchHit(
            url="https://a.example/tessmark",
            title="Tessmark",
            text="As of March 2026 ...",
            published="Sat, 14 Mar 2026 08:00:00 GMT",
        ),
        SearchHit(url="https://a.example/2", title="", text=""),
    )
    assert server.seen[-1]["headers"]["authorization"] == f"Bearer {KEY}"
    assert server.seen[-1]["body"] == {"query": "mayor of Tessmark", "search_depth": "advanced", "max_results": 2}
    server.answers({"query": "x", "results": []})
    assert await web.search("x", 3) == Found()


@pytest.mark.parametrize("wanted", ["basic", "advanced"])
async def test_tavilys_own_answer_and_the_key_are_sent_for_where_the_settings_say_so(
    port: int, run_client: AsyncClient, server: Server, wanted: str
) -> None:
    server.answers({"results": [], "answer": "Ilan Corvey."})
    settings = configured(SearchSettings, provider="tavily", **at(port, include_answer=wanted, api_key_env=None))
    assert (await tavily.Provider(settings, run_client).search("x", 1)).answer == "Ilan Corvey."
    assert server.seen[-1]["body"]["include_answer"] == wanted
    assert "authorization" not in server.seen[-1]["headers"]


async def test_a_paper_search_is_sent_and_read_as_serper_has_it(papers: serper.Provider, server: Server) -> None:
    tides = {
        "title": "On tides",
        "link": "https://papers.example/1",
        "publicationInfo": "A Corvey - Journal of Tides, 2021",
        "snippet": "We measure ...",
        "year": 2021,
        "citedBy": 12,
        "pdfUrl": "https://papers.example/1.pdf",
    }
    server.answers({"organic": [tides, {"title": "[CITATION] Old tides"}, {"title": "One too many"}], "credits": 1})
    assert await papers.search("tides", (2019, None), 2) == [
        Paper(
            title="On tides",
            link="https://papers.example/1",
            year=2021,
            publication="A Corvey - Journal of Tides, 2021",
            citations=12,
            snippet="We measure ...",
        ),
        Paper(title="[CITATION] Old tides"),
    ]
    assert server.seen[-1]["headers"]["x-api-key"] == KEY
    assert server.seen[-1]["body"] == {"q": "tides", "num": 2, "as_ylo": 2019}


@pytest.mark.parametrize(
    ("years", "bounds"),
    [((None, None), {}), ((None, 1999), {"as_yhi": 1999}), ((2020, 2020), {"as_ylo": 2020, "as_yhi": 2020})],
)
async def test_years_become_bounds(
    papers: serper.Provider, server: Server, years: Years, bounds: dict[str, int]
) -> None:
    server.answers({"organic": []})
    assert await papers.search("x", years, 10) == []
    assert server.seen[-1]["body"] == {"q": "x", "num": 10, **bounds}


def both(kind: ToolErrorKind | None) -> Kinds:
    return kind, kind


REFUSED = {"detail": {"error": f"refused: key {KEY}\nis bad"}}
LATE = "late"
FAILURES: dict[str, tuple[int, object, Kinds]] = {
    "400": (400, REFUSED, both(ToolErrorKind.INVALID_ARGUMENTS)),
    "empty-account": (400, {"message": "Not enough credits"}, both(ToolErrorKind.QUOTA)),
    "401": (401, REFUSED, both(ToolErrorKind.UNAUTHORIZED)),
    "403": (403, REFUSED, both(ToolErrorKind.UNAUTHORIZED)),
    "402": (402, REFUSED, (ToolErrorKind.HTTP, ToolErrorKind.QUOTA)),
    "429": (429, REFUSED, both(ToolErrorKind.QUOTA)),
    "432": (432, REFUSED, (ToolErrorKind.QUOTA, ToolErrorKind.HTTP)),
    "433": (433, REFUSED, (ToolErrorKind.QUOTA, ToolErrorKind.HTTP)),
    "500": (500, b"<html>oops</html>", both(ToolErrorKind.HTTP)),
    "502": (502, b"", both(ToolErrorKind.HTTP)),
    "503": (503, REFUSED, both(ToolErrorKind.HTTP)),
    "redirect": (302, REFUSED, both(ToolErrorKind.HTTP)),
    "timeout": (200, LATE, both(ToolErrorKind.TIMEOUT)),
    "empty-body": (200, b"", both(ToolErrorKind.MALFORMED)),
    "cut-json": (200, b'{"results": [{"url": "https://a.example/found", "tit', both(ToolErrorKind.MALFORMED)),
    "html": (200, b"<html>a gateway's page</html>", both(ToolErrorKind.MALFORMED)),
    "a-list": (200, [], both(ToolErrorKind.MALFORMED)),
    "no-results-field": (200, {"credits": 1}, both(ToolErrorKind.MALFORMED)),
    "results-null": (200, {"results": None, "organic": None}, both(ToolErrorKind.MALFORMED)),
    "result-without-its-key-field": (
        *(200, {"results": [{"title": "x"}], "organic": [{"link": "x"}]}),
        both(ToolErrorKind.MALFORMED),
    ),
    "result-of-a-wrong-type": (200, {"results": ["x"], "organic": ["x"]}, both(ToolErrorKind.MALFORMED)),
    "nothing-found": (200, {"results": [], "organic": []}, both(None)),
}


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("provider", ["tavily", "serper"])
async def test_a_failure_is_typed_said_in_one_line_and_brings_no_source(
    provider: str, failure: str, port: int, server: Server, run_client: AsyncClient, a_session: Callable[..., Session]
) -> None:
    async def never() -> AsyncIterator[bytes]:
        await asyncio.sleep(6)
        yield b"{}"

    status, answer, kinds = FAILURES[failure]
    if answer is LATE:
        server.answer = StreamingResponse(never())
    else:
        server.answers(answer, status)
    tool = tool_of(provider, port, run_client)
    session, kind = a_session(tool), kinds[provider == "serper"]
    with session.bind():
        if kind is None:
            result = await session.call_tool(tool.name, {"query": "x"})
            assert "found" in result.content or "no results" in result.content
        else:
            with pytest.raises(ToolError) as caught:
                await session.call_tool(tool.name, {"query": "x"})
            said = str(caught.value)
            assert caught.value.kind is kind
            assert "\n" not in said
            assert len(said) < 500
            assert KEY not in said
            assert answer is not REFUSED or f"HTTP {status}: refused: key *** is bad" in said
    assert session.sources.all() == ()


@pytest.mark.parametrize("provider", ["tavily", "serper"])
async def test_a_closed_port_is_an_http_error(
    provider: str, run_client: AsyncClient, a_session: Callable[..., Session]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    tool = tool_of(provider, port, run_client)
    with a_session(tool).bind() as session, pytest.raises(ToolError, match="no connection") as caught:
        await session.call_tool(tool.name, {"query": "x"})
    assert caught.value.kind is ToolErrorKind.HTTP


@pytest.mark.parametrize(
    "body",
    [b"plain words", {"detail": "plain words"}, {"detail": {"error": "plain words"}}, {"message": "plain words"}],
)
async def test_the_reason_is_read_from_any_error_body(web: tavily.Provider, server: Server, body: object) -> None:
    server.answers(body, 400)
    with pytest.raises(ToolError, match="HTTP 400: plain words"):
        await web.search("x", 3)


@pytest.mark.parametrize("before", range(180, 200, 4))
async def test_no_piece_of_the_key_is_left_where_the_reason_is_cut(
    web: tavily.Provider, server: Server, before: int
) -> None:
    server.answers(b"x" * before + KEY.encode(), 400)
    with pytest.raises(ToolError) as caught:
        await web.search("x", 3)
    assert KEY[:4] not in str(caught.value)


def test_an_unset_key_is_told_before_the_run(run_client: AsyncClient) -> None:
    with pytest.raises(ConfigError, match=r"search\.api_key_env=NO_KEY"):
        tavily.Provider(configured(SearchSettings, provider="tavily", api_key_env="NO_KEY"), run_client)
    with pytest.raises(ConfigError, match=r"papers\.api_key_env=NO_KEY"):
        serper.Provider(configured(PapersSettings, provider="serper", api_key_env="NO_KEY"), run_client)
    with pytest.raises(ConfigError, match=r"papers\.api_key_env must name the variable"):
        serper.Provider(configured(PapersSettings, provider="serper", api_key_env=None), run_client)


@pytest.mark.parametrize(
    ("provider", "said"),
    [
        ("arxiv", r"papers\.provider=arxiv: there is no such provider; there are: serper"),
        ("no.such.module:Provider", r"papers\.provider: there is no module"),
    ],
)
def test_an_unknown_provider_is_one_line(provider: str, said: str, run_client: AsyncClient) -> None:
    with pytest.raises(ConfigError, match=said):
        paper_provider(configured(PapersSettings, provider=provider), run_client)
