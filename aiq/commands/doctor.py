"""Try what a run needs (key, model, tools, JSON, usage, search, output folder), and say which settings to use.

aiq doctor                                        the offline stack
aiq doctor llm=ollama llm.model=MODEL             settings as for `aiq run`; makes a few cheap calls

Exit code 0: a run with these settings can work; 1: it cannot, for the reasons in the table.
"""

import asyncio
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from aiq.commands import add_overrides

if TYPE_CHECKING:  # `--help` needs none of it
    from aiq.core.run_settings import RunSettings
    from aiq.experiment.doctor import Finding

_WIDTH = 80
_CHECK_WIDTH = 14  # of the longest check name
_STYLES = {"ok": "green", "note": "yellow", "fails": "bold red"}


def add_arguments(parser: ArgumentParser) -> None:
    add_overrides(parser)


def run(args: Namespace) -> int:
    from aiq.experiment.compose import settings

    findings = asyncio.run(_examine(settings(*args.overrides)))
    suggestions = [setting for finding in findings for setting in finding.settings]
    can_work = all(finding.level != "fails" for finding in findings)
    print("\nA run with these settings can work." if can_work else "\nA run with these settings cannot work.")
    if suggestions:
        print("Settings to use:\n" + "\n".join(f"  {setting}" for setting in suggestions))
    return 0 if can_work else 1


async def _examine(settings: "RunSettings") -> "list[Finding]":
    """All findings, each shown as it comes, even without a terminal."""
    from rich.table import Table
    from rich.text import Text

    from aiq.core.secrets import mask_secrets
    from aiq.experiment.doctor import examine
    from aiq.site.tables import Output

    findings = []
    console = Output(highlight=False)
    async for finding in examine(settings):
        findings.append(finding)
        row = Table.grid(padding=(0, 2))
        for width in (_CHECK_WIDTH, max(map(len, _STYLES)), None):
            row.add_column(width=width, overflow="fold")
        row.add_row(finding.check, Text(finding.level, _STYLES[finding.level]), Text(mask_secrets(finding.message)))
        console.print(row, width=min(console.width, _WIDTH))
    return findings
