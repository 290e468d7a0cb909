"""The offline stack as a web application: which host and path is answered by what, keys, limits and counts."""

import asyncio
import html
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
from aiq.offline.protocol.search_api import SearchApi
from aiq.offline.protocol.site import Site
from aiq.offline.protocol.work import COMPLETIONS, EMBEDDINGS, RESPONSES, Answer
from aiq.offline.protocol.workers import Workers

MODELS = {"offline-1": {"id": "offline-1", "object": "model", "created": 0, "owned_by": "aiq"}}
"""What the models list has. Any other name in a request is answered just the same, under its own name."""

SEARCHES = ("/search", "/extract")

BODY_BYTES = 64 * 2**20
"""The longest body of a request to the model."""

SEARCH_BYTES = 2**20
"""The longest body of a search: it is parsed here, where every request waits for it."""

_NOT_FOUND = """<!DOCTYPE html>
<html lang="en">
<head><title>404 Not Found</title></head>
<body><h1>404 Not Found</h1><p>There is no page at {}.</p></body>
</html>
"""


class Stats:
    """Counts of requests since the start: they show how often anything was paid for."""

    def __init__(self) -> None:
        self.paths: Counter[str] = Counter()
        self._roles: Counter[str] = Counter()
        self._faults: Counter[str] = Counter()
        self._sends: set[tuple[str, int]] = set()

    def answered(self, role: str, answer: Answer) -> None:
        if answer.digest:
            self._roles[role] += 1
            self._sends.add((answer.digest, answer.attempt))
            self._faults.update(answer.faults)

    def summary(self) -> dict[str, Any]:
        """`repeated`: model requests that were the same as an earlier one, attempt included (paid for twice)."""
        chats = self._roles.total()
        return {
            "requests": self.paths.total(),
            "paths": dict(sorted(self.paths.items())),
            "chat": chats,
            "roles": dict(sorted(self._roles.items())),
            "distinct": len(self._sends),
            "repeated": chats - len(self._sends),
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
    routes = [Route(path, endpoints.work, methods=["POST"]) for path in (COMPLETIONS, RESPONSES, EMBEDDINGS)]
    routes += [Route(path, endpoints.search, methods=["POST"]) for path in SEARCHES]
    routes += [Route(path, endpoints.models) for path in ("/v1/models", "/v1/models/{name:path}")]
    routes += [Route("/stats", endpoints.stats)]
    errors = {ApiError: _error, HTTPException: _http_error, ClientDisconnect: _gone}
    api = Starlette(routes=routes, exception_handlers=errors)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        page = _page(stack.site, Request(scope)) if scope["type"] == "http" else None
        if scope["type"] == "http" and scope["path"] != "/stats":
            stack.stats.paths["page" if page else scope["path"]] += 1
        await (page or api)(scope, receive, send)

    return app


def _page(site: Site, request: Request) -> Response | None:
    """The answer of a website; None where the host is none."""
    host = request.headers.get("host", "").rsplit(":", 1)[0].lower()
    if not is_offline_website(host):
        return None
    scheme = request.headers.get("x-aiq-scheme", "https")
    url = str(request.url.replace(scheme=scheme, netloc=host))
    served, page = site.served(url), site.render(url)
    if served is not None and served.redirect is not None:
        return RedirectResponse(served.redirect)
    if served is not None:
        return Response(served.body, headers={"content-type": served.content_type})
    return HTMLResponse(_NOT_FOUND.format(html.escape(url)), 404) if page is None else HTMLResponse(page)


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
        name = request.path_params.get("name")
        if name is None:
            return JSONResponse({"object": "list", "data": list(MODELS.values())})
        if name not in MODELS:
            raise ApiError(f"The model '{name}' does not exist", "model", "model_not_found", 404)
        return JSONResponse(MODELS[name])

    async def search(self, request: Request) -> Response:
        self._check_key(request)
        answer = self._search.search if request.url.path == "/search" else self._search.extract
        body, loop = await _body(request, SEARCH_BYTES), asyncio.get_running_loop()
        return JSONResponse(await loop.run_in_executor(self._searching, answer, body))

    async def stats(self, request: Request) -> Response:
        return JSONResponse(self._stack.stats.summary())

    def _check_key(self, request: Request) -> None:
        key = self._stack.api_key
        if key is not None and request.headers.get("authorization") != f"Bearer {key}":
            message = "Unauthorized: missing or invalid API key."
            raise ApiError(message, code="invalid_api_key", status=401)


async def _body(request: Request, limit: int) -> bytes:
    """The body. One that is too long is read to its end and dropped, so that the client hears why: ApiError 413."""
    body, length = bytearray(), 0
    async for part in request.stream():
        length += len(part)
        if length <= limit:
            body += part
    if length > limit:
        message = f"Request body too large: {length} bytes; the limit is {limit}."
        raise ApiError(message, code="request_too_large", status=413)
    return bytes(body)


async def _error(request: Request, error: Any) -> Response:
    """For ApiError; search has Tavily's shape of errors."""
    searched = request.url.path in SEARCHES
    return JSONResponse({"detail": {"error": error.message}} if searched else error.body, error.status)


async def _gone(request: Request, error: Exception) -> Response:
    """To a client that went away while it sent its request: nobody reads it."""
    return Response(status_code=400)


async def _http_error(request: Request, error: Any) -> Response:
    """For Starlette's own: there is no such path, or not with this method."""
    path, status = request.url.path, error.status_code
    known = {
        404: (f"Unknown request URL: {request.method} {path}. Please check the URL for typos.", "unknown_url"),
        405: (f"Not allowed to {request.method} on {path}.", "method_not_supported"),
    }
    message, code = known.get(status, (error.detail, None))
    return JSONResponse(ApiError(message, code=code, status=status).body, status, error.headers)


class _Cut(Response):
    """Half of a body whose length was announced: the connection breaks in the middle."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": bytes(self.body)[: len(self.body) // 2], "more_body": True})
