"""From settings to the run's tools and web: the only place that knows which classes stand behind which names."""

import pkgutil
from typing import cast

from aiq.core.errors import ConfigError
from aiq.core.plugins import load
from aiq.core.settings import SearchSettings, WebSettings
from aiq.core.tools import Toolbox, Web
from aiq.llm.http import AsyncClient
from aiq.tools import providers
from aiq.tools.fetch import FetchPage
from aiq.tools.search import SearchProvider, WebSearch
from aiq.tools.think import Think
from aiq.tools.toolbox import FixedToolbox

PAGE_CHARS = 20_000
"""Characters of a page that `fetch_page` shows: some 5,000 tokens."""


def build_toolbox(search: SearchSettings, web: Web, client: AsyncClient) -> Toolbox:
    """Search, fetch and think, in this order. Raises ConfigError, UserError or DatasetError for bad settings."""
    provider = build_provider(search, client)
    return FixedToolbox([WebSearch(provider, search), FetchPage(web, max_chars=PAGE_CHARS), Think()])


def build_provider(search: SearchSettings, client: AsyncClient) -> SearchProvider:
    """The class `Provider` of `aiq.tools.providers.<name>`, or of `package.module:Class`, made."""
    target = search.provider
    if ":" not in target:
        known = sorted(module.name for module in pkgutil.iter_modules(providers.__path__))
        if target not in known:
            raise ConfigError(
                f"search.provider={target}: there is no such provider; there are: {', '.join(known)}, "
                "or a class of your own as package.module:Class"
            )
        target = f"{providers.__name__}.{target}:Provider"
    return cast(SearchProvider, load(target, "search.provider")(search, client))


def build_web(settings: WebSettings, search: SearchSettings, *, client: AsyncClient) -> Web:
    """The web that pages are fetched from.

    `offline` goes through the run's client, `corpus` reads `search.corpus`, `live` has connections
    of its own behind the address guard. Raises ConfigError, UserError or DatasetError.
    """
    if settings.kind == "offline":
        from aiq.tools.web import OfflineWeb

        return OfflineWeb(client, settings)
    if settings.kind == "corpus":
        from aiq.tools.web import CorpusWeb

        if search.corpus is None:
            raise ConfigError("search.corpus must be set for web=corpus: a JSONL of url, title, text")
        return CorpusWeb.load(search.corpus)
    from aiq.tools.live import LiveWeb

    return LiveWeb(settings)
