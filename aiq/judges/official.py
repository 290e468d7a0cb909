"""Deep Research Bench's official result files, read strictly: RACE's scored tasks, FACT's validated citations.

The rules of aggregation are in `race_scores.published` and `fact_scores.official`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple, TypeVar

from pydantic import BaseModel, Field, JsonValue, ValidationError

from aiq.core.errors import DatasetError
from aiq.core.files import Files, Row, read_rows
from aiq.core.plugins import describe
from aiq.judges.fact_questions import OfficialResult
from aiq.judges.fact_scores import CitedPage, Judged
from aiq.judges.race_scores import ByDimension

FormT = TypeVar("FormT", bound=BaseModel)


class _RaceLine(ByDimension[Annotated[float, Field(ge=0, le=1)]]):
    overall_score: Annotated[float, Field(ge=0, le=1)]


RACE_FIGURES: Final = tuple(_RaceLine.model_fields)
"""The official names, in the order of `race_result.txt`."""

FACT_FIGURES: Final = ("total_citations", "total_valid_citations", "valid_rate")
"""The official names, in the order of `fact_result.txt`."""


class ValidatedReport(NamedTuple):
    """One line of `validated.jsonl`. `cites` is whether its list of citations, before de-duplication, has any."""

    cites: bool
    pages: tuple[CitedPage, ...]


class _ValidatedPage(BaseModel):
    facts: list[Any]
    validate_res: list[OfficialResult] | None = None


class _ValidatedLine(BaseModel):
    citations: list[Any] | None = None
    citations_deduped: dict[str, dict[str, Any]]


def read_race(path: Path) -> list[dict[str, float] | None]:
    """The figures of each task of a `raw_results.jsonl`, gzipped or not; None for one whose judging failed.

    Raises DatasetError that names the row.
    """
    return [
        None
        if row.values.get("error")
        else _as(_RaceLine, row.values, f"{row.where} (or give it an error)").model_dump()
        for row in _unique(path)
    ]


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
            raise DatasetError(f"{row.where}: id {key} is in {found[key].where} already; keep one")
        found[key] = row
    return list(found.values())


def _as(form: type[FormT], values: object, where: str) -> FormT:
    """The values in this form. Raises DatasetError that says where they are."""
    try:
        return form.model_validate(values, strict=True)
    except ValidationError as error:
        raise DatasetError(f"{where}: {describe(error)}") from None


def _validated(row: Row) -> ValidatedReport:
    line = _as(_ValidatedLine, row.values, row.where)
    listed = line.citations_deduped if "citations" not in row.values else line.citations
    pages = (_page(f"{row.where}, {url}", url, values) for url, values in line.citations_deduped.items())
    return ValidatedReport(bool(listed), tuple(pages))


def _page(where: str, url: str, values: Mapping[str, JsonValue]) -> CitedPage:
    if values.get("validate_error"):
        return CitedPage(url=url, error=str(values["validate_error"]))
    page = _as(_ValidatedPage, values, where)
    judged = []
    for result in page.validate_res or []:
        if not 0 <= result.idx < len(page.facts):
            raise DatasetError(f"{where}: idx {result.idx} of validate_res is none of the {len(page.facts)} facts")
        judged.append(Judged(statement=str(page.facts[result.idx]), verdict=result.result))
    return CitedPage(url=url, judged=tuple(judged))
