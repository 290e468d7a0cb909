"""MCP servers for these tests: real ones, as child processes, over stdio and HTTP."""

import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from aiq.core.tool_settings import McpServerSettings, ToolsSettings
from aiq.tools.mcp.client import McpServer
from tests.forked import Forked
from tests.settings import configured
from tests.tools.conftest import a_session as a_session
from tests.tools.conftest import run_client as run_client

ROOT = Path(__file__).resolve().parents[3]
SERVER = str(Path(__file__).with_name("server.py"))


def command(*arguments: str) -> list[str]:
    """What starts the server of these tests over stdio."""
    return [sys.executable, SERVER, *arguments]


@pytest.fixture
async def make_server() -> AsyncIterator[Callable[..., McpServer]]:
    """`make_server(*arguments, **settings)`: a server of these tests, or one that settings name."""
    servers = []

    def make(*arguments: str, **settings: Any) -> McpServer:
        if not {"command", "url"} & settings.keys():
            settings["command"] = command(*arguments)
        tools = configured(ToolsSettings, mcp={"notes": McpServerSettings(**settings)})
        servers.append(McpServer("notes", tools.of("notes")))
        return servers[-1]

    yield make
    for server in servers:
        await server.close()


@contextmanager
def over_http(port: int, *arguments: str) -> Iterator[str]:
    """The server of these tests at this port; the address, once somebody listens there."""
    with Forked("tests.tools.mcp.server", "--http", str(port), *arguments, cwd=ROOT) as child:
        end = time.monotonic() + 60
        while socket.socket().connect_ex(("127.0.0.1", port)):
            assert time.monotonic() < end, f"it never listened: {child.err}"
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"


@pytest.fixture
def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
