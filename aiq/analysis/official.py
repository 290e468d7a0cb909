"""Deep Research Bench's official result files, read strictly: the published figures, and ours with intervals."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, Field, JsonValue, ValidationError

from aiq.core.base import Record
from aiq.core.errors import DatasetError
from aiq.core.files import Files, Row, distinct, read_rows
from aiq.core.plugins import describe
from aiq.judges.fact_questions import OfficialResult
from aiq.judges.fact_scores import CitedPage, Judged, count, official
from aiq.judges.race_scores import ByDimension, mean_shares
from aiq.stats.estimates import Estimate, mean_estimate, ratio_estimate

FormT = TypeVar("FormT", bound=BaseModel)
_Share = Annotated[float, Field(ge=0, le=1)]


class _RaceLine(ByDimension[_Share]):
    overall_score: _Share


class _ValidatedLine(BaseModel):
    citations: list[Any] | None = None
    citations_deduped: dict[str, dict[str, Any]]


class _ValidatedPage(BaseModel):
    facts: list[Any]
    validate_res: list[OfficialResult] | None = None


RACE_FIGURES: Final = {name: f"race.{name.removesuffix('_score')}" for name in _RaceLine.model_fields}
"""Our metrics by their official names, in the order of `race_result.txt`."""


class OfficialScores(Record):
    """`official`: the published figures under their names. `metrics`: ours, over all `reports` of the file.

    `errors`: tasks whose judging failed (RACE), or pages that could not be validated (FACT).
    `without_citations`: reports that the official FACT figures leave out; ours count them as 0 citations.
    """

    kind: Literal["race", "fact"]
    reports: int
    errors: int
    without_citations: int = 0
    official: Mapping[str, float]
    metrics: Mapping[str, Estimate]


def race_scores(path: Path) -> OfficialScores:
    """The figures of a `raw_results.jsonl`, gzipped or not. Raises DatasetError, which names the row."""
    rows = list(_rows(path))
    lines = [
        _parse(_RaceLine, row.values, f"{row.where} (or give the row an error)").model_dump()
        for row in rows
        if "error" not in row.values  # as in the official tools, even an empty error counts
    ]
    if not lines:
        raise DatasetError(f"{path}: the judging of all {len(rows)} tasks failed; there is nothing to aggregate")
    return OfficialScores(
        kind="race",
        reports=len(rows),
        errors=len(rows) - len(lines),
        official=mean_shares(lines),
        metrics={
            metric: estimate
            for name, metric in RACE_FIGURES.items()
            if (estimate := mean_estimate([[line[name]] for line in lines], 0.0, 1.0))
        },
    )


def fact_scores(path: Path) -> OfficialScores:
    """The figures of a `validated.jsonl`, gzipped or not. Raises DatasetError, which names row and URL."""
    reports, citing = [], []
    for row in _rows(path):
        line = _parse(_ValidatedLine, row.values, row.where)
        pages = [_page(f"{row.where}, {url}", url, page) for url, page in line.citations_deduped.items()]
        reports.append(pages)
        if line.citations if "citations" in row.values else pages:  # before de-duplication, if known
            citing.append(pages)
    return OfficialScores(
        kind="fact",
        reports=len(reports),
        errors=sum(page.error is not None for pages in reports for page in pages),
        without_citations=len(reports) - len(citing),
        official=official(citing),
        metrics=_fact_metrics(reports),
    )


def result_file(figures: Mapping[str, float]) -> str:
    """`race_result.txt`, with four decimals, or `fact_result.txt`, in full."""
    if "valid_rate" in figures:
        return "".join(f"{name}: {figure}\n" for name, figure in figures.items())
    return "".join(f"{name.replace('_', ' ').title()}: {figure:.4f}\n" for name, figure in figures.items())


def _rows(path: Path) -> Iterator[Row]:
    """The rows, each id once: the official tools repeat rows after a partial resume, which would count a task twice."""
    for row in distinct(read_rows(Files(), path, "FILE", ("id",)), "id"):
        row.required("id")
        yield row


def _parse(form: type[FormT], values: object, where: str) -> FormT:
    try:
        return form.model_validate(values, strict=True)
    except ValidationError as error:
        raise DatasetError(f"{where}: {describe(error)}") from None


def _page(where: str, url: str, values: Mapping[str, JsonValue]) -> CitedPage:
    if (error := values.get("validate_error")) is not None:  # as in the official tools, even an empty error counts
        return CitedPage(url=url, error=str(error) or "no reason given")
    page, judgements = _parse(_ValidatedPage, values, where), []
    for result in page.validate_res or []:
        if not 0 <= result.idx < len(page.facts):
            raise DatasetError(f"{where}: idx {result.idx} of validate_res is not one of the {len(page.facts)} facts")
        judgements.append(Judged(statement=str(page.facts[result.idx]), verdict=result.result))
    return CitedPage(url=url, judged=tuple(judgements))


def _fact_metrics(reports: Sequence[Sequence[CitedPage]]) -> dict[str, Estimate]:
    """The metrics as the judge FACT declares them: a report without a usable verdict has no accuracy, 0 citations."""
    counts = [count(pages) for pages in reports]
    judged = [c for c in counts if c.citations]
    estimates = {
        "fact.citation_accuracy": ratio_estimate([[(c.supported, c.citations)] for c in judged], 0.0, 1.0),
        "fact.citation_accuracy_per_task": mean_estimate([[c.supported / c.citations] for c in judged], 0.0, 1.0),
        "fact.citations": mean_estimate([[float(c.citations)] for c in counts], 0.0),
        "fact.effective_citations": mean_estimate([[float(c.supported)] for c in counts], 0.0),
    }
    return {name: estimate for name, estimate in estimates.items() if estimate}
