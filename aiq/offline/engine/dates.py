"""Dates as texts state them: which day, month or year a sentence or a page speaks of."""

import re
from datetime import date, datetime
from typing import NamedTuple

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_NUMBER_OF = {name[:3].lower(): number for number, name in enumerate(MONTHS, 1)}
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)

_ISO = re.compile(r"\b(?P<y>(?:1\d|20)\d\d)-(?P<m>\d\d)(?:-(?P<d>\d\d))?\b")
_DAY_FIRST = re.compile(rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?P<m>{_MONTH})\.?,?\s+(?P<y>(?:1\d|20)\d\d)\b")
_MONTH_FIRST = re.compile(rf"\b(?P<m>{_MONTH})\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>(?:1\d|20)\d\d)\b")
_MONTH_YEAR = re.compile(rf"\b(?P<m>{_MONTH})\.?,?\s+(?:of\s+)?(?P<y>(?:1\d|20)\d\d)\b")
_CHINESE = re.compile(r"(?P<y>(?:1\d|20)\d\d)\s*年(?:\s*(?P<m>\d{1,2})\s*月)?(?:\s*(?P<d>\d{1,2})\s*日)?")
_YEAR = re.compile(r"(?<![\d.,$€£-])\b(?P<y>1[0-9]\d\d|20\d\d)\b(?![\d%]|[.,]\d)")
_PATTERNS = (_ISO, _DAY_FIRST, _MONTH_FIRST, _MONTH_YEAR, _CHINESE, _YEAR)

_PAGE_LINE = re.compile(
    r"(?:page (?:last )?updated|last updated|updated on|published(?: on)?|posted(?: on)?|date[ds]?|更新于"
    r"|更新时间|发布于|发布时间)"
    r"[:：\s]*(?:on\s+)?(?P<rest>.{4,24})",
    re.IGNORECASE,
)
_STATE = re.compile(
    r"(?:\(|\bas of|\bas at|\bby the end of|\bin early|\bin late|\bin mid|\bcurrently|\bat the|\bin|\bfrom"
    r"|\bduring|\bcount of|截至|截止|（)"
    r"\s*(?:the\s+(?:start|end|beginning)\s+of\s+)?$",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\bsince\b|\bbecame\b|\bappointed\b|\belected\b|\btook (?:office|over)\b|\btaking over\b|\bsucce(?:eded"
    r"|eding|eds)\b|\bmoved\b"
    r"|\breplac(?:ed|ing)\b|自.{4,9}起|接替|就任|出任|迁至",
    re.IGNORECASE,
)


class Stated(NamedTuple):
    """A date as stated (month and day 0 where the text gives none), and where it stands in the text."""

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
    """All dates of a text in order; of overlapping readings the longer."""
    found: list[Stated] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(start < other.end and other.start < end for other in found):
                continue
            parts = match.groupdict()
            month, day = _month(parts.get("m")), int(parts.get("d") or 0)
            if month <= 12 and day <= 31:
                found.append(Stated(int(parts["y"]), month, day, start, end))
    return sorted(found, key=lambda stated: stated.start)


def stated(sentence: str) -> date | None:
    """Of when a sentence speaks: "As of March 2026 ..." first, else "in 2026"; None where it states no date.

    A sentence about a change ("became ... in 2024", "since 2021") holds from then on, so it states none.
    """
    found = find(sentence)
    as_of = [d for d in found if re.search(r"(?:as of|as at|截至|截止)\s*$", sentence[: d.start], re.IGNORECASE)]
    if as_of:
        return as_of[0].when
    if _CHANGE.search(sentence):
        return None
    framed = [d for d in found if _STATE.search(sentence[: d.start]) or d.start == 0]
    return framed[0].when if framed else None


def changed(sentence: str) -> date | None:
    """When a change happened that the sentence reports; the earliest that its state can be of."""
    found = find(sentence) if _CHANGE.search(sentence) else []
    return found[0].when if found else None


def of_page(text: str) -> date | None:
    """The date a page gives for itself ("Page updated 2026-03-14", "Published: 3 May 2026"), or None."""
    for match in _PAGE_LINE.finditer(text):
        dates = find(match.group("rest"))
        if dates and dates[0].start < 6:
            return dates[0].when
    return None


def age_days(when: date, now: datetime) -> int:
    """Days from `when` to now; negative for a day to come."""
    return (now.date() - when).days


def _month(text: str | None) -> int:
    if not text:
        return 0
    return int(text) if text.isdigit() else _NUMBER_OF[text[:3].lower()]
