"""Draw AI-Q's LangGraph graphs as Mermaid, from the code.

Without --out the page is printed. No model is asked, and nothing is fetched.
"""

import asyncio
from argparse import ArgumentParser, Namespace
from pathlib import Path

from aiq.core.errors import UserError


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, metavar="FILE", help="the Markdown file to write, e.g. docs/graphs.md")


def run(args: Namespace) -> int:
    text = asyncio.run(_drawn())
    if args.out is None:
        print(text, end="")
    else:
        try:
            args.out.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UserError(f"--out {args.out}: {error.strerror}") from None
    return 0


async def _drawn() -> str:
    from aiq.agents.ai_q.chat import page
    from aiq.agents.ai_q.settings import AiqSettings
    from aiq.core.settings import LlmSettings
    from aiq.llm.models import RunModels
    from aiq.llm.transport import open_client

    nowhere = LlmSettings(base_url="http://model.offline.example/v1", model="none")
    async with open_client(nowhere, offline_port=None) as client:
        return page(AiqSettings(), RunModels(nowhere, client))
