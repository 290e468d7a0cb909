"""From settings to the run's tools and web: the only place that knows which class a name means."""

import pkgutil
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from aiq.core.errors import ConfigError, ToolError, ToolErrorKind
from aiq.core.plugins import load
from aiq.core.settings import KnowledgeSettings, PapersSettings, Plugin, SearchSettings, WebSettings
from aiq.core.tools import Tool, Toolbox, Web
from aiq.llm.http import AsyncClient
from aiq.tools import paper_providers, providers
from aiq.tools.corpus import Corpus
from aiq.tools.fetch import FetchPage
from aiq.tools.own import make_tool
from aiq.tools.papers import PaperProvider, PaperSearch
from aiq.tools.search import SearchProvider, WebSearch
from aiq.tools.think import Think


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


PAGE_CHARS = 20_000
"""Characters of a page that `fetch_page` shows: some 5,000 tokens."""


def build_toolbox(
    search: SearchSettings,
    web: Web,
    client: AsyncClient,
    *,
    papers: PapersSettings | None = None,
    knowledge: KnowledgeSettings | None = None,
    collections: Sequence[str] = (),
    own: Mapping[str, Plugin] | None = None,
) -> Toolbox:
    """Search, fetch, papers where there is a provider, documents where there are collections, those of the
    user's own, and think, in this order.

    `collections`: those that questions name. Raises ConfigError, UserError or DatasetError for bad settings.
    """
    tools: list[Tool] = [WebSearch(web_provider(search, client), search), FetchPage(web, max_chars=PAGE_CHARS)]
    if papers is not None and papers.provider is not None:
        tools.append(PaperSearch(paper_provider(papers, client), papers))
    if knowledge is not None and (named := dict.fromkeys([*collections, *filter(None, [knowledge.collection])])):
        from aiq.tools.knowledge.search import KnowledgeSearch

        tools.append(KnowledgeSearch(knowledge, tuple(named)))
    tools.extend(make_tool(name, plugin) for name, plugin in (own or {}).items())
    return FixedToolbox([*tools, Think()])


def web_provider(search: SearchSettings, client: AsyncClient) -> SearchProvider:
    made: SearchProvider = _provider(search.provider, "search.provider", providers)(search, client)
    return made


def paper_provider(papers: PapersSettings, client: AsyncClient) -> PaperProvider:
    made: PaperProvider = _provider(papers.provider or "", "papers.provider", paper_providers)(papers, client)
    return made


def _provider(target: str, setting: str, folder: ModuleType) -> Any:
    """The class `Provider` of a file of the folder, or the class of `package.module:Class`. Raises ConfigError."""
    if ":" not in target:
        known = sorted(module.name for module in pkgutil.iter_modules(folder.__path__))
        if target not in known:
            raise ConfigError(
                f"{setting}={target}: there is no such provider; there are: {', '.join(known)}, "
                "or a class of your own as package.module:Class"
            )
        target = f"{folder.__name__}.{target}:Provider"
    return load(target, setting)


def build_web(settings: WebSettings, search: SearchSettings, *, client: AsyncClient) -> Web:
    """The web that pages are fetched from.

    `offline` goes through the run's client, `corpus` reads `search.corpus`, `live` has connections
    of its own behind the address guard. Raises ConfigError, UserError or DatasetError.
    """
    if settings.kind == "live":
        from aiq.tools.live import LiveWeb

        return LiveWeb(settings)
    from aiq.tools.web import CorpusWeb, OfflineWeb

    if settings.kind == "offline":
        return OfflineWeb(client, settings)
    if search.corpus is None:
        raise ConfigError("search.corpus must be set for web=corpus: a JSONL of url, title, text")
    return CorpusWeb(Corpus.load(search.corpus))
