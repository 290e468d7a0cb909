"""The data tools of one research: discovery, and calls with fitted arguments, timeouts, retries and parsing."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import BaseModel, Field, JsonValue, ValidationError

from aiq.agents.planner.errors import categorise, with_retries
from aiq.agents.planner.pool import Pool
from aiq.agents.planner.responses import DataPage, ResponseReader
from aiq.agents.planner.settings import PAGE_LIMIT, PlannerSettings
from aiq.agents.planner.state import Arguments, DataDocument
from aiq.agents.toolkit.subagents import gather_ordered
from aiq.agents.toolkit.toolset import parameter_schemas, research_tools
from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.events import Recovery, call_path
from aiq.core.plugins import describe
from aiq.core.session import current
from aiq.core.sources import Source
from aiq.core.tools import Tool, ToolResult

_FLOORS = {"page_size": 10, "samples_per_bucket": 1, "top_n": 5, "top_n_per_group": 2}
_PAGING = {"page_size", "search_after"}


class ToolChoice(BaseModel):
    """Which tools a sub-agent asks, as arguments of its call: all, else those named, else the one named."""

    tool_name: str | None = Field(None, description="the tool to ask; by default the first")
    tool_names: tuple[str, ...] | None = Field(None, description="or several tools")
    use_all_enabled: bool = Field(False, description="or all tools")


class DataTools:
    """The data tools by name. `pool`: the one that is not a tool of the session, if there is a pool."""

    def __init__(self, settings: PlannerSettings, tools: Sequence[Tool], pool: Pool | None) -> None:
        self._settings, self._reader, self.pool = settings, ResponseReader(settings.fields), pool
        self._tools = {tool.name: tool for tool in tools}

    @classmethod
    def discover(cls, settings: PlannerSettings, data_sources: Sequence[str] | None) -> "DataTools":
        """The tools of these data sources if any supports paging, else a pool of what they find."""
        tools = research_tools(data_sources)
        if not tools or any(parameter_schemas(tool.parameters).keys() >= _PAGING for tool in tools):
            return cls(settings, tools, None)
        pool = Pool(settings.pool, settings.calls.at_once, tools)
        return cls(settings, [pool], pool)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def listing(self) -> list[dict[str, JsonValue]]:
        """The tools, in the form in which prompts list them."""
        return [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters.model_json_schema()}
            for tool in self._tools.values()
        ]

    def chosen(self, choice: ToolChoice) -> tuple[str, ...]:
        """The names of the chosen tools that exist, else of the first tool (specification 4.5)."""
        names = self.names if choice.use_all_enabled else choice.tool_names or (choice.tool_name,)
        return tuple(name for name in names if name in self._tools) or self.names[:1]

    async def call(self, name: str, arguments: Arguments, page: int = 0) -> DataPage:
        """The answer to a call, with retries. `page`: see `ResponseReader.read`. Raises ToolError.

        If only a smaller page was not cut off, the following pages have its size.
        """

        async def attempt(args: Arguments) -> DataPage:
            fitted = self._fit(name, args)
            async with asyncio.timeout(self._settings.calls.timeout_seconds):
                result = await self._run(name, fitted)
            answer = self._reader.read(name, result, fitted, page)
            self._declare(name, answer.documents)
            if answer.following is None or args.get("page_size") == arguments.get("page_size"):
                return answer
            return answer.model_copy(update={"following": answer.following | {"page_size": args["page_size"]}})

        return await with_retries(name, attempt, arguments, _FLOORS, self._settings.calls)

    async def call_each(self, calls: Mapping[str, Arguments], page: int = 0) -> dict[str, DataPage | ToolError]:
        """The answer of each tool to its arguments, or its error, which is logged; calls run concurrently."""

        async def call_tool(name: str) -> DataPage | ToolError:
            try:
                return await self.call(name, calls[name], page)
            except ToolError as error:
                current().events.emit(Recovery(what="tool_failed", detail=f"{name}: {categorise(error)}: {error}"))
                return error

        works = [partial(call_tool, name) for name in calls]
        return dict(zip(calls, await gather_ordered(works, self._settings.calls.at_once, page), strict=True))

    def _declare(self, name: str, documents: Sequence[DataDocument]) -> None:
        """Add documents without a URL as sources, because the tool has not declared these."""
        for rank, document in enumerate(documents):
            if not document.url:
                fields = {"title": document.title, "text": document.text, "published": document.date or None}
                source = Source(citation_key=document.address, tool=name, **fields)
                current().sources.add(source, (*call_path.get(), rank))

    async def call_matching(self, name: str, arguments: Arguments) -> tuple[DataPage, Arguments]:
        """The answer to a planned call, and its arguments: without the full-text query if that matches nothing."""
        page = await self.call(name, arguments)
        if page.size or self.pool is not None or not arguments.get("query"):
            return page, arguments
        remaining = {key: value for key, value in arguments.items() if key != "query"}
        current().events.emit(Recovery(what="query_dropped", detail=f"{name}: nothing matches {arguments['query']!r}"))
        return await self.call(name, remaining), remaining

    async def _run(self, name: str, arguments: Arguments) -> ToolResult:
        if self.pool is not None and name == self.pool.name:
            try:
                return await self.pool.run(self.pool.parameters.model_validate(arguments))
            except ValidationError as error:
                raise ToolError(ToolErrorKind.INVALID_ARGUMENTS, f"{name}: {describe(error)}") from None
        return await current().call_tool(name, arguments)

    def _fit(self, name: str, arguments: Arguments) -> Arguments:
        """The arguments that the tool accepts, objects as JSON text if it wants text, the page size within limits."""
        if name not in self._tools:
            return arguments
        parameters = parameter_schemas(self._tools[name].parameters)
        if unknown := sorted(arguments.keys() - parameters.keys()):
            detail = f"{name} has no {', '.join(unknown)}"
            current().events.emit(Recovery(what="arguments_dropped", detail=detail))
        fitted = {key: value for key, value in arguments.items() if key in parameters and value is not None}
        for key, value in fitted.items():
            if isinstance(value, dict | list) and not {"object", "array"} & _types(parameters[key]):
                fitted[key] = json.dumps(value, ensure_ascii=False)
        if isinstance(size := fitted.get("page_size"), int):
            fitted["page_size"] = max(1, min(size, PAGE_LIMIT))
        return fitted


def _types(schema: Mapping[str, Any]) -> set[str]:
    """The JSON types that a parameter may have; object and array if it states none."""
    variants = [schema, *schema.get("anyOf", ())]
    kinds = [kind for variant in variants for kind in _as_list(variant.get("type"))]
    return set(kinds) or {"object", "array"}


def _as_list(kind: Any) -> list[str]:
    return [kind] if isinstance(kind, str) else list(kind or ())
