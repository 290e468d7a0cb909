"""Deep Research Bench: tasks with weighted criteria and reference reports.

Takes a flat folder (`query.jsonl`, `criteria.jsonl`, `reference.jsonl`), a checkout of the official repository
with its nested `data/`, or a single file of tasks with the two others beside it; all plain or gzipped.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import Field, JsonValue, ValidationError

from aiq.core.errors import DatasetError
from aiq.core.files import Row, find, read_rows, resolve
from aiq.core.plugins import describe
from aiq.core.samples import Criterion, Question, Rubric, Sample
from aiq.datasets.base import DatasetSource, SourceSettings


class BenchSettings(SourceSettings):
    criteria: str | None = Field(description="weighted criteria a task; null: looked for beside the tasks")
    references: str | None = Field(description="reference report a task; null: looked for beside the tasks")


class DeepResearchBench(DatasetSource):
    """Research tasks; a task without criteria or reference has none, and judges say what they need.

    Tags: `topic` and `language` as the file spells them.
    """

    Settings = BenchSettings
    columns = ("id", "prompt")
    form = "a folder with query.jsonl, or a file of tasks"

    def samples(self) -> Iterator[Sample]:
        """All tasks in the order of the query file."""
        queries = self.rows()
        rubrics = {key: _rubric(row) for key, row in self._side("criteria", self.settings.criteria).items()}
        references = self._side("reference", self.settings.references)
        articles = {key: row.required("article") for key, row in references.items()}
        for row in queries:
            key = row.required("id")
            tags = {name: row.text(name) for name in ("topic", "language") if row.text(name)}
            yield Sample(
                id=key,
                question=Question(
                    text=row.text("prompt") or row.text("question") or row.required("prompt"),
                    language=row.text("language") or None,
                ),
                preferences=row.text("preferences") or None,
                reference=articles.get(key) or row.text("expected_output") or None,
                rubric=rubrics.get(key),
                tags=tags,
            )

    def path(self) -> Path:
        """The query file: as named, or in the folder that is."""
        path = super().path()
        if not path.exists():
            raise DatasetError(f"there is no file or folder {path}; check dataset.path")
        found = find(path, *places("query")) if path.is_dir() else path
        if found is None:
            raise DatasetError(f"{path} has no {' or '.join(places('query'))}; check dataset.path")
        return found

    def _side(self, what: str, given: str | None) -> Mapping[str, Row]:
        """The rows of the criteria or reference file by task id; none where there is no such file."""
        path: Path | None = None
        if given is not None:
            path = resolve(given)
        elif self.settings.hub is None:
            base = super().path()
            path = find(base if base.is_dir() else base.parent, *places(what))
        rows: dict[str, Row] = {}
        setting = "dataset.criteria" if what == "criteria" else "dataset.references"
        for row in read_rows(self.files, path, setting, ("id",)) if path else ():
            key = row.required("id")
            if key in rows:
                raise DatasetError(f"{row.where}: id {key} is already in {rows[key].where}; keep one")
            rows[key] = row
        return rows


def places(what: str) -> tuple[str, ...]:
    """Where a file may be below the folder: flat, and as the official repository has it."""
    nested = {"query": "prompt_data", "criteria": "criteria_data", "reference": "test_data/cleaned_data"}[what]
    name = f"{what}.jsonl"
    return name, f"data/{nested}/{name}", f"{nested}/{name}"


def _rubric(row: Row) -> Rubric:
    """Criteria of at least one dimension, each dimension with a weight. Raises DatasetError."""
    dimensions = row.values.get("criterions")
    values = {
        "dimension_weight": row.values.get("dimension_weight"),
        "criteria": {name: _criteria(items) for name, items in dimensions.items()}
        if isinstance(dimensions, dict)
        else dimensions,
    }
    try:
        rubric = Rubric.model_validate(values)
    except ValidationError as error:
        raise DatasetError(f"{row.where}: {describe(error)}; mend dimension_weight or criterions") from None
    weightless = [name for name in rubric.criteria if name not in rubric.dimension_weight]
    if not rubric.criteria or weightless:
        lack = f"no weight for {', '.join(weightless)}" if weightless else "criterions is empty"
        raise DatasetError(f"{row.where}: {lack}; mend dimension_weight or criterions")
    return rubric


def _criteria(items: JsonValue) -> JsonValue:
    """Without keys that are not ours; the official file has remarks of its annotators."""
    if not isinstance(items, list):
        return items
    return [
        {key: item.get(key) for key in Criterion.model_fields} if isinstance(item, dict) else item for item in items
    ]
