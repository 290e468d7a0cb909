"""Questions over several entities, which a small search budget hardly reaches: most, first, how many, who of three."""

from collections.abc import Callable

from aiq.offline.world.asked import Asked
from aiq.offline.world.draw import Draw
from aiq.offline.world.entities import Entity, Fact, Region, World
from aiq.offline.world.relations import Change
from aiq.offline.world.truth import answers

Maker = Callable[[World, Region, Draw], Asked | None]
_WORDS = ("zero", "one", "two", "three", "four", "five", "six")


def _number(fact: Fact) -> int:
    assert isinstance(fact.value, int)
    return fact.value


def _seated(world: World, region: Region, city: Entity) -> list[Entity]:
    return [company for company in region.of("company") if world.fact(company, "headquarters").value is city]


def _best(
    text: str, facts: list[Fact], more: tuple[Fact, ...], change: Change, *, largest: bool, hops: int = 2
) -> Asked | None:
    """The question for the subject with the extreme value; None where two share it."""
    ranked = sorted(facts, key=_number, reverse=largest)
    if len(ranked) < 3 or _number(ranked[0]) == _number(ranked[1]):
        return None
    return Asked(text, answers(ranked[0].subject), change, hops, (*more, *facts), needs_depth=True)


def largest_employer(world: World, region: Region, draw: Draw) -> Asked | None:
    """Needs every company of a city and the count of each."""
    city = draw.pick(region.of("city"))
    companies = _seated(world, region, city)
    return _best(
        f"Which of the companies headquartered in {city.name.en} employs the most people?",
        [world.fact(company, "employees") for company in companies],
        tuple(world.fact(company, "headquarters") for company in companies),
        "fast",
        largest=True,
    )


def oldest_company(world: World, region: Region, draw: Draw) -> Asked | None:
    city = draw.pick(region.of("city"))
    companies = _seated(world, region, city)
    return _best(
        f"Which of the companies headquartered in {city.name.en} was founded first?",
        [world.fact(company, "founded") for company in companies],
        tuple(world.fact(company, "headquarters") for company in companies),
        "slow",
        largest=False,
    )


def how_many(world: World, region: Region, draw: Draw) -> Asked | None:
    city = draw.pick(region.of("city"))
    companies = _seated(world, region, city)
    year = draw.between(1960, 1999)
    facts = [world.fact(company, "founded") for company in companies]
    count = sum(_number(fact) < year for fact in facts)
    if len(companies) < 3 or not count:
        return None
    return Asked(
        f"How many of the companies headquartered in {city.name.en} were founded before {year}?",
        (str(count), _WORDS[count]),
        "slow",
        2,
        (*(world.fact(company, "headquarters") for company in companies), *facts),
        needs_depth=True,
    )


def largest_of_the_trade(world: World, region: Region, draw: Draw) -> Asked | None:
    place = f"{region.preposition} the {region.name.en}"
    return _best(
        f"Which company in {region.industry.en} {place} employs the most people?",
        [world.fact(company, "employees") for company in region.of("company")],
        (),
        "fast",
        largest=True,
    )


def oldest_institute(world: World, region: Region, draw: Draw) -> Asked | None:
    return _best(
        f"Which is the oldest institute of higher education {region.preposition} the {region.name.en}?",
        [world.fact(institute, "founded") for institute in region.of("institute")],
        (),
        "never",
        largest=False,
    )


def eldest_founder(world: World, region: Region, draw: Draw) -> Asked | None:
    """Six look-ups: three founders, three years of birth."""
    companies = draw.shuffled(region.of("company"))[:3]
    first, second, third = (company.name.en for company in companies)
    founders = tuple(world.fact(company, "founder") for company in companies)
    return _best(
        f"Who was born first: the founder of {first}, the founder of {second} or the founder of {third}?",
        [world.fact(founder.target, "birth_year") for founder in founders],
        founders,
        "never",
        largest=False,
    )


COMPARISONS: tuple[Maker, ...] = (
    largest_employer,
    eldest_founder,
    oldest_company,
    largest_of_the_trade,
    oldest_institute,
    how_many,
)
