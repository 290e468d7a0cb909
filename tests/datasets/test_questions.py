"""A user's own questions: the simplest form, and those with documents, a collection, data sources or a history."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from aiq.core.errors import DatasetError
from aiq.core.samples import Document, Question, Sample, Turn
from tests.cases import table
from tests.datasets.conftest import DRB, FRESHQA, OWN, loaded

each = table(__file__)


def samples(path: Path) -> tuple[Sample, ...]:
    return tuple(loaded(OWN, path).samples)


def written(tmp_path: Path, **row: Any) -> Path:
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps({"question": "Who?", **row}) + "\n")
    return path


HISTORY = [{"speaker": "user", "text": "Hi."}, {"speaker": "assistant", "text": "Hello."}]
WHOLE = {
    "history": HISTORY,
    "language": "de",
    "data_sources": ["web"],
    "documents": ["a.pdf", "b.md"],
    "collection_name": "mine",
    "user_info": {"name": "Ada", "likes": ["rivers"]},
    "thread_id": "t1",
}
"""A value for every field of a question."""


@pytest.mark.parametrize(
    ("target", "columns"),
    [(OWN, {}), (FRESHQA, {"id": 1, "answer_0": "A"}), (DRB, {"id": 1, "prompt": "Who?", "topic": "T"})],
)
@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_a_row_of_every_format_carries_every_field_of_a_question(
    tmp_path: Path, target: str, columns: dict[str, Any], form: str
) -> None:
    turns = ["And before?", " And then? "]
    row = {"question": "Who?", **columns, **WHOLE, "turns": json.dumps(turns) if form == "csv" else turns}
    path = tmp_path / f"own.{form}"
    if form == "jsonl":
        path.write_text(json.dumps(row) + "\n")
    else:
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(row)
            writer.writerow(_cell(value) for value in row.values())
    (sample,) = loaded(target, path, **({"criteria": None, "references": None} if target == DRB else {})).samples
    assert sample.turns == ("And before?", "And then?")
    expected = Question.model_validate(
        {**WHOLE, "text": "Who?", "documents": [{"file_name": "a.pdf"}, {"file_name": "b.md"}]}
    )
    assert sample.question == expected
    assert set(Question.model_fields) == {"text", *WHOLE}


def _cell(value: Any) -> str:
    flat = isinstance(value, list) and isinstance(value[0], str)
    return " | ".join(value) if flat else value if isinstance(value, str) else json.dumps(value)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"thread_id": 7, "user_info": None, "history": []}, {"thread_id": "7"}),
        ({"thread_id": " ", "user_info": {}, "history": "[]"}, {"user_info": {}}),
        ({"Language": "en", " User_Info ": {"Name": "Ada"}}, {"language": "en", "user_info": {"Name": "Ada"}}),
        ({"language": "en", "collection_name": "mine"}, {"language": "en", "collection_name": "mine"}),
        (
            {"documents": [{"file_name": "a.pdf", "summary": "Of A."}, "b.md"]},
            {"documents": (Document(file_name="a.pdf", summary="Of A."), Document(file_name="b.md"))},
        ),
        *(({"data_sources": none}, {"data_sources": None}) for none in (None, "")),
        ({"data_sources": []}, {"data_sources": ()}),
        ({"data_sources": "[]"}, {"data_sources": ()}),
        *(({"data_sources": two}, {"data_sources": ("web", "papers")}) for two in (["web", "papers"], "web | papers")),
        ({"history": [{"speaker": "user", "text": "Hi."}]}, {"history": (Turn(speaker="user", text="Hi."),)}),
    ],
)
def test_the_question_fields_of_a_row(tmp_path: Path, row: dict[str, Any], expected: dict[str, Any]) -> None:
    (sample,) = samples(written(tmp_path, **row))
    assert sample.question == Question(text="Who?", **expected)
    assert sample.tags == {}


@each("row")
def test_a_malformed_value_names_the_row(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    with pytest.raises(DatasetError, match=rf"own\.jsonl, line 1: {message}"):
        samples(written(tmp_path, **row))


def test_a_csv_cell_holds_several_values_and_other_columns_are_tags(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text(
        "question,answers,level,documents,collection_name,data_sources\n"
        "Who?,Ilan | Ilan Corvey,hard,a.pdf | b.md,mine,documents | web\nWhy?,,,,,\n"
    )
    first, second = samples(path)
    assert (first.id, first.answers, first.tags) == ("1", ("Ilan", "Ilan Corvey"), {"level": "hard"})
    assert [d.file_name for d in first.question.documents] == ["a.pdf", "b.md"]
    assert (first.question.collection_name, first.question.data_sources) == ("mine", ("documents", "web"))
    assert second == Sample(id="2", question=Question(text="Why?"))


def test_answers_and_reference_of_a_line_and_what_its_hash_covers(tmp_path: Path) -> None:
    assert samples(written(tmp_path, answers="[0, 1]"))[0].answers == ("[0, 1]",)
    (sample,) = samples(written(tmp_path, id=4, answers=["Ilan", 7], reference="R"))
    assert (sample.id, sample.answers, sample.reference) == ("4", ("Ilan", "7"), "R")
    (plain,), (other,) = samples(written(tmp_path)), samples(written(tmp_path, documents=["a.pdf"]))
    assert plain.hash != other.hash


def test_turns_are_not_a_tag_and_change_the_hash_only_if_there_are_any(tmp_path: Path) -> None:
    (plain,), (none,) = samples(written(tmp_path)), samples(written(tmp_path, turns=[]))
    assert (none.turns, none.tags, none.hash) == ((), {}, plain.hash)
    hashes = {samples(written(tmp_path, turns=turns))[0].hash for turns in (["a"], ["a", "b"], ["b", "a"])}
    assert len(hashes | {plain.hash}) == 4
