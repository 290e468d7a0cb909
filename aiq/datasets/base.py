"""What a dataset class is and inherits: rows of a file or of the Hugging Face hub, and what the closed world knows."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, ValidationError

from aiq.core.base import Record
from aiq.core.errors import DatasetError
from aiq.core.files import Files, Row, find, read_rows, resolve
from aiq.core.plugins import describe
from aiq.core.samples import Sample, Truth, TruthRow
from aiq.core.settings import Settings


class Dataset(Record):
    """A loaded dataset. `size` counts its rows before any filter; `fingerprint` is a SHA-256 over all files read."""

    name: str
    samples: tuple[Sample, ...]
    fingerprint: str
    size: int


class SourceSettings(Settings):
    """Where the rows come from: `path`, or `hub` with its split and configuration."""

    path: str | None
    hub: str | None
    hub_split: str = Field(description="the split of `hub`")
    hub_config: str | None = Field(description="the configuration of `hub`, where it has several")


class DatasetSource:
    """Reads one format. Config names the class; it is made as `Class(Class.Settings(...))`.

    `columns` are those that a CSV's header must have; `form` says what `dataset.path` should name.
    """

    Settings: ClassVar[type[SourceSettings]] = SourceSettings
    columns: ClassVar[tuple[str, ...]]
    form: ClassVar[str]

    def __init__(self, settings: Any) -> None:
        self.settings = settings
        self.files = Files()

    @property
    def fingerprint(self) -> str:
        """Of all files read; complete once `samples` is exhausted."""
        return self.files.fingerprint

    def samples(self) -> Iterator[Sample]:
        """All samples in the order of the rows. Raises DatasetError naming file, row and remedy."""
        raise NotImplementedError

    def path(self) -> Path:
        if self.settings.path is None:
            raise DatasetError(f"dataset.path is not set; name {self.form}")
        return resolve(self.settings.path)

    def rows(self) -> list[Row]:
        """The rows of `dataset.hub` or `dataset.path`. Raises DatasetError."""
        if self.settings.hub is not None:
            return self._hub_rows()
        return read_rows(self.files, self.path(), "dataset.path", self.columns)

    def _hub_rows(self) -> list[Row]:
        """Through the hub's own client; their content enters the fingerprint."""
        from datasets import load_dataset  # takes seconds to import; nobody else needs it

        name, split = self.settings.hub, self.settings.hub_split
        try:
            table = load_dataset(name, self.settings.hub_config, split=split)
        except (OSError, ValueError) as error:  # no network, no such dataset, no such split or configuration
            reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise DatasetError(
                f"dataset.hub={name} (split {split}) could not be loaded: {reason} "
                f"Check the name and the network, or download it and set dataset.path"
            ) from None
        rows = [{str(column).strip().lower(): value for column, value in row.items()} for row in table]
        self.files.count(hashlib.sha256(json.dumps(rows, sort_keys=True, default=str).encode()).digest())
        return [Row(f"{name} ({split}), row {number}", row) for number, row in enumerate(rows, start=1)]


def read_truth(files: Files, path: str | None, given: str | None) -> Mapping[str, Truth]:
    """Truth by sample id: from the file `given` (`dataset.truth`), else from `truth.jsonl` beside `path`, else none."""
    found: Path | None = None
    if given is not None:
        found = resolve(given)
    elif path is not None:
        base = resolve(path)
        found = find(base if base.is_dir() else base.parent, "truth.jsonl")
    truths: dict[str, Truth] = {}
    for row in read_rows(files, found, "dataset.truth", ("sample_id",)) if found else ():
        try:
            parsed = TruthRow.model_validate(row.values)
        except ValidationError as error:
            raise DatasetError(f"{row.where}: {describe(error)}; mend it, or generate the dataset again") from None
        if parsed.sample_id in truths:
            raise DatasetError(f"{row.where}: sample_id {parsed.sample_id} is there already; keep one")
        truths[parsed.sample_id] = Truth(hops=parsed.hops, needs_depth=parsed.needs_depth, facts=parsed.facts)
    return truths
