"""Fills the world: regions with their cities, institutes, companies, works and people, and the facts between them."""

from datetime import date

from aiq.offline.world import vocabulary as words
from aiq.offline.world.draw import Draw
from aiq.offline.world.entities import ALWAYS, CLOCK, Dated, Entity, Fact, Region, Value, World
from aiq.offline.world.histories import history_of_numbers, history_of_values
from aiq.offline.world.names import Name, Names
from aiq.offline.world.relations import of_kind
from aiq.offline.world.slugs import Slugs

_SIZES = {"city": 4, "institute": 4, "company": 6, "book": 5, "festival": 3, "club": 3}
"""Entities of each kind in one region."""


def build_world(seed: int, *, english: int, chinese: int) -> World:
    """A world of `english` + `chinese` regions; those of a language refer only to each other."""
    world = World(seed)
    builder = _Builder(world, Names(Draw(seed, "names")), Slugs())
    for number in range(english + chinese):
        builder.places(number, "en" if number < english else "zh")
    for region in world.regions:
        builder.works(region)
    for entity in world.entities():
        builder.page_date(entity)
    return world


class _Builder:
    """Holds what all regions share while the world is made."""

    def __init__(self, world: World, names: Names, slugs: Slugs) -> None:
        self._world = world
        self._names = names
        self._slugs = slugs

    def places(self, number: int, language: str) -> None:
        """A region with its country, cities and institutes; people may later refer to any of them."""
        draw = Draw(self._world.seed, "places", number)
        stem, landscape = self._names.stem(), words.LANDSCAPES[number % len(words.LANDSCAPES)]
        country_name = self._names.stem(3)
        region = Region(
            number=number,
            language=language,
            name=Name(f"{stem.en} {landscape.name.en}", f"{stem.zh}{landscape.name.zh}"),
            country=Entity(self._slugs.make(country_name.en), "country", country_name, number, language),
            preposition=landscape.preposition,
            industry=words.INDUSTRIES[number % len(words.INDUSTRIES)].name,
        )
        self._world.regions.append(region)
        rivers = [self._names.stem() for _ in range(2)]
        for _ in range(_SIZES["city"]):
            city = self._add(region, "city", self._names.stem())
            self._state(city, "country", region.country)
            self._state(city, "river", draw.pick(rivers))
            self._state(city, "founded", draw.between(1120, 1890))
            self._dated(city, "population", history_of_numbers(draw, draw.between(38, 900) * 1000))
        for index in range(_SIZES["institute"]):
            institute = self._add(region, "institute", self._names.brand(words.INSTITUTES, number), visible=index < 3)
            self._state(institute, "city", draw.pick(region.of("city")))
            self._state(institute, "founded", draw.between(1790, 1985))

    def works(self, region: Region) -> None:
        """Everything that people lead, found, write or win, and these people."""
        draw = Draw(self._world.seed, "works", region.number)
        for city in region.of("city"):
            self._dated(city, "mayor", self._holders(draw, region, "politician", 6))
        for institute in region.of("institute"):
            self._dated(institute, "director", self._holders(draw, region, "scientist", 5))
        self._companies(region, draw)
        for index in range(_SIZES["book"]):
            book = self._add(region, "book", self._names.title(), visible=index < 3)
            self._state(book, "author", self._person(draw, region, "novelist"))
            self._state(book, "published", draw.between(1968, 2023))
        for index in range(_SIZES["festival"]):
            self._festival(region, draw, visible=index < 2)
        for index in range(_SIZES["club"]):
            club = self._add(region, "club", self._names.brand(words.CLUBS, region.number), visible=index < 2)
            self._state(club, "city", region.of("city")[index])
            self._dated(club, "coach", self._holders(draw, region, "coach", 2))
            ground = self._names.stem()
            self._state(club, "stadium", Name(f"{ground.en} Park", f"{ground.zh}公园球场"))
        for topic, scene in words.SCENES.items():
            name = region.industry if topic == "sector" else scene
            self._scene(region, draw, topic, name)

    def _companies(self, region: Region, draw: Draw) -> None:
        cities = region.of("city")
        suffixes = words.INDUSTRIES[region.number % len(words.INDUSTRIES)].suffixes
        for index in range(_SIZES["company"]):
            company = self._add(region, "company", self._names.brand(suffixes, region.number), visible=index % 2 == 0)
            home = cities[0] if index < 3 else draw.pick(cities[1:])  # three share a city, to be compared
            seats: list[Value] = [home]
            if draw.chance(30):
                seats.insert(0, draw.pick([city for city in cities if city is not home]))
            self._dated(company, "headquarters", history_of_values(draw, seats, years=9))
            self._state(company, "founder", self._person(draw, region, "founder"))
            self._state(company, "founded", draw.between(1948, 2009))
            self._dated(company, "chief_executive", self._holders(draw, region, "manager", 4))
            self._dated(company, "employees", history_of_numbers(draw, draw.between(31, 940) * 10 + draw.below(10)))

    def _festival(self, region: Region, draw: Draw, *, visible: bool) -> None:
        kind = draw.pick(words.FESTIVALS)
        festival = self._add(
            region, "festival", self._names.brand((kind.name,), region.number), visible=visible, role=kind.winner
        )
        month = draw.between(2, 9)
        self._state(festival, "city", draw.pick(region.of("city")))
        self._state(festival, "month", words.MONTHS[month - 1])
        winners = [self._person(draw, region, kind.person, page=year == 2026) for year in range(2022, 2027)]
        day = draw.between(5, 26)
        editions = tuple(
            Dated(date(year, month, day), winner) for year, winner in zip(range(2022, 2027), winners, strict=True)
        )
        self._dated(festival, "winner", editions)

    def _scene(self, region: Region, draw: Draw, topic: str, name: Name) -> None:
        scene = self._add(
            region,
            "scene",
            Name(f"{name.en} {region.preposition} the {region.name.en}", f"{region.name.zh}的{name.zh}"),
            key=f"{topic}-{region.name.en}",
            role=Name(topic, topic),
        )
        begun = draw.between(1885, 1962)
        self._state(scene, "begun", begun)
        self._state(scene, "turned", draw.between(1989, 2018))
        self._dated(scene, "volume", history_of_numbers(draw, draw.between(120, 990) * 10 + draw.below(10)))

    def _holders(self, draw: Draw, region: Region, role: str, years: int) -> tuple[Dated, ...]:
        """Two or three people who held an office one after the other; only the last has a page."""
        count = draw.between(2, 3)
        people: list[Value] = [self._person(draw, region, role, page=index == count - 1) for index in range(count)]
        return history_of_values(draw, people, years=years)

    def _person(self, draw: Draw, region: Region, role: str, *, page: bool = True) -> Entity:
        name = self._names.person()
        if not page:
            return Entity(self._slugs.make(name.en), "person", name, region.number, region.language)
        person = self._add(region, "person", name, role=words.ROLES[role], visible=False)
        home = self._somewhere(draw, region)
        self._state(person, "born_in", draw.pick(home.of("city")))
        self._state(person, "birth_year", draw.between(1942, 1992))
        self._state(person, "studied_at", draw.pick(self._somewhere(draw, region).of("institute")))
        return person

    def _somewhere(self, draw: Draw, region: Region) -> Region:
        """The region itself, or in a third of the cases another one of its language."""
        others = [other for other in self._world.regions if other.language == region.language and other is not region]
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

    def page_date(self, entity: Entity) -> None:
        """Most pages are newer than every fact on them; a third may miss the last change, which the news tells."""
        draw = Draw(self._world.seed, "page date", entity.id)
        changes = [self._world.fact(entity, relation.name).changed for relation in of_kind(entity.kind)]
        newest = max(changes, default=ALWAYS)
        if newest < date(2026, 1, 10) or not draw.chance(35):
            first = max(newest, date(2026, 1, 10))
            self._world.page_dates[entity.id] = draw.day(first, date(2026, 10, 24))
        else:
            self._world.page_dates[entity.id] = draw.day(date(2025, 6, 1), newest)
        assert self._world.page_dates[entity.id] < CLOCK
