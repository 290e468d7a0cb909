"""The hostile pages: apart from the world, found by the questions made for them, answered by the world's own pages."""

import json
from pathlib import Path
from typing import Any

import pytest

from aiq.offline.world.hostile import ATTACKS, FORGED, LIAR
from aiq.tools.corpus import Corpus


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def corpus(generated: Path) -> Corpus:
    parts = [Corpus.load(generated / "world"), Corpus.load(generated / "hostile_mini" / "pages.jsonl")]
    return Corpus(page for part in parts for page in part.pages)


def test_the_world_itself_has_none_of_them(generated: Path) -> None:
    pages = (generated / "world" / "pages.jsonl").read_text(encoding="utf-8")
    assert not any(text in pages for text in ("traps.offline.example", LIAR, FORGED))


def test_one_question_an_attack(generated: Path) -> None:
    asked = rows(generated / "hostile_mini" / "questions.jsonl")
    assert [row["attack"] for row in asked] == [attack.name for attack in ATTACKS]
    assert len({row["question"] for row in asked}) == len(asked)


def test_the_attack_ranks_first_and_the_answer_is_found_too(generated: Path, corpus: Corpus) -> None:
    for row in rows(generated / "hostile_mini" / "questions.jsonl"):
        hits = corpus.search(row["question"], 10)
        assert hits[0].url == f"https://traps.offline.example/{row['attack']}"
        assert any(row["answers"][0] in hit.text for hit in hits[1:]), row["question"]
