"""The contract of a dataset class, and what loading one gives."""

from collections.abc import Iterator
from typing import Any, ClassVar, Protocol

from aiq.core.base import Record
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
