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
                    documents=tuple(_valid(Document, item, row, "documents") for item in _documents(row)),
                    collection_name=row.text("collection_name") or None,
                ),
                preferences=row.text("preferences") or None,
                answers=tuple(dict.fromkeys(map(as_text, _items(row, "answers")))),
                reference=row.text("reference") or None,
                tags=tags,
            )


def _items(row: Row, name: str) -> list[JsonValue]:
    """The items of a list, or the parts of a cell; `[]` in a CSV is the empty list."""
    value = row.values.get(name)
    if isinstance(value, list):
        return [item for item in value if as_text(item)]
    text = row.text(name)
    return list(text.split(" | ")) if text not in ("", "[]") else []


def _data_sources(row: Row) -> DataSources:
    """Ids, or None where the cell is empty."""
    value = row.values.get("data_sources")
    if not row.text("data_sources"):
        return None
    sources = _items(row, "data_sources") if isinstance(value, str) else value
    checked: DataSources = _valid(DataSources, sources, row, "data_sources")
    return checked


def _documents(row: Row) -> list[JsonValue]:
    items = _items(row, "documents")
    return [item if isinstance(item, dict) else {"file_name": as_text(item)} for item in items]


def _valid(kind: Any, value: object, row: Row, name: str) -> Any:
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        raise DatasetError(f"{row.where}: {describe(error, name)}") from None
