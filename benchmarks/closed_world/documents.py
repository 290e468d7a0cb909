"""The world's documents: annual reports of companies and minutes of city councils, as PDFs with facts not on any page.

Their questions are answered by one page of a document, by two documents, or by a document and the web.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.closed_world.draw import Draw
from benchmarks.closed_world.entities import CLOCK, Entity, Fact, World
from benchmarks.closed_world.names import Name, Names
from benchmarks.closed_world.pdf import pdf
from benchmarks.closed_world.tables import pace, table
from benchmarks.closed_world.truth import write_questions
from benchmarks.closed_world.wording import ask, fill, state

_TABLE = table("documents")
_LAYOUTS = _TABLE["layouts"]


def with_documents(world: World) -> World:
    """The world, with the facts of documents added.

    One company in each of the first English regions has a report, and one city in most of these has minutes.
    """
    archive, people = replace(world, facts=dict(world.facts)), _people(world)
    for index, region in enumerate(world.of_language("en")[: _TABLE["reports"]]):
        draw = world.draw("report", region.number)
        company = draw.pick(region.of("company"))
        seats = [held.value for held in world.fact(company, "headquarters").history]
        plant = draw.pick([city for city in region.of("city") if city not in seats])
        turnover, previous = _millions(draw, 1800), _millions(draw, 1800)
        archive.add(company, "turnover", previous, turnover)
        archive.add(company, "auditor", next(people))
        archive.add(company, "plant", plant)
        archive.add(company, "partner", draw.pick(region.of("institute")))
        if index < _TABLE["minutes"]:
            city = world.fact(company, "headquarters").target if index < _TABLE["minutes_of_seat"] else plant
            draw = world.draw("minutes", city.id)
            archive.add(city, "budget", _millions(draw, 9000), _millions(draw, 9000))
            archive.add(city, "treasurer", next(people), next(people))
    return archive


def _millions(draw: Draw, limit: int) -> Name:
    text = f"{draw.between(limit // 90, limit // 10)}.{draw.between(1, 9)} million"
    return Name(text, text)


def _people(world: World) -> Iterator[Entity]:
    """People in documents: they have no page, and share no surname with anybody in the world."""
    names = Names(world.draw("archive"))
    values = [held.value for fact in world.facts.values() for held in fact.history]
    surnames = {entity.short("en") for entity in (*world.entities(), *values) if isinstance(entity, Entity)}
    while True:
        name = names.person()
        person = Entity(names.id(name.en), "person", name, world.regions[0])
        if person.short("en") not in surnames:
            yield person


def documented(archive: World) -> list[Fact]:
    """The facts that are only in documents."""
    return [fact for fact in archive.facts.values() if fact.relation.in_document]


def write_documents(folder: Path, archive: World) -> None:
    """Write the PDFs, and remove any others in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.pdf"):
        old.unlink()
    for entity in dict.fromkeys(fact.subject for fact in documented(archive)):
        title = _LAYOUTS[entity.kind]["title"].format(s=entity)
        (folder / _file_name(entity)).write_bytes(pdf(title, _pages(archive, entity, title)))


def _file_name(entity: Entity) -> str:
    return str(_LAYOUTS[entity.kind]["file"].format(id=entity.id))


def _pages(archive: World, entity: Entity, title: str) -> list[list[str]]:
    """Paragraphs by page: a title page, then a page for each fact, with filler; the footer names document and page."""
    layout, words = _LAYOUTS[entity.kind], archive.draw("document words", entity.id)
    pages = [[title, fill(words.pick(layout["intro"]), s=entity)]]
    for heading, relation in layout["pages"]:
        pages.append([heading, state(archive.fact(entity, relation), CLOCK, words)] if relation else [heading])
    fillers = iter(words.shuffled(layout["fillers"]))
    return [
        [*page, *(next(fillers) for _ in range(count)), f"{title} - page {number} of {len(pages)}"]
        for number, (page, count) in enumerate(zip(pages, layout["idle"], strict=True), start=1)
    ]


def write_document_questions(folder: Path, archive: World) -> None:
    """Write `questions.jsonl` and `truth.jsonl`: one or more facts per question, in random order."""
    draw, document_facts = archive.draw("document questions"), documented(archive)
    plants, treasurers = ([fact for fact in document_facts if fact.name == name] for name in ("plant", "treasurer"))
    double = [chain for fact in treasurers for chain in _from_web(archive, fact.subject)]
    double += [[plant, fact] for plant in plants for fact in treasurers if plant.target == fact.subject]
    onward = draw.shuffled([archive.path(plant.subject, *chain) for plant in plants for chain in _TABLE["onward"]])
    single = [[fact] for fact in draw.some(document_facts, _TABLE["one_hop"])]
    paths = draw.shuffled([*single, *double, *onward[: _TABLE["several"] - len(double)]])
    write_questions(folder, ((_row(archive, facts), facts) for facts in paths))


def _from_web(archive: World, city: Entity) -> Iterator[list[Fact]]:
    """A path via something that, according to the web, has always been in the city, if there is anything."""
    candidates = (archive.fact(thing, name) for kind, name in _TABLE["leading"] for thing in city.region.of(kind))
    constant = [fact for fact in candidates if fact.value is city and len(fact.history) == 1]
    for fact in archive.draw("to", city.id).shuffled(constant)[:1]:
        yield [fact, archive.fact(city, archive.draw("wanted", city.id).pick(("budget", "treasurer")))]


def _row(archive: World, facts: Sequence[Fact]) -> dict[str, Any]:
    key = [fact.key for fact in facts]
    document_facts = [fact for fact in facts if fact.relation.in_document]
    return {
        "question": ask(facts, archive.draw("document question words", key)),
        "num_hops": "one-hop" if len(facts) == 1 else "multi-hop",
        "fact_type": f"{pace(fact.relation for fact in facts)}-changing",
        "evidence": "documents" if document_facts == facts else "mixed",
        "pages": "; ".join(map(_citation_key, document_facts)),
    }


def _citation_key(fact: Fact) -> str:
    """The citation key of the page that states the fact."""
    relations = [relation for _, relation in _LAYOUTS[fact.subject.kind]["pages"]]
    return f"{_file_name(fact.subject)}, p.{relations.index(fact.name) + 2}"
