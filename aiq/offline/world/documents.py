"""Questions over the world's documents, alone and mixed with its web pages; writes the PDFs and the dataset."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from aiq.core.samples import TruthRow
from aiq.offline.world.archive import DOCUMENT_RELATIONS, Archive
from aiq.offline.world.chains import Path as Chain
from aiq.offline.world.chains import ask, pace
from aiq.offline.world.draw import Draw
from aiq.offline.world.entities import Entity, Fact
from aiq.offline.world.paperwork import PaperDocument
from aiq.offline.world.relations import BY_KEY, Relation
from aiq.offline.world.truth import answers, hop
from aiq.offline.world.write import jsonl

ONE_HOP, MIXED = 10, 14
"""Questions that one page of a document answers, and questions of two steps."""

_OWN = {(relation.kind, relation.name): relation for relation in DOCUMENT_RELATIONS}
_ONWARD = (("plant", "mayor"), ("plant", "population"), ("partner", "director"), ("partner", "founded"))
"""From a document to the web: the relation that leads there, and what the web is asked."""


@dataclass(frozen=True, slots=True)
class DocumentQuestion:
    """`evidence`: where its facts stand: documents, mixed."""

    chain: Chain
    evidence: str


def choose_document_questions(archive: Archive) -> list[DocumentQuestion]:
    """All that is asked, in a drawn order."""
    draw = Draw(archive.world.seed, "document questions")
    single = [DocumentQuestion(_chain([fact]), "documents") for fact in archive.facts.values()]
    double = [*_from_web(archive), *_through_documents(archive)]
    onward = draw.shuffled(list(_to_web(archive)))[: MIXED - len(double)]
    return draw.shuffled([*draw.some(single, ONE_HOP), *double, *onward])


def _to_web(archive: Archive) -> Iterator[DocumentQuestion]:
    for company in archive.companies:
        for way, relation in _ONWARD:
            first = archive.fact(company, way)
            yield DocumentQuestion(_chain([first, archive.world.fact(first.target, relation)]), "mixed")


def _from_web(archive: Archive) -> Iterator[DocumentQuestion]:
    """Two for each city with minutes, by way of something that the web places there."""
    world = archive.world
    ways = (("company", "headquarters"), ("club", "city"), ("festival", "city"), ("institute", "city"))
    for city in archive.cities:
        region = world.regions[city.region]
        leading = (world.fact(thing, name) for kind, name in ways for thing in region.of(kind))
        first = [fact for fact in leading if fact.value is city and len(fact.history) == 1]
        for fact in islice(Draw(world.seed, "to", city.id).shuffled(first), 1):
            wanted = Draw(world.seed, "wanted", city.id).pick(("budget", "treasurer"))
            yield DocumentQuestion(_chain([fact, archive.fact(city, wanted)]), "mixed")


def _through_documents(archive: Archive) -> Iterator[DocumentQuestion]:
    for company in archive.companies:
        first = archive.fact(company, "plant")
        if first.target in archive.cities:
            yield DocumentQuestion(_chain([first, archive.fact(first.target, "treasurer")]), "documents")


def _chain(facts: Sequence[Fact]) -> Chain:
    return Chain(tuple(map(_relation, facts)), tuple(facts))


def _relation(fact: Fact) -> Relation:
    key = fact.subject.kind, fact.relation
    return _OWN.get(key) or BY_KEY[key]


def write_documents(folder: Path, documents: Sequence[PaperDocument]) -> None:
    """The PDFs; others that lay there are removed."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.pdf"):
        old.unlink()
    for document in documents:
        (folder / document.file_name).write_bytes(document.as_pdf())


def write_document_questions(
    folder: Path, archive: Archive, documents: Sequence[PaperDocument], questions: Sequence[DocumentQuestion]
) -> None:
    """`questions.jsonl` and `truth.jsonl`; ids count from 1."""
    numbered = list(enumerate(questions, start=1))
    jsonl(folder / "questions.jsonl", (_row(archive, documents, number, asked) for number, asked in numbered))
    jsonl(folder / "truth.jsonl", (_truth(number, asked) for number, asked in numbered))


def _row(archive: Archive, documents: Sequence[PaperDocument], number: int, asked: DocumentQuestion) -> dict[str, Any]:
    facts = asked.chain.facts
    pages = [_place(documents, fact) for fact in facts if fact is archive.facts.get((fact.subject.id, fact.relation))]
    return {
        "id": str(number),
        "question": ask(asked.chain, Draw(archive.world.seed, "ask documents", number)),
        "answers": list(answers(facts[-1].value)),
        "num_hops": "one-hop" if len(facts) == 1 else "multi-hop",
        "fact_type": f"{pace(asked.chain.chain)}-changing",
        "evidence": asked.evidence,
        "pages": "; ".join(pages),
    }


def _place(documents: Sequence[PaperDocument], fact: Fact) -> str:
    """The citation key of the page that states the fact."""
    text = fact.value.name.en if isinstance(fact.value, Entity) else getattr(fact.value, "en", str(fact.value))
    for document in documents:
        if document.about is fact.subject:
            for number, page in enumerate(document.pages, start=1):
                if any(text in paragraph for paragraph in page[1:-1]):
                    return f"{document.file_name}, p.{number}"
    raise AssertionError(f"no document states {fact.relation} of {fact.subject.id}")


def _truth(number: int, asked: DocumentQuestion) -> TruthRow:
    facts = tuple(hop(fact, depth) for depth, fact in enumerate(asked.chain.facts, start=1))
    return TruthRow(sample_id=str(number), hops=len(facts), needs_depth=False, facts=facts)
