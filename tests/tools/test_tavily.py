"""The Tavily wire format against a real server that speaks it, and every documented failure."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Literal

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from aiq.core.errors import ConfigError, ToolError, ToolErrorKind
from aiq.core.settings import SearchSettings
from aiq.llm.http import AsyncClient
from aiq.tools.providers.tavily import Provider
from aiq.tools.search import Found, SearchHit

KEY = "tvly-0123456789-secret"


class FakeTavily:
    """What the server saw, and what it answers next."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []
        self.answer: Response = JSONResponse({"query": "", "results": []})

    async def __call__(self, request: Request) -> Response:
        self.seen.append({"headers": dict(request.headers), "body": json.loads(await request.body())})
        return self.answer


@pytest.fixture(scope="module")
def tavily() -> FakeTavily:
    return FakeTavily()


@pytest.fixture(scope="module")
def port(tavily: FakeTavily, serve: Callable[[Starlette], AbstractContextManager[int]]) -> Iterator[int]:
    async def search(request: Request) -> Response:
        return await tavily(request)

    with serve(Starlette(routes=[Route("/search", search, methods=["POST"])])) as number:
        yield number


@pytest.fixture
def provider(port: int, run_client: AsyncClient, monkeypatch: pytest.MonkeyPatch) -> Provider:
    monkeypatch.setenv("TAVILY_API_KEY", KEY)
    settings = SearchSettings(
        provider="tavily",
        base_url=f"http://127.0.0.1:{port}/",
        api_key_env="TAVILY_API_KEY",
        depth="advanced",
        timeout_seconds=2.0,
    )
    return Provider(settings, run_client)


async def test_a_search_is_sent_and_read_as_the_api_has_it(provider: Provider, tavily: FakeTavily) -> None:
    tavily.answer = JSONResponse(
        {
            "query": "mayor of Tessmark",
            "answer": None,
            "images": [],
            "results": [
                {
                    "title": "Tessmark",
                    "url": "https://a.example/tessmark",
                    "content": "As of March 2026 ...",
                    "score": 0.98,
                    "raw_content": None,
                    "published_date": "Sat, 14 Mar 2026 08:00:00 GMT",
                },
                {"title": None, "url": "https://a.example/2", "content": None, "score": 0.1},
                {"title": "over the limit", "url": "https://a.example/3", "content": "", "score": 0.1},
            ],
            "response_time": 1.2,
            "request_id": "x",
        }
    )
    found = await provider.search("mayor of Tessmark", 2)
    assert found.hits == (
        SearchHit(
            url="https://a.example/tessmark",
            title="Tessmark",
            text="As of March 2026 ...",
            published="Sat, 14 Mar 2026 08:00:00 GMT",
        ),
        SearchHit(url="https://a.example/2", title="", text=""),
    )
    request = tavily.seen[-1]
    assert request["headers"]["authorization"] == f"Bearer {KEY}"
    assert request["body"] == {"query": "mayor of Tessmark", "search_depth": "advanced", "max_results": 2}


async def test_no_results_are_no_error(provider: Provider, tavily: FakeTavily) -> None:
    tavily.answer = JSONResponse({"query": "x", "results": [], "response_time": 0.1})
    assert await provider.search("x", 3) == Found()


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, ToolErrorKind.INVALID_ARGUMENTS),
        (401, ToolErrorKind.UNAUTHORIZED),
        (403, ToolErrorKind.UNAUTHORIZED),
        (429, ToolErrorKind.QUOTA),
        (432, ToolErrorKind.QUOTA),
        (433, ToolErrorKind.QUOTA),
        (500, ToolErrorKind.HTTP),
        (502, ToolErrorKind.HTTP),
        (302, ToolErrorKind.HTTP),
    ],
)
async def test_documented_errors_are_typed_and_never_show_the_key(
    provider: Provider, tavily: FakeTavily, status: int, kind: ToolErrorKind
) -> None:
    tavily.answer = JSONResponse({"detail": {"error": f"refused: key {KEY}\nis bad"}}, status_code=status)
    with pytest.raises(ToolError) as caught:
        await provider.search("x", 3)
    assert caught.value.kind is kind
    message = str(caught.value)
    assert f"HTTP {status}: refused: key *** is bad" in message
    assert KEY not in message


