"""Dates in running text that name a month at least, in the usual ways of writing them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

_MONTHS: Final = {
    "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11,
    "dec": 12, "mär": 3, "mai": 5, "okt": 10, "dez": 12, "janv": 1, "févr": 2, "avr": 4, "juin": 6, "juil": 7,
    "août": 8, "déc": 12, "ene": 1, "abr": 4, "ago": 8, "dic": 12,
}  # fmt: skip
_MONTH: Final = re.compile(
    r"\b(Jan(?:uary|uar|vier)?|Feb(?:ruary|ruar|rero)?|Mar(?:ch|s|zo)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember|embre|iembre)?|Oct(?:ober|obre|ubre)?|Nov(?:ember|embre|iembre)?|Dec(?:ember)?"
    r"|März|Mai|Juni|Juli|Oktober|Dezember|janv(?:ier)?|févr(?:ier)?|mars|avril|mai|juin|juillet|août|septembre|octobre"
    r"|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)\b\.?"
)
_DAY_BEFORE: Final = re.compile(r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|\.|º)?\s+(?:of\s+|de\s+)?$")
_DAY_AFTER: Final = re.compile(r"\s+(\d{1,2})(?:st|nd|rd|th)?(?!\d)(?!\s*[,.]?\d)")
_YEAR_AFTER: Final = re.compile(r",?\s+(?:of\s+|de\s+|del\s+)?(\d{4})(?!\d)")
_ISO: Final = re.compile(r"(?<!\d)((?:19|20)\d{2})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)")
_CJK: Final = re.compile(r"(?:(?<!\d)(\d{4})\s?[年년]\s?)?(?<![\d.])(\d{1,2})\s?[月월](?:\s?(\d{1,2})\s?[日号日일])?")


@dataclass(frozen=True, slots=True)
class Date:
    """A day or a month at `start:end` of the text; parts that are not said are None."""

    year: int | None
    month: int
    day: int | None
    start: int
    end: int

    def says(self, other: "Date") -> bool:
        """Whether every part that the other names is said here, and the same."""
        pairs = ((self.year, other.year), (self.month, other.month), (self.day, other.day))
        return all(theirs is None or ours == theirs for ours, theirs in pairs)

    def allows(self, other: "Date") -> bool:
        """Whether nothing said here differs from the other; less may be said."""
        pairs = ((self.year, other.year), (self.month, other.month), (self.day, other.day))
        return all(ours is None or theirs is None or ours == theirs for ours, theirs in pairs)


def dates(text: str) -> tuple[Date, ...]:
    """The dates of a text, by place."""
    return tuple(sorted([*_with_names(text), *_iso(text), *_cjk(text)], key=lambda date: date.start))


def _with_names(text: str) -> Iterator[Date]:
    for match in _MONTH.finditer(text):
        start, end = match.span()
        day = _DAY_BEFORE.search(text, max(0, start - 12), start)
        after = None if day else _DAY_AFTER.match(text, end)
        year = _YEAR_AFTER.match(text, after.end() if after else end)
        number = int(day[1]) if day else int(after[1]) if after else None
        if year is None and number is None:
            continue  # "may" and "March on"
        if number is not None and not 1 <= number <= 31:
            continue
        month = _month(match[1])
        first, last = (day.start() if day else start), (year or after or match).end()
        yield Date(int(year[1]) if year else None, month, number, first, last)


@cache
def _month(name: str) -> int:
    name = name.lower()
    return next(_MONTHS[name[:size]] for size in (4, 3) if name[:size] in _MONTHS)


def _iso(text: str) -> Iterator[Date]:
    for match in _ISO.finditer(text):
        if 1 <= int(match[3]) <= 12 and 1 <= int(match[4]) <= 31:
            yield Date(int(match[1]), int(match[3]), int(match[4]), *match.span())


def _cjk(text: str) -> Iterator[Date]:
    if "月" not in text and "월" not in text:
        return
    for match in _CJK.finditer(text):
        month, day = int(match[2]), int(match[3]) if match[3] else None
        if 1 <= month <= 12 and (day is None or 1 <= day <= 31):
            yield Date(int(match[1]) if match[1] else None, month, day, *match.span())
