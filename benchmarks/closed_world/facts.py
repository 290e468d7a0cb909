"""Fills the world: regions with their cities, institutes, companies, works and people, and the facts between them."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from benchmarks.closed_world.draw import Draw
from benchmarks.closed_world.entities import ALWAYS, CLOCK, Dated, Entity, Fact, Region, Value, World
from benchmarks.closed_world.names import MONTHS, Name, Names, form, names
from benchmarks.closed_world.tables import Language, of_kind, table

_WORDS, _MADE = table("names"), table("entities")


def build_world(seed: int, *, english: int, chinese: int) -> World:
    """A world of `english` + `chinese` regions; those of a language refer only to each other."""
    world = World(seed)
    builder = _Builder(world)
    for number in range(english + chinese):
        builder.fill(builder.region(number, "en" if number < english else "zh"), "places")
    for region in world.regions:
        builder.fill(region, "works")
    for entity in world.entities():
        world.page_dates[entity.id] = _page_date(world, entity)
    return world


class _Builder:
    """Holds what all regions share while the world is made."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._names = Names(Draw(world.seed, "names"))
        self._ids: Counter[str] = Counter()

    def region(self, number: int, language: Language) -> Region:
        """A landscape without anything in it."""
        landscape, industry = (_WORDS[key][number % len(_WORDS[key])] for key in ("landscapes", "industries"))
        name = form("brand", self._names.stem(), Name(**landscape["name"]))
        country = self._names.stem(3)
        region = Region(
            number=number,
            language=language,
            name=name,
            place=Name(f"{landscape['preposition']} the {name.en}", name.zh),
            country=Entity(self._id(country.en), "country", country, number, language),
            rivers=(self._names.stem(), self._names.stem()),
            industry=Name(**industry["name"]),
            suffixes=names(industry["suffixes"]),
        )
        self._world.regions.append(region)
        return region

    def fill(self, region: Region, stage: str) -> None:
        """The entities and facts of one stage (`places`, `works`) of `entities.toml`."""
        draw = Draw(self._world.seed, stage, region.number)
        for kind, made in _MADE[stage].items():
            new = (self._entity(draw, region, kind, visible) for visible in made["visible"])
            for subject in new if made["visible"] else region.of(kind):
                self._describe(draw, region, subject, made["facts"])

    def _entity(self, draw: Draw, region: Region, kind: str, visible: bool) -> Entity:
        if kind == "city":
            return self._add(region, kind, self._names.stem())
        if kind == "book":
            return self._add(region, kind, self._names.title(), visible=visible)
        if kind == "scene":
            topic = list(_WORDS["scenes"])[len(region.of(kind))]
            scene = region.industry if topic == "sector" else Name(**_WORDS["scenes"][topic])
            title = form("scene", scene, region.place)
            return self._add(region, kind, title, role=topic, key=f"{topic}-{region.name.en}")
        role, suffixes = "", region.suffixes
        if kind == "festival":
            role = draw.pick(list(_WORDS["festivals"]))
            suffixes = (Name(**_WORDS["festivals"][role]),)
        elif kind in _WORDS:
            suffixes = names(_WORDS[kind])
        return self._add(region, kind, self._names.brand(suffixes, region.number), visible=visible, role=role)

    def _person(self, draw: Draw, region: Region, role: str, *, page: bool = True) -> Entity:
        called = self._names.person()
        if not page:
            return Entity(self._id(called.en), "person", called, region.number, region.language)
        person = self._add(region, "person", called, role=role, visible=False)
        self._describe(draw, region, person, _MADE["person"])
        return person

    def _add(
        self, region: Region, kind: str, name: Name, *, visible: bool = True, role: str = "", key: str = ""
    ) -> Entity:
        entity = Entity(self._id(key or name.en), kind, name, region.number, region.language, role, visible)
        region.of(kind).append(entity)
        return entity

    def _id(self, text: str) -> str:
        """Such as `halden-works`; a second equal one has a number."""
        slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
        self._ids[slug] += 1
        return slug if self._ids[slug] == 1 else f"{slug}-{self._ids[slug]}"

    def _describe(self, draw: Draw, region: Region, subject: Entity, rules: Mapping[str, Sequence[Any]]) -> None:
        for relation, rule in rules.items():
            self._world.add(Fact(subject, relation, self._history(draw, region, subject, rule)))

    def _history(self, draw: Draw, region: Region, subject: Entity, rule: Sequence[Any]) -> tuple[Dated, ...]:
        match rule:
            case ["thousands", low, high]:
                return _counts(draw, draw.between(low, high) * 1000)
            case ["tens", low, high]:
                return _counts(draw, draw.between(low, high) * 10 + draw.below(10))
            case ["seats", years]:
                return _in_turn(draw, _seats(draw, region), years)
            case ["holders", role, years]:  # two or three, of whom only the last has a page
                last = draw.between(2, 3)
                people = [self._person(draw, region, role, page=number == last) for number in range(1, last + 1)]
                return _in_turn(draw, people, years)
            case ["winners", first, last]:
                month = 1 + list[Value](MONTHS).index(self._world.fact(subject, "month").value)
                years = range(first, last + 1)
                people = [self._person(draw, region, subject.role, page=year == last) for year in years]
                day = draw.between(5, 26)
                return tuple(Dated(date(year, month, day), one) for year, one in zip(years, people, strict=True))
        return (Dated(ALWAYS, self._value(draw, region, subject, rule)),)

    def _value(self, draw: Draw, region: Region, subject: Entity, rule: Sequence[Any]) -> Value:
        """A value that never changes."""
        match rule:
            case ["between", low, high]:
                return draw.between(low, high)
            case ["month", low, high]:
                return MONTHS[draw.between(low, high) - 1]
            case ["of", kind]:
                return draw.pick(region.of(kind))
            case ["each", kind]:
                return region.of(kind)[region.of(subject.kind).index(subject)]
            case ["anywhere", kind]:  # in a third of the cases another region, if there is one
                others = [other for other in self._world.of_language(region.language) if other is not region]
                return draw.pick((draw.pick(others) if others and draw.chance(35) else region).of(kind))
            case ["person", role]:
                return self._person(draw, region, role)
            case ["river"]:
                return draw.pick(region.rivers)
            case ["stadium"]:
                return form("stadium", self._names.stem())
        return region.country


