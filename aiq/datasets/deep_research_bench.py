"""Deep Research Bench: tasks with weighted criteria and reference reports.

Takes a flat folder (`query.jsonl`, `criteria.jsonl`, `reference.jsonl`), a checkout of the official repository
with its nested `data/`, or a single file of tasks with the two others beside it; all plain or gzipped.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import JsonValue, ValidationError

from aiq.core.errors import DatasetError
from aiq.core.files import Files, Row, find, read_rows, resolve
from aiq.core.plugins import describe
from aiq.core.samples import Criterion, Question, Rubric, Sample
from aiq.datasets.base import SourceSettings, hub_rows


class BenchSettings(SourceSettings):
    """`criteria`, `references`: files of the official forms that stand elsewhere than `path` says."""

    criteria: str | None = None
    references: str | None = None


class DeepResearchBench:
    """Research tasks; a task without criteria or reference has none, and judges say what they need.

    Tags: `topic` and `language` as the file spells them.
    """

    Settings = BenchSettings

    def __init__(self, settings: BenchSettings) -> None:
        self._settings = settings
        self._files = Files()

    @property
    def fingerprint(self) -> str:
        return self._files.fingerprint

    def samples(self) -> Iterator[Sample]:
        """All tasks in the order of the query file."""
        queries = self._queries()
        rubrics = {key: _rubric(row) for key, row in self._side("criteria", self._settings.criteria).items()}
        articles = {key: _article(row) for key, row in self._side("reference", self._settings.references).items()}
        for row in queries:
            key = row.required("id")
            tags = {name: row.text(name) for name in ("topic", "language") if row.text(name)}
            yield Sample(
                id=key,
                question=Question(text=_prompt(row), language=row.text("language") or None),
                preferences=row.text("preferences") or None,
                reference=articles.get(key) or row.text("expected_output") or None,
                rubric=rubrics.get(key),
                tags=tags,
            )

    def _queries(self) -> list[Row]:
        if self._settings.hub is not None:
            return hub_rows(self._files, self._settings)
        path = self._path()
        if path.is_dir():
            found = find(path, *_places("query"))
            if found is None:
                raise DatasetError(f"{path} has no {' or '.join(_places('query'))}; check dataset.path")
            path = found
        return read_rows(self._files, path, "dataset.path", ("id", "prompt"))

    def _side(self, what: str, given: str | None) -> Mapping[str, Row]:
        """The rows of the criteria or reference file by task id; none where there is no such file."""
        setting = "dataset.criteria" if what == "criteria" else "dataset.references"
        if given is not None:
            path: Path | None = resolve(given)
        elif self._settings.hub is not None:
            path = None
        else:
            base = self._path()
            path = find(base if base.is_dir() else base.parent, *_places(what))
        if path is None:
            return {}
        rows: dict[str, Row] = {}
        for row in read_rows(self._files, path, setting, ("id",)):
            key = row.required("id")
            if key in rows:
                raise DatasetError(f"{row.where}: id {key} stands already in {rows[key].where}; keep one")
            rows[key] = row
        return rows

    def _path(self) -> Path:
        if self._settings.path is None:
            raise DatasetError("dataset.path is not set; name a folder with query.jsonl, or a file of tasks")
        path = resolve(self._settings.path)
        if not path.exists():
            raise DatasetError(f"there is no file or folder {path}; check dataset.path")
        return path


def _places(what: str) -> tuple[str, ...]:
    """Where a file may stand below the folder: flat, and as the official repository has it."""
    nested = {"query": "prompt_data", "criteria": "criteria_data", "reference": "test_data/cleaned_data"}[what]
    name = f"{what}.jsonl"
    return name, f"data/{nested}/{name}", f"{nested}/{name}"


def _prompt(row: Row) -> str:
    return row.text("prompt") or row.text("question") or row.required("prompt")


def _article(row: Row) -> str:
    return row.required("article")


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
