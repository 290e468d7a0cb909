"""Dates in texts: which day, month or year a sentence or a page is about."""

import re
from datetime import date
from typing import NamedTuple

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_NUMBER_OF = {name[:3].lower(): number for number, name in enumerate(MONTHS, 1)}
_MONTH = "(?P<m>" + "|".join(rf"{name[:3]}(?:{name[3:]})?" for name in MONTHS).replace("Sep(?:", "Sept?(?:") + r")\b\.?"
_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<y>(?:1\d|20)\d\d)"
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b{_YEAR}-(?P<m>\d\d)(?:-(?P<d>\d\d))?\b",
        rf"\b{_DAY}\s+{_MONTH},?\s+{_YEAR}\b",
        rf"\b{_MONTH}\s+{_DAY},?\s+{_YEAR}\b",
        rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}\b",
        rf"{_YEAR}\s*年(?:\s*(?P<m>\d{{1,2}})\s*月)?(?:\s*(?P<d>\d{{1,2}})\s*日)?",
        rf"(?<![\d.,$€£-])\b{_YEAR}\b(?![\d%]|[.,]\d)",
    )
)

_PAGE_LINE = re.compile(
    r"(?:(?:last )?updated(?: on)?|published(?: on)?|posted(?: on)?|date[ds]?|更新于|更新时间|发布于|发布时间)"
    r"[:：\s]*(?:on\s+)?(?P<rest>.{4,24})",
    re.IGNORECASE,
)
_AS_OF = re.compile(r"(?:as of|as at|截至|截止)\s*$", re.IGNORECASE)
_STATE = re.compile(
    r"(?:^|[(（]|\bcurrently|\b(?:as )?(?:in|at|of|from|during)(?: the| early| late| mid)?|截至|截止)"
    r"\s*(?:(?:start|end|beginning)\s+of\s+)?$",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?:since|became|appointed|elected|took (?:office|over)|taking over|succeed\w*|moved|replac(?:ed|ing))"
    r"\b|自.{4,9}起|接替|就任|出任|迁至",
    re.IGNORECASE,
)


class Stated(NamedTuple):
    """A date as stated (month and day are 0 if the text gives none), and its position in the text."""

    year: int
    month: int
    day: int
    start: int
    end: int

    @property
    def when(self) -> date:
        """The day meant, or the middle of the month or year."""
        try:
            return date(self.year, self.month or 7, self.day or (15 if self.month else 1))
        except ValueError:
            return date(self.year, self.month or 7, 1)


def find(text: str) -> list[Stated]:
    """All dates in a text, in order; of overlapping readings the longest."""
    dates: list[Stated] = []
    for match in (match for pattern in _PATTERNS for match in pattern.finditer(text)):
        start, end = match.span()
        parts = {"m": "", "d": "", **match.groupdict(default="")}
        month = _NUMBER_OF.get(parts["m"][:3].lower()) or int(parts["m"] or 0)
        free = not any(start < other.end and other.start < end for other in dates)
        if free and month <= 12 and int(parts["d"] or 0) <= 31:
            dates.append(Stated(int(parts["y"]), month, int(parts["d"] or 0), start, end))
    return sorted(dates, key=lambda d: d.start)


def stated(sentence: str) -> date | None:
    """The time a sentence is about: "As of March 2026 ..." first, else "in 2026"; None if it states no date.

    A sentence about a change ("became ... in 2024", "since 2021") holds from then on, so it has no date of its own.
    """
    no_change = _CHANGE.search(sentence) is None
    for frame in (_AS_OF, _STATE)[: 1 + no_change]:
        if dates := [d for d in find(sentence) if frame.search(sentence[: d.start])]:
            return dates[0].when
    return None


def changed(sentence: str) -> date | None:
    """When the change that a sentence reports happened: what the sentence states cannot be older. None without one."""
    dates = find(sentence) if _CHANGE.search(sentence) else []
    return dates[0].when if dates else None


def of_page(text: str) -> date | None:
    """The date that a page gives itself ("Page updated 2026-03-14", "Published: 3 May 2026"), or None."""
    line_dates = (find(match["rest"]) for match in _PAGE_LINE.finditer(text))
    return next((dates[0].when for dates in line_dates if dates and dates[0].start < 6), None)
