"""Dated events of several countries and themes, any number of them, and their counts by country, theme and month."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from aiq.core.base import Record
from benchmarks.closed_world.entities import World, address
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


def make_events(world: World, count: int) -> list[Event]:
    """`count` events by date. Every country has a few actors of each theme, who come back."""
    names, themes = Names(world.draw("event names")), _TABLE["themes"]
    regions = world.of_language("en")[: _TABLE["countries"]]
    known = {(region.number, name): [names.stem().en for _ in range(3)] for region in regions for name in themes}
    weighted = [name for name, theme in themes.items() for _ in range(theme["share"])]
    days = sorted(world.draw("event day", number).day(_TABLE["first"], _TABLE["last"]) for number in range(count))
    events = []
    for number, day in enumerate(days, start=1):
        draw, words = world.draw("event", number), world.draw("event words", number)
        region, name = draw.pick(regions), draw.pick(weighted)
        theme, stems, city = themes[name], known[region.number, name], draw.pick(region.of("city"))
        said = {"country": region.country.en, "place": str(city)}
        actors = tuple(sort.format(name=draw.pick(stems), **said) for sort in draw.shuffled(theme["actors"])[:2])
        value = draw.between(*theme["range"])
        told = [words.pick(theme["texts"]), *words.some(_TABLE["background"], words.between(1, 2))]
        shown = {**said, "actor": actors[0], "other": actors[1], "day": spelled_day(day, "en"), "value": f"{value:,}"}
        title, *text = (fill(template, **shown) for template in (words.pick(theme["titles"]), *told))
        events.append(
            Event(
                id=f"e{number}",
                date=day.isoformat(),
                theme=name,
                title=title,
                text=" ".join(text),
                actors=actors,
                value=value,
                unit=theme["unit"],
                url=address("wire", f"{day:%Y/%m}/{city.id}-{name}-{number}"),
                **said,
            )
        )
    return events


def counts(events: Iterable[Event]) -> Iterator[dict[str, Any]]:
    """By country, theme and month (`2026-03`): how many, and the sum of their figures; no row for none."""
    values: dict[tuple[str, ...], list[int]] = {}
    for event in events:
        values.setdefault((event.country, event.theme, event.date[:7]), []).append(event.value)
    for (country, theme, month), found in sorted(values.items()):
        yield {"country": country, "theme": theme, "month": month, "events": len(found), "total": sum(found)}


def write_events(folder: Path, events: list[Event]) -> None:
    """`events.jsonl` and `truth.jsonl`."""
    write_jsonl(folder / "events.jsonl", events)
    write_jsonl(folder / "truth.jsonl", counts(events))
