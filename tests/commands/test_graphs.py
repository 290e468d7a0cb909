"""The diagrams in the documentation are those of the code."""

from pathlib import Path

import pytest

from aiq.__main__ import main

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/graphs.md"


def test_the_page_has_the_diagrams_of_the_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graphs", "--out", str(tmp_path / "graphs.md")]) == 0
    assert capsys.readouterr().out == ""
    generated, page = (tmp_path / "graphs.md").read_text(encoding="utf-8"), PAGE.read_text(encoding="utf-8")
    assert generated == page, "run `make graphs` and commit it"
    for graph in ("chat", "clarifier", "shallow_research", "deep_research"):
        section = page.split(f"## {graph}\n")[1].split("\n## ")[0]
        assert section.count("```mermaid\n") == section.count("__start__([") == 1
        assert "__end__" in section


def test_any_agent_may_offer_its_graphs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "drawn.py").write_text(
        "from langgraph.graph import END, START, StateGraph\n"
        "from aiq.agents.base import Drawing\n"
        "from aiq.core.settings import Settings\n"
        "class Drawn:\n"
        "    Settings = Settings\n"
        "    def __init__(self, settings): pass\n"
        "    def graphs(self, models):\n"
        "        graph = StateGraph(dict)\n"
        "        graph.add_node('look', lambda state: state)\n"
        "        graph.add_edge(START, 'look')\n"
        "        return [Drawing('lookout', 'It looks.', graph.compile())]\n"
    )
    (tmp_path / "conf/agent").mkdir(parents=True)
    (tmp_path / "conf/agent/drawn.yaml").write_text("# Looks\ntarget: drawn:Drawn\n")
    assert main(["graphs", "agent=drawn"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("# Graphs of Drawn\n")
    assert "## lookout\n\nIt looks.\n\n```mermaid\n" in out
    assert "__start__ --> look;" in out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--out", f"{PAGE}/graphs.md"], "graphs.md/graphs.md: cannot be written (Not a directory)"),
        (["agent=reports", "agent.path=benchmarks/drb_mini/reference.jsonl"], "Reports has no graphs to draw\n"),
    ],
)
def test_a_mistake_is_one_line(given: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graphs", *given]) == 2
    assert said in capsys.readouterr().err