@pytest.mark.parametrize(
    "body", [b"", b"<html>gateway</html>", b"[]", b'{"results": 3}', b'{"results": [{"title": "no url"}]}', b'{"a": 1}']
)
async def test_an_answer_that_is_no_search_answer_is_malformed(
    provider: Provider, tavily: FakeTavily, body: bytes
) -> None:
    tavily.answer = Response(body, media_type="application/json")
    with pytest.raises(ToolError, match="not a search answer") as caught:
        await provider.search("x", 3)
    assert caught.value.kind is ToolErrorKind.MALFORMED


@pytest.mark.parametrize(
    "body", [b"plain words", b'{"detail": "plain words"}', b'{"detail": {"error": "plain words"}}']
)
async def test_the_reason_is_read_from_any_error_body(provider: Provider, tavily: FakeTavily, body: bytes) -> None:
    tavily.answer = Response(body, status_code=400)
    with pytest.raises(ToolError, match="HTTP 400: plain words"):
        await provider.search("x", 3)


@pytest.mark.parametrize("before", range(180, 200, 4))
async def test_no_piece_of_the_key_is_left_where_the_reason_is_cut(
    provider: Provider, tavily: FakeTavily, before: int
) -> None:
    tavily.answer = Response("x" * before + KEY, status_code=400)
    with pytest.raises(ToolError) as caught:
        await provider.search("x", 3)
    assert KEY[:4] not in str(caught.value)


async def test_a_late_answer_is_a_timeout(provider: Provider, tavily: FakeTavily) -> None:
    async def never() -> AsyncIterator[bytes]:
        await asyncio.sleep(6)
        yield b"{}"

    tavily.answer = StreamingResponse(never())
    with pytest.raises(ToolError, match="no answer within") as caught:
        await provider.search("x", 3)
    assert caught.value.kind is ToolErrorKind.TIMEOUT


async def test_a_closed_port_is_an_http_error(run_client: AsyncClient) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    provider = Provider(SearchSettings(provider="tavily", base_url=f"http://127.0.0.1:{port}"), run_client)
    with pytest.raises(ToolError, match="no connection") as caught:
        await provider.search("x", 3)
    assert caught.value.kind is ToolErrorKind.HTTP


@pytest.mark.parametrize("wanted", ["basic", "advanced"])
async def test_the_apis_own_answer_is_asked_for_where_the_setting_says_so(
    port: int, run_client: AsyncClient, tavily: FakeTavily, wanted: Literal["basic", "advanced"]
) -> None:
    tavily.answer = JSONResponse({"results": [], "answer": "Ilan Corvey."})
    settings = SearchSettings(provider="tavily", base_url=f"http://127.0.0.1:{port}", include_answer=wanted)
    assert (await Provider(settings, run_client).search("x", 1)).answer == "Ilan Corvey."
    assert tavily.seen[-1]["body"]["include_answer"] == wanted


async def test_without_a_key_none_is_sent(port: int, run_client: AsyncClient, tavily: FakeTavily) -> None:
    tavily.answer = JSONResponse({"results": []})
    await Provider(SearchSettings(provider="tavily", base_url=f"http://127.0.0.1:{port}"), run_client).search("x", 1)
    assert "authorization" not in tavily.seen[-1]["headers"]


async def test_an_unset_key_is_told_before_the_run(run_client: AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TAVILY_API_KEY", raising=False)
    with pytest.raises(ConfigError, match=r"search\.api_key_env=TAVILY_API_KEY"):
        Provider(SearchSettings(provider="tavily", api_key_env="TAVILY_API_KEY"), run_client)
