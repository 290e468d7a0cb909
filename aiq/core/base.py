"""What every package builds on: the base class of everything written to disk, sent over a wire or passed between
packages, and grouping by key.
"""

from collections.abc import Iterable
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

K = TypeVar("K")
V = TypeVar("V")


class Record(BaseModel):
    """A frozen value whose fields are all declared; an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """The values of each key; keys and values in the order in which they first appear."""
    groups: dict[K, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
