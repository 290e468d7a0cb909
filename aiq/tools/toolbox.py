"""The run's tools and web, made from its settings: the only place that knows which class a name means."""

import importlib
import pkgutil
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from pydantic import BaseModel, Field

from aiq.cassettes.recorder import Recorder
from aiq.core.errors import ConfigError
from aiq.core.plugins import load
from aiq.core.run_settings import PapersSettings, RunSettings, SearchSettings
from aiq.core.tools import Tool, Toolbox, ToolResult, Web
from aiq.llm.http import AsyncClient, TransportWrapper
from aiq.tools import providers
from aiq.tools.corpus import Corpus
from aiq.tools.own import make_tool
from aiq.tools.papers import PaperProvider, PaperSearch
from aiq.tools.search import SearchProvider, WebSearch
from aiq.tools.web import CorpusWeb, FetchPage, OfflineWeb

PAGE_CHARS = 20_000
"""Characters of a page that `fetch_page` shows: some 5,000 tokens."""


class ThinkArguments(BaseModel):
    """Arguments of `think`."""

    thought: str = Field(description="What you found, what is missing, what you will do next.")


class Think:
    """`think`: returns the thought, so that it is in the conversation and in the event log. Never a source."""

    name = "think"
    description = (
        "Write down your reasoning: take stock of what was found, check it against the task, decide on the next step. "
        "Retrieves nothing and changes nothing."
    )
    parameters: type[BaseModel] = ThinkArguments
    data_source: str | None = None

    async def run(self, arguments: ThinkArguments) -> ToolResult:
        return ToolResult(content=f"Thought recorded: {arguments.thought}")


@asynccontextmanager
async def open_toolbox(
    settings: RunSettings, web: Web, client: AsyncClient, recorder: Recorder, collections: Iterable[str] = ()
) -> AsyncIterator[Toolbox]:
    """The tools of `build_toolbox` behind the recorder, with those of MCP servers, which run for as long as it is open.

    Raises UserError for bad settings, and for a server that cannot be used.
    """
    async with AsyncExitStack() as stack:
        servers: Mapping[str, Sequence[Tool]] = {}
        if settings.tools.mcp:
            from aiq.tools.mcp.servers import open_servers  # loads the SDK, which takes a second

            servers = await stack.enter_async_context(open_servers(settings, recorder))
        yield build_toolbox(settings, web, client, collections, recorder.tool, servers)


def build_toolbox(
    settings: RunSettings,
    web: Web,
    client: AsyncClient,
    collections: Iterable[str] = (),
    wrap: Callable[[Tool], Tool] = lambda tool: tool,
    servers: Mapping[str, Sequence[Tool]] = {},
) -> Toolbox:
    """Search, fetch, papers if there is a provider, documents if there are collections, the user's own tools,
    those of MCP servers (by setting), and think, in this order.

    `collections`: those that questions name. `wrap` wraps the tools that make no HTTP requests through `client`.
    Raises UserError for bad settings.
    """
    search, papers, knowledge = settings.search, settings.papers, settings.knowledge
    provider = make_provider(SearchProvider, search, "search", client)
    entries: list[tuple[str, Tool]] = [
        (f"search.provider={search.provider}", WebSearch(provider, search, settings.web.deny)),
        (f"web={settings.web.kind}", FetchPage(web, max_chars=PAGE_CHARS)),
    ]
    if papers.provider is not None:
        paper_provider = make_provider(PaperProvider, papers, "papers", client)
        entries.append((f"papers.provider={papers.provider}", PaperSearch(paper_provider, papers, settings.web.deny)))
    if names := tuple(dict.fromkeys(filter(None, [*collections, knowledge.collection]))):
        from aiq.tools.knowledge.search import KnowledgeSearch

        entries.append((f"knowledge.dir={knowledge.dir}", KnowledgeSearch(knowledge, names)))
    entries.extend((f"tool.{name}", wrap(make_tool(name, plugin))) for name, plugin in settings.tool.items())
    entries.extend((setting, wrap(tool)) for setting, server_tools in servers.items() for tool in server_tools)
    origins, tools = zip(*entries, ("aiq", Think()), strict=True)
    return Toolbox(tools, origins)


def make_provider(kind: type, settings: SearchSettings | PapersSettings, section: str, client: AsyncClient) -> Any:
    """The named subclass of `kind` in `aiq.tools.providers`, or a `package.module:Class`. Raises ConfigError."""
    target, setting, folder = settings.provider or "", f"{section}.provider", f"{providers.__name__}."
    if ":" in target:
        return load(target, setting)(settings, client)
    for file in pkgutil.iter_modules(providers.__path__, folder):
        importlib.import_module(file.name)
    subclasses: list[type] = kind.__subclasses__()
    shipped = {cls.__module__.removeprefix(folder): cls for cls in subclasses if cls.__module__.startswith(folder)}
    if target not in shipped:
        available = f"there are: {', '.join(sorted(shipped))}, or a class of your own as package.module:Class"
        raise ConfigError(f"{setting}={target}: there is no such provider; {available}")
    return shipped[target](settings, client)


def build_web(settings: RunSettings, client: AsyncClient, wrap: TransportWrapper = lambda way: way) -> Web:
    """The web that pages are fetched from; `wrap` wraps the transports that are not the client's.

    Raises ConfigError or DatasetError.
    """
    match settings.web.kind:
        case "live":
            from aiq.tools.live import LiveWeb

            return LiveWeb(settings.web, wrap=wrap)
        case "offline":
            return OfflineWeb(client, settings.web)
        case "corpus":
            return CorpusWeb(Corpus.load(settings.search.corpus), settings.web.deny)
