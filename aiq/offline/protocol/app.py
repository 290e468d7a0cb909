"""The offline stack as a web application: which host and path is answered by what, keys, limits and counts."""

import asyncio
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from aiq.core.hosts import is_offline_website
from aiq.offline.faults import SLOW_SECONDS
from aiq.offline.protocol.errors import ApiError
from aiq.offline.protocol.search_api import SearchApi, SearchError
from aiq.offline.protocol.site import Site, not_found
from aiq.offline.protocol.work import COMPLETIONS, EMBEDDINGS, RESPONSES, Answer
from aiq.offline.protocol.workers import Workers

MODELS = ("offline-1",)
"""What the models list names. Any other name in a request is answered just the same, under its own name."""

BODY_BYTES = 64 * 2**20
"""The longest body of a request to the model."""

SEARCH_BYTES = 2**20
"""The longest body of a search: it is parsed here, where every request waits for it."""


class Stats:
    """Counts of requests since the start: they show how often anything was paid for."""

    def __init__(self) -> None:
        self._paths: Counter[str] = Counter()
        self._roles: Counter[str] = Counter()
        self._faults: Counter[str] = Counter()
        self._sends: Counter[tuple[str, int]] = Counter()

    def request(self, path: str) -> None:
        self._paths[path] += 1

    def answered(self, role: str, answer: Answer) -> None:
        if answer.digest:
            self._roles[role] += 1
            self._sends[answer.digest, answer.attempt] += 1
            self._faults.update(answer.faults)

    def summary(self) -> dict[str, Any]:
        """`repeated`: model requests that were the same as an earlier one, attempt included (paid for twice)."""
        return {
            "requests": sum(self._paths.values()),
            "paths": dict(sorted(self._paths.items())),
            "chat": sum(self._roles.values()),
            "roles": dict(sorted(self._roles.items())),
            "distinct": len(self._sends),
            "repeated": sum(count - 1 for count in self._sends.values()),
            "faults": dict(sorted(self._faults.items())),
        }


@dataclass(frozen=True)
class Stack:
    """What one server holds. With `api_key`, model and search want it as bearer token."""

    site: Site
    workers: Workers
    api_key: str | None = None
    stats: Stats = field(default_factory=Stats)


def build_app(stack: Stack) -> ASGIApp:
    """Hosts of `offline.example` other than the two services are websites; any other host is the API."""
    endpoints = Endpoints(stack)
    api = Starlette(
        routes=[
            *(Route(path, endpoints.work, methods=["POST"]) for path in (COMPLETIONS, RESPONSES, EMBEDDINGS)),
            Route("/v1/models", endpoints.models, methods=["GET"]),
            Route("/v1/models/{name:path}", endpoints.model, methods=["GET"]),
            Route("/search", endpoints.search, methods=["POST"]),
            Route("/extract", endpoints.search, methods=["POST"]),
            Route("/stats", endpoints.stats, methods=["GET"]),
        ],
        exception_handlers={
            ApiError: _api_error,
            SearchError: _api_error,
            HTTPException: _http_error,
            ClientDisconnect: _gone,
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
        self._search = SearchApi(stack.site.corpus)
        self._searching = ThreadPoolExecutor(1, "search")  # one at a time: the loop has at most one rival for the GIL

    async def work(self, request: Request) -> Response:
        """The body goes to a worker as it is: nothing of it is parsed in this process."""
        self._check_key(request)
        role, attempt = (request.headers.get(f"x-aiq-{name}", "") for name in ("role", "attempt"))
        answer = await self._stack.workers.ask(request.scope["path"], role, attempt, await _body(request, BODY_BYTES))
        self._stack.stats.answered(role, answer)
        if "slow" in answer.faults:
            await asyncio.sleep(SLOW_SECONDS)
        kind = _Cut if "cut_connection" in answer.faults and answer.status == 200 else Response
        return kind(answer.body, answer.status, dict(answer.headers), answer.media)

    async def models(self, request: Request) -> Response:
        self._check_key(request)
        return JSONResponse({"object": "list", "data": [_model(name) for name in MODELS]})

    async def model(self, request: Request) -> Response:
        self._check_key(request)
        name = request.path_params["name"]
        if name not in MODELS:
            raise ApiError(404, f"The model '{name}' does not exist", param="model", code="model_not_found")
        return JSONResponse(_model(name))

    async def search(self, request: Request) -> Response:
        if not self._has_key(request):
            raise SearchError(401, "Unauthorized: missing or invalid API key.")
        body, api = await _body(request, SEARCH_BYTES), self._search
        answer = api.search if request.url.path == "/search" else api.extract
        return JSONResponse(await asyncio.get_running_loop().run_in_executor(self._searching, answer, body))

    async def stats(self, request: Request) -> Response:
        return JSONResponse(self._stack.stats.summary())

    def _check_key(self, request: Request) -> None:
        if not self._has_key(request):
            raise ApiError(401, "Incorrect API key provided.", code="invalid_api_key")

    def _has_key(self, request: Request) -> bool:
        key = self._stack.api_key
        return key is None or request.headers.get("authorization", "") == f"Bearer {key}"


async def _body(request: Request, limit: int) -> bytes:
    """The body. One that is too long is read to its end and dropped, so that the client hears why: ApiError 413."""
    length, parts = 0, list[bytes]()
    async for part in request.stream():
        length += len(part)
        if length > limit:
            parts.clear()
        else:
            parts.append(part)
    if length > limit:
        message = f"Request body too large: {length} bytes; the limit is {limit}."
        raise ApiError(413, message, code="request_too_large")
    return b"".join(parts)


def _model(name: str) -> dict[str, object]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "aiq"}


async def _api_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError | SearchError)
    return JSONResponse(error.body, error.status)


async def _gone(request: Request, error: Exception) -> Response:
    """To a client that went away while it sent its request: nobody reads it."""
    return Response(status_code=400)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    path, message, code = request.url.path, error.detail, None
    if error.status_code == 404:
        message = f"Unknown request URL: {request.method} {path}. Please check the URL for typos."
        code = "unknown_url"
    elif error.status_code == 405:
        message, code = f"Not allowed to {request.method} on {path}.", "method_not_supported"
    return JSONResponse(ApiError(error.status_code, message, code=code).body, error.status_code, error.headers)


class _Cut(Response):
    """Half of a body whose length was announced: the connection breaks in the middle."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": bytes(self.body)[: len(self.body) // 2], "more_body": True})
