"""One MCP server: a session that all samples of a run share, opened again when the server has ended.

The SDK's contexts must be exited by the task that entered them, so each connection has a task of its own.
"""

import asyncio
import logging
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from contextvars import Context, copy_context
from typing import IO, Any, Final, TextIO, cast

from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CONNECTION_CLOSED, INVALID_PARAMS, CallToolResult, Implementation, Tool
from pydantic import ValidationError

from aiq import __version__
from aiq.cassettes.guard import other_counter
from aiq.core.concurrency import binding
from aiq.core.errors import AiqError, ConfigError, RunAborted, ToolError, ToolErrorKind
from aiq.core.plugins import describe
from aiq.core.settings import from_environment, headers_of
from aiq.core.tool_settings import McpServerSettings
from aiq.llm.http import SEND_ERRORS, AsyncClient, Limits, Timeout, failure_text
from aiq.llm.route import NetworkTransport

MOST_BYTES: Final = 16 * 2**20
"""Of one event of an HTTP stream: far more than a model can read of a result."""

_TAIL: Final = 4000  # the last characters of a server's stderr, searched for why it ended
_LOGGERS: Final = ("mcp", "client")
_SILENT: Final = logging.NullHandler()


class McpServer:
    """A server as its settings describe it, in which all times and sizes are set.

    Its connections are not the run's client's: headers are for one server, and a stream that it holds open would use up
    one of `llm.max_connections`. Nor are they recorded: calls are, at the tool boundary, over stdio and HTTP alike.
    """

    def __init__(self, name: str, settings: McpServerSettings) -> None:
        self.name, self.settings = name, settings
        self.setting = f"tools.mcp.{name}"
        self._connections: list[_Connection] = []
        self._stderr: IO[str] = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115  closed by `close`
        with binding(other_counter, Counter[str]()):
            self._context = copy_context()  # of no sample, whichever one reconnects
        for logger in _LOGGERS:  # errors tell users what is odd about a server's messages
            logging.getLogger(logger).addHandler(_SILENT)

    async def tools(self) -> list[Tool]:
        """The tools that it lists. Raises ConfigError or RunAborted, one line, if it cannot be reached."""
        try:
            return (await self._connected()).tools
        except AiqError:
            raise
        except TimeoutError:
            problem = f"has not listed its tools within {self.settings.connect_seconds:g} s (connect_seconds)"
            raise RunAborted(f"{self.setting}: {self._place} {problem}{self._stderr_line()}") from None
        except OSError as error:
            reason = f"{error.strerror or error}; check its command"
            raise ConfigError(f"{self.setting}: {self._place} cannot be started: {reason}") from None
        except Exception as error:
            raise RunAborted(f"{self.setting}: {self._place}: {_one_line(error)}{self._stderr_line()}") from None

    async def call(self, tool: str, arguments: dict[str, Any], alias: str) -> CallToolResult:
        """The result of the tool, which models know by the name `alias`.

        Raises ToolError: timeout, invalid_arguments, too_large, malformed, http, failed. After a server has ended, the
        next call starts or reaches it again; the call during which it ended is not repeated, because it may have had
        an effect.
        """
        try:
            return await self._call(tool, arguments)
        except AiqError:
            raise
        except Exception as error:
            raise self._failure(alias, error) from None

    async def _call(self, tool: str, arguments: dict[str, Any], *, retry: bool = True) -> CallToolResult:
        try:
            connection = await self._connected()
        except TimeoutError:
            raise ConnectionError(f"it cannot be reached within {self.settings.connect_seconds:g} s") from None
        try:
            async with asyncio.timeout(self.settings.timeout_seconds):
                return await connection.client.call_tool(tool, arguments)
        except MCPError as error:
            # a server reports an unknown session in words and a code of its own
            session_lost = self.settings.url is not None and "session" in error.message.lower()
            if session_lost or error.code == CONNECTION_CLOSED:
                connection.leave(closes=self.settings.url is None)  # over HTTP other calls may go on
            if not (session_lost and retry):
                raise
        return await self._call(tool, arguments, retry=False)  # an unknown session has carried out nothing

    async def close(self) -> None:
        """Close everything that was opened; a server that does not end by itself is killed. Raises nothing."""
        for connection in self._connections:
            connection.leave()
        await asyncio.gather(*(connection.task for connection in self._connections), return_exceptions=True)
        self._stderr.close()

    async def _connected(self) -> "_Connection":
        """The connection, opened if there is none. Raises what the SDK raises."""
        if not self._connections or self._connections[-1].ended:
            self._connections.append(_Connection(self._open, self.settings.connect_seconds, self._context.copy()))
        connection = self._connections[-1]
        await connection.opened()
        return connection

    async def _open(self, stack: AsyncExitStack) -> Client:
        settings = self.settings
        if settings.command is not None:
            program, *arguments = settings.command
            if program == "aiq":  # our own, which need not be on the PATH
                program, arguments = sys.executable, ["-m", "aiq", *arguments]
            env = {name: from_environment(f"{self.setting}.env", name) for name in settings.env}
            server = StdioServerParameters(command=program, args=arguments, env=env, cwd=settings.cwd)
            transport = stdio_client(server, errlog=cast(TextIO, self._stderr))
        else:
            assert settings.url is not None
            headers = headers_of(self.setting, settings.headers_env)
            timeout = Timeout(None, connect=settings.connect_seconds)
            http = AsyncClient(transport=NetworkTransport(Limits()), headers=headers, timeout=timeout)
            await stack.enter_async_context(http)
            transport = streamable_http_client(settings.url, http_client=http, max_sse_event_size=MOST_BYTES)
        client_info = Implementation(name="aiq", version=__version__)
        return await stack.enter_async_context(Client(transport, client_info=client_info, cache=None))

    def _failure(self, tool: str, error: Exception) -> ToolError:
        """The error for the caller of the tool. What the server wrote to stderr is not for models."""
        server, kind, text = f"{tool}: the MCP server {self.name}", ToolErrorKind.FAILED, f"{tool}: {_one_line(error)}"
        unreachable = ToolErrorKind.HTTP if self.settings.url else ToolErrorKind.FAILED
        match error:
            case TimeoutError():
                kind = ToolErrorKind.TIMEOUT
                text = f"{server} gave no answer within {self.settings.timeout_seconds:g} s"
            case MCPError(code=code) if code == INVALID_PARAMS:
                kind = ToolErrorKind.INVALID_ARGUMENTS
            case MCPError(message=message) if f"{MOST_BYTES} byte limit" in message:  # as httpx2 words it
                kind, text = ToolErrorKind.TOO_LARGE, f"{server} gave more than {MOST_BYTES} bytes; ask for less"
            case MCPError(code=code) if code == CONNECTION_CLOSED:
                kind, text = unreachable, f"{server} ended during the call; another call reaches it anew"
            case ValidationError() | RuntimeError():
                kind = ToolErrorKind.MALFORMED
                text = f"{server} gave what is no result of a tool: {_one_line(error)}"
            case _ if isinstance(error, (OSError, EOFError, *SEND_ERRORS)):
                kind, text = unreachable, f"{server} is away: {_one_line(error)}"
        return ToolError(kind, text)

    @property
    def _place(self) -> str:
        return self.settings.url or " ".join(self.settings.command or ())

    def _stderr_line(self) -> str:
        """The last line of stderr that mentions an error, else the last one."""
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - _TAIL))
        lines = [" ".join(line.split()) for line in self._stderr.read().splitlines() if line.strip()]
        candidates = [line for line in lines if "error" in line.lower()] or lines
        return "".join(f"; it says: {line[:300]}" for line in candidates[-1:])


