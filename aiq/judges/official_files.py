"""Deep Research Bench's result files, read strictly: RACE's scored tasks, FACT's validated citations; their summaries.

The rules of aggregation stand in `race_arithmetic.published` and `fact_arithmetic.official`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, get_args

from pydantic import JsonValue

from aiq.core.base import Record
from aiq.core.errors import DatasetError
from aiq.core.files import Files
from aiq.core.rows import Row, read_rows
from aiq.judges.fact_arithmetic import CitedPage, Judged, Verdict

RACE_FIGURES: Final = ("comprehensiveness", "insight", "instruction_following", "readability", "overall_score")
"""The official names, in the order of `race_result.txt`."""

FACT_FIGURES: Final = ("total_citations", "total_valid_citations", "valid_rate")
"""The official names, in the order of `fact_result.txt`."""

_VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)


class RaceTask(Record):
    """One line of `raw_results.jsonl`: `figures` by official name, 0 to 1; or `error`, why there are none."""

    id: str
    figures: Mapping[str, float] = {}
    error: str | None = None


class ValidatedReport(Record):
    """One line of `validated.jsonl`. `cites` is whether its list of citations, before de-duplication, has any."""

    id: str
    cites: bool
    pages: tuple[CitedPage, ...] = ()


def read_race(path: Path) -> list[RaceTask]:
    """The tasks of a `raw_results.jsonl`, gzipped or not. Raises DatasetError that names the row."""
    return [_race_task(row) for row in _unique(path)]


def read_validated(path: Path) -> list[ValidatedReport]:
    """The reports of a `validated.jsonl`, gzipped or not. Raises DatasetError that names row and URL."""
    return [_validated(row) for row in _unique(path)]


def race_result(figures: Mapping[str, float]) -> str:
    """`race_result.txt`: the five figures with four decimals."""
    return "".join(f"{name.replace('_', ' ').title()}: {figures[name]:.4f}\n" for name in RACE_FIGURES)


def fact_result(figures: Mapping[str, float]) -> str:
    """`fact_result.txt`: the three figures in full."""
    return "".join(f"{name}: {figures[name]}\n" for name in FACT_FIGURES)


def _unique(path: Path) -> list[Row]:
    """The rows, each id once: the official tools repeat rows after a partial resume, which would count a task twice."""
    found: dict[str, Row] = {}
    for row in read_rows(Files(), path, "FILE", ("id",)):
        key = row.required("id")
        if key in found:
            raise DatasetError(f"{row.where}: id {key} stands already in {found[key].where}; keep one")
        found[key] = row
    return list(found.values())


def _race_task(row: Row) -> RaceTask:
    if row.values.get("error"):
        return RaceTask(id=row.required("id"), error=row.text("error"))
    return RaceTask(id=row.required("id"), figures={name: _share(row, name) for name in RACE_FIGURES})


def _share(row: Row, name: str) -> float:
    value = row.values.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise DatasetError(f"{row.where}: {name} must be a number from 0 to 1 (or give the row an error)")
    return float(value)


def _validated(row: Row) -> ValidatedReport:
    grouped = row.values.get("citations_deduped")
    if not isinstance(grouped, dict):
        raise DatasetError(f"{row.where}: citations_deduped must be an object, pages by URL")
    listed = row.values.get("citations", list(grouped))
    if not isinstance(listed, list):
        raise DatasetError(f"{row.where}: citations must be a list")
    pages = tuple(_page(f"{row.where}, {url}", url, value) for url, value in grouped.items())
    return ValidatedReport(id=row.required("id"), cites=bool(listed), pages=pages)


def _page(where: str, url: str, value: JsonValue) -> CitedPage:
    if not isinstance(value, dict):
        raise DatasetError(f"{where}: expected an object with facts and validate_res")
    if value.get("validate_error"):
        return CitedPage(url=url, error=str(value["validate_error"]))
    facts, results = value.get("facts"), value.get("validate_res") or []
    if not isinstance(facts, list) or not isinstance(results, list):
        raise DatasetError(f"{where}: facts and validate_res must be lists")
    judged = [_judged(where, facts, entry) for entry in results]
    return CitedPage(url=url, judged=tuple(judged))


def _judged(where: str, facts: Sequence[JsonValue], entry: JsonValue) -> Judged:
    index = entry.get("idx") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or isinstance(index, bool) or not isinstance(index, int):
        raise DatasetError(f"{where}: an entry of validate_res has no idx")
    if not 0 <= index < len(facts):
        raise DatasetError(f"{where}: idx {index} of validate_res is none of the {len(facts)} facts")
    for verdict in _VERDICTS:
        if entry.get("result") == verdict:
            return Judged(statement=str(facts[index]), verdict=verdict)
    raise DatasetError(f"{where}: the result of idx {index} is none of {', '.join(_VERDICTS)}")
