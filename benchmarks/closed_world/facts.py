"""Builds the world: regions with their cities, institutes, companies, works and people, and the facts between them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from benchmarks.closed_world.entities import CLOCK, Dated, Entity, Region, Value, World
from benchmarks.closed_world.names import MONTHS, Name, Names, form, names
from benchmarks.closed_world.tables import Language, table

_WORDS, _ENTITIES = table("names"), table("entities")
Rule = Sequence[Any]


def build_world(seed: int, *, english: int, chinese: int) -> World:
    """A world of `english` + `chinese` regions; regions refer only to others of the same language."""
    world = World(seed)
    namer = Names(world.draw("names"))
    for number in range(english + chinese):
        world.regions.append(_region(number, "en" if number < english else "zh", namer))
        _Stage(world, world.regions[number], namer, "places").fill()
    for region in world.regions:
        _Stage(world, region, namer, "works").fill()
    return world


def _region(number: int, language: Language, namer: Names) -> Region:
    """An empty landscape."""
    landscape, industry = (_WORDS[key][number % len(_WORDS[key])] for key in ("landscapes", "industries"))
    name, country = form("brand", namer.stem(), Name(**landscape["name"])), namer.stem(3)
    return Region(
        number=number,
        language=language,
        name=name,
        place=Name(f"{landscape['preposition']} the {name.en}", name.zh),
        country=country,
        rivers=(namer.stem(), namer.stem()),
        industry=Name(**industry["name"]),
        suffixes=names(industry["suffixes"]),
    )


class _Stage:
    """Makes the entities and facts of one stage (`places`, `works`) of `entities.toml` in one region."""

    def __init__(self, world: World, region: Region, namer: Names, stage: str) -> None:
        self._world, self._region, self._names = world, region, namer
        self._draw, self._rules = world.draw(stage, region.number), _ENTITIES[stage]

    def fill(self) -> None:
        for kind, spec in self._rules.items():
            entities = (self._entity(kind, visible) for visible in spec["visible"])
            for subject in entities if spec["visible"] else self._region.of(kind):
                self._describe(subject, spec["facts"])

    def _entity(self, kind: str, visible: bool) -> Entity:
        region, namer, role, key = self._region, self._names, "", ""
        candidates: Iterable[Name] = namer.titles()
        if kind == "scene":
            role, scene = list(_WORDS["scenes"].items())[len(region.of(kind))]
            candidates = [form("scene", Name(**scene) if scene else region.industry, region.place)]
            key = f"{role}-{region.name.en}"
        elif kind == "festival":
            role, festival = self._draw.pick(list(_WORDS["festivals"].items()))
            candidates = namer.brands((Name(**festival),), region.number)
        elif kind != "book":
            candidates = namer.brands(names(_WORDS.get(kind, "")) or region.suffixes, region.number)
        name = namer.stem() if kind == "city" else namer.unused(candidates)
        entity = Entity(namer.id(key or name.en), kind, name, region, role, visible)
        region.of(kind).append(entity)
        return entity

    def _person(self, role: str, *, page: bool = True) -> Entity:
        name = self._names.person()
        person = Entity(self._names.id(name.en), "person", name, self._region, role, visible=False)
        if page:
            self._region.of("person").append(person)
            self._describe(person, _ENTITIES["person"])
        return person

    def _describe(self, subject: Entity, rules: Mapping[str, Rule]) -> None:
        for name, rule in rules.items():
            self._world.add(subject, name, *self._history(subject, rule))

    def _history(self, subject: Entity, rule: Rule) -> Sequence[Dated | Value]:
        draw = self._draw
        match rule:
            case ["thousands", low, high]:
                return self._counts(draw.between(low, high) * 1000)
            case ["tens", low, high]:
                return self._counts(draw.between(low, high) * 10 + draw.below(10))
            case ["seats", years]:
                return self._succession(self._seats(), years)
            case ["holders", role, years]:  # two or three, of whom only the last has a page
                earlier = [self._person(role, page=False) for _ in range(draw.between(1, 2))]
                return self._succession([*earlier, self._person(role)], years)
            case ["winners", first, last]:
                years = range(first, last + 1)
                people = [self._person(subject.role, page=year == last) for year in years]
                month = 1 + list[Value](MONTHS).index(self._world.fact(subject, "month").value)
                day = draw.between(5, 26)
                return [Dated(date(year, month, day), person) for year, person in zip(years, people, strict=True)]
        return [self._value(subject, rule)]

    def _value(self, subject: Entity, rule: Rule) -> Value:
        """A single value, which never changes."""
        draw, region = self._draw, self._region
        match rule:
            case ["between", low, high]:
                return draw.between(low, high)
            case ["month", low, high]:
                return MONTHS[draw.between(low, high) - 1]
            case ["of", kind]:
                return draw.pick(region.of(kind))
            case ["each", kind]:
                return region.of(kind)[region.of(subject.kind).index(subject)]
            case ["anywhere", kind]:  # a third of the time in another region, if there is one
                others = [other for other in self._world.of_language(region.language) if other is not region]
                return draw.pick((draw.pick(others) if others and draw.chance(35) else region).of(kind))
            case ["person", role]:
                return self._person(role)
            case ["river"]:
                return draw.pick(region.rivers)
            case ["stadium"]:
                return form("stadium", self._names.stem())
        return Entity(region.country.en.lower(), "country", region.country, region)

    def _seats(self) -> list[Entity]:
        """The city of the newest company, sometimes after another. The first three share a city, for comparisons."""
        draw, cities = self._draw, self._region.of("city")
        home = cities[0] if len(self._region.of("company")) <= 3 else draw.pick(cities[1:])
        return [draw.pick([city for city in cities if city is not home]), home] if draw.chance(30) else [home]

    def _counts(self, number: int) -> list[Dated]:
        """Four or five counts of recent years, all different; the last one is of 2026."""
        draw, counts = self._draw, dict[int, date]()
        for year in range(2026 - draw.between(3, 4), 2027):
            number = number * draw.between(88, 117) // 100 + draw.between(1, 9)
            while number in counts:
                number += 1
            counts[number] = draw.day(date(year, 1, 8), date(year, 9, 28))
        return [Dated(day, count) for count, day in counts.items()]

    def _succession(self, values: Sequence[Value], years: int) -> Sequence[Dated | Value]:
        """The values in succession, the last of them for at most `years` years (and at least five weeks).

        A single value has always held.
        """
        if len(values) == 1:
            return values
        since = self._draw.day(CLOCK - timedelta(days=365 * years), CLOCK - timedelta(days=36))
        history: list[Dated] = []
        for value in reversed(values):
            history.insert(0, Dated(since, value))
            since -= timedelta(days=self._draw.between(500, 1900))
        return history
