"""Your own questions: CSV, JSON or JSONL with `question`, and optionally `id`, `answers`, `reference`, `preferences`
(what a simulated user would want), and all that a row of any format may state about its question (`base.question_of`).

`answers` is a list, or in a CSV one cell with ` | ` between the items. Rows without `id` are numbered from 1. Every
other column becomes a tag.
"""

from collections.abc import Iterator

from aiq.core.files import as_text, distinct
from aiq.core.samples import Sample
from aiq.datasets.base import QUESTION_FIELDS, DatasetSource, items, question_of, turns_of

_NOT_TAGS = frozenset(("id", "question", "answers", "reference", "preferences", "turns", *QUESTION_FIELDS))


class Questions(DatasetSource):
    """Questions in the simplest format."""

    columns = ("question",)
    form = "a .csv, .json or .jsonl file with a column question"

    def samples(self) -> Iterator[Sample]:
        for number, row in enumerate(distinct(self.rows(), "id"), start=1):
            tags = {name: row.text(name) for name in row.values if name and name not in _NOT_TAGS and row.text(name)}
            yield Sample(
                id=row.text("id") or str(number),
                question=question_of(row, row.required("question")),
                turns=turns_of(row),
                preferences=row.text("preferences") or None,
                answers=tuple(dict.fromkeys(map(as_text, items(row, "answers")))),
                reference=row.text("reference") or None,
                tags=tags,
            )
