"""The MCP servers of a run, from settings to tools: started at once, listed, recorded, and ended with the run."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from jsonschema import SchemaError  # type: ignore[import-untyped]
from jsonschema.validators import Draft202012Validator, validator_for  # type: ignore[import-untyped]
from pydantic import BaseModel, ConfigDict, JsonValue, model_validator
from referencing import Registry
from referencing.exceptions import Unresolvable

from aiq.cassettes.recorder import Recorder
from aiq.core.base import Record
from aiq.core.concurrency import gather_bounded
from aiq.core.errors import ConfigError, UserError
from aiq.core.run_settings import RunSettings
from aiq.core.tools import Tool, ToolResult
from aiq.tools.deny import DenyList
from aiq.tools.mcp.client import McpServer
from aiq.tools.mcp.results import Reading

_RECORDED: Final = "mcp"
"""The key of a recording under which the tools of each server are, by its name."""

_LONGEST_NAME: Final = 64  # characters that OpenAI allows in a function's name: letters, digits, _ and -
_NOT_IN_NAMES: Final = re.compile(r"[^a-zA-Z0-9_-]")


class ListedTool(Record):
    """A tool as its server lists it; `parameters` is the JSON schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, JsonValue]


@asynccontextmanager
async def open_servers(settings: RunSettings, recorder: Recorder) -> AsyncIterator[Mapping[str, Sequence[Tool]]]:
    """The tools of each server, by its place in the settings (`tools.mcp.NAME`).

    If the recording that answers has a server's tools, it is started by the first call that is not recorded; in a
    replay never. Raises UserError, one line, for a server that cannot be used.
    """
    servers = [McpServer(name, settings.tools.of(name)) for name in settings.tools.mcp]
    try:
        recorded = recorder.about.get(_RECORDED, {}) if recorder.reads else {}

        async def fetch(server: McpServer) -> Any:
            if server.name in recorded:
                return recorded[server.name]
            if recorder.replays:
                raise UserError(f"{server.setting}: the recording has no such server; record it with cassette=auto")
            return [_listed_tool(tool).model_dump(mode="json") for tool in await server.tools()]

        tools = dict(zip((s.name for s in servers), await gather_bounded(servers, fetch, len(servers)), strict=True))
        recorder.describe({_RECORDED: tools})
        tools = recorder.about.get(_RECORDED, tools) if recorder.writes else tools  # as a replay will read it
        deny = DenyList(settings.web.deny)
        yield {s.setting: [McpTool(s, tool, deny) for tool in _select(s, tools[s.name])] for s in servers}
    finally:
        await asyncio.gather(*(server.close() for server in servers))


def _listed_tool(tool: Any) -> ListedTool:
    description = tool.description or tool.title or tool.name
    parameters = {"type": "object", "properties": {}, **tool.input_schema}
    return ListedTool(name=tool.name, description=description.strip(), parameters=parameters)


def _select(server: McpServer, listing: Iterable[Any]) -> list[ListedTool]:
    """The tools of a server that its settings select. Raises ConfigError for one that it does not have."""
    tools = {tool.name: tool for tool in map(ListedTool.model_validate, listing)}
    names = list(tools) if server.settings.tools is None else server.settings.tools
    for name in names:
        if name not in tools:
            available = ", ".join(tools) or "none"
            raise ConfigError(f"{server.setting}.tools: the server has no tool '{name}'; there are: {available}")
    return [tools[name] for name in names]


class McpTool:
    """A tool of an MCP server."""

    def __init__(self, server: McpServer, definition: ListedTool, deny: DenyList) -> None:
        settings = server.settings
        self.name = _NOT_IN_NAMES.sub("_", settings.prefix + definition.name)[:_LONGEST_NAME]
        self.description = definition.description
        self.parameters = arguments_of(definition.parameters)
        self.data_source: str | None = settings.data_source or server.name
        self._server, self._definition, self._deny = server, definition, deny

    async def run(self, arguments: BaseModel) -> ToolResult:
        """Raises ToolError: denied, or as `McpServer.call` and `Reading.result` do."""
        values = arguments.model_dump(mode="json")
        for text in _strings(values):
            self._deny.check(text)
        settings = self._server.settings
        assert settings.max_chars is not None
        result = await self._server.call(self._definition.name, values, self.name)
        in_text = settings.sources == "text"
        return Reading(self.name, settings.max_chars, self._deny, urls_in_text=in_text).result(result)


def arguments_of(schema: Mapping[str, Any]) -> type[BaseModel]:
    """A model that accepts what the JSON schema accepts and shows it as its own; if that is invalid, everything."""
    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
        validator = kind(schema, registry=Registry())  # without a way to fetch what the schema refers to
    except SchemaError:
        validator = kind({})

    class Arguments(BaseModel):
        model_config = ConfigDict(extra="allow")

        @model_validator(mode="before")
        @classmethod
        def _fits(cls, values: Any) -> Any:
            try:
                problems = [
                    f"{'.'.join(map(str, e.path))}: {e.message}".lstrip(": ") for e in validator.iter_errors(values)
                ]
            except Unresolvable:
                problems = []
            if problems:
                raise ValueError("; ".join(text[:300] for text in problems[:3]))
            return values

        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
            return dict(schema)

    return Arguments


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from _strings(inner)
