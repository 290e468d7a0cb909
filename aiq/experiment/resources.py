"""What a run opens once and lends to its sessions: the offline stack, the HTTP client, models, tools, checkpointer."""

import asyncio
import importlib
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from aiq.core import plugins
from aiq.core.hosts import is_offline
from aiq.core.models import Models
from aiq.core.settings import RunSettings
from aiq.core.tools import Toolbox, Web
from aiq.experiment.checkpointer import open_checkpointer


@dataclass(frozen=True)
class Resources:
    """Lent to every session of a run; closed when the run ends."""

    models: Models
    tools: Toolbox
    web: Web
    checkpointer: Any


@asynccontextmanager
async def open_resources(settings: RunSettings, collections: Sequence[str] = ()) -> AsyncIterator[Resources]:
    """Start and open everything, and ask the model's endpoint whether it is there.

    `collections`: the document collections that questions name. Raises RunAborted, one line, when the
    endpoint refuses connections or the key.
    """
    from aiq.llm.http import open_client
    from aiq.llm.models import RunModels
    from aiq.tools.build import build_toolbox, build_web

    async with AsyncExitStack() as opened:
        libraries = asyncio.get_running_loop().run_in_executor(None, _load_libraries, settings.web.kind)
        port: int | None = None
        if needs_offline_stack(settings):
            stack = plugins.load(settings.offline.target, "offline.target")(settings.offline, settings.seed)
            opened.push_async_callback(stack.stop)
            port = await stack.start()
        client = await opened.enter_async_context(open_client(settings.llm, offline_port=port))
        models = RunModels(settings.llm, client)
        await models.check()
        web = build_web(settings.web, settings.search, client=client)
        await libraries
        tools = build_toolbox(
            settings.search,
            web,
            client,
            papers=settings.papers,
            knowledge=settings.knowledge,
            collections=collections,
        )
        saver = await opened.enter_async_context(open_checkpointer(settings.checkpointer))
        yield Resources(models, tools, web, saver)


def needs_offline_stack(settings: RunSettings) -> bool:
    """Whether any endpoint of the run is one of the reserved host names that the offline stack answers."""
    hosts = (_is_offline(settings.llm.base_url), _is_offline(settings.search.base_url))
    return any(hosts) or settings.web.kind == "offline"


def is_offline_model(settings: RunSettings) -> bool:
    """Whether answers come from the offline model, here or at an endpoint that `aiq offline` serves."""
    return _is_offline(settings.llm.base_url) or settings.llm.model.startswith("offline-")


def _is_offline(url: str | None) -> bool:
    return is_offline(urlsplit(url or "").hostname or "")


def _load_libraries(web: str) -> None:
    """Import what the first attempt would otherwise wait for and be timed with (1 to 3 s), while the stack starts."""
    libraries = ["openai.resources.chat.completions.completions"]  # the client leaves it to its first call
    if "langgraph" in sys.modules:
        libraries += ["langchain_openai", "tiktoken"]
    if web != "corpus":
        libraries.append("trafilatura")
    for library in libraries:
        importlib.import_module(library)
