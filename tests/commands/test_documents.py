"""`aiq documents`: adding, listing, summaries by a model, and mistakes in one line."""

import json
from pathlib import Path

import pytest

from aiq.__main__ import main
from tests.cases import table
from tests.tools.knowledge.conftest import make_pdf

each = table(__file__)


@pytest.fixture
def cwd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    text = "Halden Works had a good year. The auditor of Halden Works is Mara Tolvane."
    (tmp_path / "notes.md").write_text(f"# Notes on Halden\n\n{text}")
    return tmp_path


def test_adding_and_listing(cwd: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["documents", "list"]) == 0
    assert main(["documents", "add", "notes.md", "--collection", "mine"]) == 0
    assert main(["documents", "add", "notes.md", "--collection", "mine"]) == 0
    assert main(["documents", "list"]) == 0
    assert main(["documents", "list", "--collection", "mine"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "no collections in knowledge; add some with `aiq documents add`",
        "collection mine: 1 read, 0 unchanged; it holds 1 document",
        "collection mine: 0 read, 1 unchanged; it holds 1 document",
        "mine: 1 document",
        "notes.md: Notes on Halden. Halden Works had a good year. The auditor of Halden Works is Mara Tolvane.",
    ]


def test_text_that_no_search_will_find_is_reported(cwd: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = cwd / "papers"
    (folder / ".git").mkdir(parents=True)
    (folder / "report.pdf").write_bytes(make_pdf("", "The turnover was 12 million crowns.", ""))
    for name in ("letter.docx", "b.DOCX", "page.html", ".git/config", ".hidden"):
        (folder / name).write_text("x")
    command = ["documents", "add", "papers", "notes.md", "--collection", "mine"]
    left_out = "left out of the folders: 2 .docx, 1 .html (only .pdf, .md, .markdown, .txt, .text can be read)"
    assert main(command) == 0
    pages = "report.pdf: 2 of 3 pages without text; are they scans?"
    assert capsys.readouterr().out.splitlines()[1:] == [pages, left_out]
    assert main(command) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [left_out]


def test_a_model_summarises_and_says_what_it_cost(cwd: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["documents", "add", "notes.md", "--collection", "mine", "--dir", "elsewhere", "--summarizer", "model"]
    assert main(command) == 0
    assert "1 summarised by offline-1 (1 call, " in capsys.readouterr().out
    assert main(command) == 0
    assert "0 summarised by offline-1 (0 calls, 0 tokens, $0.00)" in capsys.readouterr().out
    (document,) = json.loads((cwd / "elsewhere" / "mine" / "collection.json").read_text())["documents"]
    assert document["summarizer"] == "model"
    assert "Mara Tolvane" in document["summary"]


@each("arguments")
def test_a_mistake_is_one_line(cwd: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    assert main(["documents", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
