"""Every failure of every real provider, through its tool and a session: a typed error, one line, no source."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.session import Session
from aiq.core.settings import PapersSettings, SearchSettings
from aiq.core.tools import Tool
from aiq.llm.http import AsyncClient
from aiq.tools.paper_providers import serper
from aiq.tools.papers import PaperSearch
from aiq.tools.providers import tavily
from aiq.tools.search import WebSearch

MakeSession = Callable[..., Session]
URL = "https://a.example/found"


@dataclass(frozen=True)
class Failure:
    """What the server does; `kinds`: of the error, by provider where they differ (None: it is no error)."""

    name: str
    status: int = 200
    body: bytes = b"{}"
    late: bool = False
    kinds: tuple[ToolErrorKind | None, ToolErrorKind | None] = (ToolErrorKind.MALFORMED, ToolErrorKind.MALFORMED)


def both(kind: ToolErrorKind | None) -> tuple[ToolErrorKind | None, ToolErrorKind | None]:
    return kind, kind


REFUSED = json.dumps({"detail": {"error": "refused"}, "message": f"refused, see {URL}"}).encode()

FAILURES = (
    Failure("quota-429", 429, REFUSED, kinds=both(ToolErrorKind.QUOTA)),
    Failure("quota-432", 432, REFUSED, kinds=(ToolErrorKind.QUOTA, ToolErrorKind.HTTP)),
    Failure("quota-433", 433, REFUSED, kinds=(ToolErrorKind.QUOTA, ToolErrorKind.HTTP)),
    Failure("401", 401, REFUSED, kinds=both(ToolErrorKind.UNAUTHORIZED)),
    Failure("403", 403, REFUSED, kinds=both(ToolErrorKind.UNAUTHORIZED)),
    Failure("500", 500, b"<html>oops</html>", kinds=both(ToolErrorKind.HTTP)),
    Failure("502", 502, b"", kinds=both(ToolErrorKind.HTTP)),
    Failure("503", 503, REFUSED, kinds=both(ToolErrorKind.HTTP)),
    Failure("timeout", late=True, kinds=both(ToolErrorKind.TIMEOUT)),
    Failure("empty-body", body=b""),
    Failure("malformed-json", body=b'{"results": [{"url": "https://a.example/found", "tit'),
    Failure("html", body=b"<html>a gateway's page</html>"),
    Failure("no-results-field", body=b'{"credits": 1}'),
    Failure("results-null", body=b'{"results": null, "organic": null}'),
    Failure("result-without-its-key-field", body=b'{"results": [{"title": "x"}], "organic": [{"link": "x"}]}'),
    Failure("result-of-a-wrong-type", body=b'{"results": ["x"], "organic": ["x"]}'),
    Failure("nothing-found", body=b'{"results": [], "organic": []}', kinds=both(None)),
)


class Server:
    failure = FAILURES[0]

    async def answer(self, request: Request) -> Response:
        if self.failure.late:

            async def never() -> AsyncIterator[bytes]:
                await asyncio.sleep(6)
                yield b"{}"

            return StreamingResponse(never())
        return Response(self.failure.body, self.failure.status, media_type="application/json")


@pytest.fixture(scope="module")
def server() -> Server:
    return Server()


@pytest.fixture(scope="module")
def port(server: Server, serve: Callable[[Starlette], AbstractContextManager[int]]) -> Iterator[int]:
    routes = [Route(path, server.answer, methods=["POST"]) for path in ("/search", "/scholar")]
    with serve(Starlette(routes=routes)) as number:
        yield number


def tool_of(provider: str, port: int, client: AsyncClient) -> Tool:
    base: dict[str, Any] = {"base_url": f"http://127.0.0.1:{port}", "timeout_seconds": 2.0}
    if provider == "tavily":
        settings = SearchSettings(provider="tavily", api_key_env="A_KEY", **base)
        return WebSearch(tavily.Provider(settings, client), settings)
    papers = PapersSettings(provider="serper", api_key_env="A_KEY", **base)
    return PaperSearch(serper.Provider(papers, client), papers)


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.name)
@pytest.mark.parametrize("provider", ["tavily", "serper"])
async def test_a_failure_is_typed_said_in_one_line_and_brings_no_source(
    provider: str,
    failure: Failure,
    port: int,
    server: Server,
    run_client: AsyncClient,
    a_session: MakeSession,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("A_KEY", "key-0123456789")
    server.failure = failure
    tool = tool_of(provider, port, run_client)
    session = a_session(tool)
    kind = failure.kinds[provider == "serper"]
    with session.bind():
        if kind is None:
            result = await session.call_tool(tool.name, {"query": "x"})
            assert "found" in result.content or "no results" in result.content
        else:
            with pytest.raises(ToolError) as caught:
                await session.call_tool(tool.name, {"query": "x"})
            assert caught.value.kind is kind
            assert "\n" not in str(caught.value)
            assert len(str(caught.value)) < 500
            assert "key-0123456789" not in str(caught.value)
    assert session.sources.all() == ()


@pytest.mark.parametrize("provider", ["tavily", "serper"])
async def test_a_closed_port_is_an_http_error(
    provider: str, run_client: AsyncClient, a_session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", "key-0123456789")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    tool = tool_of(provider, port, run_client)
    session = a_session(tool)
    with session.bind(), pytest.raises(ToolError, match="no connection") as caught:
        await session.call_tool(tool.name, {"query": "x"})
    assert caught.value.kind is ToolErrorKind.HTTP
    assert session.sources.all() == ()
