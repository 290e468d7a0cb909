"""The commands of `aiq`, one per file, and the options that several of them share."""

from argparse import ArgumentParser
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aiq.core.errors import UserError

if TYPE_CHECKING:  # `--help` needs none of it
    from aiq.core.base import Record

A_RUN: Final = "a run folder, a run id, an experiment (its latest run) or `latest`"


def add_overrides(parser: ArgumentParser, usage: str = "SETTING=VALUE ...") -> None:
    """Settings as for `aiq run`; `usage`: what may follow the command."""
    parser.usage = f"{parser.prog} {usage}"
    parser.add_argument("overrides", nargs="*", metavar="SETTING=VALUE", help="a setting, or GROUP=OPTION")


def add_run(parser: ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help=A_RUN)


def add_results(parser: ArgumentParser, what: str = "runs") -> None:
    parser.add_argument("--results", default="results", metavar="DIR", help=f"where to look for {what} (results)")


def add_json(parser: ArgumentParser) -> None:
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to this file")


def write_json(path: Path | None, record: "Record") -> None:
    """Write the record to the file, if one is named. Raises UserError if that fails."""
    from aiq.core.files import write_text

    if path is not None:
        write_text(path, record.model_dump_json(indent=2) + "\n")


def add_effect(parser: ArgumentParser) -> None:
    """The smallest difference worth detecting."""
    text = "the smallest difference worth detecting, as a share of the metric's range, else of the mean (0.02)"
    parser.add_argument("--effect", type=share, default=0.02, metavar="SHARE", help=text)


def share(text: str) -> float:
    """A share as a number; its name appears in argparse's error. Raises UserError if it is out of range."""
    if not 0 < (number := float(text)) <= 1:
        raise UserError(f"--effect {text}: a share must be above 0 and at most 1, such as 0.02")
    return number
