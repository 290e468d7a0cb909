"""Runs as tables for other programs: a CSV or Parquet file for each frame of `aiq.load_runs`."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from aiq.runs.frames import COLUMNS, RunFrames

if TYPE_CHECKING:
    from pandas import DataFrame

_LOCAL: Final = "folder"  # where a run is on this machine, which concerns nobody else
_FORMULA: Final = re.compile(r"['\s\0]*[=+\-@＝＋－＠]|['\t\r]")


def write_tables(frames: RunFrames, out: Path, kind: Literal["csv", "parquet"]) -> list[Path]:
    """Write `runs`, `metrics`, `samples` and `scores` below `out`.

    Parquet has the values as they are. In CSV a text that a spreadsheet would take for a formula has an apostrophe
    before it (`escape_formula`), because questions and reports are untrusted.
    """
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for name in COLUMNS:
        frame: DataFrame = getattr(frames, name).drop(columns=_LOCAL, errors="ignore")
        written.append(out / f"{name}.{kind}")
        if kind == "csv":
            frame.map(escape_formula).to_csv(written[-1], index=False)
        else:
            frame.to_parquet(written[-1], index=False)
    return written


def escape_formula(value: Any) -> Any:
    """Put an apostrophe before a text that begins like a formula, also after apostrophes of its own.

    So removing one leading apostrophe restores the text. Numbers stay numbers. The beginnings are those of OWASP's
    list (CSV injection): = + - @, also full-width and after spaces, a tab and a carriage return.
    """
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value
