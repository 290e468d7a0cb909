"""What a tool is, whoever calls it. Tools are made in `aiq.tools`; adapters turn them into a framework's own."""

from collections.abc import Iterable
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import quote

from pydantic import BaseModel

from aiq.core.base import Record
from aiq.core.errors import ConfigError, ToolError, ToolErrorKind
from aiq.core.sources import Page, Source

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionToolParam


FETCH: Final = "fetch_page"
"""The tool whose calls each ask another service, the page's host; any other tool has one service behind it."""


class ToolResult(Record):
    """What a successful call returns: `content` for the model, and in `sources` what counts as retrieved.

    `denied`: results that were left out because of `web.deny`.
    """

    content: str
    sources: tuple[Source, ...] = ()
    denied: int = 0


class Tool(Protocol):
    """A named function over the world.

    `parameters` is the pydantic model of the arguments (its field descriptions reach the prompt). `data_source` is the
    id by which questions select tools; None marks a helper, which is always available and never a source.
    """

    name: str
    description: str
    parameters: type[BaseModel]
    data_source: str | None

    async def run(self, arguments: Any) -> ToolResult:
        """Run the tool; `arguments` is an instance of `parameters`. Raises ToolError, typed, if it has no result."""


def definition(tool: Tool) -> "ChatCompletionToolParam":
    """The tool in the format of chat completions."""
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters.model_json_schema(),
        },
    }


class Toolbox:
    """The tools a run gives to its agents, in the order in which they were passed."""

    def __init__(self, tools: Iterable[Tool], origins: Iterable[str] = repeat("")) -> None:
        """`origins`: the setting that defines each tool. Raises ConfigError if two tools have the same name."""
        self._tools: dict[str, Tool] = {}
        self._origins: dict[str, str] = {}
        for tool, origin in zip(tools, origins, strict=False):
            first_origin = self._origins.setdefault(tool.name, origin)
            if self._tools.setdefault(tool.name, tool) is not tool:
                note = f" (from {first_origin} and {origin})" if origin else ""
                remedy = f"set {origin}.prefix" if origin.startswith("tools.") else "rename one"
                raise ConfigError(f"two tools are called '{tool.name}'{note}; {remedy}")

    def select(self, data_sources: tuple[str, ...] | None) -> tuple[Tool, ...]:
        """Helpers and the tools of these data sources; None means all of them, () means helpers only."""
        allowed = (None, *(data_sources or ()))
        return tuple(tool for tool in self._tools.values() if data_sources is None or tool.data_source in allowed)

    def definitions(self, data_sources: tuple[str, ...] | None = None) -> "list[ChatCompletionToolParam]":
        """The same tools in the format of chat completions (`tools=`)."""
        return [definition(tool) for tool in self.select(data_sources)]

    def origin(self, name: str) -> str:
        """The setting that defines the tool of that name; empty if none was given."""
        return self._origins[name]

    def get(self, name: str) -> Tool:
        """The tool of that name; raises ToolError (unknown_tool), which lists the known names."""
        if name not in self._tools:
            names = ", ".join(sorted(self._tools)) or "none"
            raise ToolError(ToolErrorKind.UNKNOWN_TOOL, f"there is no tool '{name}'; there are: {names}")
        return self._tools[name]


class Reader(Record):
    """A service that reads pages for others: `template` is its address, with `{url}` for the page's.

    `key_env` names the environment variable with its key, which is sent as a bearer token.
    """

    template: str
    key_env: str | None = None

    def address(self, url: str) -> str:
        """The service's address for a page; in a query string the page's address is quoted."""
        prefix, _, suffix = self.template.partition("{url}")
        return prefix + (quote(url, safe="") if "?" in prefix else url) + suffix


class Web(Protocol):
    """Where pages come from: a closed world, a corpus, or the live web behind an address guard."""

    async def fetch(self, url: str, reader: Reader | None = None) -> Page:
        """The page's main text, from the reader service if one is given. Raises ToolError, typed."""
