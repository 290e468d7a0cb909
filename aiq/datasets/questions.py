"""Your own questions: CSV, JSON or JSONL with `question`, and optionally `id`, `answers`, `reference`, `language`,
`data_sources`, `documents`, `collection_name`, `preferences` (what a simulated user would want), `history`.

`answers`, `data_sources` and `documents` are lists, or in a CSV one cell with ` | ` between the items. A document is a
file name, or in JSON an object with `file_name` and `summary`. No `data_sources` allows all, an empty list none.
`history` is what was said before the question: in JSON a list of objects with `speaker` (user or assistant) and `text`.
Rows without `id` are numbered from 1. Every other column becomes a tag.
"""

from collections.abc import Iterator

from pydantic import JsonValue, TypeAdapter, ValidationError

from aiq.core.errors import DatasetError
from aiq.core.files import Files, Row, as_text, read_rows, resolve
from aiq.core.plugins import describe
from aiq.core.samples import DataSources, Document, Question, Sample, Turn
from aiq.datasets.base import SourceSettings, hub_rows

_OWN = frozenset(
    "id question answers reference language data_sources documents collection_name preferences history".split()  # noqa: SIM905
)


class Questions:
    """Rows of the simplest form."""

    Settings = SourceSettings

    def __init__(self, settings: SourceSettings) -> None:
        self._settings = settings
        self._files = Files()

    @property
    def fingerprint(self) -> str:
        return self._files.fingerprint

    def samples(self) -> Iterator[Sample]:
        """All rows in order."""
        for number, row in enumerate(self._rows(), start=1):
            tags = {name: row.text(name) for name in row.values if name and name not in _OWN and row.text(name)}
            yield Sample(
                id=row.text("id") or str(number),
                question=Question(
                    text=row.required("question"),
                    history=_history(row),
                    language=row.text("language") or None,
                    data_sources=_data_sources(row),
                    documents=_documents(row),
                    collection_name=row.text("collection_name") or None,
                ),
                preferences=row.text("preferences") or None,
                answers=_texts(row, "answers"),
                reference=row.text("reference") or None,
                tags=tags,
            )

    def _rows(self) -> list[Row]:
        if self._settings.hub is not None:
            return hub_rows(self._files, self._settings)
        if self._settings.path is None:
            raise DatasetError("dataset.path is not set; name a .csv, .json or .jsonl file with a column question")
        return read_rows(self._files, resolve(self._settings.path), "dataset.path", ("question",))


def _items(row: Row, name: str) -> list[JsonValue]:
    """A list as it stands, or the parts of a cell."""
    value = row.values.get(name)
    return value if isinstance(value, list) else list(row.text(name).split(" | "))


def _data_sources(row: Row) -> DataSources:
    """Ids, or None where the cell is empty; `[]` in a CSV is the empty list."""
    value = row.values.get("data_sources")
    if not row.text("data_sources"):
        return None
    if isinstance(value, str):
        value = [] if value.strip() == "[]" else list(value.split(" | "))
    try:
        return TypeAdapter[DataSources](DataSources).validate_python(value)
    except ValidationError as error:
        raise DatasetError(f"{row.where}: {describe(error, 'data_sources')}") from None


def _history(row: Row) -> tuple[Turn, ...]:
    try:
        return TypeAdapter(tuple[Turn, ...]).validate_python(row.values.get("history") or ())
    except ValidationError as error:
        raise DatasetError(f"{row.where}: {describe(error, 'history')}") from None


def _documents(row: Row) -> tuple[Document, ...]:
    found = []
    for item in _items(row, "documents"):
        values = item if isinstance(item, dict) else {"file_name": as_text(item)}
        if values.get("file_name") == "":
            continue
        try:
            found.append(Document.model_validate(values))
        except ValidationError as error:
            raise DatasetError(f"{row.where}: documents: {describe(error)}") from None
    return tuple(found)


def _texts(row: Row, name: str) -> tuple[str, ...]:
    items = _items(row, name)
    return tuple(dict.fromkeys(text for item in items if (text := as_text(item))))
