"""Any number of dated events of several countries and themes, and questions about them with exact answers.

Fields hold what an aggregation can count; some properties are only in the summaries, in several wordings and beside
similar sentences, so that every event must be read.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from aiq.core.base import Record
from aiq.core.samples import Expected, NeededNumber, TruthRow
from benchmarks.closed_world.draw import Draw
from benchmarks.closed_world.entities import World, address
from benchmarks.closed_world.names import MONTHS, Names
from benchmarks.closed_world.tables import table
from benchmarks.closed_world.truth import write_jsonl
from benchmarks.closed_world.wording import fill, spelled_day

_TABLE = table("events")
_PROSE = _TABLE["prose"]
_LAST = 5  # a needle is among this many last events of its country


class Event(Record):
    """One document of the collection; `event_date` in ISO format, `attendance` in visitors."""

    event_id: str
    title: str
    summary: str
    country: str
    city: str
    event_theme: str
    event_date: str
    attendance: int
    organiser: str
    url: str


class Known(NamedTuple):
    """An event, and the properties that only its summary states."""

    event: Event
    properties: frozenset[str]

    def value(self, name: str) -> str:
        """The value of a field, or the `year`, `quarter` or `month` of its date (`2024-Q1`, `2024-03`)."""
        day = date.fromisoformat(self.event.event_date)
        periods = {"year": f"{day:%Y}", "quarter": f"{day:%Y}-Q{(day.month + 2) // 3}", "month": f"{day:%Y-%m}"}
        return periods.get(name) or str(getattr(self.event, name))

    def fits(self, where: Mapping[str, Any]) -> bool:
        """Whether it has these values (any of several alternatives) and the property."""
        return all(
            value in self.properties
            if name == "property"
            else self.value(name) in ([value] if isinstance(value, str) else value)
            for name, value in where.items()
        )


def apportioned(count: int, shares: Mapping[str, int]) -> dict[str, int]:
    """Apportion `count` by these shares; the largest remainders get the rest."""
    total = sum(shares.values())
    parts = {name: count * share // total for name, share in shares.items()}
    by_remainder = sorted(shares, key=lambda name: -(count * shares[name] % total))
    return {name: part + (name in by_remainder[: count - sum(parts.values())]) for name, part in parts.items()}


class _Series:
    """Titles of series that recur every year."""

    def __init__(self, world: World, names: Names) -> None:
        self._world, self._names = world, names
        self._titles: dict[tuple[str, str], list[str]] = {}
        self._editions: Counter[tuple[str, str, int]] = Counter()

    def title(self, country: str, theme: str, year: int) -> str:
        titles, index = self._titles.setdefault((country, theme), []), self._editions[country, theme, year]
        self._editions[country, theme, year] += 1
        if index == len(titles):
            kind = self._world.draw("series", country, theme, index).pick(_PROSE["kinds"])
            titles.append(f"{self._names.stem().en} {theme} {kind}")
        return f"{titles[index]} {year}"


def make_events(world: World, count: int) -> list[Known]:
    """`count` events, sorted by date, with recurring series and organisers."""
    names = Names(world.draw("event names"))
    countries = _TABLE["countries"]
    slots = sorted(
        (_day(world.draw("event day", country, theme, number)), country, theme)
        for country, part in apportioned(count, {name: row["share"] for name, row in countries.items()}).items()
        for theme, size in apportioned(part, countries[country]["themes"]).items()
        for number in range(size)
    )
    organisers = {country: [names.stem().en for _ in range(5)] for country in countries}
    totals, counts, series = Counter(country for _, country, _ in slots), Counter[str](), _Series(world, names)
    needles = {name: total - world.draw("needle", name).below(min(_LAST, total)) for name, total in totals.items()}
    events = []
    for number, (day, country, theme) in enumerate(slots, start=1):
        counts[country] += 1
        needle = _TABLE["needles"][country] if counts[country] == needles[country] else None
        draw, words = world.draw("event", number), world.draw("event words", number)
        city, attendance = draw.pick(countries[country]["cities"]), draw.between(3, 60) ** 2 + draw.below(40)
        name = draw.pick(organisers[country])
        organiser = draw.pick(_PROSE["organisers"]).format(name=name, country=country, city=city)
        values = {"organiser": organiser, "city": city, "attendance": f"{attendance:,}", "day": spelled_day(day, "en")}
        opening = fill(words.pick(_PROSE["openings"]), topic=draw.pick(_PROSE["about"][theme]), **values)
        properties, sentences = _details(draw, words, needle)
        event = Event(
            event_id=f"ev-{number:05}",
            title=series.title(country, theme, day.year),
            summary=" ".join([opening, *sentences]),
            country=country,
            city=city,
            event_theme=theme,
            event_date=day.isoformat(),
            attendance=attendance,
            organiser=organiser,
            url=address("events", f"ev-{number:05}"),
        )
        events.append(Known(event, properties))
    return events


def _day(draw: Draw) -> date:
    """A random day; later days are more likely."""
    days = [draw.day(_TABLE["first"], _TABLE["last"]) for _ in range(2)]
    return max(days) if draw.chance(50) else days[0]


def _details(draw: Draw, words: Draw, needle: str | None) -> tuple[frozenset[str], list[str]]:
    """The properties of an event, and the sentences after the first one of its summary."""
    properties = {"needle"} if needle else set[str]()
    sentences = [needle] if needle else []
    for name, row in _TABLE["properties"].items():
        if draw.chance(row["percent"]):
            properties.add(name)
            sentences.append(words.pick(row["said"]))
        elif draw.chance(row["percent"] // 2):
            sentences.append(words.pick(row["unlike"]))
    return frozenset(properties), words.shuffled([*sentences, words.pick(_PROSE["fillers"])])


def questions(events: Sequence[Known]) -> Iterator[tuple[dict[str, Any], TruthRow]]:
    """Those of the table's questions that these events can answer, each with its truth; ids count from 1."""
    number = 0
    for row in _TABLE["questions"]:
        matches = [known for known in events if known.fits(row.get("where", {}))]
        if not matches:
            continue
        number += 1
        scan = row.get("scan", False)
        question = {
            "id": str(number),
            "language": "en",
            "question": row["ask"],
            "data_sources": ["events"],
            "kind": row["kind"],
            "evidence": "summaries" if scan else "fields",
        }
        expected = (
            Expected(items=tuple(known.event.event_id for known in matches))
            if row.get("list")
            else Expected(numbers=tuple(_numbers(matches, row.get("by"), row.get("of", "count"))))
        )
        yield question, TruthRow(sample_id=str(number), hops=1, needs_depth=scan, expected=expected)


