"""The commands of `aiq`, a file each, and here the options that several of them have."""

from argparse import ArgumentParser
from pathlib import Path
from typing import TYPE_CHECKING

from aiq.core.errors import UserError

if TYPE_CHECKING:  # `--help` needs none of it
    from aiq.core.base import Record


def add_overrides(parser: ArgumentParser, usage: str = "SETTING=VALUE ...") -> None:
    """Settings as of `aiq run`; `usage`: what may be typed after the command."""
    parser.usage = f"{parser.prog} {usage}"
    parser.add_argument("overrides", nargs="*", metavar="SETTING=VALUE", help="a setting, or GROUP=OPTION")


def add_run(parser: ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run folder, a run id, or `latest`")


def add_results(parser: ArgumentParser, what: str = "runs") -> None:
    parser.add_argument("--results", default="results", metavar="DIR", help=f"where {what} are looked for (results)")


def add_json(parser: ArgumentParser) -> None:
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure here")


def write_json(path: Path | None, found: "Record") -> None:
    """Write all of it where a file is named. Raises UserError where that cannot be."""
    from aiq.core.files import write_text

    if path is not None:
        write_text(path, found.model_dump_json(indent=2) + "\n")


def add_effect(parser: ArgumentParser) -> None:
    """What is worth finding; one that is no share is a UserError."""
    what = "a difference worth finding, as a share of the metric's range, or else of the mean (0.02)"
    parser.add_argument("--effect", type=share, default=0.02, metavar="SHARE", help=what)


def share(text: str) -> float:
    """By this name argparse refuses what is no number."""
    if not 0 < (number := float(text)) <= 1:
        raise UserError(f"--effect {text}: a share of a metric's range is above 0 and at most 1, such as 0.02")
    return number
