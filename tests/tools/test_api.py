"""Search APIs on a real server that speaks their formats: what is sent and read, and every failure typed."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from aiq.core.errors import RunAborted, ToolError, ToolErrorKind
from aiq.core.run_settings import PapersSettings, SearchSettings
from aiq.core.session import Session
from aiq.core.tools import Tool
from aiq.llm.http import AsyncClient
from aiq.tools.papers import Paper, PaperSearch, Years
from aiq.tools.providers.serper import SerperPapers
from aiq.tools.providers.tavily import TavilySearch
from aiq.tools.search import Found, SearchHit, WebSearch
from tests.settings import configured
from tests.tools.conftest import serving

KEY = "key-0123456789-secret"


class Server:
    """What it saw, and what it answers next; it serves every API."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []
        self.answer = Response()

    async def answer_to(self, request: Request) -> Response:
        self.seen.append({"headers": dict(request.headers), "body": json.loads(await request.body())})
        return self.answer

    def answers(self, value: object, status: int = 200) -> None:
        self.answer = JSONResponse(value, status) if not isinstance(value, bytes) else Response(value, status)


@pytest.fixture(scope="module")
def server() -> Server:
    return Server()


@pytest.fixture(scope="module")
def port(server: Server) -> Iterator[int]:
    routes = [Route(path, server.answer_to, methods=["POST"]) for path in ("/search", "/scholar")]
    with serving(Starlette(routes=routes)) as number:
        yield number


@pytest.fixture(autouse=True)
def a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", KEY)


def searching(port: int, client: AsyncClient, **more: Any) -> tuple[TavilySearch, Tool]:
    endpoint: dict[str, Any] = {"base_url": f"http://127.0.0.1:{port}/", "api_key_env": "A_KEY", "timeout_seconds": 1.0}
    settings = configured(SearchSettings, **{"provider": "tavily", **endpoint, **more})
    return TavilySearch(settings, client), WebSearch(TavilySearch(settings, client), settings)


def reading(port: int, client: AsyncClient) -> tuple[SerperPapers, Tool]:
    endpoint = {"base_url": f"http://127.0.0.1:{port}/", "api_key_env": "A_KEY", "timeout_seconds": 1.0}
    settings = configured(PapersSettings, provider="serper", **endpoint)
    return SerperPapers(settings, client), PaperSearch(SerperPapers(settings, client), settings)


TOOLS: dict[str, Callable[[int, AsyncClient], tuple[object, Any]]] = {"tavily": searching, "serper": reading}


async def test_a_web_search_is_sent_and_read_as_tavily_has_it(
    port: int, run_client: AsyncClient, server: Server
) -> None:
    tessmark = {
        "title": "Tessmark",
        "url": "https://a.example/tessmark",
        "content": "As of March 2026 ...",
        "score": 0.98,
        "raw_content": None,
        "published_date": "Sat, 14 Mar 2026 08:00:00 GMT",
    }
    bare = {"title": None, "url": "https://a.example/2", "content": None, "score": 3}
    over = {"title": "over the limit", "url": "https://a.example/3", "content": "", "score": 0.1}
    server.answers({"query": "q", "answer": None, "images": [], "results": [tessmark, bare, over], "request_id": "x"})
    web = searching(port, run_client, depth="advanced")[0]
    results = await web.search("mayor of Tessmark", 2)
    first = {"url": tessmark["url"], "title": "Tessmark", "text": "As of March 2026 ..."}
    assert results.hits == (
        SearchHit(published="Sat, 14 Mar 2026 08:00:00 GMT", relevance=0.98, **first),
        SearchHit(url="https://a.example/2", title="", text=""),
    )
    assert server.seen[-1]["headers"]["authorization"] == f"Bearer {KEY}"
    assert server.seen[-1]["body"] == {"query": "mayor of Tessmark", "search_depth": "advanced", "max_results": 2}
    server.answers({"results": [], "answer": "Ilan Corvey."})
    web = searching(port, run_client, include_answer="basic", api_key_env=None)[0]
    assert await web.search("x", 1) == Found(answer="Ilan Corvey.")
    assert server.seen[-1]["body"]["include_answer"] == "basic"
    assert "authorization" not in server.seen[-1]["headers"]


async def test_a_paper_search_is_sent_and_read_as_serper_has_it(
    port: int, run_client: AsyncClient, server: Server
) -> None:
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
    papers = reading(port, run_client)[0]
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
    bounds: dict[Years, dict[str, int]] = {
        (2019, None): {"as_ylo": 2019},
        (None, None): {},
        (None, 1999): {"as_yhi": 1999},
        (2020, 2020): {"as_ylo": 2020, "as_yhi": 2020},
    }
    server.answers({"organic": []})
    for years, sent in bounds.items():
        assert await papers.search("tides", years, 2) == []
        assert server.seen[-1]["body"] == {"q": "tides", "num": 2, **sent}


