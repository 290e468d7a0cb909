"""Existing reports: verbatim, by id, never another task's."""

import json
from pathlib import Path
from typing import Any

import pytest

from aiq.agents.external.reports import Reports, ReportsSettings
from aiq.core.errors import AgentError, DatasetError
from aiq.core.samples import Question, SampleKey
from tests.sessions import make_session
from tests.settings import configured

ARTICLE = "Kelso has 12 bridges [1].\r\n\r\nReferences\r\n[1] https://bit.ly/x  "


def agent(tmp_path: Path, *rows: dict[str, Any]) -> Reports:
    file = tmp_path / "raw.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return Reports(configured(ReportsSettings, path=str(file)))


async def test_the_article_is_given_word_for_word(tmp_path: Path) -> None:
    reports = agent(tmp_path, {"id": 7, "prompt": "Which  bridges?", "article": ARTICLE})
    report = await reports.research(Question(text="Which bridges?"), make_session(key=SampleKey("7", 1)))
    assert (report.text, report.raw_text, report.route) == (ARTICLE, ARTICLE, "file")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": 8, "article": ARTICLE}, r"has no report with id 7; choose samples with dataset\.ids"),
        ({"id": 7, "prompt": "Which ferries?", "article": ARTICLE}, "answers a different task from sample 7"),
        *(({"id": 7, "article": blank}, "line 1: the article is empty") for blank in (None, "", "  \n", 5)),
    ],
)
async def test_a_sample_without_a_report_of_its_own_fails(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    with pytest.raises(AgentError, match=message):
        await agent(tmp_path, row).research(Question(text="Which bridges?"), make_session(key=SampleKey("7", 1)))


def test_a_report_in_a_cell_may_be_long(tmp_path: Path) -> None:
    file, long = tmp_path / "raw.csv", "Kelso has bridges. " * 10_000
    file.write_text(f"id,article\n7,{long}\n", encoding="utf-8")
    reports = Reports(configured(ReportsSettings, path=str(file)))
    assert reports.article("7", Question(text="Which bridges?")) == long


def test_an_unusable_file_stops_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"absent\.jsonl cannot be read .*; check agent\.path"):
        Reports(configured(ReportsSettings, path="absent.jsonl"))
    with pytest.raises(DatasetError, match="line 2: id 7 is already in"):
        agent(tmp_path, {"id": 7, "article": "a"}, {"id": 7, "article": "b"})
