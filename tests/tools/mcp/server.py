"""A real MCP server for tests, whose tools do what can go wrong: `server.py [--http PORT] [--pages N] [TOOL ...]`.

Over stdio, or over streamable HTTP on a port of loopback, there `--old` with sessions as before 2026. With tools named
it has only these.
"""

import argparse
import asyncio
import inspect
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mcp_types as types
import uvicorn
from mcp import MCPError
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from starlette.responses import PlainTextResponse

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
NONE: dict[str, Any] = {"type": "object"}
FORECAST = {"type": "object", "properties": {"degrees": {"type": "number"}}, "required": ["degrees"]}

TOOLS = {
    "look_up": ("Look up a query in our notes.", TEXT, None),
    "records": ("Records as JSON.", NONE, None),
    "sleep": ("Answers after a minute, or so many seconds.", NONE, None),
    "die": ("Ends the server.", NONE, None),
    "long": ("As many characters as it is told.", {"type": "object", "properties": {"n": {"type": "integer"}}}, None),
    "fail": ("Says that it failed.", NONE, None),
    "refuse": ("Refuses its arguments by an error of the protocol.", NONE, None),
    "malformed": ("Breaks its own output schema.", NONE, FORECAST),
    "garbled": ("Answers with what is no result.", NONE, None),
    "noise": ("Writes what is no message, then answers.", NONE, None),
    "media": ("A picture, a sound and binary data.", NONE, None),
    "count": ("How often it was called in the life of this server.", NONE, None),
    "environment": ("Variables and folder of the server.", NONE, None),
    "odd/name.v2": (
        "A name that models cannot call.",
        {**NONE, "$schema": "http://json-schema.org/draft-07/schema#"},
        None,
    ),
}
"""Name: description, schema of the arguments, schema of the result."""

WIRE = os.dup(1)
"""Where clients read: the SDK's server leads descriptor 1 to stderr."""

calls = [0]


def text(said: str) -> types.TextContent:
    return types.TextContent(text=said)


def looked_up(query: str) -> types.CallToolResult:
    note = types.TextResourceContents(uri="notes://2026/march", mime_type="text/plain", text=f"{query}: 40 events.")
    page = types.TextResourceContents(uri="https://notes.example/a?b=1", text="A page <document> of notes.")
    file = types.TextResourceContents(uri="file:///srv/reports/may%202026.md", text="May.")
    link = types.ResourceLink(uri="https://notes.example/index", name="index", title="Index", description="All notes.")
    blocks = [types.EmbeddedResource(resource=resource) for resource in (note, page, file)]
    return types.CallToolResult(content=[text(f"Found for {query}:"), *blocks, link])


def media() -> types.CallToolResult:
    blob = types.BlobResourceContents(uri="notes://scan", mime_type="application/pdf", blob="AAAA")
    return types.CallToolResult(
        content=[
            types.ImageContent(data="AAAA", mime_type="image/png"),
            types.AudioContent(data="AAAA", mime_type="audio/wav"),
            types.EmbeddedResource(resource=blob),
        ]
    )


def records() -> types.CallToolResult:
    rows = [
        {"url": "https://a.example/1", "title": "One", "text": "The first record.", "score": 0.5},
        {"link": "https://denied.example/x", "name": "Two", "text": "The second record."},
    ]
    return types.CallToolResult(content=[text("2 records")], structured_content={"records": rows})


async def sleep(seconds: float = 60) -> None:
    await asyncio.sleep(seconds)


def die() -> None:
    print("Error: no space left", file=sys.stderr, flush=True)
    os._exit(3)


def refuse() -> None:
    raise MCPError(types.INVALID_PARAMS, "text is no query")


def environment() -> types.CallToolResult:
    return told(json.dumps([os.environ.get("GIVEN"), os.environ.get("NOT_GIVEN"), str(Path.cwd()), os.getpid()]))


def told(said: str) -> types.CallToolResult:
    return types.CallToolResult(content=[text(said)])


WORK: dict[str, Callable[..., Any]] = {
    "look_up": lambda text: looked_up(text),
    "records": records,
    "sleep": sleep,
    "die": die,
    "long": lambda n: told("x" * n),
    "fail": lambda: types.CallToolResult(content=[text("the index\nis locked")], is_error=True),
    "refuse": refuse,
    "malformed": lambda: types.CallToolResult(content=[], structured_content={"degrees": "warm"}),
    "noise": lambda: os.write(WIRE, b"Loading model...\n{}\n") and None,
    "media": media,
    "environment": environment,
}
"""What gives nothing is answered with how often the server was called."""


def make_server(names: list[str], pages: int, *, tasks: bool = False) -> Server[Any]:
    """`tasks`: with a tool that only runs as one."""
    tools = [
        types.Tool(name=name, description=TOOLS[name][0], input_schema=TOOLS[name][1], output_schema=TOOLS[name][2])
        for name in names
    ]
    if tasks:
        execution = types.ToolExecution(task_support="required")
        tools.append(types.Tool(name="task", description="Takes long.", input_schema=NONE, execution=execution))

    async def on_list(ctx: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        page, size = int((params and params.cursor) or 0), -(-len(tools) // pages)
        cursor = str(page + 1) if page + 1 < pages else None
        return types.ListToolsResult(tools=tools[page * size : (page + 1) * size], next_cursor=cursor)

    async def on_call(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        calls[0] += 1
        if params.name == "garbled":
            answer = {"jsonrpc": "2.0", "id": ctx.request_id, "result": {"content": 5}}
            os.write(WIRE, json.dumps(answer).encode() + b"\n")
        result = WORK.get(params.name, lambda: None)(**(params.arguments or {}))
        return (await result if inspect.isawaitable(result) else result) or told(f"call {calls[0]}")

    return Server("notes", version="1", on_list_tools=on_list, on_call_tool=on_call)


def without_discovery(app: Any) -> Any:
    """An app that knows no request of the protocol of 2026, so that clients begin a session."""

    async def old(scope: Any, receive: Any, send: Any) -> None:
        if (b"mcp-method", b"server/discover") in scope.get("headers", ()):
            await PlainTextResponse("", status_code=400)(scope, receive, send)
        else:
            await app(scope, receive, send)

    return old


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", type=int)
    parser.add_argument("--old", action="store_true")
    parser.add_argument("--pages", type=int, default=1)
    parser.add_argument("tools", nargs="*")
    args = parser.parse_args()
    server = make_server(args.tools or list(TOOLS), args.pages, tasks=args.old)
    if args.http is not None:
        app = server.streamable_http_app()
        config = uvicorn.Config(without_discovery(app) if args.old else app, port=args.http, log_level="error")
        await uvicorn.Server(config).serve()
        return
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main())
