"""Your own questions: CSV, JSON or JSONL with `question`, and optionally `id`, `answers`, `reference`, `language`.

`answers` is a list, or in a CSV one cell with ` | ` between them. Rows without `id` are numbered from 1.
Every other column becomes a tag.
"""

from collections.abc import Iterator

from aiq.core.errors import DatasetError
from aiq.core.paths import resolve
from aiq.core.samples import Question, Sample
from aiq.datasets.base import SourceSettings
from aiq.datasets.files import Files
from aiq.datasets.hub import hub_rows
from aiq.datasets.rows import Row, as_text, read_rows

_OWN = frozenset({"id", "question", "answers", "reference", "language"})


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
                question=Question(text=row.required("question"), language=row.text("language") or None),
                answers=_answers(row),
                reference=row.text("reference") or None,
                tags=tags,
            )

    def _rows(self) -> list[Row]:
        if self._settings.hub is not None:
            return hub_rows(self._files, self._settings)
        if self._settings.path is None:
            raise DatasetError("dataset.path is not set; name a .csv, .json or .jsonl file with a column question")
        return read_rows(self._files, resolve(self._settings.path), "dataset.path", ("question",))


def _answers(row: Row) -> tuple[str, ...]:
    value = row.values.get("answers")
    items = value if isinstance(value, list) else row.text("answers").split(" | ")
    return tuple(dict.fromkeys(text for item in items if (text := as_text(item))))
