"""The contract of a dataset class, and what loading one gives.

Rows of a dataset on the Hugging Face hub, through its own client.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Protocol

from aiq.core.base import Record
from aiq.core.errors import DatasetError
from aiq.core.files import Files, Row
from aiq.core.samples import Sample
from aiq.core.settings import Settings


class Dataset(Record):
    """A loaded dataset. `size` counts its rows before any filter; `fingerprint` is a SHA-256 over all files read."""

    name: str
    samples: tuple[Sample, ...]
    fingerprint: str
    size: int


class SourceSettings(Settings):
    """Where the rows come from: `path`, or `hub` with its split and configuration."""

    path: str | None = None
    hub: str | None = None
    hub_split: str = "train"
    hub_config: str | None = None


class DatasetSource(Protocol):
    """Reads one format. Config names the class; it is made as `Class(Class.Settings(...))`.

    `fingerprint` is complete once `samples` is exhausted.
    """

    Settings: ClassVar[type[SourceSettings]]

    def __init__(self, settings: Any) -> None: ...

    def samples(self) -> Iterator[Sample]:
        """All samples in the order of the rows. Raises DatasetError naming file, row and remedy."""

    @property
    def fingerprint(self) -> str: ...


def hub_rows(files: Files, settings: SourceSettings) -> list[Row]:
    """The rows of `dataset.hub`; their content enters the fingerprint. Raises DatasetError."""
    from datasets import load_dataset  # takes seconds to import; nobody else needs it

    name, split = settings.hub, settings.hub_split
    try:
        table = load_dataset(name, settings.hub_config, split=split)
    except (OSError, ValueError) as error:  # no network, no such dataset, no such split or configuration
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise DatasetError(
            f"dataset.hub={name} (split {split}) could not be loaded: {reason} "
            f"Check the name and the network, or download it and set dataset.path"
        ) from None
    rows = [_plain(row) for row in table]
    files.count(hashlib.sha256(json.dumps(rows, sort_keys=True, default=str).encode()).digest())
    return [Row(f"{name} ({split}), row {number}", row) for number, row in enumerate(rows, start=1)]


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """With column names as in a CSV: without blanks, in small letters."""
    return {str(name).strip().lower(): value for name, value in row.items()}
