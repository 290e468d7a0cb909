"""The MCP server over a collection of events: the tools `analyze_events` and `describe_events`."""

import json
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aiq import __version__
from aiq.core.base import Record
from aiq.core.errors import AiqError, ConfigError
from aiq.core.files import resolve
from aiq.core.plugins import describe
from aiq.core.settings import Settings, from_environment
from aiq.llm.http import AsyncClient
from aiq.tools.mcp.events import AnalyzeEvents, Answer, Bucket, Engine, EventFields, Scalar, query_of
from aiq.tools.mcp.events_sqlite import SqliteEvents, read_events
from aiq.tools.mcp.opensearch import OpenSearchEvents, OpenSearchSettings

_HOST = "127.0.0.1"
_VALUES = 20  # the most values that describe_events lists of a field
_INSTRUCTIONS = (
    "A collection of dated events. describe_events says which fields there are; analyze_events filters, counts by "
    "field and period, and pages through all documents: repeat a call with search_after and pit_id of the page before "
    "while has_more is true."
)


class EventsSettings(Settings):
    """Group `events`: the collection that `aiq mcp events` serves."""

    events: str | None = Field(description="JSONL, gzipped or not, whose events are added if their ids are new")
    db: str | None = Field(description="the SQLite file that keeps them; null: in memory")
    fields: EventFields = Field(description="where a document has each field")
    opensearch: OpenSearchSettings = Field(description="a server that holds the collection instead")


@asynccontextmanager
async def open_engine(settings: EventsSettings) -> AsyncIterator[Engine]:
    """The engine that the settings name. Raises ConfigError or DatasetError."""
    remote = settings.opensearch
    if remote.url is not None:
        variable = remote.api_key_env
        key = from_environment("events.opensearch.api_key_env", variable) if variable else ""
        async with AsyncClient() as client:
            yield OpenSearchEvents(settings.fields, remote, client, key)
        return
    engine = SqliteEvents(settings.fields, settings.db or ":memory:")
    try:
        if settings.events is not None:
            engine.add(read_events(resolve(settings.events)))
        yield engine
    finally:
        engine.close()


class DescribeEvents(BaseModel):
    """Arguments of the tool: none."""

    model_config = ConfigDict(extra="forbid")


class FieldDescription(Record):
    """`values`: the most frequent ones of a keyword; `least` and `greatest`: of a number or date."""

    name: str
    kind: str
    values: tuple[Bucket, ...] = ()
    least: Scalar | None = None
    greatest: Scalar | None = None


class Description(Record):
    """What a collection holds."""

    events: int
    fields: tuple[FieldDescription, ...]


class _Served(NamedTuple):
    arguments: type[BaseModel]
    result: type[BaseModel]
    text: str
    run: Callable[[Any], Awaitable[BaseModel]]


def make_server(engine: Engine) -> "Server[Any]":
    """A server built on the official SDK, for one client over stdio or many over HTTP."""

    async def analyze(call: AnalyzeEvents) -> Answer:
        return await engine.analyze(query_of(call, engine.fields))

    async def describe_it(call: DescribeEvents) -> Description:
        return await describe_fields(engine)

    handlers = {
        "analyze_events": _Served(AnalyzeEvents, Answer, _analyze_text(engine.fields), analyze),
        "describe_events": _Served(DescribeEvents, Description, "The fields of the collection.", describe_it),
    }
    tools = [
        Tool(
            name=name,
            description=tool.text,
            input_schema=tool.arguments.model_json_schema(),
            output_schema=tool.result.model_json_schema(mode="serialization"),
            annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
        )
        for name, tool in handlers.items()
    ]

    async def list_tools(context: ServerRequestContext[Any], params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=tools)

    async def call_tool(context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        try:
            if (tool := handlers.get(params.name)) is None:
                return _tool_result(f"there is no such tool; there are: {', '.join(handlers)}", is_error=True)
            result = await tool.run(tool.arguments.model_validate(params.arguments or {}))
        except ValidationError as error:
            return _tool_result(describe(error), is_error=True)
        except AiqError as error:
            return _tool_result(str(error), is_error=True)
        data = result.model_dump(mode="json", exclude_defaults=True)
        return _tool_result(json.dumps(data, ensure_ascii=False), structured_content=data)

    return Server(
        "aiq-events",
        version=__version__,
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _tool_result(text: str, **options: Any) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], **options)


def _analyze_text(fields: EventFields) -> str:
    return (
        "Filter, count and page through dated events. Counts are of distinct events, whatever the page shows. "
        f"Fields to filter and group by: {', '.join(fields.keywords)}, and year, quarter and month of {fields.date}; "
        f"ranges: {', '.join([*fields.numbers, *fields.dates])}. Pages are in the order of {fields.date}: "
        "give back pagination.search_after and pit_id while has_more is true."
    )


async def describe_fields(engine: Engine) -> Description:
    """The fields with their values or range. Raises ToolError."""
    fields, descriptions = engine.fields, []
    for name in fields.keywords:
        answer = await engine.analyze(query_of(AnalyzeEvents(group_by=name, page_size=1, top_n=_VALUES), fields))
        values = answer.aggregations.group_by.buckets if answer.aggregations.group_by else ()
        descriptions.append(FieldDescription(name=name, kind="keyword", values=values))
    for kind, names in (("number", fields.numbers), ("date", fields.dates)):
        for name in names:
            least, greatest = await engine.bounds(name)
            descriptions.append(FieldDescription(name=name, kind=kind, least=least, greatest=greatest))
    totals = await engine.analyze(query_of(AnalyzeEvents(page_size=1), fields))
    return Description(events=totals.data_context.unique_ids_matched, fields=tuple(descriptions))


async def serve_stdio(server: "Server[Any]") -> None:
    """Serve over stdio until stdin ends."""
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def serve_http(server: "Server[Any]", port: int) -> None:
    """Serve streamable HTTP on loopback until interrupted; prints the address to stderr. ConfigError: port in use."""
    import uvicorn

    try:
        listener = socket.create_server((_HOST, port))
    except (OSError, OverflowError) as error:
        raise ConfigError(f"--http {port}: {error}; name a free port, or 0 for any") from None
    print(f"http://{_HOST}:{listener.getsockname()[1]}/mcp (Ctrl-C ends it)", file=sys.stderr, flush=True)
    config = uvicorn.Config(server.streamable_http_app(host=_HOST), log_level="warning")
    await uvicorn.Server(config).serve(sockets=[listener])
