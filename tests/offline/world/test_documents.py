"""The world's documents: real PDFs, facts that no page has, questions whose answers stand where the dataset says."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from aiq.core.paths import shipped
from aiq.core.samples import TruthRow
from aiq.offline.world.archive import Archive, build_archive
from aiq.offline.world.entities import Entity, World
from aiq.offline.world.pdf import LINES, pdf
from aiq.tools.knowledge.reading import ReadDocument, read_document


@pytest.fixture(scope="module")
def archive(world: World) -> Archive:
    return build_archive(world)


@pytest.fixture(scope="module")
def documents(generated: Path) -> dict[str, ReadDocument]:
    files = sorted((generated / "world" / "documents").glob("*.pdf"))
    return {file.name: read_document(file, file.read_bytes()) for file in files}


@pytest.fixture(scope="module")
def rows(generated: Path) -> list[dict[str, Any]]:
    lines = (generated / "documents_mini" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def truths(generated: Path) -> dict[str, TruthRow]:
    lines = (generated / "documents_mini" / "truth.jsonl").read_text(encoding="utf-8").splitlines()
    return {row.sample_id: row for row in map(TruthRow.model_validate_json, lines)}


def page(documents: dict[str, ReadDocument], key: str) -> str:
    name, number = key.split(", p.")
    return next(page.text for page in documents[name].pages if page.number == int(number))


def test_they_are_few_small_pdfs_of_several_pages(generated: Path, documents: dict[str, ReadDocument]) -> None:
    files = list((generated / "world" / "documents").iterdir())
    assert len(files) == len(documents) == 14
    assert sum(file.stat().st_size for file in files) < 300_000
    assert all(4 <= len(read.pages) <= 5 for read in documents.values())
    assert {read.title.split(": ")[1] for read in documents.values()} == {
        "Annual Report 2025",
        "Minutes of September 2026",
    }


def test_the_shipped_documents_are_what_the_command_makes(generated: Path) -> None:
    made = {file.name: file.read_bytes() for file in (generated / "world" / "documents").iterdir()}
    assert made == {file.name: file.read_bytes() for file in shipped("benchmarks/world/documents").iterdir()}


def test_a_documents_facts_stand_on_no_page(generated: Path, archive: Archive) -> None:
    pages = (generated / "world" / "pages.jsonl").read_text(encoding="utf-8")
    for fact in archive.facts.values():
        if fact.relation in ("auditor", "treasurer"):
            assert isinstance(fact.value, Entity)
            assert fact.value.name.en not in pages
    assert not any(word in pages for word in ("turnover", "new plant", "research partner", "treasurer of", "auditor"))


def test_the_mixture_is_as_promised(rows: list[dict[str, Any]]) -> None:
    assert len(rows) == 24
    assert Counter(row["num_hops"] for row in rows) == {"multi-hop": 14, "one-hop": 10}
    mixed = Counter((row["num_hops"], row["evidence"]) for row in rows)
    assert mixed["one-hop", "documents"] == 10
    assert mixed["multi-hop", "mixed"] >= 8
    assert mixed["multi-hop", "documents"] >= 2
    assert len({row["question"] for row in rows}) == 24


def test_the_pages_named_state_the_facts(
    rows: list[dict[str, Any]], truths: dict[str, TruthRow], documents: dict[str, ReadDocument]
) -> None:
    assert list(truths) == [row["id"] for row in rows]
    for row in rows:
        pages = row["pages"].split("; ")
        facts = truths[row["id"]].facts
        for key in pages:
            assert any(form in page(documents, key) for fact in facts for form in fact.forms), row["id"]
        assert (len(pages) == len(facts)) == (row["evidence"] == "documents"), row["id"]
        assert facts[-1].forms == tuple(row["answers"])


def test_no_other_page_of_the_documents_answers_a_one_hop_question(
    rows: list[dict[str, Any]], documents: dict[str, ReadDocument]
) -> None:
    for row in rows:
        if row["num_hops"] == "one-hop":
            subject = documents[row["pages"].split(",")[0]].title.split(":")[0].removeprefix("City Council of ")
            found = [
                f"{name}, p.{found.number}"
                for name, read in documents.items()
                for found in read.pages
                if row["answers"][0] in found.text and subject in found.text
            ]
            assert found == [row["pages"]]


def test_a_page_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="lines"):
        pdf("t", [["word"] * LINES])
    with pytest.raises(UnicodeEncodeError):
        pdf("t", [["\u4e2d"]])


def test_text_survives_the_way_into_a_pdf_and_out() -> None:
    text = "Parentheses (one), a back\\slash, caf\u00e9 and 50 % of it."
    read = read_document(Path("a.pdf"), pdf("A (title)", [[text], ["Second page."]]))
    assert read.title == "A (title)"
    assert [page.text for page in read.pages] == [text, "Second page."]
