"""Reports that already exist: word for word, by id, never another task's."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from aiq.agents.external.reports import Reports, ReportsSettings
from aiq.citations.registry import SourceRegistry
from aiq.core.errors import AgentError, ConfigError, DatasetError
from aiq.core.events import EventLog
from aiq.core.samples import Question, SampleKey
from aiq.core.session import ApprovingUser, Session
from aiq.core.usage import Limits

ARTICLE = "Kelso has 12 bridges [1].\r\n\r\nReferences\r\n[1] https://bit.ly/x  "


def agent(tmp_path: Path, *rows: dict[str, Any]) -> Reports:
    file = tmp_path / "raw.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return Reports(ReportsSettings(path=str(file)))


def session(sample_id: str) -> Session:
    """An attempt's session; this agent must need neither models nor tools."""
    nothing: Any = None
    return Session(
        key=SampleKey(sample_id, 1),
        run_seed=0,
        now=datetime(2026, 11, 1, tzinfo=UTC),
        models=nothing,
        tools=nothing,
        web=nothing,
        user=ApprovingUser(),
        limits=Limits(),
        events=EventLog(lambda event: None),
        sources=SourceRegistry(),
    )


async def test_the_article_is_given_word_for_word(tmp_path: Path) -> None:
    reports = agent(tmp_path, {"id": 7, "prompt": "Which  bridges?", "article": ARTICLE})
    report = await reports.research(Question(text="Which bridges?"), session("7"))
    assert (report.text, report.raw_text, report.route) == (ARTICLE, ARTICLE, "file")


async def test_a_sample_without_a_report_fails(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match=r"has no report with id 8; choose samples with dataset\.ids"):
        await agent(tmp_path, {"id": 7, "article": ARTICLE}).research(Question(text="?"), session("8"))


async def test_a_report_to_another_task_is_not_taken_for_this_one(tmp_path: Path) -> None:
    reports = agent(tmp_path, {"id": 7, "prompt": "Which ferries?", "article": ARTICLE})
    with pytest.raises(AgentError, match="answers another task than sample 7"):
        await reports.research(Question(text="Which bridges?"), session("7"))


@pytest.mark.parametrize("article", [None, "", "  \n", 5])
async def test_an_empty_article_fails(tmp_path: Path, article: object) -> None:
    with pytest.raises(AgentError, match="line 1: the article is empty"):
        await agent(tmp_path, {"id": 7, "article": article}).research(Question(text="?"), session("7"))


def test_an_absent_file_stops_before_the_run() -> None:
    with pytest.raises(ConfigError, match=r"there is no file .*; check agent\.path"):
        Reports(ReportsSettings(path="absent.jsonl"))


def test_an_id_that_stands_twice_stops_before_the_run(tmp_path: Path) -> None:
    with pytest.raises((ConfigError, DatasetError), match="line 2: id 7 stands already"):
        agent(tmp_path, {"id": 7, "article": "a"}, {"id": 7, "article": "b"})
