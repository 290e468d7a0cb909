"""Which tools a researcher may use: those of its data sources, narrowed to the ones that its settings name."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel, JsonValue

from aiq.core.errors import ConfigError
from aiq.core.samples import Document, Question
from aiq.core.session import current
from aiq.core.tools import Tool, Toolbox


def sources_of(question: Question, configured: Sequence[str] | None) -> list[str] | None:
    """The data sources of a question: its own list, else the configured one; None means all."""
    sources = configured if question.data_sources is None else question.data_sources
    return None if sources is None else list(sources)


def documents_of(question: Question, data_sources: Sequence[str] | None) -> list[Document] | None:
    """The documents that prompts list: None if these data sources leave no tool to search them."""
    is_barred = data_sources is not None and "documents" not in data_sources
    return None if is_barred else list(question.documents) or None


def research_tools(data_sources: Sequence[str] | None, names: Sequence[str] | None = None) -> tuple[Tool, ...]:
    """Those of `tools_for` that belong to a data source."""
    return tuple(tool for tool in tools_for(data_sources, names) if tool.data_source)


def tools_for(data_sources: Sequence[str] | None, names: Sequence[str] | None) -> tuple[Tool, ...]:
    """The tools of the bound session for these data sources (None: all), in the run's order.

    `names` (None: all) narrows them; helpers such as `think` stay. Raises ConfigError as `check_tools` does.
    """
    tools = current().tools
    check_tools(tools, "data_sources", data_sources=data_sources)
    selected = tools.select(None if data_sources is None else tuple(data_sources))
    return tuple(tool for tool in selected if names is None or tool.data_source is None or tool.name in names)


def check_tools(
    tools: Toolbox, setting: str, names: Sequence[str] | None = None, data_sources: Sequence[str] | None = None
) -> None:
    """Raise ConfigError for a tool or data source that the run does not have: it would silently allow nothing."""
    all_tools = tools.select(None)
    sources = dict.fromkeys(tool.data_source for tool in all_tools if tool.data_source)
    checks = [("tool", name, [tool.name for tool in all_tools]) for name in names or ()]
    checks += [("data source", name, list(sources)) for name in data_sources or ()]
    for kind, name, valid in checks:
        if name not in valid:
            raise ConfigError(f"{setting}: this run has no {kind} '{name}'; there are: {', '.join(valid) or 'none'}")


@cache  # pydantic rebuilds a schema each time
def parameter_schemas(parameters: type[BaseModel]) -> Mapping[str, Any]:
    """The JSON schema of each argument of a tool with these parameters."""
    properties: Mapping[str, Any] = parameters.model_json_schema().get("properties", {})
    return properties


def listing(tools: Sequence[Tool]) -> list[dict[str, JsonValue]]:
    """Tools as prompts list them."""
    return [{"name": tool.name, "description": tool.description} for tool in tools]
