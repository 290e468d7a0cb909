"""One generated report with its sources, and how it is kept in the corpus."""

import json
from pathlib import Path

from aiq.core.base import Record
from aiq.core.sources import Source

CORPUS = Path(__file__).resolve().parent.parent / "corpus"


class Plan(Record):
    """How a report was put together, where that is known: what each entry cites, and each sentence, by position."""

    cited: tuple[str, ...]
    sentences: tuple[tuple[int, ...], ...]


class Case(Record):
    """A report, the sources of its run, and what went wrong with it once (empty for one just made).

    A case of time has a `unit` that its text is followed by, as often as the size to try asks for.
    """

    wrong: str = ""
    text: str = ""
    sources: tuple[Source, ...] = ()
    plan: Plan | None = None
    unit: str = ""


def read_case(path: Path) -> Case:
    """A case of the corpus; lone surrogates survive as escapes of JSON."""
    return Case.model_validate(json.loads(path.read_text(encoding="utf-8")))


def write_case(path: Path, case: Case) -> None:
    """Keep a case; what is not ASCII stands as an escape."""
    row = case.model_dump(exclude_defaults=True)
    path.write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
