"""Questions that assume what never was: the right answer says so."""

from collections.abc import Callable

from aiq.offline.world.asked import Asked
from aiq.offline.world.draw import Draw
from aiq.offline.world.entities import Entity, Region, World

Maker = Callable[[World, Region, Draw], Asked | None]


def _other(draw: Draw, entities: list[Entity], *not_these: object) -> Entity:
    return draw.pick([entity for entity in entities if entity not in not_these])


def moved(world: World, region: Region, draw: Draw) -> Asked | None:
    company = draw.pick(region.of("company"))
    fact = world.fact(company, "headquarters")
    if len(fact.history) > 1:
        return None
    name, home = company.name.en, fact.target.name.en
    wrong = _other(draw, region.of("city"), fact.value).name.en
    return Asked(
        text=draw.pick(
            (f"Why did {name} move its headquarters to {wrong}?", f"When did {name} move its headquarters to {wrong}?")
        ),
        answers=(
            f"{name} has not moved its headquarters to {wrong}; it is headquartered in {home}.",
            f"{name} never moved its headquarters to {wrong}.",
            f"The headquarters of {name} are in {home}, not in {wrong}.",
        ),
        change="slow",
        hops=1,
        facts=(fact,),
        false_premise=True,
    )


def never_mayor(world: World, region: Region, draw: Draw) -> Asked | None:
    city, wrong = draw.shuffled(region.of("city"))[:2]
    fact = world.fact(city, "mayor")
    person = fact.target.name.en
    return Asked(
        text=f"When did {person} stop being the mayor of {wrong.name.en}?",
        answers=(
            f"{person} was never the mayor of {wrong.name.en}; {person} is the mayor of {city.name.en}.",
            f"{person} is the mayor of {city.name.en}, not of {wrong.name.en}.",
            f"The mayor of {wrong.name.en} is {world.fact(wrong, 'mayor').target.name.en}, not {person}.",
        ),
        change="slow",
        hops=1,
        facts=(world.fact(wrong, "mayor"),),
        false_premise=True,
    )


def still_in_office(world: World, region: Region, draw: Draw) -> Asked | None:
    company = draw.pick(region.of("company"))
    fact = world.fact(company, "chief_executive")
    person, name = fact.target.name.en, company.name.en
    return Asked(
        text=f"When did {person} resign as chief executive of {name}?",
        answers=(
            f"{person} has not resigned as chief executive of {name}.",
            f"{person} is still the chief executive of {name}.",
            f"{person} is the current chief executive of {name}.",
        ),
        change="slow",
        hops=1,
        facts=(fact,),
        false_premise=True,
    )


def wrong_author(world: World, region: Region, draw: Draw) -> Asked | None:
    book, other = draw.shuffled(region.of("book"))[:2]
    fact = world.fact(book, "author")
    title, author, wrong = book.name.en, fact.target.name.en, world.fact(other, "author").target.name.en
    return Asked(
        text=f"When did {wrong} write {title}?",
        answers=(
            f"{wrong} did not write {title}; its author is {author}.",
            f"{title} was written by {author}, not by {wrong}.",
            f"The author of {title} is {author}.",
        ),
        change="never",
        hops=1,
        facts=(fact,),
        false_premise=True,
    )


def wrong_institute(world: World, region: Region, draw: Draw) -> Asked | None:
    author = world.fact(draw.pick(region.of("book")), "author").target
    fact = world.fact(author, "studied_at")
    wrong = _other(draw, region.of("institute"), fact.value).name.en
    person, right = author.name.en, fact.target.name.en
    return Asked(
        text=f"In what year did {person} leave {wrong} with a degree?",
        answers=(
            f"{person} did not study at {wrong}; {person} studied at {right}.",
            f"{person} studied at {right}, not at {wrong}.",
            f"{person} never studied at {wrong}.",
        ),
        change="never",
        hops=1,
        facts=(fact,),
        false_premise=True,
    )


def never_mayor_there(world: World, region: Region, draw: Draw) -> Asked | None:
    company = draw.pick(region.of("company"))
    seat = world.fact(company, "headquarters")
    office = world.fact(seat.target, "mayor")
    other = _other(draw, region.of("city"), seat.value)
    wrong, city = world.fact(other, "mayor").target.name.en, seat.target.name.en
    return Asked(
        text=f"When did {wrong} stop being the mayor of the city where {company.name.en} is headquartered?",
        answers=(
            f"{wrong} was never the mayor of {city}, where {company.name.en} is headquartered.",
            f"{wrong} is the mayor of {other.name.en}, not of {city}.",
            f"The mayor of {city} is {office.target.name.en}, not {wrong}.",
        ),
        change="slow",
        hops=2,
        facts=(seat, office),
        false_premise=True,
    )


def founder_elsewhere(world: World, region: Region, draw: Draw) -> Asked | None:
    company = draw.pick(region.of("company"))
    founder = world.fact(company, "founder")
    studied = world.fact(founder.target, "studied_at")
    wrong = _other(draw, region.of("institute"), studied.value).name.en
    person, right = founder.target.name.en, studied.target.name.en
    return Asked(
        text=f"Why did the founder of {company.name.en} study at {wrong}?",
        answers=(
            f"The founder of {company.name.en}, {person}, did not study at {wrong} but at {right}.",
            f"{person} studied at {right}, not at {wrong}.",
            f"{person} never studied at {wrong}.",
        ),
        change="never",
        hops=2,
        facts=(founder, studied),
        false_premise=True,
    )


def author_elsewhere(world: World, region: Region, draw: Draw) -> Asked | None:
    book = draw.pick(region.of("book"))
    author = world.fact(book, "author")
    born = world.fact(author.target, "born_in")
    wrong = _other(draw, region.of("city"), born.value).name.en
    person, right = author.target.name.en, born.target.name.en
    return Asked(
        text=f"Why was the author of {book.name.en} born in {wrong}?",
        answers=(
            f"The author of {book.name.en}, {person}, was not born in {wrong} but in {right}.",
            f"{person} was born in {right}, not in {wrong}.",
            f"{person} comes from {right}.",
        ),
        change="never",
        hops=2,
        facts=(author, born),
        false_premise=True,
    )


ONE_HOP: tuple[Maker, ...] = (moved, never_mayor, wrong_author, still_in_office, wrong_institute)
MULTI_HOP: tuple[Maker, ...] = (never_mayor_there, founder_elsewhere, author_elsewhere)
