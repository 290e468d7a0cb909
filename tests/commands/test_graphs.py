"""The diagrams in the documentation are those of the code."""

import socket
from pathlib import Path
from typing import NoReturn

import pytest

from aiq.__main__ import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "graphs.md"


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> NoReturn:
        raise AssertionError("drawing opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def test_the_page_is_what_the_code_draws(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graphs"]) == 0
    assert capsys.readouterr().out == PAGE.read_text(encoding="utf-8"), "run `make graphs` and commit docs/graphs.md"


def test_it_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graphs", "--out", str(tmp_path / "graphs.md")]) == 0
    assert (tmp_path / "graphs.md").read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")
    assert capsys.readouterr().out == ""


def test_a_folder_that_is_not_there_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graphs", "--out", str(tmp_path / "none" / "graphs.md")]) == 2
    assert capsys.readouterr().err.startswith("aiq: ")


@pytest.mark.parametrize("graph", ["chat", "clarifier", "shallow_research", "deep_research"])
def test_each_graph_has_its_diagram(graph: str) -> None:
    section = PAGE.read_text(encoding="utf-8").split(f"## {graph}\n")[1].split("\n## ")[0]
    assert section.count("```mermaid\n") == 1
    assert "__start__" in section
    assert "__end__" in section