def _numbers(matches: Sequence[Known], field: str | None, measure: str) -> Iterator[NeededNumber]:
    """A number for each value of `field`, or one number for all."""
    groups: dict[str, list[Known]] = {}
    for known in matches:
        groups.setdefault(known.value(field) if field else "", []).append(known)
    for name, group in sorted(groups.items()):
        value = {
            "count": len(group),
            "share": round(100 * len(group) / len(matches), 4),
            "attendance": sum(known.event.attendance for known in group),
        }[measure]
        yield NeededNumber(labels=_spellings(name) if field else (), value=value, percent=measure == "share")


def _spellings(name: str) -> tuple[str, ...]:
    """What a report may call a group: `2024-03`, `March 2024`, `March`; `2025-Q1`, `Q1 2025`, `Q1`."""
    year, _, part = name.partition("-")
    if not part or not year.isdecimal():
        return (name,)
    part = part if part.startswith("Q") else MONTHS[int(part) - 1].en
    return (name, f"{part} {year}", part) if part.startswith("Q") else (name, f"{part} {year}", part, part[:3])


def write_events(folder: Path, events: Sequence[Known]) -> None:
    """Write `events.jsonl`, `questions.jsonl` and `truth.jsonl`."""
    write_jsonl(folder / "events.jsonl", (known.event for known in events))
    pairs = list(questions(events))
    write_jsonl(folder / "questions.jsonl", (row for row, _ in pairs))
    write_jsonl(folder / "truth.jsonl", (truth for _, truth in pairs))
