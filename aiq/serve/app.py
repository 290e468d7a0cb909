"""The routes, as OpenAPI describes them."""

from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Body, FastAPI, Header, Query, Request, Response, Security
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse
from fastapi.security import APIKeyHeader
from pydantic.json_schema import SkipJsonSchema
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Match
from starlette.types import ASGIApp

from aiq import __version__
from aiq.serve import store
from aiq.serve.errors import Refused
from aiq.serve.gate import Gate
from aiq.serve.keys import KEY_HEADER
from aiq.serve.streams import EventStream
from aiq.serve.tasks import Service
from aiq.serve.views import summary_of
from aiq.serve.wire import (
    UNFINISHED,
    DecisionRequest,
    DecisionTaken,
    ErrorBody,
    Health,
    TaskEvent,
    TaskList,
    TaskStatus,
    TaskSummary,
    TaskView,
    task_request,
)

_PAGE = Path(__file__).parent / "page"
_NO_ACCESS = {401: "no valid key", 403: "without keys: not from this machine", 429: "too many for one key; Retry-After"}
_BODY_ERRORS = {408: "the body came too slowly", 413: "the body is over 1 MB", 415: "the body is not JSON"}
_NO_TASK = {404: "this key has no such task"}
_INVALID = {422: "not as described here"}

TaskId = Annotated[str, InPath(description="as returned by POST /api/v1/tasks", max_length=64)]
_EXAMPLES = {
    "basic": {"value": {"query": "What is quantum computing?"}},
    "follow-up": {"value": {"query": "And who invented it?", "turns": ["What is quantum computing?"]}},
}


_ERROR = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}}
"""Spelled out, because a `model` would get the media type of the route's success; `_open_routes` adds the schema."""
_EVENT = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "the event's seq"},
        "event": {"type": "string", "description": "its type"},
        "data": {
            "type": "string",
            "contentMediaType": "application/json",
            "contentSchema": TaskEvent.model_json_schema(),
        },
    },
}


def _errors(*groups: dict[int, str]) -> dict[int | str, dict[str, Any]]:
    return {status: {"description": reason, "content": _ERROR} for group in groups for status, reason in group.items()}


