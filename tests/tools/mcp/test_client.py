"""One server: sessions over stdio and HTTP, what is said of failures, and what happens when it ends."""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp_types import CallToolResult, TextContent

from aiq.core.errors import ConfigError, RunAborted, ToolError, ToolErrorKind
from aiq.tools.mcp.client import MOST_BYTES, McpServer
from tests.cases import table
from tests.tools.conftest import serving
from tests.tools.mcp import server as real
from tests.tools.mcp.conftest import over_http

each = table(__file__)

pytestmark = pytest.mark.slow

MakeServer = Callable[..., McpServer]


async def call(server: McpServer, tool: str, **arguments: Any) -> CallToolResult:
    return await server.call(tool, arguments, f"my_{tool}")


def said(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


async def error_of(server: McpServer, tool: str, **arguments: Any) -> tuple[ToolErrorKind, str]:
    with pytest.raises(ToolError) as raised:
        await call(server, tool, **arguments)
    return raised.value.kind, str(raised.value)


async def test_failures_are_typed_and_independent_and_an_ended_server_is_restarted(
    make_server: MakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one test, since each server takes seconds of computing to start."""
    monkeypatch.setenv("GIVEN", "with spaces")
    monkeypatch.setenv("NOT_GIVEN", "secret")
    server = make_server("--pages", "3", env=["GIVEN"], cwd=str(tmp_path), timeout_seconds=3)
    assert [tool.name for tool in await server.tools()] == list(real.TOOLS)
    assert said(await call(server, "noise")) == "call 1"
    assert await error_of(server, "refuse") == (ToolErrorKind.INVALID_ARGUMENTS, "my_refuse: text is no query")
    kind, reason = await error_of(server, "malformed")
    assert (kind, reason.partition(":")[0]) == (ToolErrorKind.MALFORMED, "my_malformed")
    assert "'warm' is not of type 'number'" in reason
    kind, reason = await error_of(server, "garbled")
    assert (kind, reason.partition(";")[0]) == (ToolErrorKind.MALFORMED, GARBLED)
    value, unset, folder, first = json.loads(said(await call(server, "environment")))
    assert (value, unset, folder) == ("with spaces", None, str(tmp_path))
    slow = asyncio.gather(*(error_of(server, "sleep") for _ in range(40)))
    assert said(await call(server, "count")).startswith("call ")
    assert {*await slow} == {(ToolErrorKind.TIMEOUT, "my_sleep: the MCP server notes gave no answer within 3 s")}
    message = "the MCP server notes ended during the call; another call reaches it anew"
    assert await asyncio.gather(*(error_of(server, tool) for tool in ("sleep", "die"))) == [
        (ToolErrorKind.FAILED, f"my_sleep: {message}"),
        (ToolErrorKind.FAILED, f"my_die: {message}"),
    ]
    results = await asyncio.gather(*(call(server, "count") for _ in range(2)))
    assert sorted(map(said, results)) == ["call 1", "call 2"]
    second = json.loads(said(await call(server, "environment")))[-1]
    await server.close()
    for pid in {first, second}:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert first != second


async def test_a_result_beyond_the_streams_limit_is_too_large(make_server: MakeServer, free_port: int) -> None:
    with over_http(free_port, "--old", "long") as url:
        server = make_server(url=url)
        kind, reason = await error_of(server, "long", n=MOST_BYTES)
        assert (kind, reason) == (ToolErrorKind.TOO_LARGE, TOO_LARGE)
        assert said(await call(server, "long", n=3)) == "xxx"


GARBLED = (
    "my_garbled: the MCP server notes gave what is no result of a tool: "
    "CallToolResult.content=5: Input should be a valid list"
)
TOO_LARGE = f"my_long: the MCP server notes gave more than {MOST_BYTES} bytes; ask for less"
BREAKS = "import sys; sys.exit('Error: the database is locked')"


@pytest.mark.parametrize(
    ("settings", "kind", "why"),
    [
        (
            {"command": ["no-such-program"]},
            ConfigError,
            "no-such-program cannot be started: No such file or directory; check its command",
        ),
        ({"command": [sys.executable, "-c", BREAKS]}, RunAborted, "Connection closed; it says: Error: the database is"),
        (
            {"command": ["sleep", "60"], "connect_seconds": 0.3},
            RunAborted,
            "sleep 60 has not listed its tools within 0.3",
        ),
        ({"command": ["cat"], "env": ["NOT_SET"]}, ConfigError, r"notes\.env: the environment variable NOT_SET is not"),
        ({"url": "http://127.0.0.1:9/mcp"}, RunAborted, "http://127.0.0.1:9/mcp: All connection attempts failed"),
    ],
)
async def test_a_server_that_cannot_be_used_is_one_line(
    make_server: MakeServer, settings: dict[str, Any], kind: type[Exception], why: str
) -> None:
    server = make_server(**settings)
    with pytest.raises(kind, match=why) as raised:
        await server.tools()
    assert str(raised.value).startswith("tools.mcp.notes")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("old", [False, True])
async def test_over_http_a_server_is_reached_again_after_it_was_away(
    make_server: MakeServer, free_port: int, *, old: bool
) -> None:
    arguments = ["--old"] if old else []
    with over_http(free_port, *arguments) as url:
        server = make_server(url=url)
        assert [tool.name for tool in await server.tools()] == list(real.TOOLS)
        results = await asyncio.gather(*(call(server, "count") for _ in range(5)))
        assert sorted(map(said, results)) == [f"call {number}" for number in range(1, 6)]
        kind, reason = await error_of(server, "die")
        assert (kind, reason[:29]) == (ToolErrorKind.HTTP, "my_die: the MCP server notes ")
    kind, reason = await error_of(server, "count")
    assert kind == ToolErrorKind.HTTP
    with over_http(free_port, *arguments):
        assert said(await call(server, "count")) == "call 1"
    with over_http(free_port, *arguments):  # its absence went unnoticed
        assert said(await call(server, "count")) == "call 1"


@each("header")
async def test_headers_come_from_the_environment(
    make_server: MakeServer, monkeypatch: pytest.MonkeyPatch, header: str, value: str, sent: str
) -> None:
    monkeypatch.setenv("MY_TOKEN", value)
    values: set[str] = set()
    app = real.make_server(["count"], 1).streamable_http_app()

    async def noting(scope: Any, receive: Any, send: Any) -> None:
        values.update(v.decode() for k, v in scope.get("headers", ()) if k.decode() == header.lower())
        await app(scope, receive, send)

    with serving(noting, lifespan="on") as port:  # type: ignore[arg-type]
        server = make_server(url=f"http://127.0.0.1:{port}/mcp", headers_env={header: "MY_TOKEN"})
        await server.tools()
        await server.close()
    assert values == {sent}
    monkeypatch.setenv("MY_TOKEN", "two\nlines")
    with pytest.raises(ConfigError, match=rf"notes\.headers_env\.{header}=MY_TOKEN: its value cannot be a header"):
        await make_server(url="http://127.0.0.1:9/mcp", headers_env={header: "MY_TOKEN"}).tools()
