"""FreshQA in every form in which it is handed out, and what is said of a broken file."""

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.core.errors import DatasetError
from aiq.core.samples import Sample
from aiq.core.settings import DatasetSettings
from aiq.datasets import Dataset, load

COLUMNS = ["id", "split", "question", "effective_year", "next_review", "false_premise", "num_hops", "fact_type"]
COLUMNS += ["source", *(f"answer_{index}" for index in range(10)), "note"]
ROW = {
    "id": "7",
    "split": "TEST",
    "question": "Who is the mayor of Tessmark?",
    "effective_year": "2026",
    "false_premise": "FALSE",
    "num_hops": "one-hop",
    "fact_type": "slow-changing",
    "answer_0": "Ilan Corvey",
    "answer_1": "Corvey",
}


def sheet(rows: list[dict[str, str]], above: int = 0, columns: list[str] = COLUMNS) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    for index in range(above):
        writer.writerow([f"Warning {index}: rows above the header, with the word question"] + [""] * (len(columns) - 1))
    writer.writerow(columns)
    writer.writerows([row.get(column, "") for column in columns] for row in rows)
    return text.getvalue()


def settings(path: Path | str, **more: Any) -> DatasetSettings:
    return DatasetSettings(target="aiq.datasets.freshqa:FreshQA", name="freshqa", path=str(path), **more)


def read(path: Path, **more: Any) -> tuple[Sample, ...]:
    return load(settings(path, **more), seed=0, limit=None).samples


def written(tmp_path: Path, text: str, name: str = "freshqa.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def error(path: Path) -> str:
    with pytest.raises(DatasetError) as caught:
        read(path)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_row_becomes_a_sample(tmp_path: Path) -> None:
    (sample,) = read(written(tmp_path, sheet([ROW])))
    assert (sample.id, sample.question.text, sample.answers) == ("7", ROW["question"], ("Ilan Corvey", "Corvey"))
    assert sample.tags == {
        "split": "TEST",
        "fact_type": "slow-changing",
        "num_hops": "one-hop",
        "effective_year": "2026",
        "false_premise": "FALSE",
    }


@pytest.mark.parametrize("above", [0, 1, 2, 7])
def test_rows_above_the_header_do_not_matter(tmp_path: Path, above: int) -> None:
    assert read(written(tmp_path, sheet([ROW], above))) == read(written(tmp_path, sheet([ROW]), "plain.csv"))


def test_a_byte_order_mark_and_gzip_do_not_matter(tmp_path: Path) -> None:
    plain = read(written(tmp_path, sheet([ROW])))
    assert read(written(tmp_path, "\ufeff" + sheet([ROW]), "bom.csv")) == plain
    packed = tmp_path / "packed.csv.gz"
    packed.write_bytes(gzip.compress(sheet([ROW]).encode()))
    assert read(packed) == plain


@pytest.mark.parametrize(
    "expected",
    [
        {"answer_0": "Ilan Corvey", "answer_1": "Corvey", "answer_2": "", "answer_3": None},
        ["Ilan Corvey", "Corvey", ""],
    ],
)
def test_json_gives_answers_as_object_or_list(tmp_path: Path, expected: object) -> None:
    item = {"id": 7, "question": ROW["question"], "expected_output": expected, "false_premise": False}
    (sample,) = read(written(tmp_path, json.dumps([item]), "freshqa.json"))
    assert (sample.id, sample.answers) == ("7", ("Ilan Corvey", "Corvey"))
    assert read(written(tmp_path, json.dumps(item) + "\n\n", "freshqa.jsonl")) == (sample,)


def test_json_gives_answers_as_text_or_number(tmp_path: Path) -> None:
    items = [
        {"id": "a", "question": "q", "expected_output": "1987"},
        {"id": "b", "question": "q", "expected_output": 7},
    ]
    assert [s.answers for s in read(written(tmp_path, json.dumps(items), "f.json"))] == [("1987",), ("7",)]


@pytest.mark.parametrize(
    ("spelled", "meant"),
    [
        ("TRUE", "TRUE"),
        ("true", "TRUE"),
        ("Yes", "TRUE"),
        ("1", "TRUE"),
        ("FALSE", "FALSE"),
        ("no", "FALSE"),
        ("", "FALSE"),
    ],
)
def test_truth_values_are_read_in_any_spelling(tmp_path: Path, spelled: str, meant: str) -> None:
    (sample,) = read(written(tmp_path, sheet([{**ROW, "false_premise": spelled}])))
    assert sample.tags["false_premise"] == meant


def test_a_row_without_a_question_is_named_as_a_spreadsheet_counts(tmp_path: Path) -> None:
    several_lines = {**ROW, "id": "1", "source": "https://a.example\nhttps://b.example"}
    path = written(tmp_path, sheet([several_lines, {**ROW, "id": "2", "question": " "}], above=2))
    assert error(path) == f"{path}, row 5: no question; fill it in or delete the row"


def test_a_row_without_an_id_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, sheet([{**ROW, "id": ""}]))
    assert error(path).startswith(f"{path}, row 2: no id;")


def test_empty_rows_are_no_rows(tmp_path: Path) -> None:
    assert len(read(written(tmp_path, sheet([ROW, {}, {**ROW, "id": "8"}]) + "\r\n,,,\r\n"))) == 2


