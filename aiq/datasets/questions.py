"""Your own questions: CSV, JSON or JSONL with `question`, and optionally `id`, `answers`, `reference`, `language`,
`data_sources`, `documents`, `collection_name`, `preferences` (what a simulated user would want), `history`.

`answers`, `data_sources` and `documents` are lists, or in a CSV one cell with ` | ` between the items. A document is a
file name, or in JSON an object with `file_name` and `summary`. No `data_sources` allows all, an empty list none.
`history` is what was said before the question: in JSON a list of objects with `speaker` (user or assistant) and `text`.
Rows without `id` are numbered from 1. Every other column becomes a tag.
"""

from collections.abc import Iterator
from typing import Any

from pydantic import JsonValue, TypeAdapter, ValidationError

from aiq.core.errors import DatasetError
from aiq.core.files import Row, as_text
from aiq.core.plugins import describe
from aiq.core.samples import DataSources, Document, Question, Sample, Turn
from aiq.datasets.base import DatasetSource

_OWN = frozenset(
    "id question answers reference language data_sources documents collection_name preferences history".split()  # noqa: SIM905
)


class Questions(DatasetSource):
    """Rows of the simplest form."""

    columns = ("question",)
    form = "a .csv, .json or .jsonl file with a column question"

    def samples(self) -> Iterator[Sample]:
        for number, row in enumerate(self.rows(), start=1):
            tags = {name: row.text(name) for name in row.values if name and name not in _OWN and row.text(name)}
            yield Sample(
                id=row.text("id") or str(number),
                question=Question(
                    text=row.required("question"),
                    history=_valid(tuple[Turn, ...], row.values.get("history") or (), row, "history"),
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


def _items(row: Row, name: str) -> list[JsonValue]:
    """A list as it is, or the parts of a cell."""
    value = row.values.get(name)
    return value if isinstance(value, list) else list(row.text(name).split(" | "))


def _data_sources(row: Row) -> DataSources:
    """Ids, or None where the cell is empty; `[]` in a CSV is the empty list."""
    value = row.values.get("data_sources")
    if not row.text("data_sources"):
        return None
    if isinstance(value, str):
        value = [] if value.strip() == "[]" else list(value.split(" | "))
    sources: DataSources = _valid(DataSources, value, row, "data_sources")
    return sources


def _documents(row: Row) -> tuple[Document, ...]:
    items = [item if isinstance(item, dict) else {"file_name": as_text(item)} for item in _items(row, "documents")]
    named = [item for item in items if item.get("file_name") != ""]
    return tuple(_valid(Document, item, row, "documents") for item in named)


def _valid(kind: Any, value: object, row: Row, name: str) -> Any:
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        raise DatasetError(f"{row.where}: {describe(error, name)}") from None


def _texts(row: Row, name: str) -> tuple[str, ...]:
    items = _items(row, name)
    return tuple(dict.fromkeys(text for item in items if (text := as_text(item))))
