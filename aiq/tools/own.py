"""Tools of the user's own, named in config: a class, or a function with a docstring."""

import asyncio
import inspect
from collections.abc import Iterator, Mapping
from functools import partial
from types import FunctionType
from typing import Any, get_type_hints

from pydantic import BaseModel, create_model
from pydantic.errors import PydanticUserError

from aiq.core import plugins
from aiq.core.errors import ConfigError
from aiq.core.settings import Plugin, Settings
from aiq.core.tools import Tool, ToolResult


class FunctionTool:
    """A function as a tool: its name, docstring and parameters are what a model sees of it.

    Parameters that config gives `values` are its settings, which no model sees. The function returns text, or a
    `ToolResult` with the sources that it retrieved; without `async` it runs in a thread.
    """

    def __init__(self, function: FunctionType, values: Mapping[str, Any], setting: str) -> None:
        """Raises ConfigError for a function without a docstring, and for a setting that is wrong."""
        self.name, self.description = function.__name__, inspect.getdoc(function) or ""
        if not self.description.strip():
            raise ConfigError(f"{setting}.target: {self.name} has no docstring to tell a model what it does")
        try:
            fields = dict(_fields(function))
            settings_fields = {name: fields.pop(name) for name in values if name in fields}
            configurable = create_model("FunctionSettings", __base__=Settings, **settings_fields)
            self.parameters: type[BaseModel] = create_model(self.name, **fields)
        except (PydanticUserError, NameError, ValueError) as error:
            reason = str(error).partition("\n")[0]
            raise ConfigError(f"{setting}.target: {self.name} cannot be a tool: {reason}") from None
        settings = plugins.validate(configurable, values, setting)
        self.data_source: str | None = setting.rpartition(".")[2]
        self._call = partial(function, **dict(settings))
        self._is_async = inspect.iscoroutinefunction(function)

    async def run(self, arguments: BaseModel) -> ToolResult:
        """Call it; the session books its exceptions as failures of the tool."""
        call = partial(self._call, **dict(arguments))
        result = await call() if self._is_async else await asyncio.to_thread(call)
        return result if isinstance(result, ToolResult) else ToolResult(content="" if result is None else str(result))


def _fields(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Each parameter with (type, default), as pydantic takes them. Raises ValueError for one not passed by name."""
    types = get_type_hints(function, include_extras=True)
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ValueError(f"its parameter {parameter} cannot be passed by name")
        yield name, (types.get(name, str), ... if parameter.default is parameter.empty else parameter.default)


def make_tool(name: str, plugin: Plugin) -> Tool:
    """The tool that config names `tool.<name>`. Raises ConfigError if its target is neither a class nor a function."""
    setting = f"tool.{name}"
    target = plugins.load(plugin.target, f"{setting}.target")
    if isinstance(target, FunctionType):
        return FunctionTool(target, plugin.given, setting)
    missing = [attribute for attribute in ("Settings", *Tool.__annotations__, "run") if not hasattr(target, attribute)]
    if missing:
        raise ConfigError(f"{setting}.target: {plugin.target} must be a function or a class with {', '.join(missing)}")
    tool: Tool = plugin.make(setting)[0]
    return tool