@pytest.mark.parametrize("column", ["id", "question", "answer_0"])
def test_a_missing_column_is_named(tmp_path: Path, column: str) -> None:
    path = written(tmp_path, sheet([ROW], above=1, columns=[name for name in COLUMNS if name != column]))
    assert error(path) == f"{path}, row 2: the header lacks the column {column}; add it"


def test_a_file_without_header_says_what_it_needs(tmp_path: Path) -> None:
    path = written(tmp_path, "Who is it?,Ilan\nWhere is it?,Tessmark\n")
    assert "no header row with the columns id, question, answer_0" in error(path)


def test_two_rows_of_one_id_are_refused(tmp_path: Path) -> None:
    message = error(written(tmp_path, sheet([ROW, {**ROW, "id": "8"}, ROW])))
    assert "samples 1 and 3 have the same id 7" in message


def test_an_odd_truth_value_is_named(tmp_path: Path) -> None:
    assert "row 2: false_premise is 'maybe'" in error(written(tmp_path, sheet([{**ROW, "false_premise": "maybe"}])))


def test_more_cells_than_columns_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "id,question,answer_0\n1,Who, really?,Ilan\n")
    assert "row 2: more cells than the header has columns" in error(path)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("absent.csv", None, "there is no file"),
        ("empty.csv", b"", "no header row"),
        ("header.csv", b"id,question,answer_0\n", "has no rows"),
        ("latin.csv", "id,question,answer_0\n1,Wo liegt K\u00f6ln?,x".encode("latin-1"), "line 2: not UTF-8"),
        ("torn.csv.gz", gzip.compress(b"id,question", mtime=0)[:-6], "not a complete gzip file"),
        ("sheet.xlsx", b"PK", "expected a .csv, .json or .jsonl file"),
        (
            "open.csv",
            b'id,question,answer_0\n1,"Who,x\n2,Where,y\n',
            "row 2: not readable as CSV (unexpected end of data); check its quotes",
        ),
        ("list.json", b'{"id": 1}', "expected a JSON list"),
        ("broken.json", b'[{"id": 1', "not valid JSON"),
        ("broken.jsonl", b'{"id": 1, "question": "q"}\n{"id":', "line 2: not valid JSON"),
        ("half.jsonl", b'{"id": 1, "question": "q \\ud83d"}', "line 1: an escape"),
        ("numbers.json", b"[1, 2]", "item 1: expected a JSON object"),
    ],
)
def test_broken_files_are_described_in_one_line(tmp_path: Path, name: str, content: bytes | None, said: str) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    message = error(path)
    assert said in message
    assert str(path) in message


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    folder = tmp_path / "freshqa.csv"
    folder.mkdir()
    assert "is a folder" in error(folder)


def test_neither_path_nor_hub_is_an_error() -> None:
    with pytest.raises(DatasetError, match=r"dataset\.path is not set"):
        load(DatasetSettings(target="aiq.datasets.freshqa:FreshQA", name="f"), seed=0, limit=None)


def test_the_fingerprint_is_of_the_bytes(tmp_path: Path) -> None:
    def loaded(text: str, name: str) -> Dataset:
        return load(settings(written(tmp_path, text, name)), seed=0, limit=None)

    one, same, other = (
        loaded(sheet([ROW]), "1.csv"),
        loaded(sheet([ROW]), "2.csv"),
        loaded(sheet([{**ROW, "note": "x"}]), "3.csv"),
    )
    assert one.fingerprint == same.fingerprint != other.fingerprint
    assert one.samples == other.samples


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)


@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=6), st.integers(0, 3))
def test_any_cells_survive_a_csv(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]], above: int
) -> None:
    table = [
        {"id": str(number), "question": f"Q{question}", "answer_0": answer, "note": note}
        for number, (question, answer, note) in enumerate(rows)
    ]
    samples = read(written(tmp_path_factory.mktemp("csv"), sheet(table, above)))
    assert [sample.question.text for sample in samples] == [row["question"].strip() for row in table]
    assert [sample.answers for sample in samples] == [
        (row["answer_0"].strip(),) if row["answer_0"].strip() else () for row in table
    ]


@given(st.binary(max_size=200), st.sampled_from([".csv", ".json", ".jsonl", ".csv.gz", ".jsonl.gz"]))
def test_any_bytes_give_samples_or_one_clear_line(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, suffix: str
) -> None:
    path = tmp_path_factory.mktemp("bytes") / f"data{suffix}"
    path.write_bytes(data)
    assert str(path) in error(path)  # 200 random bytes are never a dataset


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.fixed_dictionaries(
        {"id": json_values, "question": json_values, "expected_output": json_values, "false_premise": json_values}
    )
)
def test_any_json_object_gives_a_sample_or_one_clear_line(
    tmp_path_factory: pytest.TempPathFactory, item: dict[str, Any]
) -> None:
    path = written(tmp_path_factory.mktemp("json"), json.dumps([item]), "data.json")
    failure = None
    try:
        (sample,) = read(path)
    except DatasetError as caught:
        failure = str(caught)
    if failure is not None:
        assert "item 1" in failure
    else:
        assert sample.id
        assert sample.question.text
        assert all(answer == answer.strip() != "" for answer in sample.answers)
