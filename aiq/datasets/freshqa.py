"""FreshQA: the official sheet (CSV, plain or exported with rows above the header), JSON and JSONL, or the hub."""

import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import BeforeValidator, Field

from aiq.core.errors import DatasetError
from aiq.core.files import Row, as_text, distinct
from aiq.core.samples import Sample
from aiq.datasets.base import DatasetSource, SourceSettings, question_of, turns_of

_TAGS = ("split", "fact_type", "num_hops", "effective_year", "next_review")
_TRUE, _FALSE = ("true", "yes", "1", "1.0"), ("false", "no", "0", "0.0", "")
_VERSION = re.compile(r"v(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?P<year>\d\d)(?!\d)", re.IGNORECASE)
_DATE = re.compile(r"20(?P<year>\d\d)(?:-\d\d-\d\d)?")


def _release_year(value: object) -> object:
    """The year of a release: `FreshQA_v112425` and `v112425` (month, day, year), `2025-11-24`, or 2025."""
    if value is None:
        return None
    match = _VERSION.search(str(value)) or _DATE.fullmatch(str(value))
    if match is None:
        raise ValueError("write a release such as v112425 (month, day, year), its date 2025-11-24, or its year 2025")
    return 2000 + int(match["year"])


class FreshQASettings(SourceSettings):
    release: Annotated[int | None, BeforeValidator(_release_year)] = Field(
        description="v112425 or 2025-11-24, for slices by age; null: from the file's name, or its latest year"
    )


class FreshQA(DatasetSource):
    """Questions with up to ten accepted answers, `answer_0` to `answer_9`.

    Tags: `split`, `fact_type`, `num_hops`, `effective_year`, `next_review` as spelled in the sheet, and
    `false_premise` as TRUE or FALSE. `age`: `new` for answers of the release's year and the one before, else `old`; the
    release is `release`, or that in the file's name (`FreshQA_v112425`), or the latest effective year of the file.
    (The official `new` means 2022 and 2023, from the first release; everything since would count as old.)
    """

    Settings = FreshQASettings
    columns = ("id", "question", "answer_0")
    form = "a FreshQA file (.csv, .json or .jsonl)"

    def samples(self) -> Iterator[Sample]:
        version = _VERSION.search(re.split(r"[/\\]", self.settings.path or self.settings.hub or "")[-1])
        rows = list(distinct(self.rows(), "id"))
        years = [int(year) for row in rows if re.fullmatch(r"\d{4}", year := row.text("effective_year"))]
        release = self.settings.release or (2000 + int(version["year"]) if version else max(years, default=None))
        for row in rows:
            tags = {name: row.text(name) for name in _TAGS if row.text(name)}
            tags["false_premise"] = _false_premise(row)
            if age := _age(row.text("effective_year"), release):
                tags["age"] = age
            yield Sample(
                id=row.required("id"),
                question=question_of(row, row.required("question"), language="en"),
                turns=turns_of(row),
                answers=_answers(row),
                tags=tags,
            )


def _false_premise(row: Row) -> str:
    text = row.text("false_premise")
    if text.lower() not in (*_TRUE, *_FALSE):
        raise DatasetError(f"{row.where}: false_premise is {text!r}; write TRUE or FALSE")
    return "TRUE" if text.lower() in _TRUE else "FALSE"


def _age(effective: str, release: int | None) -> str | None:
    """`new` for the release's year and the one before; `before 2022` counts as the year before 2022."""
    year = re.fullmatch(r"(before )?(\d{4})", effective.lower())
    if release is None or year is None:
        return None
    latest = int(year[2]) - (1 if year[1] else 0)
    return "new" if latest >= release - 1 else "old"


def _answers(row: Row) -> tuple[str, ...]:
    """The columns `answer_0` to `answer_9`, else `expected_output` as object, list or text; without duplicates."""
    names = [f"answer_{index}" for index in range(10)]
    texts = [row.text(name) for name in names]
    if not any(texts):
        expected = row.values.get("expected_output")
        values = [expected.get(name) for name in names] if isinstance(expected, dict) else expected
        texts = [as_text(value) for value in (values if isinstance(values, list) else [values])]
    return tuple(dict.fromkeys(filter(None, texts)))
