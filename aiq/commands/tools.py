"""List the tools that a run would give its agents, including those of MCP servers.

aiq tools experiment=shallow_freshqa
aiq tools --json tools.mcp.NAME.url=ADDRESS          with full descriptions and schemas

Settings are those of `aiq run`. MCP servers are started and asked; no model is called, and nothing is searched.
"""

import asyncio
import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from textwrap import fill
from typing import TYPE_CHECKING, Any

from aiq.commands import add_overrides

if TYPE_CHECKING:  # `--help` needs none of it
    from aiq.core.run_settings import RunSettings

_WIDTH = 80
_HEADINGS = ("tool", "data source", "from")


def add_arguments(parser: ArgumentParser) -> None:
    add_overrides(parser, "[--json] SETTING=VALUE ...")
    parser.add_argument("--json", action="store_true", help="print a JSON list")


def run(args: Namespace) -> int:
    from aiq.experiment.compose import settings

    tools = asyncio.run(_tools(settings(*args.overrides)))
    print(json.dumps(tools, ensure_ascii=False, indent=2) if args.json else "\n".join(_table(tools)))
    return 0


async def _tools(settings: "RunSettings") -> list[dict[str, Any]]:
    """The tools of a run, in order; if it would be replayed, those of the recording."""
    from aiq.datasets import load
    from aiq.experiment.plan import collections_of, with_documents
    from aiq.experiment.recording import open_recorder
    from aiq.llm.transport import open_client
    from aiq.tools.toolbox import build_web, open_toolbox

    if settings.cassette.mode != "replay":  # listing tools must record nothing
        settings = settings.changed("cassette", mode="off")
    samples = with_documents(
        load(settings.dataset, seed=settings.seed, limit=settings.limit).samples, settings.knowledge
    )
    async with AsyncExitStack() as stack:
        recorder = stack.enter_context(open_recorder(settings))
        client = await stack.enter_async_context(open_client(settings.llm, offline_port=None, wrap=recorder.transport))
        web = build_web(settings, client)
        context = open_toolbox(settings, web, client, recorder, collections_of(samples))
        toolbox = await stack.enter_async_context(context)
        return [
            {
                "name": tool.name,
                "data_source": tool.data_source,
                "from": toolbox.origin(tool.name),
                "description": tool.description,
                "parameters": tool.parameters.model_json_schema(),
            }
            for tool in toolbox.select(None)
        ]


def _table(tools: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A row for each tool, and below it its arguments (`?`: optional) and what it does."""
    from aiq.core.text import printable

    rows = [_HEADINGS, *((tool["name"], tool["data_source"] or "-", tool["from"]) for tool in tools)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row, tool in zip(rows, (None, *tools), strict=True):
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        if tool is not None:
            schema, line = tool["parameters"], tool["description"].strip().partition("\n")[0]
            names = (f"{name}{'' if name in schema.get('required', ()) else '?'}" for name in schema["properties"])
            yield fill(printable(f"({', '.join(names)}) {line}"), _WIDTH, initial_indent="  ", subsequent_indent="  ")