def make_app(service: Service, render: Callable[[str], str]) -> ASGIApp:
    """The application. `render` turns untrusted Markdown into HTML that is safe to show."""
    app = FastAPI(
        title="aiq serve",
        version=__version__,
        description="Research agents as a service: tasks, their events as they happen, approvals.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # which would go to whatever host the request names
    )
    routers = (_api_routes(service, render), _open_routes(service))
    for router in routers:
        app.include_router(router)
    app.state.routes = [route for router in routers for route in router.routes]
    for error in (Refused, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(error, _error_response)
    gate: ASGIApp = Gate(app, service.keys, service.settings)
    origins = service.settings.origins
    if not origins:
        return gate
    methods, headers = ["GET", "POST", "DELETE"], [KEY_HEADER, "Content-Type", "Idempotency-Key", "Last-Event-ID"]
    return CORSMiddleware(gate, allow_origins=origins, allow_methods=methods, allow_headers=headers)


def _api_routes(service: Service, render: Callable[[str], str]) -> APIRouter:
    key = [] if service.keys.keyless else [Security(APIKeyHeader(name=KEY_HEADER, auto_error=False))]
    api = APIRouter(prefix="/api/v1", dependencies=key, responses=_errors(_NO_ACCESS))
    new_task: Any = task_request(service.settings, service.agents.choices)

    @api.post(
        "/tasks",
        status_code=202,
        response_model=TaskSummary,
        responses={
            200: {"model": TaskSummary, "description": "created before, with this Idempotency-Key"},
            **_errors(_BODY_ERRORS, _INVALID, {402: "the key's budget is used up"}),
            **_errors({409: "the Idempotency-Key belongs to another request", 503: "the queue is full; Retry-After"}),
        },
    )
    async def create_task(
        request: Request,
        response: Response,
        asked: Annotated[new_task, Body(openapi_examples=_EXAMPLES)],
        idempotency_key: Annotated[str, Header(max_length=200, pattern=r"^[!-~]*$")] = "",
    ) -> TaskSummary:
        """Ask an agent. The answer takes a while: follow `/api/v1/stream/sse`, or poll the task."""
        stored = store.Request(query=asked.query, agent=asked.agent, turns=tuple(asked.turns), chosen=asked.chosen())
        task, new = service.submit(request.state.owner, stored, idempotency_key or None)
        response.status_code = 202 if new else 200
        response.headers["Location"] = f"/api/v1/tasks/{task.id}"
        return summary_of(task)

    @api.get("/tasks", response_model=TaskList, responses=_errors(_INVALID))
    async def list_tasks(
        request: Request,
        status: TaskStatus | SkipJsonSchema[None] = None,
        before: Annotated[int, Query(ge=1, le=2**53, description="`next` of the previous page")] = 2**53,
        limit: Annotated[int, Query(ge=1, le=100)] = 20,
    ) -> TaskList:
        """The key's tasks, the latest first."""
        tasks = service.store.tasks(request.state.owner, status, before, limit)
        last = tasks[-1].number if len(tasks) == limit else None
        return TaskList(tasks=tuple(map(summary_of, tasks)), next=last)

    @api.get("/tasks/{task_id}", response_model=TaskView, responses=_errors(_NO_TASK, _INVALID))
    async def get_task(request: Request, task_id: TaskId) -> TaskView:
        """A task: its progress, and its report with citations, audit and usage."""
        return service.view(service.task(request.state.owner, task_id))

    @api.delete("/tasks/{task_id}", response_model=TaskView, responses=_errors(_BODY_ERRORS, _NO_TASK, _INVALID))
    async def cancel_task(request: Request, task_id: TaskId) -> TaskView:
        """Cancel a task: its work ends at once and costs nothing more. One that has ended stays as it is."""
        return service.view(await service.cancel(service.task(request.state.owner, task_id)))

    @api.get(
        "/tasks/{task_id}/report",
        response_class=HTMLResponse,
        responses={
            200: {"content": {"text/html": {"schema": {"type": "string"}}}},
            **_errors(_NO_TASK, _INVALID, {409: "the task has no report, or not yet"}),
        },
    )
    async def get_report(request: Request, task_id: TaskId) -> HTMLResponse:
        """The report as HTML, without scripts, images or raw HTML."""
        report = service.view(service.task(request.state.owner, task_id)).result
        if report is None:
            raise Refused(409, "no_report", "the task has no report")
        return HTMLResponse(render(report))

    @api.get(
        "/stream/sse",
        status_code=200,
        response_class=EventStream,
        responses={
            200: {
                "content": {"text/event-stream": {"schema": {"type": "array"}, "itemSchema": _EVENT}},
                "description": "events as they happen",
            },
            204: {"description": "the client already has the last event: nothing will follow"},
            **_errors(_NO_TASK, _INVALID, {503: "too many streams; Retry-After"}),
        },
    )
    async def stream_events(
        request: Request,
        workflow_id: Annotated[str, Query(max_length=64)],
        last_event_id: Annotated[int, Header(ge=0, le=2**53, description="of the last event received")] = 0,
    ) -> Response:
        """The events of a task, from the first or after `Last-Event-ID`, to its end. Each has its number as id."""
        owner = request.state.owner
        task = service.task(owner, workflow_id)
        if task.status not in UNFINISHED and last_event_id >= service.store.last_event(task):
            return Response(status_code=204)  # which tells an EventSource not to reconnect
        slot = service.streams.count_stream(owner)
        return EventStream(service.streams.events(task, last_event_id), slot, service.settings.stall_seconds)

    @api.post(
        "/approvals/decision",
        response_model=DecisionTaken,
        responses=_errors(_BODY_ERRORS, _NO_TASK, _INVALID, {409: "the task is not waiting for this approval"}),
    )
    async def decide(request: Request, decision: DecisionRequest) -> DecisionTaken:
        """Approve a plan, reject it, or say what to change; or answer a question."""
        task = service.task(request.state.owner, decision.workflow_id)
        service.approvals.decide(task, decision.approval_id, decision.approved, decision.feedback)
        return DecisionTaken(**decision.model_dump(include=set(DecisionTaken.model_fields)))

    return api


def _open_routes(service: Service) -> APIRouter:
    """What needs no key: health, and the page."""
    routes = APIRouter(responses={403: {"model": ErrorBody, "description": _NO_ACCESS[403]}})

    @routes.get("/health", response_model=Health)
    async def health() -> Health:
        """Whether the process answers."""
        return Health(status="ok")

    @routes.get("/ready", response_model=Health, responses=_errors({503: "not yet, or no longer"}))
    async def ready() -> Health:
        """Whether tasks are accepted."""
        if not service.ready:
            raise Refused(503, "not_ready", "no tasks are accepted")
        return Health(status="ok")

    for path, name in (("/", "index.html"), ("/page.js", "page.js"), ("/page.css", "page.css")):
        routes.add_api_route(path, _file_route(name), include_in_schema=False)
    return routes


def _file_route(name: str) -> Callable[[], Any]:
    async def file() -> FileResponse:
        return FileResponse(_PAGE / name)

    return file


async def _error_response(request: Request, error: Exception) -> JSONResponse:
    match error:
        case Refused():
            return error.answer()
        case HTTPException():
            return _http_error(request, error).answer()
        case RequestValidationError():
            return _validation_error(error).answer()
    return Refused(500, "internal", "the server failed; see its log").answer()


def _http_error(request: Request, error: HTTPException) -> Refused:
    """The framework's own errors: no such route, no such method, a body that is not JSON."""
    if error.status_code == 400:
        return Refused(422, "invalid_request", error.detail)
    headers = dict(error.headers or {})
    if error.status_code == 405:  # the framework looks no further than the first route of the path
        matching = [route for route in request.app.state.routes if route.matches(request.scope)[0] is not Match.NONE]
        headers["Allow"] = ", ".join(sorted({method for route in matching for method in route.methods}))
    code = HTTPStatus(error.status_code).name.lower()
    return Refused(error.status_code, code, error.detail, headers=headers)


def _validation_error(error: RequestValidationError) -> Refused:
    """Where the error is and what is wrong, without the value that was sent."""
    first = error.errors()[0]
    location = ".".join(str(part) for part in first["loc"] if part != "body" and "[" not in str(part))[:200]
    if first["type"] == "json_invalid":
        location = f"the body is not JSON (at character {location})"
    unknown = first["type"] == "extra_forbidden"
    reason = "there is no such field; /openapi.json lists those of each agent" if unknown else first["msg"]
    return Refused(422, "invalid_request", f"{location}: {reason}".removeprefix(": ")[:500])
