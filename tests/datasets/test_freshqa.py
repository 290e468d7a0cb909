"""FreshQA in every form in which it is published, and the errors for broken files."""

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiq.core.errors import ConfigError, DatasetError
from aiq.core.samples import Sample
from tests.cases import table
from tests.datasets.conftest import FRESHQA, loaded

each = table(__file__)

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


def read(path: Path, **more: Any) -> tuple[Sample, ...]:
    return tuple(loaded(FRESHQA, path, **more).samples)


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


def test_a_row_becomes_a_sample_however_the_sheet_was_saved(tmp_path: Path) -> None:
    (sample,) = read(written(tmp_path, sheet([ROW])))
    assert (sample.id, sample.question.text, sample.answers) == ("7", ROW["question"], ("Ilan Corvey", "Corvey"))
    assert sample.tags == {
        "split": "TEST",
        "fact_type": "slow-changing",
        "num_hops": "one-hop",
        "effective_year": "2026",
        "false_premise": "FALSE",
        "age": "new",
    }
    for above in (1, 2, 7):
        assert read(written(tmp_path, sheet([ROW], above), "above.csv")) == (sample,)
    assert read(written(tmp_path, "\ufeff" + sheet([ROW]), "bom.csv")) == (sample,)
    packed = tmp_path / "packed.csv.gz"
    packed.write_bytes(gzip.compress(sheet([ROW]).encode()))
    assert read(packed) == (sample,)
    with_empty_rows = sheet([ROW, {}, {**ROW, "id": "8"}]) + "\r\n,,,\r\n"
    assert len(read(written(tmp_path, with_empty_rows))) == 2


def test_a_row_may_end_before_its_empty_cells(tmp_path: Path) -> None:
    text = "id,question,answer_0,answer_1,note\n1,Who?,Ilan\n2,Where?,Here,There\n"
    assert [sample.answers for sample in read(written(tmp_path, text))] == [("Ilan",), ("Here", "There")]


@each("expected")
def test_json_gives_answers_in_any_form(tmp_path: Path, expected: object, answers: list[str]) -> None:
    item = {"id": 7, "question": ROW["question"], "expected_output": expected, "false_premise": False}
    (sample,) = read(written(tmp_path, json.dumps([item]), "freshqa.json"))
    assert (sample.id, [*sample.answers]) == ("7", answers)
    assert read(written(tmp_path, json.dumps(item) + "\n\n", "freshqa.jsonl")) == (sample,)


def test_truth_values_are_read_in_any_spelling(tmp_path: Path) -> None:
    spellings = ("TRUE", "true", "Yes", "1", "FALSE", "no", "")
    rows = [{**ROW, "id": str(n), "false_premise": text} for n, text in enumerate(spellings)]
    tags = [sample.tags["false_premise"] for sample in read(written(tmp_path, sheet(rows)))]
    assert tags == ["TRUE"] * 4 + ["FALSE"] * 3


def lacking(column: str) -> str:
    return sheet([ROW], above=1, columns=[name for name in COLUMNS if name != column])


