"""Whole runs with MCP servers: recorded and replayed, scored again, and ended by a signal; and `aiq tools`."""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aiq.__main__ import main
from tests.conftest import blocks
from tests.experiment.conftest import Workplace
from tests.experiment.conftest import endpoint as endpoint
from tests.experiment.conftest import here as here
from tests.experiment.conftest import place as place
from tests.tools.conftest import serving
from tests.tools.mcp.conftest import command
from tests.tools.mcp.server import make_server

pytestmark = pytest.mark.slow

PAGE = Path(__file__).resolve().parents[3] / "docs/tools.md"

ASKS = """\
from aiq.core.session import current


async def answer(question, session):
    pid = (await session.call_tool("environment", {})).content
    open("pid", "w").write(pid)
    if question.startswith("wait"):
        await session.call_tool("sleep", {})
    found = [(await session.call_tool("look_up", {"text": question})).content for _ in range(2)]
    return f"{found[0]}. A fact [1].\\n\\n## References\\n\\n[1] March - notes://2026/march\\n"
"""


TOOLS = ["environment", "look_up", "sleep"]


@pytest.fixture
def asks(here: Workplace) -> list[str]:
    """The settings of an agent that calls a server."""
    (here.path / "asks.py").write_text(ASKS)
    return ["experiment=tiny", "agent=python", "agent.function=asks:answer", "runner.progress=false"]


def test_a_run_is_replayed_without_its_server_and_scored_again_without_it(
    here: Workplace, asks: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    here.write_samples({"a": "what of March", "b": "what of May"})
    with serving(make_server(TOOLS, 1).streamable_http_app(), lifespan="on") as port:
        asks.append(f"tools.mcp.notes.url=http://127.0.0.1:{port}/mcp")
        assert main(["run", *asks, "cassette=record"]) == 0
    assert main(["run", *asks, "cassette=replay"]) == 0
    first, second = here.runs()
    assert here.values(first) == here.values(second)
    (row, _) = here.lines(first / "samples.jsonl")
    assert row["tools"] == {"environment": {"ok": 1}, "look_up": {"ok": 2}}
    assert [source["citation_key"] for source in row["sources"] if source["citation_key"]] == [
        "notes://2026/march",
        "may%202026.md",
    ]
    assert [citation["source"] for citation in row["audit"]["valid_citations"]] == ["notes://2026/march"]
    capsys.readouterr()
    assert main(["rescore", str(first), "judge.letters.minimum=1", "cassette=off", "runner.progress=false"]) == 0
    assert main(["run", *asks]) == 2
    assert "tools.mcp.notes: " in capsys.readouterr().err
    assert len(here.runs()) == 3


def test_the_shallow_researcher_calls_the_server_of_the_page_by_config_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code = next(block for block in blocks(PAGE.read_text("utf-8"), ("python",)) if block.startswith("# notes.py"))
    Path("notes.py").write_text(code)
    Path("asked.csv").write_text("id,question\ntower,How tall is the tower of Corvane?\n")
    overrides = ["experiment=shallow_freshqa", "dataset=questions", "dataset.path=asked.csv", "judge=[citation_audit]"]
    overrides += ["agent.data_sources=[notes]", "runner.progress=false"]
    assert main(["run", *overrides, f"tools.mcp.notes.command=[{sys.executable},notes.py]"]) == 0
    (rows,) = tmp_path.glob("results/*/*/samples.jsonl")
    (row,) = Workplace.lines(rows)
    assert "88 metres [1]" in row["report"]
    assert row["tools"]["search_notes"].keys() == {"ok"}
    assert [citation["source"] for citation in row["audit"]["valid_citations"]] == ["https://notes.example/tower"]


def test_a_run_that_is_told_to_stop_leaves_no_server(here: Workplace, asks: list[str]) -> None:
    here.write_samples({"a": "wait for March"})
    with here.start(*asks, f"tools.mcp.notes.command=[{','.join(command(*TOOLS))}]") as run:
        here.wait_for(lambda: (here.path / "pid").exists() and (here.path / "pid").read_text().endswith("]"), 120)
        pid = json.loads((here.path / "pid").read_text())[-1]
        run.send_signal(signal.SIGTERM)
        assert run.wait(60) == 130
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """`listed(*overrides)`: what `aiq tools` prints."""
    monkeypatch.chdir(tmp_path)

    def run(*overrides: str) -> str:
        assert main(["tools", *overrides]) == 0
        return capsys.readouterr().out

    return run


OURS = """\
tool             data source  from
web_search_tool  web          search.provider=corpus
  (query) Search the web. Returns the best matching pages, each with its URL,
  title, publication date where known, and the passages that match. Search again
  with other words, names or dates when they do not answer the question.
fetch_page       web          web=corpus
  (url) Open a web page and read its main text, for example one that a search
  found, to see more of it than the search showed.
"""


def test_tools_are_listed_as_a_run_gets_them(
    listed: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pages.jsonl").write_text('{"url": "https://a.example", "title": "A", "text": "b"}\n')
    settings = ["search=corpus", "web=corpus", "search.corpus=pages.jsonl"]
    app = make_server(["look_up", "long", "count"], 1).streamable_http_app()
    with serving(app, lifespan="on") as port:
        settings += [f"tools.mcp.notes.url=http://127.0.0.1:{port}/mcp", "tools.mcp.notes.prefix=my_"]
        text = listed(*settings)
        rows: list[dict[str, Any]] = json.loads(listed("--json", *settings))
    assert text.startswith(OURS)
    assert (
        "my_look_up       notes        tools.mcp.notes\n  (text) Look up a query in our notes.\n"
        "my_long          notes        tools.mcp.notes\n  (n?) As many characters as it is told.\n"
    ) in text
    assert max(map(len, text.splitlines())) <= 80
    assert [row["name"] for row in rows] == [
        *("web_search_tool", "fetch_page"),
        *("my_look_up", "my_long", "my_count", "think"),
    ]
    assert rows[3] == {
        "name": "my_long",
        "data_source": "notes",
        "from": "tools.mcp.notes",
        "description": "As many characters as it is told.",
        "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}},
    }
    assert main(["tools", *settings]) == 2
    assert "tools.mcp.notes: http://127.0.0.1" in capsys.readouterr().err
