"""Fills the world: regions with their cities, institutes, companies, works and people, and the facts between them."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from benchmarks.closed_world.draw import Draw
from benchmarks.closed_world.entities import ALWAYS, CLOCK, Dated, Entity, Fact, Region, Value, World
from benchmarks.closed_world.names import Name, Names, Slugs, name, names
from benchmarks.closed_world.tables import Language, of_kind, table

_WORDS = table("names")
_MONTHS = names(_WORDS["months"])
_SIZES = {"city": 4, "institute": 4, "company": 6, "book": 5, "festival": 3, "club": 3}
"""Entities of each kind in one region."""


def build_world(seed: int, *, english: int, chinese: int) -> World:
    """A world of `english` + `chinese` regions; those of a language refer only to each other."""
    world = World(seed)
    builder = _Builder(world)
    for number in range(english + chinese):
        builder.places(number, "en" if number < english else "zh")
    for region in world.regions:
        builder.works(region)
    for entity in world.entities():
        world.page_dates[entity.id] = _page_date(world, entity)
    return world


class _Builder:
    """Holds what all regions share while the world is made."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._names = Names(Draw(world.seed, "names"))
        self._slugs = Slugs()

    def places(self, number: int, language: Language) -> None:
        """A region with its country, cities and institutes; people may later refer to any of them."""
        draw = Draw(self._world.seed, "places", number)
        stem, landscape = self._names.stem(), _turn(_WORDS["landscapes"], number)
        country, kind = self._names.stem(3), name(landscape["name"])
        region = Region(
            number=number,
            language=language,
            name=Name(f"{stem.en} {kind.en}", f"{stem.zh}{kind.zh}"),
            country=Entity(self._slugs.make(country.en), "country", country, number, language),
            preposition=landscape["preposition"],
            industry=name(_turn(_WORDS["industries"], number)["name"]),
        )
        self._world.regions.append(region)
        rivers = [self._names.stem() for _ in range(2)]
        for _ in range(_SIZES["city"]):
            city = self._add(region, "city", self._names.stem())
            self._state(city, "country", region.country)
            self._state(city, "river", draw.pick(rivers))
            self._state(city, "founded", draw.between(1120, 1890))
            self._dated(city, "population", _counts(draw, draw.between(38, 900) * 1000))
        for index in range(_SIZES["institute"]):
            brand = self._names.brand(names(_WORDS["institutes"]), number)
            institute = self._add(region, "institute", brand, visible=index < 3)
            self._state(institute, "city", draw.pick(region.of("city")))
            self._state(institute, "founded", draw.between(1790, 1985))

    def works(self, region: Region) -> None:
        """Everything that people lead, found, write or win, and these people."""
        draw = Draw(self._world.seed, "works", region.number)
        for city in region.of("city"):
            self._dated(city, "mayor", self._holders(draw, region, "politician", 6))
        for institute in region.of("institute"):
            self._dated(institute, "director", self._holders(draw, region, "scientist", 5))
        for index in range(_SIZES["company"]):
            self._company(region, draw, index)
        for index in range(_SIZES["book"]):
            book = self._add(region, "book", self._names.title(), visible=index < 3)
            self._state(book, "author", self._person(draw, region, "novelist"))
            self._state(book, "published", draw.between(1968, 2023))
        for index in range(_SIZES["festival"]):
            self._festival(region, draw, visible=index < 2)
        for index in range(_SIZES["club"]):
            brand = self._names.brand(names(_WORDS["clubs"]), region.number)
            club = self._add(region, "club", brand, visible=index < 2)
            self._state(club, "city", region.of("city")[index])
            self._dated(club, "coach", self._holders(draw, region, "coach", 2))
            ground = self._names.stem()
            self._state(club, "stadium", Name(f"{ground.en} Park", f"{ground.zh}公园球场"))
        for topic, scene in _WORDS["scenes"].items():
            self._scene(region, draw, topic, region.industry if topic == "sector" else name(scene))

    def _company(self, region: Region, draw: Draw, index: int) -> None:
        cities, suffixes = region.of("city"), names(_turn(_WORDS["industries"], region.number)["suffixes"])
        company = self._add(region, "company", self._names.brand(suffixes, region.number), visible=index % 2 == 0)
        home = cities[0] if index < 3 else draw.pick(cities[1:])  # three share a city, to be compared
        seats: list[Value] = [home]
        if draw.chance(30):
            seats.insert(0, draw.pick([city for city in cities if city is not home]))
        self._dated(company, "headquarters", _in_turn(draw, seats, years=9))
        self._state(company, "founder", self._person(draw, region, "founder"))
        self._state(company, "founded", draw.between(1948, 2009))
        self._dated(company, "chief_executive", self._holders(draw, region, "manager", 4))
        self._dated(company, "employees", _counts(draw, draw.between(31, 940) * 10 + draw.below(10)))

    def _festival(self, region: Region, draw: Draw, *, visible: bool) -> None:
        kind = draw.pick(_WORDS["festivals"])
        brand, prize = self._names.brand((name(kind["name"]),), region.number), name(kind["winner"])
        festival = self._add(region, "festival", brand, visible=visible, role=prize)
        month = draw.between(2, 9)
        self._state(festival, "city", draw.pick(region.of("city")))
        self._state(festival, "month", _MONTHS[month - 1])
        years = range(2022, 2027)
        winners = [self._person(draw, region, kind["person"], page=year == years[-1]) for year in years]
        day = draw.between(5, 26)
        editions = (Dated(date(year, month, day), winner) for year, winner in zip(years, winners, strict=True))
        self._dated(festival, "winner", tuple(editions))

    def _scene(self, region: Region, draw: Draw, topic: str, name: Name) -> None:
        title = Name(f"{name.en} {region.preposition} the {region.name.en}", f"{region.name.zh}的{name.zh}")
        scene = self._add(region, "scene", title, key=f"{topic}-{region.name.en}", role=Name(topic, topic))
        self._state(scene, "begun", draw.between(1885, 1962))
        self._state(scene, "turned", draw.between(1989, 2018))
        self._dated(scene, "volume", _counts(draw, draw.between(120, 990) * 10 + draw.below(10)))

    def _holders(self, draw: Draw, region: Region, role: str, years: int) -> tuple[Dated, ...]:
        """Two or three people who held an office one after the other; only the last has a page."""
        count = draw.between(2, 3)
        people: list[Value] = [self._person(draw, region, role, page=index == count - 1) for index in range(count)]
        return _in_turn(draw, people, years=years)

    def _person(self, draw: Draw, region: Region, role: str, *, page: bool = True) -> Entity:
        called = self._names.person()
        if not page:
            return Entity(self._slugs.make(called.en), "person", called, region.number, region.language)
        person = self._add(region, "person", called, role=name(_WORDS["roles"][role]), visible=False)
        home = self._somewhere(draw, region)
        self._state(person, "born_in", draw.pick(home.of("city")))
        self._state(person, "birth_year", draw.between(1942, 1992))
        self._state(person, "studied_at", draw.pick(self._somewhere(draw, region).of("institute")))
        return person

    def _somewhere(self, draw: Draw, region: Region) -> Region:
        """The region itself, or in a third of the cases another one of its language."""
        others = [other for other in self._world.of_language(region.language) if other is not region]
        return draw.pick(others) if others and draw.chance(35) else region

    def _add(
        self, region: Region, kind: str, name: Name, *, visible: bool = True, role: Name | None = None, key: str = ""
    ) -> Entity:
        entity = Entity(self._slugs.make(key or name.en), kind, name, region.number, region.language, role, visible)
        region.of(kind).append(entity)
        return entity

    def _state(self, subject: Entity, relation: str, value: Value) -> None:
        self._dated(subject, relation, (Dated(ALWAYS, value),))

    def _dated(self, subject: Entity, relation: str, history: tuple[Dated, ...]) -> None:
        self._world.facts[subject.id, relation] = Fact(subject, relation, history)


