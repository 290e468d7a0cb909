"""The world's documents: annual reports of companies, minutes of city councils, as PDFs with facts that no page has.

Questions over them are answered by one page of a document, by two documents, or by a document and the web.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.closed_world.draw import Draw
from benchmarks.closed_world.entities import ALWAYS, CLOCK, Dated, Entity, Fact, Value, World
from benchmarks.closed_world.names import Name, Names
from benchmarks.closed_world.pdf import pdf
from benchmarks.closed_world.tables import pace, table
from benchmarks.closed_world.truth import write_questions
from benchmarks.closed_world.wording import ask, fill, state

_TABLE = table("documents")
_LAYOUTS = _TABLE["layouts"]


def with_documents(world: World) -> World:
    """The world with the facts of documents besides.

    One company of each of the first English regions has a report, and one city of most of them has minutes.
    """
    archive, people = replace(world, facts=dict(world.facts)), _people(world)

    def add(subject: Entity, name: str, *values: Value) -> None:
        archive.add(subject, name, *(Dated(ALWAYS, value) for value in values))

    for index, region in enumerate(world.of_language("en")[: _TABLE["reports"]]):
        draw = world.draw("report", region.number)
        company = draw.pick(region.of("company"))
        seats = [held.value for held in world.fact(company, "headquarters").history]
        plant = draw.pick([city for city in region.of("city") if city not in seats])
        turnover, before = _millions(draw, 1800), _millions(draw, 1800)
        add(company, "turnover", before, turnover)
        add(company, "auditor", next(people))
        add(company, "plant", plant)
        add(company, "partner", draw.pick(region.of("institute")))
        if index < _TABLE["minutes"]:
            city = world.fact(company, "headquarters").target if index < _TABLE["minutes_of_seat"] else plant
            draw = world.draw("minutes", city.id)
            add(city, "budget", _millions(draw, 9000), _millions(draw, 9000))
            add(city, "treasurer", next(people), next(people))
    return archive


def _millions(draw: Draw, most: int) -> Name:
    text = f"{draw.between(most // 90, most // 10)}.{draw.between(1, 9)} million"
    return Name(text, text)


def _people(world: World) -> Iterator[Entity]:
    """People of the documents: they have no page, and share no surname with anybody who has."""
    names = Names(world.draw("archive"))
    values = [held.value for fact in world.facts.values() for held in fact.history]
    taken = {one.short("en") for one in (*world.entities(), *values) if isinstance(one, Entity)}
    while True:
        name = names.person()
        person = Entity(name.en.lower().replace(" ", "-"), "person", name, world.regions[0])
        if person.short("en") not in taken:
            yield person


def documented(archive: World) -> list[Fact]:
    """The facts that stand only in documents."""
    return [fact for fact in archive.facts.values() if fact.relation.in_document]


def _subjects(archive: World, kind: str) -> list[Entity]:
    """Of that kind, those that a document is about."""
    return list(dict.fromkeys(fact.subject for fact in documented(archive) if fact.subject.kind == kind))


def write_documents(folder: Path, archive: World) -> None:
    """The PDFs; others that lay there are removed."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.pdf"):
        old.unlink()
    for kind, layout in _LAYOUTS.items():
        for entity in _subjects(archive, kind):
            title = layout["title"].format(s=entity.name.en)
            (folder / layout["file"].format(id=entity.id)).write_bytes(pdf(title, _pages(archive, entity, title)))


def _pages(archive: World, entity: Entity, title: str) -> list[list[str]]:
    """Paragraphs by page: a title page, a page for each fact, idle sentences; the foot names document and page."""
    layout, words = _LAYOUTS[entity.kind], archive.draw("document words", entity.id)
    pages = [[title, fill(words.pick(layout["intro"]), s=entity.name.en)]]
    for heading, relation in layout["pages"]:
        pages.append([heading, state(archive.fact(entity, relation), CLOCK, words)] if relation else [heading])
    idle = iter(words.shuffled(layout["fillers"]))
    return [
        [*page, *(next(idle) for _ in range(count)), f"{title} - page {number} of {len(pages)}"]
        for number, (page, count) in enumerate(zip(pages, layout["idle"], strict=True), start=1)
    ]


def write_document_questions(folder: Path, archive: World) -> None:
    """`questions.jsonl` and `truth.jsonl`."""
    write_questions(folder, ((_row(archive, facts), facts) for facts in _chosen(archive)))


def _chosen(archive: World) -> list[Sequence[Fact]]:
    """The facts of all that is asked, one or two a question, in a drawn order."""
    draw, companies = archive.draw("document questions"), _subjects(archive, "company")
    single = [[fact] for fact in documented(archive)]
    plants = [archive.fact(company, "plant") for company in companies]
    minuted = [plant for plant in plants if plant.target in _subjects(archive, "city")]
    double = [*_from_web(archive), *([plant, archive.fact(plant.target, "treasurer")] for plant in minuted)]
    onward = [archive.path(company, *ways) for company in companies for ways in _TABLE["onward"]]
    onward = draw.shuffled(onward)[: _TABLE["several"] - len(double)]
    return draw.shuffled([*draw.some(single, _TABLE["one_hop"]), *double, *onward])


def _from_web(archive: World) -> Iterator[list[Fact]]:
    """One for each city with minutes, by way of something that the web has always placed there, if anything."""
    for city in _subjects(archive, "city"):
        leading = (archive.fact(thing, name) for kind, name in _TABLE["leading"] for thing in city.region.of(kind))
        first = [fact for fact in leading if fact.value is city and len(fact.history) == 1]
        for fact in archive.draw("to", city.id).shuffled(first)[:1]:
            wanted = archive.draw("wanted", city.id).pick(("budget", "treasurer"))
            yield [fact, archive.fact(city, wanted)]


def _row(archive: World, facts: Sequence[Fact]) -> dict[str, Any]:
    key = [fact.key for fact in facts]
    stated = [fact for fact in facts if fact.relation.in_document]
    return {
        "question": ask(facts, archive.draw("document question words", key)),
        "num_hops": "one-hop" if len(facts) == 1 else "multi-hop",
        "fact_type": f"{pace(fact.relation for fact in facts)}-changing",
        "evidence": "documents" if stated == facts else "mixed",
        "pages": "; ".join(map(_place, stated)),
    }


def _place(fact: Fact) -> str:
    """The citation key of the page that states the fact."""
    layout = _LAYOUTS[fact.subject.kind]
    number = 2 + [relation for _, relation in layout["pages"]].index(fact.name)
    return f"{layout['file'].format(id=fact.subject.id)}, p.{number}"