REFUSED = {"detail": {"error": f"refused: key {KEY}\nis bad"}}
LATE = "late"
KINDS = {
    "invalid_arguments": [400],
    "unauthorized": [401, 403],
    "quota": [402, 429, 432, 433],
    "http": [302, 500, 503],
}
MALFORMED = [
    b"",
    b'{"results": [{"url": "https://a.example/found", "tit',
    b"<html>a gateway's page</html>",
    [],
    {"credits": 1},
    {"results": None, "organic": None},
    {"results": [{"title": "x"}], "organic": [{"link": "x"}]},
    {"results": ["x"], "organic": ["x"]},
]
FAILURES: list[tuple[int, object, str]] = [
    *((status, REFUSED, kind) for kind, statuses in KINDS.items() for status in statuses),
    (400, {"message": "Not enough credits"}, "quota"),
    (500, b"<html>oops</html>", "http"),
    (502, b"", "http"),
    (200, LATE, "timeout"),
    *((200, answer, "malformed") for answer in MALFORMED),
]
"""Status and body of an answer, and the kind of the error."""


@pytest.mark.parametrize(
    ("provider", "status", "answer", "kind"),
    [*(("tavily", *failure) for failure in FAILURES), *(("serper", *failure) for failure in FAILURES[8:])],
)
async def test_a_failure_is_typed_one_line_and_gives_no_source(
    provider: str,
    status: int,
    answer: object,
    kind: str,
    port: int,
    server: Server,
    run_client: AsyncClient,
    a_session: Callable[..., Session],
) -> None:
    async def never() -> AsyncIterator[bytes]:
        for _ in range(5):  # blanks, which some send to appear alive
            await asyncio.sleep(0.6)
            yield b" "

    if answer is LATE:
        server.answer = StreamingResponse(never())
    else:
        server.answers(answer, status)
    tool = TOOLS[provider](port, run_client)[1]
    tool._service.answered = True
    with a_session(tool).bind() as session, pytest.raises(ToolError) as caught:
        await session.call_tool(tool.name, {"query": "x"})
    message = str(caught.value)
    assert caught.value.kind == kind
    assert "\n" not in message
    assert len(message) < 500
    assert KEY not in message
    assert answer is not REFUSED or f"HTTP {status}: refused: key *** is bad" in message
    assert session.sources.all() == ()


@pytest.mark.parametrize(("provider", "status"), [("tavily", 401), ("tavily", 432), ("serper", 403)])
async def test_a_service_that_refuses_every_call_ends_the_run(
    provider: str, status: int, port: int, server: Server, run_client: AsyncClient, a_session: Callable[..., Session]
) -> None:
    tool = TOOLS[provider](port, run_client)[1]
    server.answers(REFUSED, status)
    section = "search" if provider == "tavily" else "papers"
    with a_session(tool).bind() as session:
        with pytest.raises(RunAborted, match=rf"HTTP {status}: refused: .*; check {section}\.api_key_env"):
            await session.call_tool(tool.name, {"query": "x"})
        server.answers({"results": [], "organic": []})
        await session.call_tool(tool.name, {"query": "x"})
        server.answers(REFUSED, status)
        with pytest.raises(ToolError):
            await session.call_tool(tool.name, {"query": "x"})


@pytest.mark.parametrize("provider", TOOLS)
async def test_a_closed_port_is_an_http_error(provider: str, run_client: AsyncClient) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    tool = TOOLS[provider](port, run_client)[1]
    with pytest.raises(ToolError, match="no connection") as caught:
        await tool.run(tool.parameters(query="x"))
    assert caught.value.kind is ToolErrorKind.HTTP


async def test_the_reason_is_read_from_any_error_body_and_cut_without_a_piece_of_the_key(
    port: int, run_client: AsyncClient, server: Server
) -> None:
    web = searching(port, run_client)[0]
    text = "plain words"
    for body in (text.encode(), {"detail": text}, {"detail": {"error": text}}, {"message": text}, {"error": text}):
        server.answers(body, 400)
        with pytest.raises(ToolError, match="HTTP 400: plain words"):
            await web.search("x", 3)
    for length in range(280, 300, 4):
        server.answers(b"x" * length + KEY.encode(), 400)
        with pytest.raises(ToolError) as caught:
            await web.search("x", 3)
        assert KEY[:4] not in str(caught.value)
