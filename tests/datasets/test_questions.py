"""Own questions that come with documents, a collection or data sources."""

import json
from pathlib import Path
from typing import Any

import pytest

from aiq.core.errors import DatasetError
from aiq.core.samples import Document, Question, Sample, Turn
from aiq.core.settings import DatasetSettings
from aiq.datasets import load

OWN = "aiq.datasets.questions:Questions"


def samples(path: Path) -> tuple[Sample, ...]:
    return load(DatasetSettings(target=OWN, name="own", path=str(path)), seed=0, limit=None).samples


def written(tmp_path: Path, **row: Any) -> Path:
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps({"question": "Who?", **row}) + "\n")
    return path


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({}, {"documents": (), "collection_name": None, "data_sources": None}),
        ({"collection_name": "mine"}, {"collection_name": "mine"}),
        ({"documents": ["a.pdf"]}, {"documents": (Document(file_name="a.pdf"),)}),
        (
            {"documents": [{"file_name": "a.pdf", "summary": "Of A."}, "b.md"]},
            {"documents": (Document(file_name="a.pdf", summary="Of A."), Document(file_name="b.md"))},
        ),
        ({"data_sources": []}, {"data_sources": ()}),
        ({"data_sources": ["documents", "web"]}, {"data_sources": ("documents", "web")}),
        ({"history": [{"speaker": "user", "text": "Hi."}]}, {"history": (Turn(speaker="user", text="Hi."),)}),
    ],
)
def test_a_row_may_name_documents_and_sources(tmp_path: Path, row: dict[str, Any], expected: dict[str, Any]) -> None:
    (sample,) = samples(written(tmp_path, **row))
    assert sample.question == Question(text="Who?", **expected)
    assert sample.tags == {}


def test_a_csv_cell_holds_several(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text(
        "question,documents,collection_name,data_sources\nWho?,a.pdf | b.md,mine,documents | web\nWhy?,,,\n"
    )
    first, second = samples(path)
    assert [d.file_name for d in first.question.documents] == ["a.pdf", "b.md"]
    assert (first.question.collection_name, first.question.data_sources) == ("mine", ("documents", "web"))
    assert second.question == Question(text="Why?")


def test_a_malformed_document_names_the_row(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"own\.jsonl, line 1: documents\.name: there is no such setting"):
        samples(written(tmp_path, documents=[{"name": "a.pdf", "file_name": "a.pdf"}]))


@pytest.mark.parametrize(
    ("history", "named"),
    [([{"speaker": "judge", "text": "Hi."}], "speaker"), ("Hi.", "history"), ([{"speaker": "user"}], "text")],
)
def test_a_malformed_history_names_the_row(tmp_path: Path, history: Any, named: str) -> None:
    with pytest.raises(DatasetError, match=rf"own\.jsonl, line 1: history.*{named}|line 1: {named}"):
        samples(written(tmp_path, history=history))


def test_the_documents_are_part_of_what_was_asked(tmp_path: Path) -> None:
    (plain,), (other,) = samples(written(tmp_path)), samples(written(tmp_path, documents=["a.pdf"]))
    assert plain.hash != other.hash
