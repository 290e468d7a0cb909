"""What every package builds on: the base class of whatever is written to disk, sent over a wire or passed between
packages, and values put together by what they have in common.
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
    """The values of each key; keys and values in the order in which they come."""
    found: dict[K, list[V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found