NEEDED = ("id", "question", "answer_0")
SEVERAL_LINES = {**ROW, "id": "1", "source": "https://a.example\nhttps://b.example"}
BROKEN: dict[str, tuple[str | bytes, str]] = {
    "question-cell.csv": (
        sheet([SEVERAL_LINES, {**ROW, "id": "2", "question": " "}], above=2),
        ", row 5: no question; fill it in or delete the row",  # rows as a spreadsheet counts them
    ),
    "id-cell.csv": (sheet([{**ROW, "id": ""}]), ", row 2: no id;"),
    **{f"no-{name}.csv": (lacking(name), f", row 2: the header lacks the column {name}; add it") for name in NEEDED},
    "no-header.csv": (
        "Who?,Ilan\nWhere?,Tessmark\n",
        ": no header row with id, question, answer_0, separated by commas",
    ),
    "twice.csv": (sheet([ROW, {**ROW, "id": "8"}, ROW], above=1), ", row 5: id 7 is already in "),
    "odd-truth.csv": (sheet([{**ROW, "false_premise": "maybe"}]), ", row 2: false_premise is 'maybe'"),
    "cells.csv": ("id,question,answer_0\n1,Who, really?,Ilan\n", ", row 2: more cells than the header has columns"),
    "cut.csv": ("id,question,answer_0\n1,Who,Ilan\n2,Wh", ", row 3: the row ends before answer_0; check its quotes"),
    "empty.csv": (b"", ": no header row"),
    "header.csv": (b"id,question,answer_0\n", " has no rows"),
    "latin.csv": ("id,question,answer_0\n1,Wo liegt K\u00f6ln?,x".encode("latin-1"), ", line 2: not UTF-8"),
    "torn.csv.gz": (gzip.compress(b"id,question", mtime=0)[:-6], " is not a complete gzip file"),
    "sheet.xlsx": (b"PK", ": expected a .csv, .json or .jsonl file"),
    "open.csv": (
        b'id,question,answer_0\n1,"Who,x\n2,Where,y\n',
        ", row 2: not readable as CSV (unexpected end of data); check its quotes",
    ),
    "list.json": (b'{"id": 1}', ": expected a JSON list"),
    "broken.json": (b'[{"id": 1', ": not valid JSON"),
    "broken.jsonl": (b'{"id": 1, "question": "q"}\n{"id":', ", line 2: not valid JSON"),
    "numbers.json": (b"[1, 2]", ", item 1: expected a JSON object"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_described_in_one_line(tmp_path: Path, name: str) -> None:
    path, (content, message) = tmp_path / name, BROKEN[name]
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert error(path).startswith(f"{path}{message}")


def test_a_path_that_is_not_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    assert "cannot be read (Is a directory); check dataset.path" in error(tmp_path / "folder.csv")
    assert "cannot be read (No such file or directory)" in error(tmp_path / "absent.csv")
    with pytest.raises(DatasetError, match=r"dataset\.path is not set"):
        loaded(FRESHQA)


def test_the_fingerprint_covers_the_bytes(tmp_path: Path) -> None:
    texts = (sheet([ROW]), sheet([ROW]), sheet([{**ROW, "note": "x"}]))
    first, copy, other = (loaded(FRESHQA, written(tmp_path, text, f"{n}.csv")) for n, text in enumerate(texts))
    assert first.fingerprint == copy.fingerprint != other.fingerprint
    assert [*first.samples] == [*other.samples]


@each("release")
def test_old_and_new_depend_on_the_release(tmp_path: Path, release: Any, effective: str, age: str | None) -> None:
    path = written(tmp_path, sheet([{**ROW, "effective_year": effective}]))
    assert read(path, release=release)[0].tags.get("age") == age


@each("name")
def test_the_release_is_read_from_the_file_name(tmp_path: Path, name: str, age: str | None) -> None:
    path = written(tmp_path, sheet([{**ROW, "effective_year": "2023"}]), name)
    assert read(path)[0].tags.get("age") == age
    assert read(path, release="2023")[0].tags["age"] == "new"  # the setting takes precedence


def test_without_a_release_the_latest_year_in_the_file_counts(tmp_path: Path) -> None:
    years = ("before 2022", "2023", "2024", "2025")
    path = written(tmp_path, sheet([{**ROW, "id": year, "effective_year": year} for year in years]))
    assert [sample.tags["age"] for sample in read(path)] == ["old", "old", "new", "new"]


@pytest.mark.parametrize("release", ["soon", "v1", "24.11.2025", "20251124"])
def test_an_invalid_release_is_refused(tmp_path: Path, release: object) -> None:
    with pytest.raises(ConfigError, match=r"release.*write a release such as v112425"):
        read(written(tmp_path, sheet([ROW])), release=release)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all generated cases, each of which overwrites the file of the previous one."""
    return tmp_path_factory.mktemp("scratch")


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)


@settings(max_examples=40)
@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=6), st.integers(0, 3))
def test_any_cells_survive_a_csv(scratch: Path, rows: list[tuple[str, str, str]], above: int) -> None:
    names = ("id", "question", "answer_0", "note")
    table = [dict(zip(names, (str(n), f"Q{row[0]}", *row[1:]), strict=True)) for n, row in enumerate(rows)]
    samples = read(written(scratch, sheet(table, above)))
    assert [sample.question.text for sample in samples] == [row["question"].strip() for row in table]
    assert [sample.answers for sample in samples] == [tuple(filter(None, [row["answer_0"].strip()])) for row in table]


@settings(max_examples=40)
@given(st.binary(max_size=200), st.sampled_from([".csv", ".json", ".jsonl", ".csv.gz", ".jsonl.gz"]))
def test_any_bytes_give_samples_or_one_clear_line(scratch: Path, data: bytes, suffix: str) -> None:
    path = scratch / f"data{suffix}"
    path.write_bytes(data)
    assert str(path) in error(path)  # 200 random bytes are never a dataset


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=40)
@given(st.fixed_dictionaries(dict.fromkeys(("id", "question", "expected_output", "false_premise"), json_values)))
def test_any_json_object_gives_a_sample_or_one_clear_line(scratch: Path, item: dict[str, Any]) -> None:
    path = written(scratch, json.dumps([item]), "data.json")
    try:
        (sample,) = read(path)
    except DatasetError as failure:
        assert "item 1" in str(failure)  # noqa: PT017
    else:
        assert sample.id
        assert sample.question.text
        assert all(answer == answer.strip() != "" for answer in sample.answers)
