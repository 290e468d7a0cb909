"""Checkpointers as the run opens them: real savers in memory, in a SQLite file, in a real Postgres server."""

import asyncio
import io
import logging
import operator
import sys
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from pydantic import ValidationError

from aiq.__main__ import main
from aiq.core.errors import ConfigError, RunAborted
from aiq.core.run_settings import CheckpointerSettings
from aiq.experiment.resources import open_checkpointer
from tests.settings import configured

VARIABLE = "AIQ_TEST_DSN"


class State(TypedDict):
    said: Annotated[list[str], operator.add]


def graph(saver: Any) -> Any:
    """A graph that asks a question and keeps the answer."""
    builder = StateGraph(State)
    builder.add_node("ask", lambda state: {"said": [interrupt(f"after {len(state['said'])}?")]})
    builder.add_edge(START, "ask")
    builder.add_edge("ask", END)
    return builder.compile(checkpointer=saver)


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def settings(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CheckpointerSettings:
    if request.param == "postgres":
        monkeypatch.setenv(VARIABLE, request.getfixturevalue("dsn"))
    return configured(CheckpointerSettings, kind=request.param, path=str(tmp_path / "c.db"), dsn_env=VARIABLE)


async def test_waiting_threads_survive_reopening_except_in_memory(settings: CheckpointerSettings) -> None:
    config: Any = {"configurable": {"thread_id": f"again, {settings.kind}"}}
    async with open_checkpointer(settings) as saver:
        waiting = await graph(saver).ainvoke({"said": ["hello"]}, config)
        assert waiting["__interrupt__"][0].value == "after 1?"
    async with open_checkpointer(settings) as saver:
        state = await graph(saver).aget_state(config)
        if settings.kind == "memory":
            assert state.values == {}
            return
        assert [waiting.value for waiting in state.interrupts] == ["after 1?"]
        assert (await graph(saver).ainvoke(Command(resume="yes"), config))["said"] == ["hello", "yes"]
        await saver.adelete_thread(config["configurable"]["thread_id"])
        assert (await graph(saver).aget_state(config)).values == {}


async def test_two_runs_that_open_it_concurrently_keep_all_threads_separate(settings: CheckpointerSettings) -> None:
    async def converse(saver: Any, name: str) -> Any:
        config: Any = {"configurable": {"thread_id": name}}
        await graph(saver).ainvoke({"said": [f"hello {name}"]}, config)
        return (await graph(saver).ainvoke(Command(resume=f"yes {name}"), config))["said"]

    async def run(number: int) -> Any:
        async with open_checkpointer(settings) as saver:
            return await asyncio.gather(*(converse(saver, f"{number}.{thread}") for thread in range(5)))

    conversations = [messages for run_said in await asyncio.gather(*map(run, range(3))) for messages in run_said]
    assert conversations == [[f"hello {n}.{thread}", f"yes {n}.{thread}"] for n in range(3) for thread in range(5)]


def test_a_database_needs_a_path_or_connection_string() -> None:
    with pytest.raises(ValidationError, match="kind=sqlite needs path"):
        configured(CheckpointerSettings, kind="sqlite")
    with pytest.raises(ValidationError, match="kind=postgres needs dsn_env"):
        configured(CheckpointerSettings, kind="postgres")


@pytest.mark.parametrize(
    ("path", "says"), [("nowhere/c.db", "cannot be opened"), (".", "cannot be opened"), ("c.db", "not a SQLite file")]
)
async def test_a_sqlite_file_that_cannot_be_opened_is_one_line(
    path: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "not a database, but long enough to be read as one\n" * 40
    (tmp_path / "c.db").write_text(text)
    with pytest.raises(ConfigError, match=rf"checkpointer\.path={path}: {says}") as caught:
        async with open_checkpointer(configured(CheckpointerSettings, kind="sqlite", path=path)):
            pass
    assert "\n" not in str(caught.value)
    assert (tmp_path / "c.db").read_text() == text


@pytest.mark.parametrize(
    ("dsn", "error", "says"),
    [
        pytest.param("", ConfigError, "AIQ_TEST_DSN: this environment variable is not set", id="not-set"),
        pytest.param("hunter2", ConfigError, "is not a connection string", id="no-connection-string"),
        pytest.param(
            "postgresql://u:hunter2@127.0.0.1:1/d", RunAborted, "cannot connect to the database", id="refused"
        ),
    ],
)
async def test_a_wrong_connection_string_is_one_line_without_its_password(
    monkeypatch: pytest.MonkeyPatch, dsn: str, error: type[Exception], says: str
) -> None:
    pytest.importorskip("psycopg", reason="the extra postgres is not installed")
    monkeypatch.setenv(VARIABLE, dsn)
    with pytest.raises(error, match=says) as caught:
        async with open_checkpointer(configured(CheckpointerSettings, kind="postgres", dsn_env=VARIABLE)):
            pass
    assert "\n" not in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_plan_waits_in_postgres(
    dsn: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AIQ_POSTGRES_DSN", dsn)
    arguments = ["chat", "checkpointer=postgres", "--thread", "t", "agent.deep.max_loops=1"]
    monkeypatch.setattr(sys, "stdin", io.StringIO("Write a report on tidal energy on the Morquist Coast: companies.\n"))
    assert main(arguments) == 0
    assert capsys.readouterr().out.count("**Research Plan Preview**") == 1
    monkeypatch.setattr(sys, "stdin", io.StringIO("approve\n"))
    with caplog.at_level(logging.WARNING):
        assert main(arguments) == 0
    out = capsys.readouterr().out
    assert out.index("**Research Plan Preview**") < out.index("plan> approve") < out.index("\ndeep · citations ")
    assert [record for record in caplog.records if record.name.startswith(("langgraph", "psycopg"))] == []
    assert list(tmp_path.iterdir()) == []  # nothing of the conversation lies here
