"""Tools of the user's own, named in config: a class, or a function with a docstring."""

import asyncio
import inspect
from collections.abc import Mapping
from functools import partial
from types import FunctionType
from typing import Any, get_type_hints

from pydantic import BaseModel, create_model

from aiq.core import plugins
from aiq.core.errors import AiqError, ConfigError, ToolError, ToolErrorKind
from aiq.core.settings import Plugin, Settings
from aiq.core.tools import Tool, ToolResult


class FunctionTool:
    """A function as a tool: its name, docstring and parameters are what a model sees of it.

    Parameters that config gives (`given`) are its settings, which no model sees. The function returns text, or a
    `ToolResult` with the sources that it retrieved; without `async` it runs in a thread.
    """

    def __init__(self, function: FunctionType, given: Mapping[str, Any], setting: str) -> None:
        """Raises ConfigError for a function without a docstring, and for a setting that is wrong."""
        if not function.__doc__:
            raise ConfigError(f"{setting}.target: {function.__name__} has no docstring to tell a model what it does")
        kinds = get_type_hints(function, include_extras=True)
        fields: dict[str, Any] = {
            name: (kinds.get(name, str), ... if parameter.default is parameter.empty else parameter.default)
            for name, parameter in inspect.signature(function).parameters.items()
        }
        bound = {name: fields.pop(name) for name in given if name in fields}
        settings = plugins.validate(create_model("FunctionSettings", __base__=Settings, **bound), given, setting)
        self.name = function.__name__
        self.description = inspect.getdoc(function) or ""
        self.parameters: type[BaseModel] = create_model(self.name, **fields)
        self.data_source: str | None = setting.rpartition(".")[2]
        self._call = partial(function, **dict(settings))
        self._is_async = inspect.iscoroutinefunction(function)

    async def run(self, arguments: BaseModel) -> ToolResult:
        """Call it; an exception is a failure of the tool (`failed`), whose text the agent sees."""
        call = partial(self._call, **dict(arguments))
        try:
            result = await call() if self._is_async else await asyncio.to_thread(call)
        except AiqError:
            raise
        except Exception as error:
            raise ToolError(ToolErrorKind.FAILED, f"{self.name}: {type(error).__name__}: {error}") from error
        return result if isinstance(result, ToolResult) else ToolResult(content=str(result))


def make_tool(name: str, plugin: Plugin) -> Tool:
    """The tool that config has as `tool.<name>`. Raises ConfigError where its target is neither class nor function."""
    setting = f"tool.{name}"
    found = plugins.load(plugin.target, f"{setting}.target")
    if isinstance(found, FunctionType):
        return FunctionTool(found, plugin.given, setting)
    lacking = [part for part in ("Settings", *Tool.__annotations__, "run") if not hasattr(found, part)]
    if lacking:
        raise ConfigError(f"{setting}.target: {plugin.target} is no function, and no class with {', '.join(lacking)}")
    tool: Tool = plugin.make(setting)[0]
    return tool
