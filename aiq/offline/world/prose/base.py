"""What one language has to offer for the pages: templates by (kind, relation), and how values look."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from aiq.offline.world.entities import Entity, Value
from aiq.offline.world.names import Name

Key = tuple[str, str]
Templates = Mapping[Key, tuple[str, ...]]


@dataclass(frozen=True)
class Prose:
    """Templates of one language.

    `stated`: sentences of a subject's own page. `yearbook`: sentences of old editions, close to the wording of
    questions. `news`: headline and lead of the report of a change. `openings`, `fillers`: first and idle sentences
    by kind, the latter with `{t}` for `short`: what a subject is called once it is known (people: their surname).
    `belongs`: says of a visible member that it is part of `{scene}`. `unchanged`: says of a relation that it never
    changed. `footer`, `dateline`: the last line of a page and of a news article, with the date.
    """

    language: str
    openings: Mapping[str, tuple[str, ...]]
    stated: Templates
    yearbook: Templates
    news: Mapping[Key, tuple[tuple[str, str], ...]]
    fillers: Mapping[str, tuple[str, ...]]
    belongs: str
    unchanged: Mapping[Key, str]
    short: Mapping[str, str]
    asides: tuple[str, ...]
    footer: str
    dateline: str
    space: str
    months: tuple[str, ...]

    def month(self, day: date) -> str:
        """`March 2026`, `2026年3月`."""
        name = self.months[day.month - 1]
        return f"{day.year}年{name}" if self.language == "zh" else f"{name} {day.year}"

    def day(self, day: date) -> str:
        """`3 March 2026`, `2026年3月3日`."""
        return f"{self.month(day)}{day.day}日" if self.language == "zh" else f"{day.day} {self.month(day)}"

    def value(self, value: Value, *, number: bool = False) -> str:
        """A value as a sentence has it: names, plain years, counts with thousands separators in English."""
        if isinstance(value, Entity):
            return value.name.text(self.language)
        if isinstance(value, Name):
            return value.text(self.language)
        return f"{value:,}" if number and self.language == "en" else str(value)