def _turn(rows: Sequence[dict[str, Any]], number: int) -> dict[str, Any]:
    return rows[number % len(rows)]


def _counts(draw: Draw, start: int) -> tuple[Dated, ...]:
    """Four to five counts of the last years; the last one is of 2026, and no two are equal."""
    counts: list[Dated] = []
    number = start
    for year in range(2026 - draw.between(3, 4), 2027):
        number = max(12, number * draw.between(88, 117) // 100 + draw.between(1, 9))
        while any(dated.value == number for dated in counts):
            number += 1
        counts.append(Dated(draw.day(date(year, 1, 8), date(year, 9, 28)), number))
    return tuple(counts)


def _in_turn(draw: Draw, values: Sequence[Value], *, years: int) -> tuple[Dated, ...]:
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


def _page_date(world: World, entity: Entity) -> date:
    """Most pages are newer than every fact on them; a third may miss the last change, which the news tells."""
    draw = Draw(world.seed, "page date", entity.id)
    newest = max((world.fact(entity, relation.name).changed for relation in of_kind(entity.kind)), default=ALWAYS)
    spring, autumn = date(2026, 1, 10), date(2026, 10, 24)
    if newest < spring or not draw.chance(35):
        return draw.day(max(newest, spring), autumn)
    return draw.day(date(2025, 6, 1), newest)
