"""The world's documents: real PDFs, facts that no page has, questions whose answers are where the dataset says."""

from collections import Counter
from pathlib import Path

import pytest

from aiq.tools.knowledge.reading import read_document
from benchmarks.closed_world.documents import documented, with_documents
from benchmarks.closed_world.entities import World
from benchmarks.closed_world.pdf import LINES, pdf
from tests.benchmarks.closed_world.conftest import Made

Texts = dict[str, str]


@pytest.fixture(scope="module")
def texts(made: Made) -> Texts:
    """The text of each page, by its citation key."""
    files = sorted((made.folder / "world" / "documents").glob("*.pdf"))
    assert len(files) == 14
    documents = {file.name: read_document(file, file.read_bytes()) for file in files}
    return {f"{name}, p.{page.number}": page.text for name, document in documents.items() for page in document.pages}


def test_a_documents_facts_are_on_no_page(made: Made, world: World) -> None:
    pages = (made.folder / "world" / "pages.jsonl").read_text(encoding="utf-8")
    people = [fact.target for fact in documented(with_documents(world)) if fact.relation.value == "person"]
    assert not any(person.name.en in pages for person in people)
    assert not any(word in pages for word in ("turnover", "new plant", "research partner", "treasurer of", "auditor"))


def test_the_mixture_is_as_promised(made: Made) -> None:
    rows = made.rows("documents_mini/questions.jsonl")
    mixed = Counter((row["num_hops"], row["evidence"]) for row in rows)
    assert (len(rows), mixed["one-hop", "documents"], mixed["one-hop", "mixed"]) == (24, 10, 0)
    assert mixed["multi-hop", "mixed"] >= 8
    assert mixed["multi-hop", "documents"] >= 2
    assert len({row["question"] for row in rows}) == 24


def test_the_pages_named_state_the_facts_and_no_others(made: Made, texts: Texts) -> None:
    truths = made.truth("documents_mini")
    for row in made.rows("documents_mini/questions.jsonl"):
        keys, facts = row["pages"].split("; "), truths[row["id"]].facts
        for key in keys:
            assert any(form.replace(",", "") in " ".join(texts[key].split()) for fact in facts for form in fact.forms)
        assert (len(keys) == len(facts)) == (row["evidence"] == "documents")
        assert facts[-1].forms == tuple(row["answers"])
        if row["num_hops"] == "one-hop":
            subject = facts[0].id.split("/")[1]
            stating = [key for key, text in texts.items() if key.startswith(subject) and row["answers"][0] in text]
            assert stating == keys


def test_text_survives_a_pdf_or_is_refused() -> None:
    text = "Parentheses (one), a back\\slash, caf\u00e9 and 50 % of it."
    document = read_document(Path("a.pdf"), pdf("A (title)", [[text], ["Second page."]]))
    assert document.title == "A (title)"
    assert [page.text for page in document.pages] == [text, "Second page."]
    with pytest.raises(ValueError, match="lines"):
        pdf("t", [["word"] * LINES])
    with pytest.raises(UnicodeEncodeError):
        pdf("t", [["\u4e2d"]])
