"""Dated events of several countries and themes, any number of them, and their counts by country, theme and month."""

from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from aiq.core.base import Record
from benchmarks.closed_world.draw import Draw
from benchmarks.closed_world.entities import Region, World
from benchmarks.closed_world.names import Names
from benchmarks.closed_world.tables import Texts, table
from benchmarks.closed_world.truth import write_jsonl
from benchmarks.closed_world.wording import fill, spelled_day

_TABLE = table("events")


class Event(Record):
    """One event; `url`, `title` and `text` make it a page too. `value`: a figure in `unit`s. `date`: ISO."""

    id: str
    date: str
    country: str
    theme: str
    title: str
    text: str
    actors: Texts
    place: str
    value: int
    unit: str
    url: str


class Theme(Record):
    """A row of `themes`, explained in `events.toml`."""

    share: int
    range: tuple[int, int]
    unit: str
    actors: Texts
    titles: Texts
    texts: Texts


class Count(Record):
    """A row of the truth: a country's events of a theme in a month (`2026-03`), and the sum of their figures."""

    country: str
    theme: str
    month: str
    events: int
    total: int


_THEMES = {name: Theme.model_validate(row) for name, row in _TABLE["themes"].items()}


def make_events(world: World, count: int) -> list[Event]:
    """`count` events by date. Every country has a few actors of each theme, who come back."""
    names = Names(world.draw("event names"))
    regions = world.of_language("en")[: _TABLE["countries"]]
    known = {
        (region.number, theme): tuple(names.stem().en for _ in range(3)) for region in regions for theme in _THEMES
    }
    weighted = [name for name, theme in _THEMES.items() for _ in range(theme.share)]
    first, last = (date.fromisoformat(_TABLE[end]) for end in ("first", "last"))
    days = sorted(world.draw("event day", number).day(first, last) for number in range(count))
    events = []
    for number, day in enumerate(days, start=1):
        draw = world.draw("event", number)
        region, theme = draw.pick(regions), draw.pick(weighted)
        events.append(_event(world, number, day, region, theme, known[region.number, theme], draw))
    return events


def _event(world: World, number: int, day: date, region: Region, name: str, stems: Texts, draw: Draw) -> Event:
    theme, country, place = _THEMES[name], region.country.en, draw.pick(region.of("city"))
    sorts = draw.shuffled(theme.actors)[:2]
    actors = tuple(sort.format(name=draw.pick(stems), place=place.name.en, country=country) for sort in sorts)
    value = draw.between(*theme.range)
    said = {
        "actor": actors[0],
        "other": actors[1],
        "place": place.name.en,
        "country": country,
        "day": spelled_day(day, "en"),
    }
    words = world.draw("event words", number)
    text = [fill(words.pick(theme.texts), value=f"{value:,}", **said)]
    text += [fill(idle, **said) for idle in words.some(_TABLE["background"], words.between(1, 2))]
    return Event(
        id=f"e{number}",
        date=day.isoformat(),
        country=country,
        theme=name,
        title=fill(words.pick(theme.titles), **said),
        text=" ".join(text),
        actors=actors,
        place=place.name.en,
        value=value,
        unit=theme.unit,
        url=f"{_TABLE['site']}/{day.year}/{day.month:02d}/{place.id}-{name}-{number}",
    )


def counts(events: list[Event]) -> Iterator[Count]:
    """By country, theme and month, in that order; what there was none of has no row."""
    number: Counter[tuple[str, str, str]] = Counter()
    total: Counter[tuple[str, str, str]] = Counter()
    for event in events:
        key = event.country, event.theme, event.date[:7]
        number[key] += 1
        total[key] += event.value
    for key in sorted(number):
        country, theme, month = key
        yield Count(country=country, theme=theme, month=month, events=number[key], total=total[key])


def write_events(folder: Path, events: list[Event]) -> None:
    """`events.jsonl` and `truth.jsonl`."""
    write_jsonl(folder / "events.jsonl", events)
    write_jsonl(folder / "truth.jsonl", counts(events))
