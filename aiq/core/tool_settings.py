"""Section `tools`: MCP servers, whose tools a run gives to its agents besides its own."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from aiq.core.settings import Count, Endpoint, Names, OneOrMore, Positive, Settings


def _require_list(value: object) -> object:
    if isinstance(value, str):
        raise ValueError("write a list of words: [npx, -y, PACKAGE]")
    return value


Command = Annotated[
    tuple[Annotated[str, Field(coerce_numbers_to_str=True)], ...],
    Field(min_length=1),
    BeforeValidator(_require_list),
]


class McpServerSettings(Settings):
    """A server, by `command` or by `url`. A setting that is null is as section `tools` has it for all servers."""

    command: Command | None = Field(None, description="what starts it, to speak MCP over stdio: [PROGRAM, ...]")
    url: Endpoint | None = Field(None, description="or its address, for MCP over streamable HTTP")
    env: OneOrMore = Field(
        (), description="for command: environment variables that it gets besides PATH, HOME and the like"
    )
    cwd: str | None = Field(None, description="for command: the folder it runs in; null: the current one")
    headers_env: Mapping[str, str] = Field(
        {}, description="for url: for each header, the environment variable with its value: {Authorization: MY_TOKEN}"
    )
    tools: Names = Field(None, description="which of its tools, by the server's names; null: all")
    prefix: str = Field("", pattern=r"^[\w-]*$", description="in front of each tool's name")
    data_source: str | None = Field(
        None, pattern=r"\S", description="the id by which questions select its tools; null: the server's name"
    )
    sources: Literal["declared", "text"] = Field(
        "declared", description="declared: resources, and addresses in JSON; text: URLs in other texts are sources too"
    )
    connect_seconds: Positive | None = Field(None, description="time to connect and list its tools")
    timeout_seconds: Positive | None = Field(None, description="per call")
    max_chars: Count | None = Field(None, description="characters per result")

    @model_validator(mode="after")
    def _is_reached_in_one_way(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("name either its command, [PROGRAM, ...], or its url")
        if self.url is not None and (self.env or self.cwd is not None):
            raise ValueError("env and cwd go with command, not with url")
        if self.command is not None and self.headers_env:
            raise ValueError("headers_env goes with url, not with command")
        return self


ServerName = Annotated[str, Field(pattern=r"^[\w-]+$")]


class ToolsSettings(Settings):
    """Section `tools`."""

    mcp: Mapping[ServerName, McpServerSettings] = Field(
        description="servers by name: tools.mcp.NAME.command=[PROGRAM, ...] or tools.mcp.NAME.url=ADDRESS"
    )
    connect_seconds: Positive = Field(description="time for an MCP server to list its tools, when the run starts")
    timeout_seconds: Positive = Field(description="per call of an MCP tool")
    max_chars: Count = Field(description="characters per result of an MCP tool; a result says where it was cut")

    def of(self, name: str) -> McpServerSettings:
        """The settings of a server, with the common ones where it has none of its own."""
        server = self.mcp[name]
        common = ("connect_seconds", "timeout_seconds", "max_chars")
        return server.model_copy(update={key: getattr(server, key) or getattr(self, key) for key in common})
