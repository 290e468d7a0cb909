"""The tools of a run, selected by data source or name."""

from collections.abc import Sequence

from aiq.core.errors import ConfigError, ToolError, ToolErrorKind
from aiq.core.tools import Tool


class FixedToolbox:
    """Implements core `Toolbox` over the tools it was made with, in their order."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        """Raises ConfigError when two tools have the same name."""
        self._tools = tuple(tools)
        self._by_name: dict[str, Tool] = {}
        for tool in self._tools:
            if tool.name in self._by_name:
                raise ConfigError(f"two tools are called '{tool.name}'; rename one")
            self._by_name[tool.name] = tool

    def select(self, data_sources: tuple[str, ...] | None) -> tuple[Tool, ...]:
        """Helpers and the tools of these data sources; None means of all, () means helpers only."""
        return tuple(
            tool
            for tool in self._tools
            if tool.data_source is None or data_sources is None or tool.data_source in data_sources
        )

    def get(self, name: str) -> Tool:
        """The tool of that name; raises ToolError (unknown_tool) that lists the names there are."""
        try:
            return self._by_name[name]
        except KeyError:
            names = ", ".join(sorted(self._by_name)) or "none"
            raise ToolError(ToolErrorKind.UNKNOWN_TOOL, f"there is no tool '{name}'; there are: {names}") from None
