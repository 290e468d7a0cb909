"""Draw an agent's LangGraph graphs as Mermaid, from the code.

aiq graphs --out docs/reference/graphs.md      AI-Q; without --out the page is printed
aiq graphs agent=mine                          any agent that exposes its graphs

No model is asked, and nothing is fetched.
"""

import asyncio
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aiq.core.errors import UserError

if TYPE_CHECKING:  # `--help` needs none of it
    from aiq.agents.base import Drawing

_HEAD = """# Graphs of {name}

Written by `aiq graphs --out docs/reference/graphs.md` (`make graphs`) from the compiled LangGraph graphs; a test
compares. Dotted edges are conditional.
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.usage = f"{parser.prog} [--out FILE] [agent=NAME] [agent.SETTING=VALUE ...]"
    parser.add_argument("overrides", nargs="*", metavar="agent=NAME", help="the agent and its settings")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the Markdown file to write, instead of printing")


def run(args: Namespace) -> int:
    from aiq.core.files import write_text

    text = asyncio.run(_page(args.overrides))
    if args.out is None:
        print(text, end="")
    else:
        write_text(args.out, text)
    return 0


async def _page(overrides: Sequence[str]) -> str:
    """The agent's graphs as one Markdown page."""
    from aiq.agents.base import Drawable
    from aiq.experiment.compose import compose, settings_from
    from aiq.llm.models import RunModels
    from aiq.llm.transport import open_client

    has_experiment = any(text.startswith("experiment=") for text in overrides)
    settings = settings_from(compose(overrides if has_experiment else ["experiment=full_freshqa", *overrides]))
    agent, _ = settings.agent.make("agent")
    if not isinstance(agent, Drawable):
        raise UserError(f"{settings.agent.target} has no graphs to draw")
    async with open_client(settings.llm, offline_port=None) as client:
        drawings = agent.graphs(RunModels(settings.llm, client))
    return "\n".join([_HEAD.format(name=type(agent).__name__), *map(_section, drawings)])


def _section(drawing: "Drawing") -> str:
    diagram = drawing.graph.get_graph().draw_mermaid().replace("\t", "    ").strip()
    return f"## {drawing.name}\n\n{drawing.text}\n\n```mermaid\n{diagram}\n```\n"
