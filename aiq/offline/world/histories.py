"""How changing facts came about: values and the days since which they hold."""

from collections.abc import Sequence
from datetime import date, timedelta

from aiq.offline.world.draw import Draw
from aiq.offline.world.entities import ALWAYS, CLOCK, Dated, Value


def history_of_numbers(draw: Draw, start: int) -> tuple[Dated, ...]:
    """Four to five counts of the last years; the last one is of 2026, and no two are equal."""
    values: list[Dated] = []
    number = start
    for year in range(2026 - draw.between(3, 4), 2027):
        number = max(12, number * draw.between(88, 117) // 100 + draw.between(1, 9))
        while any(dated.value == number for dated in values):
            number += 1
        values.append(Dated(draw.day(date(year, 1, 8), date(year, 9, 28)), number))
    return tuple(values)


def history_of_values(draw: Draw, values: Sequence[Value], *, years: int) -> tuple[Dated, ...]:
    """The values one after the other, the last of them since at most `years` years (at least five weeks).

    A single value has always held.
    """
    if len(values) == 1:
        return (Dated(ALWAYS, values[0]),)
    changed = draw.day(CLOCK - timedelta(days=365 * years), CLOCK - timedelta(days=36))
    dated: list[Dated] = []
    for value in reversed(values):
        dated.append(Dated(changed, value))
        changed -= timedelta(days=draw.between(500, 1900))
    return tuple(reversed(dated))
