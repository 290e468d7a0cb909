"""A real HTTP server on loopback, with pages that behave and pages that do not."""

import asyncio
import gzip
import json
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from aiq.core.llm_settings import LlmSettings, RetrySettings
from aiq.core.session import Session
from aiq.core.tools import Tool, Toolbox
from aiq.llm.http import AsyncClient
from aiq.llm.transport import open_client
from tests.sessions import make_session
from tests.settings import configured

ARTICLE = """<!doctype html><html><head><title>Velmora Institute</title>
<meta property="article:modified_time" content="2026-03-14"></head><body>
<nav><a href="/">Home</a> <a href="/about">Imprint</a></nav>
<article><h1>Velmora Institute</h1>
<p>As of March 2026, the director of Velmora Institute is <a href="/ilan">Ilan Corvey</a>.</p>
<p>The institute was founded in 1874 in Tessmark and has taught glass making, optics and river engineering since.</p>
</article><footer>Cookies and terms</footer></body></html>"""


async def article(request: Request) -> Response:
    return Response(ARTICLE, media_type="text/html")


async def echo_headers(request: Request) -> Response:
    return Response(json.dumps(dict(request.headers)), media_type="application/json")


async def read_for_others(request: Request) -> Response:
    """A reader service: the page in JSON if the request accepts it, else as text."""
    page = {"title": "Velmora", "description": "An institute.", "content": "Glass.", "publishedTime": "2026-03-14"}
    if "application/json" not in request.headers["accept"]:
        return Response("Title: Velmora\n\nGlass.", media_type="text/plain")
    final = request.query_params.get("final", request.query_params["of"])
    return Response(json.dumps({"code": 200, "data": {**page, "url": final}}), media_type="application/json")


async def status(request: Request) -> Response:
    return Response("no", status_code=int(request.path_params["code"]))


async def loop(request: Request) -> Response:
    return RedirectResponse(f"/loop/{int(request.path_params['n']) + 1}")


async def away(request: Request) -> Response:
    return RedirectResponse(request.query_params["to"], status_code=302)


async def bomb(request: Request) -> Response:
    times = int(request.path_params.get("times", 1))
    packed = b"a" * 20_000_000
    for _ in range(times):
        packed = gzip.compress(packed)
    return Response(packed, headers={"content-encoding": ", ".join(["gzip"] * times), "content-type": "text/plain"})


async def slow(request: Request) -> Response:
    """Endless, and slower if the path says so."""

    async def pieces() -> AsyncIterator[bytes]:
        while not await request.is_disconnected():
            yield b"a" * 65536
            await asyncio.sleep(0.1 if request.url.path == "/slow" else 0)

    return StreamingResponse(pieces(), media_type="text/plain")


PATHS = {
    "/article": article,
    "/headers": echo_headers,
    "/reader": read_for_others,
    "/status/{code:int}": status,
    "/loop/{n:int}": loop,
    "/away": away,
    "/bomb": bomb,
    "/bomb/{times:int}": bomb,
    "/endless": slow,
    "/slow": slow,
}
APP = Starlette(routes=[Route(path, endpoint) for path, endpoint in PATHS.items()])


@contextmanager
def serving(app: Starlette, **config: Any) -> Iterator[int]:
    """A server in a thread while the context is open; yields its port."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, **{"log_level": "error", "lifespan": "off", **config}))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = server.force_exit = True
        thread.join(timeout=10)
        listener.close()


@pytest.fixture(scope="session")
def pages_port() -> Iterator[int]:
    with serving(APP) as port:
        yield port


@pytest.fixture
async def run_client() -> AsyncIterator[AsyncClient]:
    """The run's client with no offline stack and no retries."""
    settings = configured(
        LlmSettings, base_url="http://127.0.0.1:1/v1", model="m", retry=configured(RetrySettings, attempts=1)
    )
    async with open_client(settings, offline_port=None) as client:
        yield client


@pytest.fixture
def a_session() -> Callable[..., Session]:
    """`a_session(tool, ...)`: a session that lends these tools and has neither models nor a web."""

    def make(*tools: Tool, collection_name: str | None = None) -> Session:
        return make_session(tools=Toolbox(tools), collection_name=collection_name)

    return make
