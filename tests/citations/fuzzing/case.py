"""One generated report with its sources, and how it is kept in the corpus."""

import json
from pathlib import Path

from aiq.core.base import Record
from aiq.core.sources import Source

CORPUS = Path(__file__).resolve().parent.parent / "corpus"


class Plan(Record):
    """How a report was put together, if known: what each entry and each sentence cites, by position."""

    cited: tuple[str, ...]
    sentences: tuple[tuple[int, ...], ...]


class Case(Record):
    """A report, the sources of its run, and what once went wrong with it (empty for a new case).

    A timing case has a `unit`, which is repeated after its text until it has the size to be tried.
    """

    wrong: str = ""
    text: str = ""
    sources: tuple[Source, ...] = ()
    plan: Plan | None = None
    unit: str = ""


def read_case(path: Path) -> Case:
    """A case of the corpus; lone surrogates survive as JSON escapes."""
    return Case.model_validate(json.loads(path.read_text(encoding="utf-8")))


def write_case(path: Path, case: Case) -> None:
    """Write a case, with non-ASCII characters as escapes."""
    row = case.model_dump(exclude_defaults=True)
    path.write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
