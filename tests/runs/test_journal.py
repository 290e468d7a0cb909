from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiq.core.base import Record
from aiq.core.errors import UserError
from aiq.runs.journal import Journal, read_journal


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
    kept = whole[:end].count(b"\n")
    assert list(read_journal(path, Row)) == rows[:kept]
    journal: Journal[Row] = Journal(path)
    assert journal.cut == end - (whole.rfind(b"\n", 0, end) + 1)
    journal.append(Row(number=99, text="after"))  # which is in the file when it returns
    assert [row.number for row in read_journal(path, Row)] == [*range(kept), 99]
    journal.close()
    assert list(read_journal(path.with_name("none.jsonl"), Row)) == []


def test_a_whole_line_that_is_no_row_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"number": 1, "text": "a"}\n{"number": "x"}\n')
    with pytest.raises(UserError, match=r"rows\.jsonl, line 2: .*number"):
        list(read_journal(path, Row))