def _seats(draw: Draw, region: Region) -> list[Entity]:
    """The city of the newest company, sometimes after another one. The first three share a city, to be compared."""
    cities = region.of("city")
    home = cities[0] if len(region.of("company")) <= 3 else draw.pick(cities[1:])
    before = [draw.pick([city for city in cities if city is not home])] if draw.chance(30) else []
    return [*before, home]


def _counts(draw: Draw, number: int) -> tuple[Dated, ...]:
    """Four to five counts of the last years; the last one is of 2026, and no two are equal."""
    counts: dict[int, date] = {}
    for year in range(2026 - draw.between(3, 4), 2027):
        number = max(12, number * draw.between(88, 117) // 100 + draw.between(1, 9))
        while number in counts:
            number += 1
        counts[number] = draw.day(date(year, 1, 8), date(year, 9, 28))
    return tuple(Dated(day, count) for count, day in counts.items())


def _in_turn(draw: Draw, values: Sequence[Value], years: int) -> tuple[Dated, ...]:
    """The values one after the other, the last of them since at most `years` years (at least five weeks).

    A single value has always held.
    """
    if len(values) == 1:
        return (Dated(ALWAYS, values[0]),)
    changed = draw.day(CLOCK - timedelta(days=365 * years), CLOCK - timedelta(days=36))
    dated: list[Dated] = []
    for value in reversed(values):
        dated.insert(0, Dated(changed, value))
        changed -= timedelta(days=draw.between(500, 1900))
    return tuple(dated)


def _page_date(world: World, entity: Entity) -> date:
    """Most pages are newer than every fact on them; a third may miss the last change, which the news tells."""
    draw = Draw(world.seed, "page date", entity.id)
    newest = max((world.fact(entity, relation.name).changed for relation in of_kind(entity.kind)), default=ALWAYS)
    spring, autumn = date(2026, 1, 10), date(2026, 10, 24)
    if newest < spring or not draw.chance(35):
        return draw.day(max(newest, spring), autumn)
    return draw.day(date(2025, 6, 1), newest)
