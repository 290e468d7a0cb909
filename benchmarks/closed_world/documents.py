"""The world's documents: annual reports of companies, minutes of city councils, as PDFs with facts that no page has.

Questions over them are answered by one page of a document, by two documents, or by a document and the web.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.closed_world.draw import Draw
from benchmarks.closed_world.entities import ALWAYS, CLOCK, Dated, Entity, Fact, Region, Value, World, short
from benchmarks.closed_world.names import Name, Names
from benchmarks.closed_world.pdf import pdf
from benchmarks.closed_world.tables import pace, table
from benchmarks.closed_world.truth import write_questions
from benchmarks.closed_world.wording import ask, fill, state

_TABLE = table("documents")
_LAYOUTS: dict[str, dict[str, Any]] = {layout["kind"]: layout for layout in (_TABLE["report"], _TABLE["minute"])}
"""By the kind of entity that a document is about."""


@dataclass(slots=True)
class Archive:
    """The companies with a report and the cities with minutes, and the facts that stand only in these."""

    world: World
    companies: list[Entity] = field(default_factory=list)
    cities: list[Entity] = field(default_factory=list)
    facts: dict[tuple[str, str], Fact] = field(default_factory=dict)

    def fact(self, subject: Entity, name: str) -> Fact:
        return self.facts[subject.id, name]

    def has(self, fact: Fact) -> bool:
        return (fact.subject.id, fact.name) in self.facts

    def add(self, subject: Entity, name: str, *values: Value) -> None:
        """Older values first; the last one holds."""
        self.facts[subject.id, name] = Fact(subject, name, tuple(Dated(ALWAYS, value) for value in values))


def build_archive(world: World) -> Archive:
    """One company of each of the first English regions, and one city of most of them."""
    archive, people = Archive(world), _people(world)
    for index, region in enumerate(world.of_language("en")[: _TABLE["reports"]]):
        company = _report(archive, region, people)
        if index < _TABLE["minutes"]:
            of_seat = index < _TABLE["minutes_of_seat"]
            city = world.fact(company, "headquarters") if of_seat else archive.fact(company, "plant")
            _minutes(archive, city.target, people)
    return archive


def _report(archive: Archive, region: Region, people: Iterator[Entity]) -> Entity:
    world, draw = archive.world, Draw(archive.world.seed, "report", region.number)
    company = draw.pick(region.of("company"))
    seats = [held.value for held in world.fact(company, "headquarters").history]
    plant = draw.pick([city for city in region.of("city") if city not in seats])
    archive.companies.append(company)
    turnover, before = _millions(draw, 1800), _millions(draw, 1800)
    archive.add(company, "turnover", before, turnover)
    archive.add(company, "auditor", next(people))
    archive.add(company, "plant", plant)
    archive.add(company, "partner", draw.pick(region.of("institute")))
    return company


def _minutes(archive: Archive, city: Entity, people: Iterator[Entity]) -> None:
    draw = Draw(archive.world.seed, "minutes", city.id)
    archive.cities.append(city)
    archive.add(city, "budget", _millions(draw, 9000), _millions(draw, 9000))
    archive.add(city, "treasurer", next(people), next(people))


def _millions(draw: Draw, most: int) -> Name:
    text = f"{draw.between(most // 90, most // 10)}.{draw.between(1, 9)} million"
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


def write_documents(folder: Path, archive: Archive) -> None:
    """The PDFs; others that lay there are removed."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.pdf"):
        old.unlink()
    for entity in (*archive.companies, *archive.cities):
        title = _LAYOUTS[entity.kind]["title"].format(s=entity.name.en)
        (folder / _file_name(entity)).write_bytes(pdf(title, _pages(archive, entity, title)))


def _file_name(entity: Entity) -> str:
    return str(_LAYOUTS[entity.kind]["file"].format(id=entity.id))


def _pages(archive: Archive, entity: Entity, title: str) -> list[list[str]]:
    """Paragraphs by page: a title page, a page for each fact, idle sentences; the foot names document and page."""
    layout, words = _LAYOUTS[entity.kind], Draw(archive.world.seed, "document words", entity.id)
    pages = [[title, fill(words.pick(layout["intro"]), s=entity.name.en)]]
    for heading, relation in layout["pages"]:
        pages.append([heading, state(archive.fact(entity, relation), CLOCK, words)] if relation else [heading])
    idle = iter(words.shuffled(layout["fillers"]))
    return [
        [*page, *(next(idle) for _ in range(count)), f"{title} - page {number} of {len(pages)}"]
        for number, (page, count) in enumerate(zip(pages, layout["idle"], strict=True), start=1)
    ]


def _place(fact: Fact) -> str:
    """The citation key of the page that states the fact."""
    stated = [relation for _, relation in _LAYOUTS[fact.subject.kind]["pages"]]
    return f"{_file_name(fact.subject)}, p.{stated.index(fact.name) + 2}"


def _chosen(archive: Archive) -> list[tuple[Fact, ...]]:
    """The facts of all that is asked, one or two a question, in a drawn order."""
    draw = Draw(archive.world.seed, "document questions")
    single = [(fact,) for fact in archive.facts.values()]
    double = [*_from_web(archive), *_through_documents(archive)]
    onward = draw.shuffled(list(_to_web(archive)))[: _TABLE["several"] - len(double)]
    return draw.shuffled([*draw.some(single, _TABLE["one_hop"]), *double, *onward])


def _to_web(archive: Archive) -> Iterator[tuple[Fact, ...]]:
    for company in archive.companies:
        for way, relation in _TABLE["onward"]:
            first = archive.fact(company, way)
            yield first, archive.world.fact(first.target, relation)


def _from_web(archive: Archive) -> Iterator[tuple[Fact, ...]]:
    """One for each city with minutes, by way of something that the web has always placed there, if anything."""
    world = archive.world
    for city in archive.cities:
        region = world.regions[city.region]
        leading = (world.fact(thing, name) for kind, name in _TABLE["leading"] for thing in region.of(kind))
        first = [fact for fact in leading if fact.value is city and len(fact.history) == 1]
        for fact in Draw(world.seed, "to", city.id).shuffled(first)[:1]:
            wanted = Draw(world.seed, "wanted", city.id).pick(("budget", "treasurer"))
            yield fact, archive.fact(city, wanted)


def _through_documents(archive: Archive) -> Iterator[tuple[Fact, ...]]:
    for company in archive.companies:
        first = archive.fact(company, "plant")
        if first.target in archive.cities:
            yield first, archive.fact(first.target, "treasurer")


def write_document_questions(folder: Path, archive: Archive) -> None:
    """`questions.jsonl` and `truth.jsonl`."""
    write_questions(folder, ((_row(archive, facts), facts) for facts in _chosen(archive)))


def _row(archive: Archive, facts: Sequence[Fact]) -> dict[str, Any]:
    key = [(fact.subject.id, fact.name) for fact in facts]
    return {
        "question": ask(facts, Draw(archive.world.seed, "document question words", key)),
        "num_hops": "one-hop" if len(facts) == 1 else "multi-hop",
        "fact_type": f"{pace(fact.relation for fact in facts)}-changing",
        "evidence": "documents" if all(map(archive.has, facts)) else "mixed",
        "pages": "; ".join(_place(fact) for fact in facts if archive.has(fact)),
    }