class _Connection:
    """A task that opens a connection, holds it, and closes it on `leave`.

    Once it is open, `client` and `tools` are set; until the tools are listed, the SDK does not check results.
    """

    client: Client
    tools: list[Tool]

    def __init__(
        self, opens: Callable[[AsyncExitStack], Awaitable[Client]], seconds: float | None, context: Context
    ) -> None:
        self._opening: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._left, self._closing = False, asyncio.Event()
        self.task = asyncio.create_task(self._hold(opens, seconds), context=context)

    async def opened(self) -> None:
        """Wait until it is open. Raises what opening it failed with, TimeoutError after `seconds`."""
        await asyncio.wait([self._opening, self.task], return_when=asyncio.FIRST_COMPLETED)
        if not self._opening.done():
            raise self.task.exception() or EOFError("the server ended")

    @property
    def ended(self) -> bool:
        return self._left or self.task.done()

    def leave(self, *, closes: bool = True) -> None:
        """Let no further call use it; with `closes`, close it."""
        self._left = True
        if closes:
            self._closing.set()
        if closes and not self._opening.done():
            self.task.cancel()

    async def _hold(self, opens: Callable[[AsyncExitStack], Awaitable[Client]], seconds: float | None) -> None:
        """Raises the first of the errors that the SDK's tasks ended with."""
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(seconds):
                    self.client = await opens(stack)
                    self.tools = await _list_tools(self.client)
                self._opening.set_result(None)
                await self._closing.wait()
        except Exception as error:
            while isinstance(error, ExceptionGroup):
                error = error.exceptions[0]
            raise error from None


async def _list_tools(client: Client) -> list[Tool]:
    """The tools of all pages, except those that only run as tasks (protocol of 2025-11-25), which the SDK lacks."""
    page = await client.list_tools()
    tools = [*page.tools]
    while page.next_cursor is not None:
        page = await client.list_tools(cursor=page.next_cursor)
        tools += page.tools
    return [tool for tool in tools if tool.execution is None or tool.execution.task_support != "required"]


def _one_line(error: Exception) -> str:
    """An error in one line."""
    if isinstance(error, ValidationError):
        return describe(error)[:500]
    message = failure_text(error) if isinstance(error, SEND_ERRORS) else str(error) or type(error).__name__
    return " ".join(message.split())[:500]
