"""The offline stack as a web application: model endpoint, search API, pages, counts."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from aiq.core.hosts import is_offline_website
from aiq.offline import programs, search_api
from aiq.offline.chat import ChatRequest
from aiq.offline.completion import completion, stream_events
from aiq.offline.faults import RETRY_AFTER_SECONDS, SLOW_SECONDS, Faults
from aiq.offline.site import Site, not_found
from aiq.offline.stats import Stats
from aiq.offline.wire import ApiError, read_request

MODELS = ("offline-1",)
"""What the models list names. Any other name in a request is answered just the same, under its own name."""


@dataclass(frozen=True)
class Stack:
    """What one server holds. With `api_key`, model and search want it as bearer token."""

    site: Site
    faults: Faults
    api_key: str | None = None
    stats: Stats = field(default_factory=Stats)


def build_app(stack: Stack) -> ASGIApp:
    """Hosts of `offline.example` other than the two services are websites; any other host is the API."""
    endpoints = Endpoints(stack)
    api = Starlette(
        routes=[
            Route("/v1/chat/completions", endpoints.chat, methods=["POST"]),
            Route("/v1/models", endpoints.models, methods=["GET"]),
            Route("/v1/models/{name:path}", endpoints.model, methods=["GET"]),
            Route("/search", endpoints.search, methods=["POST"]),
            Route("/stats", endpoints.stats, methods=["GET"]),
        ],
        exception_handlers={
            ApiError: _api_error,
            search_api.SearchError: _api_error,
            HTTPException: _http_error,
        },
    )

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        host = _host(scope) if scope["type"] == "http" else ""
        if is_offline_website(host):
            stack.stats.request("page")
            await _page(stack.site, Request(scope), host)(scope, receive, send)
            return
        if scope["type"] == "http" and scope["path"] != "/stats":
            stack.stats.request(scope["path"])
        await api(scope, receive, send)

    return app


def _host(scope: Scope) -> str:
    value = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
    return str(value).rsplit(":", 1)[0].lower()


def _page(site: Site, request: Request, host: str) -> Response:
    url = f"{request.headers.get('x-aiq-scheme', 'https')}://{host}{request.url.path}"
    url += f"?{request.url.query}" if request.url.query else ""
    served = site.served(url)
    if served is not None and served.redirect is not None:
        return RedirectResponse(served.redirect)
    if served is not None:
        return Response(served.body, headers={"content-type": served.content_type})
    body = site.render(url)
    return HTMLResponse(not_found(url), 404) if body is None else HTMLResponse(body)


class Endpoints:
    """The API's handlers."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack

    async def chat(self, request: Request) -> Response:
        self._check_key(request)
        role = request.headers.get("x-aiq-role", "")
        chat, digest = read_request(await request.body(), role, request.headers.get("x-aiq-attempt", ""))
        self._stack.stats.chat(role, digest, chat.attempt)
        struck = {
            name for name in ("slow", "http_429", "http_500", "cut_connection") if self._strikes(name, chat, digest)
        }
        if "slow" in struck:
            await asyncio.sleep(SLOW_SECONDS)
        if "http_429" in struck:
            error = ApiError(429, "Rate limit reached: a planted fault.", kind="requests", code="rate_limit_exceeded")
            return JSONResponse(error.body, 429, headers={"retry-after": str(RETRY_AFTER_SECONDS)})
        if "http_500" in struck:
            raise ApiError(500, "The server had an error: a planted fault.", kind="server_error")
        reply = programs.answer(chat)
        refused = programs.refuses(chat, reply)
        answer = completion(chat, self._stack.faults.spoil(chat, reply, digest), digest, refused=refused)
        if chat.stream:
            events = stream_events(answer, usage=bool((chat.stream_options or {}).get("include_usage")))
            return _CutStream(events) if "cut_connection" in struck else _Stream(events)
        body = json.dumps(answer, ensure_ascii=False).encode()
        return _CutBody(body) if "cut_connection" in struck else Response(body, media_type="application/json")

    async def models(self, request: Request) -> Response:
        self._check_key(request)
        return JSONResponse({"object": "list", "data": [_model(name) for name in MODELS]})

    async def model(self, request: Request) -> Response:
        self._check_key(request)
        name = request.path_params["name"]
        if name not in MODELS:
            raise ApiError(404, f"The model '{name}' does not exist", code="model_not_found")
        return JSONResponse(_model(name))

    async def search(self, request: Request) -> Response:
        if not self._has_key(request):
            raise search_api.SearchError(401, "Unauthorized: missing or invalid API key.")
        return JSONResponse(search_api.search(search_api.read_search(await request.body()), self._stack.site.corpus))

    async def stats(self, request: Request) -> Response:
        return JSONResponse(self._stack.stats.summary())

    def _strikes(self, name: str, chat: ChatRequest, digest: str) -> bool:
        hit = self._stack.faults.hits(name, chat.attempt, digest)
        if hit:
            self._stack.stats.fault(name)
        return hit

    def _check_key(self, request: Request) -> None:
        if not self._has_key(request):
            raise ApiError(401, "Incorrect API key provided.", code="invalid_api_key")

    def _has_key(self, request: Request) -> bool:
        key = self._stack.api_key
        return key is None or request.headers.get("authorization", "") == f"Bearer {key}"


def _model(name: str) -> dict[str, object]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "aiq"}


async def _api_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError | search_api.SearchError)
    return JSONResponse(error.body, error.status)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = f"Unknown request URL: {request.method} {request.url.path}" if error.status_code == 404 else error.detail
    return JSONResponse(ApiError(error.status_code, message).body, error.status_code)


class _Stream(StreamingResponse):
    """Events one by one."""

    def __init__(self, events: list[str]) -> None:
        super().__init__(self._each(events), media_type="text/event-stream")

    @staticmethod
    async def _each(events: list[str]) -> AsyncIterator[str]:
        for event in events:
            yield event


class _CutStream(_Stream):
    """Half of the events, then nothing: the server closes a response that was not finished."""

    def __init__(self, events: list[str]) -> None:
        super().__init__(events[: len(events) // 2])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async for piece in self.body_iterator:
            await send({"type": "http.response.body", "body": str(piece).encode(), "more_body": True})


class _CutBody(Response):
    """A body shorter than its `content-length`: the connection breaks in the middle."""

    media_type = "application/json"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": bytes(self.body)[: len(self.body) // 2], "more_body": True})
