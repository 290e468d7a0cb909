"""Deep Research Bench: tasks with weighted criteria and reference reports.

Takes a flat folder (`query.jsonl`, `criteria.jsonl`, `reference.jsonl`), a checkout of the official repository
with its nested `data/`, or a single file of tasks with the other two beside it; all plain or gzipped.
"""

from collections.abc import Iterator
from pathlib import Path

from pydantic import Field, ValidationError

from aiq.core.errors import DatasetError
from aiq.core.files import Row, distinct, find
from aiq.core.plugins import describe
from aiq.core.samples import Rubric, Sample
from aiq.datasets.base import DatasetSource, SourceSettings, question_of, rows_by, turns_of


class BenchSettings(SourceSettings):
    criteria: str | None = Field(description="file of weighted criteria per task; null: the one beside the tasks")
    references: str | None = Field(description="file of reference reports per task; null: the one beside the tasks")


class DeepResearchBench(DatasetSource):
    """Research tasks, some without criteria or a reference. Tags: `topic` and `language` as spelled in the file."""

    Settings = BenchSettings
    columns = ("id", "prompt")
    form = "a folder with query.jsonl, or a file of tasks"

    def samples(self) -> Iterator[Sample]:
        """All tasks, in the order of the query file."""
        queries, settings = distinct(self.rows(), "id"), self.settings
        path = settings.path if settings.hub is None else None
        criteria = rows_by(self.files, "id", "dataset.criteria", settings.criteria, path, *places("criteria"))
        rubrics = {key: _rubric(row) for key, row in criteria.items()}
        references = rows_by(self.files, "id", "dataset.references", settings.references, path, *places("reference"))
        articles = {key: row.required("article") for key, row in references.items()}
        for row in queries:
            key = row.required("id")
            text = row.text("prompt") or row.text("question") or row.required("prompt")
            for joined in (r for r in (criteria.get(key), references.get(key)) if r is not None):
                if not joined.matches(text):
                    raise DatasetError(f"{joined.where}: prompt differs from that of {row.where}; check their ids")
            tags = {name: row.text(name) for name in ("topic", "language") if row.text(name)}
            yield Sample(
                id=key,
                question=question_of(row, text),
                turns=turns_of(row),
                preferences=row.text("preferences") or None,
                reference=articles.get(key) or row.text("expected_output") or None,
                rubric=rubrics.get(key),
                tags=tags,
            )

    def path(self) -> Path:
        """The query file: the one named, or the one in the folder named."""
        path = super().path()
        if not path.exists():
            raise DatasetError(f"there is no file or folder {path}; check dataset.path")
        found = find(path, *places("query")) if path.is_dir() else path
        if found is None:
            raise DatasetError(f"{path} has no {' or '.join(places('query'))}; check dataset.path")
        return found


def places(what: str) -> tuple[str, ...]:
    """Where a file may be below the folder: flat, or as in the official repository."""
    nested = {"query": "prompt_data", "criteria": "criteria_data", "reference": "test_data/cleaned_data"}[what]
    name = f"{what}.jsonl"
    return name, f"data/{nested}/{name}", f"{nested}/{name}"


def _rubric(row: Row) -> Rubric:
    """Criteria for at least one dimension, each with a weight. Raises DatasetError."""
    values = {"dimension_weight": row.values.get("dimension_weight"), "criteria": row.values.get("criterions")}
    try:
        rubric = Rubric.model_validate(values, extra="ignore")  # the official file has annotators' remarks
    except ValidationError as error:
        raise DatasetError(f"{row.where}: {describe(error)}; fix dimension_weight or criterions") from None
    weightless = [name for name in rubric.criteria if name not in rubric.dimension_weight]
    if not rubric.criteria or weightless:
        problem = f"no weight for {', '.join(weightless)}" if weightless else "criterions is empty"
        raise DatasetError(f"{row.where}: {problem}; fix dimension_weight or criterions")
    return rubric
