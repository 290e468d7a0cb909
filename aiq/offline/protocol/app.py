"""The offline stack as a web application: routing by host and path, keys, size limits and request counts."""

import asyncio
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from aiq.llm.route import is_offline_website
from aiq.offline.faults import RETRY_AFTER_SECONDS, SLOW_SECONDS
from aiq.offline.protocol.search_api import SearchApi
from aiq.offline.protocol.site import Site
from aiq.offline.protocol.validation import ApiError
from aiq.offline.protocol.work import COMPLETIONS, EMBEDDINGS, RESPONSES, Workers

MODEL = {"id": "offline-1", "object": "model", "created": 0, "owned_by": "aiq"}
"""The only model listed. Requests may name any other: they get the same answers, under the name they gave."""

SEARCHES = ("/search", "/extract")

HELP = (
    f"aiq offline: POST {COMPLETIONS}, {RESPONSES}, {EMBEDDINGS}, {', '.join(SEARCHES)}; GET /v1/models, /stats; "
    "pages by the host in the Host header\n"
)
"""The answer to `GET /`."""

BODY_BYTES = 64 * 2**20
"""The maximum size of a request body for the model."""

SEARCH_BYTES = 2**20
"""The maximum size of a search body. It is parsed in this process, where it holds up every other request."""


@dataclass(frozen=True)
class Stack:
    """The state of one server. If `api_key` is set, the model and the search API require it as a bearer token.

    All requests are counted by path, model requests by digest and attempt, and faults by name.
    """

    site: Site
    workers: Workers
    api_key: str | None = None
    paths: Counter[str] = field(default_factory=Counter)
    sends: Counter[tuple[str, int]] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)


def build_app(stack: Stack) -> ASGIApp:
    """Hosts with pages or below `offline.example` are websites, except for the two services; all others are the API."""
    endpoints = Endpoints(stack)
    routes = [Route(path, endpoints.model, methods=["POST"]) for path in (COMPLETIONS, RESPONSES, EMBEDDINGS)]
    routes += [Route(path, endpoints.search, methods=["POST"]) for path in SEARCHES]
    routes += [Route(path, endpoints.models) for path in ("/v1/models", "/v1/models/{name:path}")]
    routes += [Route("/stats", endpoints.stats), Route("/", PlainTextResponse(HELP))]
    errors: Any = {ApiError: _error, HTTPException: _no_route, ClientDisconnect: _disconnected}
    api = Starlette(routes=routes, exception_handlers=errors)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        handler: ASGIApp = api
        if scope["type"] == "http":
            scope = _origin_form(scope)
            request = Request(scope)
            host = request.headers.get("host", "").lower()
            for name in (host, host.rsplit(":", 1)[0]):
                if name in stack.site.hosts or is_offline_website(name):
                    scheme = request.headers.get("x-aiq-scheme", "https")
                    handler = stack.site.answer(str(request.url.replace(scheme=scheme, netloc=name)))
                    break
            if scope["path"] != "/stats":
                stack.paths[scope["path"] if handler is api else "page"] += 1
        await handler(scope, receive, send)

    return app


def _origin_form(scope: Scope) -> Scope:
    """The request with the host and path taken from a target that is a whole URL, as clients of a proxy send it."""
    host, _, path = scope["path"].partition("://")[2].partition("/")
    if not host or scope["path"].startswith("/"):
        return scope
    headers = [(b"host", host.encode()), *(pair for pair in scope["headers"] if pair[0] != b"host")]
    return {**scope, "path": f"/{path}", "raw_path": quote(f"/{path}").encode(), "headers": headers}


class Endpoints:
    """The API's handlers."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._search = SearchApi(stack.site.corpus)
        self._executor = ThreadPoolExecutor(1, "search")  # one at a time: the loop has at most one rival for the GIL

    async def model(self, request: Request) -> Response:
        """The body goes to a worker unread: none of it is parsed in this process."""
        body = await self._body(request, BODY_BYTES)
        role, attempt = (request.headers.get(f"x-aiq-{name}", "") for name in ("role", "attempt"))
        answer = await self._stack.workers.answer(request.url.path, role, attempt, body)
        if answer.sent:
            self._stack.sends[answer.sent] += 1
            self._stack.faults.update(answer.faults)
        if "slow" in answer.faults:
            await asyncio.sleep(SLOW_SECONDS)
        body, headers = answer.body, {"content-length": str(len(answer.body))}
        if answer.status == 429:
            headers["retry-after"] = str(RETRY_AFTER_SECONDS)
        if "cut_connection" in answer.faults and answer.status == 200:  # fewer bytes than announced
            body = body[: len(body) // 2]
        return Response(body, answer.status, headers, "text/event-stream" if answer.streamed else "application/json")

    async def search(self, request: Request) -> Response:
        body = await self._body(request, SEARCH_BYTES)
        handler = self._search.search if request.url.path == "/search" else self._search.extract
        return JSONResponse(await asyncio.get_running_loop().run_in_executor(self._executor, handler, body))

    async def models(self, request: Request) -> Response:
        self._check_key(request)
        name = request.path_params.get("name", MODEL["id"])
        if name != MODEL["id"]:
            raise ApiError(f"The model '{name}' does not exist", "model", "model_not_found", 404)
        return JSONResponse(MODEL if request.path_params else {"object": "list", "data": [MODEL]})

    async def stats(self, request: Request) -> Response:
        """What was requested since the start. `repeated`: model requests paid for twice, sent with the same attempt."""
        stack, sent = self._stack, self._stack.sends.total()
        counts = {"requests": stack.paths.total(), "paths": stack.paths, "faults": stack.faults}
        return JSONResponse(counts | {"chat": sent, "distinct": len(stack.sends), "repeated": sent - len(stack.sends)})

    def _check_key(self, request: Request) -> None:
        key = self._stack.api_key
        if key is not None and request.headers.get("authorization") != f"Bearer {key}":
            raise ApiError("Unauthorized: missing or invalid API key.", code="invalid_api_key", status=401)

    async def _body(self, request: Request, limit: int) -> bytes:
        """The body, once the key is checked. One that is too long is read to its end, so that the client hears why."""
        self._check_key(request)
        body, length = bytearray(), 0
        async for part in request.stream():
            length += len(part)
            body += part if length <= limit else b""
        if length > limit:
            raise ApiError(f"Request body too large: the limit is {limit} bytes.", code="request_too_large", status=413)
        return bytes(body)


async def _error(request: Request, error: ApiError) -> Response:
    """An error in OpenAI's shape, or for search in Tavily's."""
    is_search = request.url.path in SEARCHES
    return JSONResponse({"detail": {"error": error.message}} if is_search else error.body, error.status)


async def _no_route(request: Request, error: HTTPException) -> Response:
    """There is no such path, or it does not allow this method."""
    code = "method_not_supported" if error.status_code == 405 else "unknown_url"
    message = f"{error.detail}: {request.method} {request.url.path}."
    return await _error(request, ApiError(message, code=code, status=error.status_code))


async def _disconnected(request: Request, error: ClientDisconnect) -> Response:
    """For a client that disconnected while sending its request: nobody reads this response."""
    return Response(status_code=400)
