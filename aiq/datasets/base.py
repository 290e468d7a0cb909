"""The base of dataset classes: rows from a file or from the Hugging Face hub, and the closed world's truth."""

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, JsonValue, ValidationError

from aiq.core.errors import DatasetError
from aiq.core.files import Files, Row, as_text, distinct, find, parsed_json, read_rows, resolve
from aiq.core.plugins import describe
from aiq.core.samples import Question, Sample, Truth
from aiq.core.settings import Settings
from aiq.datasets.stored import Samples

QUESTION_FIELDS = tuple(name for name in Question.model_fields if name != "text")
"""Columns that every format may have besides the question's text."""
_JSON = {
    "history": '[{"speaker": "user", "text": "..."}]',
    "user_info": '{"name": "..."}',
    "turns": '["What is ...?", "And who ...?"]',
}
"""Columns that are JSON even in a CSV, with an example."""
_LIST = re.compile(r"""\[\s*["'].*["']\s*\]""", re.DOTALL)
"""A list of strings as JSON or Python writes it."""


@dataclass(frozen=True)
class Dataset:
    """A loaded dataset. `size`: its rows before any filter; `fingerprint`: a SHA-256 of all files read.

    `collections`: all that its questions name.
    """

    name: str
    samples: Samples
    fingerprint: str
    size: int
    collections: frozenset[str] = frozenset()


class SourceSettings(Settings):
    """Where the rows come from: `path`, or `hub` with its split and configuration."""

    path: str | None
    hub: str | None
    hub_split: str = Field(description="the split of `hub`")
    hub_config: str | None = Field(description="the configuration of `hub`, if it has several")


class DatasetSource(ABC):
    """Reads one format. `columns`: those that a CSV's header must have; `form`: what `dataset.path` must name."""

    Settings: ClassVar[type[SourceSettings]] = SourceSettings
    columns: ClassVar[tuple[str, ...]] = ()
    form: ClassVar[str] = "its file"

    def __init__(self, settings: Any) -> None:
        self.settings = settings
        self.files = Files()

    @property
    def fingerprint(self) -> str:
        """The fingerprint of all files read; complete once `samples` is exhausted."""
        return self.files.fingerprint

    @abstractmethod
    def samples(self) -> Iterator[Sample]:
        """All samples, in the order of the rows. Raises DatasetError, which names file, row and remedy."""

    def path(self) -> Path:
        if self.settings.path is None:
            raise DatasetError(f"dataset.path is not set; name {self.form}")
        return resolve(self.settings.path)

    def rows(self) -> Iterator[Row]:
        """The rows of `dataset.hub`, through the hub's own client, or of `dataset.path`. Raises DatasetError."""
        if self.settings.hub is None:
            return read_rows(self.files, self.path(), "dataset.path", self.columns)
        from datasets import load_dataset  # takes seconds to import, and is needed only here

        name, split = self.settings.hub, self.settings.hub_split
        try:
            table = load_dataset(name, self.settings.hub_config, split=split)
        except (OSError, ValueError) as error:  # no network, no such dataset, no such split or configuration
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            remedy = "Check the name and the network, or download it and set dataset.path"
            raise DatasetError(f"dataset.hub={name} (split {split}) could not be loaded: {reason} {remedy}") from None
        rows = [{str(column).strip().lower(): value for column, value in row.items()} for row in table]
        self.files.count(hashlib.sha256(json.dumps(rows, sort_keys=True, default=str).encode()).digest())
        rows = json.loads(json.dumps(rows, default=str))  # dates become text
        return (Row(f"{name} ({split}), row {number}", row) for number, row in enumerate(rows, start=1))


def question_of(row: Row, text: str, language: str | None = None) -> Question:
    """The question of a row: its `text`, and the values of the columns in `QUESTION_FIELDS`.

    `data_sources` and `documents` are lists (see `items`); no `data_sources` allows all, an empty list none. A document
    is a file name, or an object with `file_name` and `summary`. `history` is a list of objects with `speaker` (user or
    assistant) and `text`, `user_info` an object; both are JSON, even in a cell. `language`: that of rows which state
    none. Raises DatasetError.
    """
    values = {name: _column_value(row, name) for name in QUESTION_FIELDS if row.text(name)}
    try:
        return Question.model_validate({"language": language, **values, "text": text})
    except ValidationError as error:
        raise DatasetError(f"{row.where}: {describe(error)}") from None


def turns_of(row: Row) -> tuple[str, ...]:
    """What the user asks before the row's question: its column `turns`, a list of strings. Raises DatasetError."""
    turns = _column_value(row, "turns") if row.text("turns") else []
    if not isinstance(turns, list) or not all(isinstance(turn, str) and turn.strip() for turn in turns):
        raise DatasetError(f"{row.where}: turns: not a list of strings; write it like {_JSON['turns']}")
    return tuple(turn.strip() for turn in turns)


def _column_value(row: Row, name: str) -> Any:
    """The value of a column that is not empty, in the form that `Question` takes."""
    value = row.values[name]
    if name in _JSON and isinstance(value, str):
        try:
            return parsed_json(value, f"{row.where}: {name}")
        except DatasetError as error:
            raise DatasetError(f"{error}; write it like {_JSON[name]}") from None
    if name == "documents":
        return [item if isinstance(item, dict) else {"file_name": as_text(item)} for item in items(row, name)]
    if name == "data_sources":
        return list(items(row, name)) if isinstance(value, str) else value
    return value if name in _JSON else row.text(name)


def items(row: Row, name: str) -> list[JsonValue]:
    """The items of a list, or the parts of a cell separated by ` | `; `[]` in a CSV is the empty list.

    Raises DatasetError for a list of strings that some program wrote into a cell: it would become one item.
    """
    value = row.values.get(name)
    if isinstance(value, list):
        return [item for item in value if as_text(item)]
    text = row.text(name)
    if _LIST.fullmatch(text):
        raise DatasetError(f"{row.where}: {name}: {text[:60]} is a list in a cell; write it like one | two")
    return list(text.split(" | ")) if text not in ("", "[]") else []


def rows_by(
    files: Files, key: str, setting: str, given: str | None, path: str | None, *places: str
) -> Mapping[str, Row]:
    """Rows by their column `key`, from the file `given` (in `setting`), else from the first of `places` beside `path`.

    Raises DatasetError, also if two rows have the same key.
    """
    file = resolve(given) if given is not None else None
    if file is None and path is not None:
        base = resolve(path)
        file = find(base if base.is_dir() else base.parent, *places)
    rows = distinct(read_rows(files, file, setting, (key,)), key) if file else ()
    return {row.required(key): row for row in rows}


def read_truth(files: Files, path: str | None, given: str | None) -> Mapping[str, Truth]:
    """Truth by sample id: from the file `given` (`dataset.truth`), else `truth.jsonl` beside `path`, else none."""
    truths = {}
    for key, row in rows_by(files, "sample_id", "dataset.truth", given, path, "truth.jsonl").items():
        try:
            truths[key] = Truth.model_validate({name: row.values[name] for name in row.values if name != "sample_id"})
        except ValidationError as error:
            raise DatasetError(f"{row.where}: {describe(error)}; fix it, or generate the dataset again") from None
    return truths
