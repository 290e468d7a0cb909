import resource
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.core.base import Record
from aiq.core.errors import RunAborted, UserError
from aiq.runs.journal import Journal, KeyedJournal, read_journal


class Row(Record):
    number: int
    text: str


def write(path: Path, rows: list[Row]) -> None:
    journal: Journal[Row] = Journal(path)
    journal.append(*rows)
    journal.close()


@given(st.lists(st.text(max_size=30), min_size=1, max_size=6), st.data())
def test_a_file_cut_anywhere_keeps_its_whole_lines_and_can_be_continued(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("journal") / "rows.jsonl"
    rows = [Row(number=number, text=text) for number, text in enumerate(texts)]
    write(path, rows)
    whole = path.read_bytes()
    end = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:end])
    n_kept = whole[:end].count(b"\n")
    assert list(read_journal(path, Row)) == rows[:n_kept]
    journal: Journal[Row] = Journal(path)
    assert journal.cut == end - (whole.rfind(b"\n", 0, end) + 1)
    journal.append(Row(number=99, text="after"))  # which is in the file when it returns
    assert [row.number for row in read_journal(path, Row)] == [*range(n_kept), 99]
    journal.close()
    assert list(read_journal(path.with_name("none.jsonl"), Row)) == []


@pytest.mark.parametrize(
    "damage", ['{"number": "x"}', '{"number": 1, "te', "\0\0\0", "\x80", '{"number": 2} {"number": 3}']
)
def test_a_damaged_line_is_named_once_and_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"number": 1, "text": "a"}}\n{damage}\n{{"number": 3, "text": "c"}}\n', encoding="latin-1")
    for _ in range(2):
        assert [row.number for row in read_journal(path, Row)] == [1, 3]
    err = capsys.readouterr().err
    assert f"{path}, line 2 is damaged" in err
    assert err.count("\n") == 1
    keyed = KeyedJournal(path, Row, "text")
    assert keyed.read("c").number == 3


def test_a_row_of_another_version_is_not_damage(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"number": 1, "text": "a"}\n{"number": 1, "text": "a", "later": 1}\n')
    with pytest.raises(UserError, match=r"rows\.jsonl, line 2: .*later.*another version"):
        list(read_journal(path, Row))


def test_a_full_disk_ends_the_run_and_leaves_whole_lines(tmp_path: Path) -> None:
    journal: Journal[Row] = Journal(tmp_path / "rows.jsonl")
    row = Row(number=1, text="x" * 50)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, limits[1]))
    try:
        with pytest.raises(RunAborted, match=r"rows\.jsonl cannot be written: File too large"):
            journal.append(*[row] * 5)
        journal.append(row)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    journal.append(row)
    assert list(read_journal(journal.path, Row)) == [row, row]
    assert journal.size == journal.path.stat().st_size
    journal.close()


def test_a_journal_that_cannot_be_created_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunAborted, match=r"rows\.jsonl cannot be written: No such file"):
        Journal(tmp_path / "gone" / "rows.jsonl")
