"""Reading a RACE answer strictly: four dimensions, every criterion once, every score from 0 to 10."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from pydantic import JsonValue

from aiq.core.samples import Criterion, Rubric
from aiq.judges.asking import Unusable, read_object
from aiq.judges.race_arithmetic import DIMENSIONS, Mark, PointMark, match

_HIGHEST: Final = 10

AnyMark = TypeVar("AnyMark", Mark, PointMark)
Entry = Mapping[str, JsonValue]


def read_marks(answer: str, rubric: Rubric, *, swapped: bool = False) -> dict[str, tuple[Mark, ...]]:
    """The marks by dimension, in the answer's order; raises Unusable where anything is missing or out of range.

    A criterion may be spelt differently, but there must be as many marks as criteria, and no
    criterion marked twice. Keys other than the dimensions are passed over. `swapped`: article 1 was the reference.
    """
    ours, reference = ("article_2_score", "article_1_score") if swapped else ("article_1_score", "article_2_score")

    def mark(dimension: str, entry: Entry) -> Mark:
        return Mark(
            criterion=_criterion(dimension, entry),
            ours=number(entry, ours, dimension),
            reference=number(entry, reference, dimension),
            analysis=_analysis(entry),
        )

    return _marks(read_object(answer), rubric, mark)


def read_points(answer: str, rubric: Rubric) -> dict[str, tuple[PointMark, ...]]:
    """The same for a report that was judged by itself."""

    def mark(dimension: str, entry: Entry) -> PointMark:
        return PointMark(
            criterion=_criterion(dimension, entry),
            score=number(entry, "score", dimension),
            analysis=_analysis(entry),
        )

    return _marks(read_object(answer), rubric, mark)


def number(entry: Entry, key: str, where: str, highest: float = _HIGHEST) -> float:
    """A number from 0 to `highest`; raises Unusable for anything else, a text with digits among it."""
    value = entry.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unusable(f"{key} of {where} is no number")
    if not 0 <= value <= highest:
        raise Unusable(f"{key} of {where} is not in 0..{highest:g}")
    return float(value)


def _marks(value: Entry, rubric: Rubric, read: Callable[[str, Entry], AnyMark]) -> dict[str, tuple[AnyMark, ...]]:
    return {name: _dimension(name, value.get(name), rubric.criteria[name], read) for name in DIMENSIONS}


def _dimension(
    name: str, entries: JsonValue, criteria: Sequence[Criterion], read: Callable[[str, Entry], AnyMark]
) -> tuple[AnyMark, ...]:
    if not isinstance(entries, list):
        raise Unusable(f"dimension {name} is missing or no list")
    if len(entries) != len(criteria):
        raise Unusable(f"dimension {name} has {len(entries)} marks for {len(criteria)} criteria")
    marks = tuple(read(name, _object(name, entry)) for entry in entries)
    positions = [at for at in match([mark.criterion for mark in marks], criteria) if at is not None]
    if len(set(positions)) < len(positions):
        raise Unusable(f"dimension {name} marks a criterion twice")
    return marks


def _object(dimension: str, entry: JsonValue) -> Entry:
    if not isinstance(entry, dict):
        raise Unusable(f"a mark in {dimension} is no object")
    return entry


def _criterion(dimension: str, entry: Entry) -> str:
    criterion = entry.get("criterion")
    if not isinstance(criterion, str) or not criterion.strip():
        raise Unusable(f"a mark in {dimension} names no criterion")
    return criterion.strip()


def _analysis(entry: Entry) -> str:
    analysis = entry.get("analysis")
    return analysis if isinstance(analysis, str) else ""
