"""FreshQA: the official sheet (CSV, plain or exported with rows above the header), JSON and JSONL, or the hub."""

from collections.abc import Iterator

from pydantic import JsonValue

from aiq.core.errors import DatasetError
from aiq.core.files import Files
from aiq.core.paths import resolve
from aiq.core.rows import Row, as_text, read_rows
from aiq.core.samples import Question, Sample
from aiq.datasets.base import SourceSettings
from aiq.datasets.hub import hub_rows

_TAGS = ("split", "fact_type", "num_hops", "effective_year", "next_review")
_TRUE, _FALSE = ("true", "yes", "1", "1.0"), ("false", "no", "0", "0.0", "")


class FreshQA:
    """Questions with up to ten accepted answers, `answer_0` to `answer_9`.

    Tags: `split`, `fact_type`, `num_hops`, `effective_year`, `next_review` as the sheet spells them, and
    `false_premise` as TRUE or FALSE.
    """

    Settings = SourceSettings

    def __init__(self, settings: SourceSettings) -> None:
        self._settings = settings
        self._files = Files()

    @property
    def fingerprint(self) -> str:
        return self._files.fingerprint

    def samples(self) -> Iterator[Sample]:
        """All questions in the sheet's order."""
        for row in self._rows():
            tags = {name: row.text(name) for name in _TAGS if row.text(name)}
            tags["false_premise"] = _false_premise(row)
            yield Sample(
                id=row.required("id"),
                question=Question(text=row.required("question"), language="en"),
                answers=_answers(row),
                tags=tags,
            )

    def _rows(self) -> list[Row]:
        if self._settings.hub is not None:
            return hub_rows(self._files, self._settings)
        if self._settings.path is None:
            raise DatasetError("dataset.path is not set; name a FreshQA file (.csv, .json or .jsonl)")
        path = resolve(self._settings.path)
        return read_rows(self._files, path, "dataset.path", ("id", "question", "answer_0"))


def _false_premise(row: Row) -> str:
    text = row.text("false_premise")
    if text.lower() not in (*_TRUE, *_FALSE):
        raise DatasetError(f"{row.where}: false_premise is {text!r}; write TRUE or FALSE")
    return "TRUE" if text.lower() in _TRUE else "FALSE"


def _answers(row: Row) -> tuple[str, ...]:
    """The columns `answer_0` to `answer_9`, or `expected_output` as object, list or text; each answer once."""
    texts = [row.text(f"answer_{index}") for index in range(10)]
    if not any(texts):
        texts = [as_text(value) for value in _expected(row)]
    return tuple(dict.fromkeys(text for text in texts if text))


def _expected(row: Row) -> list[JsonValue]:
    value = row.values.get("expected_output")
    if isinstance(value, dict):
        return [value.get(f"answer_{index}") for index in range(10)]
    return value if isinstance(value, list) else [value]
