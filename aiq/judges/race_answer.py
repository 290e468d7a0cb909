"""Reading a RACE answer strictly: four dimensions, every criterion once, both scores from 0 to 10."""

from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import JsonValue

from aiq.core.samples import Criterion, Rubric
from aiq.judges.asking import Unusable, read_object
from aiq.judges.race_arithmetic import DIMENSIONS, Mark, match

_HIGHEST: Final = 10


def read_marks(answer: str, rubric: Rubric) -> dict[str, tuple[Mark, ...]]:
    """The marks by dimension, in the answer's order; raises Unusable where anything is missing or out of range.

    A criterion may be spelt differently, but there must be as many marks as criteria, and no
    criterion marked twice.
    """
    return read_value(read_object(answer), rubric)


def read_value(value: Mapping[str, JsonValue], rubric: Rubric) -> dict[str, tuple[Mark, ...]]:
    """The same from parsed JSON; keys other than the dimensions are passed over."""
    return {name: _dimension(name, value.get(name), rubric.criteria[name]) for name in DIMENSIONS}


def _dimension(name: str, entries: JsonValue, criteria: Sequence[Criterion]) -> tuple[Mark, ...]:
    if not isinstance(entries, list):
        raise Unusable(f"dimension {name} is missing or no list")
    if len(entries) != len(criteria):
        raise Unusable(f"dimension {name} has {len(entries)} marks for {len(criteria)} criteria")
    marks = tuple(_mark(name, entry) for entry in entries)
    positions = [at for at in match([mark.criterion for mark in marks], criteria) if at is not None]
    if len(set(positions)) < len(positions):
        raise Unusable(f"dimension {name} marks a criterion twice")
    return marks


def _mark(dimension: str, entry: JsonValue) -> Mark:
    if not isinstance(entry, dict):
        raise Unusable(f"a mark in {dimension} is no object")
    criterion = entry.get("criterion")
    if not isinstance(criterion, str) or not criterion.strip():
        raise Unusable(f"a mark in {dimension} names no criterion")
    analysis = entry.get("analysis")
    return Mark(
        criterion=criterion.strip(),
        ours=_number(dimension, entry, "article_1_score"),
        reference=_number(dimension, entry, "article_2_score"),
        analysis=analysis if isinstance(analysis, str) else "",
    )


def _number(dimension: str, entry: Mapping[str, JsonValue], key: str) -> float:
    value = entry.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unusable(f"{key} of a mark in {dimension} is no number")
    if not 0 <= value <= _HIGHEST:
        raise Unusable(f"{key} of a mark in {dimension} is not in 0..10")
    return float(value)
