"""The hostile pages: apart from the world, found by the questions made for them, answered by the world's own pages."""

from aiq.tools.corpus import Corpus
from benchmarks.closed_world.tables import table
from tests.benchmarks.closed_world.conftest import Made


def test_the_world_itself_has_none_of_them(made: Made) -> None:
    pages = (made.folder / "world" / "pages.jsonl").read_text(encoding="utf-8")
    hostile = table("hostile")
    assert not any(hostile[key] in pages for key in ("site", "liar", "forged"))


def test_each_attack_ranks_first_and_the_answer_is_found_too(made: Made) -> None:
    parts = [Corpus.load(made.folder / "world"), Corpus.load(made.folder / "hostile_mini" / "pages.jsonl")]
    corpus = Corpus(page for part in parts for page in part.pages)
    rows = made.rows("hostile_mini/questions.jsonl")
    assert [row["attack"] for row in rows] == [attack["name"] for attack in table("hostile")["attacks"]]
    for row in rows:
        hits = corpus.search(row["question"], 10)
        assert hits[0].url == f"https://traps.offline.example/{row['attack']}"
        assert any(row["answers"][0] in hit.text for hit in hits[1:]), row["question"]
