"""The world's documents: annual reports of companies and minutes of city councils, with facts that no page has.

Which facts those are and how they are asked for; what the documents say is in `paperwork`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from aiq.offline.world.draw import Draw
from aiq.offline.world.entities import ALWAYS, Dated, Entity, Fact, Region, Value, World, short
from aiq.offline.world.names import Name, Names
from aiq.offline.world.relations import Relation

DOCUMENT_RELATIONS: tuple[Relation, ...] = (
    Relation("company", "turnover", "number", "never", ("How high was the 2025 turnover of {s}?",)),
    Relation("company", "auditor", "person", "slow", ("Who is the auditor of {s}?",)),
    Relation(
        "company",
        "plant",
        "city",
        "never",
        ("In which city is {s} building its new plant?",),
        "the city where {s} is building its new plant",
    ),
    Relation(
        "company",
        "partner",
        "institute",
        "never",
        ("Which institute is the research partner of {s}?",),
        "the research partner of {s}",
    ),
    Relation("city", "budget", "number", "never", ("How large is the 2027 budget of {s}?",)),
    Relation("city", "treasurer", "person", "slow", ("Who is the treasurer of {s}?",)),
)

_MINUTES_OF_SEAT = 3
"""In so many regions the minutes are of the city where the company sits; in the others, of its new plant's city."""

_MOST_REPORTS, _MOST_MINUTES = 8, 6


@dataclass(slots=True)
class Archive:
    """The companies with a report and the cities with minutes, and the facts that stand only in these."""

    world: World
    companies: list[Entity] = field(default_factory=list)
    cities: list[Entity] = field(default_factory=list)
    facts: dict[tuple[str, str], Fact] = field(default_factory=dict)

    def fact(self, subject: Entity, relation: str) -> Fact:
        return self.facts[subject.id, relation]

    def of(self, subject: Entity) -> Iterator[Fact]:
        """The subject's facts that stand in its document, in the table's order."""
        for relation in DOCUMENT_RELATIONS:
            if (subject.id, relation.name) in self.facts:
                yield self.facts[subject.id, relation.name]


def build_archive(world: World) -> Archive:
    """One company of each of the first English regions, and one city of most of them."""
    archive = Archive(world)
    people = _people(world)
    regions = [region for region in world.regions if region.language == "en"][:_MOST_REPORTS]
    for index, region in enumerate(regions):
        company = _report(archive, region, people)
        if index < _MOST_MINUTES:
            seat = world.fact(company, "headquarters").target
            city = seat if index < _MINUTES_OF_SEAT else archive.fact(company, "plant").target
            _minutes(archive, city, people)
    return archive


def _report(archive: Archive, region: Region, people: Iterator[Entity]) -> Entity:
    world, draw = archive.world, Draw(archive.world.seed, "report", region.number)
    company = draw.pick(region.of("company"))
    seats = [held.value for held in world.fact(company, "headquarters").history]
    plant = draw.pick([city for city in region.of("city") if city not in seats])
    archive.companies.append(company)
    turnover, before = _millions(draw, 1800), _millions(draw, 1800)
    _state(archive, company, "turnover", before, turnover)
    _state(archive, company, "auditor", next(people))
    _state(archive, company, "plant", plant)
    _state(archive, company, "partner", draw.pick(region.of("institute")))
    return company


def _minutes(archive: Archive, city: Entity, people: Iterator[Entity]) -> None:
    draw = Draw(archive.world.seed, "minutes", city.id)
    archive.cities.append(city)
    _state(archive, city, "budget", _millions(draw, 9000), _millions(draw, 9000))
    _state(archive, city, "treasurer", next(people), next(people))


def _state(archive: Archive, subject: Entity, relation: str, *values: Value) -> None:
    """Older values first; the last one holds."""
    history = tuple(Dated(ALWAYS, value) for value in values)
    archive.facts[subject.id, relation] = Fact(subject, relation, history)


def _millions(draw: Draw, most: int) -> Name:
    whole = draw.between(most // 90, most // 10)
    text = f"{whole}.{draw.between(1, 9)} million"
    return Name(text, text)


def _people(world: World) -> Iterator[Entity]:
    """People of the documents: they have no page, and share no surname with anybody who has."""
    names = Names(Draw(world.seed, "archive"))
    values = [held.value for fact in world.facts.values() for held in fact.history]
    taken = {short(value, "en") for value in values if isinstance(value, Entity)}
    taken |= {entity.name.en for entity in world.entities()}
    while True:
        name = names.person()
        if not {name.en.split()[-1], name.en} & taken:
            yield Entity(name.en.lower().replace(" ", "-"), "person", name, 0, "en")
