"""Seeded choices that are the same on every platform and in every Python, because they use only `Random.random`.

Python guarantees the sequence of `random()` for a seed, but not that of `choice` or `shuffle`.
"""

from collections.abc import Sequence
from datetime import date, timedelta
from random import Random
from typing import TypeVar

from aiq.core.seeds import derive

T = TypeVar("T")


class Draw:
    """A stream of choices, identified by its parts: `Draw(seed, "pages", "tessmark")`.

    Facts and wording are drawn from different streams, so that a new wording changes no fact.
    """

    def __init__(self, *parts: object) -> None:
        self._random = Random(derive("world", *parts))

    def below(self, bound: int) -> int:
        """An integer in 0 .. bound - 1."""
        return int(self._random.random() * bound)

    def between(self, low: int, high: int) -> int:
        """An integer in low .. high, both included."""
        return low + self.below(high - low + 1)

    def chance(self, percent: int) -> bool:
        return self.below(100) < percent

    def pick(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """All items in random order (Fisher-Yates)."""
        result = list(items)
        for last in range(len(result) - 1, 0, -1):
            other = self.below(last + 1)
            result[last], result[other] = result[other], result[last]
        return result

    def some(self, items: Sequence[T], count: int) -> list[T]:
        """At most `count` of the items, in their original order."""
        chosen = sorted(self.shuffled(range(len(items)))[:count])
        return [items[index] for index in chosen]

    def day(self, first: date, last: date) -> date:
        """A date from first to last, both included."""
        return first + timedelta(days=self.below((last - first).days + 1))
