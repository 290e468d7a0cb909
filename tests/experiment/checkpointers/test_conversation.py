"""`aiq chat` on a real Postgres server: a plan waits in the database, and the next start goes on with it."""

import io
import logging
import sys
from pathlib import Path

import pytest

from aiq.__main__ import main


def test_a_plan_waits_in_postgres(
    dsn: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AIQ_POSTGRES_DSN", dsn)
    given = ["chat", "checkpointer=postgres", "--thread", "t", "agent.deep.max_loops=1"]
    monkeypatch.setattr(sys, "stdin", io.StringIO("Write a report on tidal energy on the Morquist Coast: companies.\n"))
    assert main(given) == 0
    assert capsys.readouterr().out.count("**Research Plan Preview**") == 1
    monkeypatch.setattr(sys, "stdin", io.StringIO("approve\n"))
    with caplog.at_level(logging.WARNING):
        assert main(given) == 0
    out = capsys.readouterr().out
    assert out.index("**Research Plan Preview**") < out.index("plan> approve") < out.index("\ndeep · citations: ")
    assert [record for record in caplog.records if record.name.startswith(("langgraph", "psycopg"))] == []
    assert list(tmp_path.iterdir()) == []  # nothing of the conversation lies here
