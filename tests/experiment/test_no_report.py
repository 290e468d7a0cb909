"""Answers that are not reports count as none, from any agent: runs of a user's agent with an odd endpoint."""

from typing import Any

from aiq.__main__ import main
from aiq.site.pages import data_records
from tests.experiment.conftest import Captured, Workplace
from tests.llm.endpoint import completed

CALL = '<tool_call>\n{"name": "search", "arguments": {"q": "x"}}\n</tool_call>'
TEXT = "The answer is Ransen, and"
NO_TEXT = "AgentError: the agent gave no report: the text is empty"


def ran(here: Workplace, answer: Any, *overrides: str) -> tuple[dict[str, Any], Any]:
    """(the only sample's row, the run's folder)."""
    here.endpoint.answer = lambda text: answer
    here.write_samples({"s1": "question"})
    folder = here.ran("agent.ask=true", "agent.plain=true", *overrides)
    (row,) = here.lines(folder / "samples.jsonl")
    return row, folder


NO_REPORT = {
    "call": (completed(CALL), "the model wrote a tool call as text"),
    "json": (completed('{"name": "search", "parameters": {"q": "x"}}'), "the model wrote a tool call as text"),
    "long": (
        completed("<think>Let me see", finish="length"),
        "ends within the model's thoughts (echo.writer: the token",
    ),
    "filter": (completed("", finish="content_filter"), "(echo.writer: the endpoint's filter cut"),
    "closed": (completed("<think>Hm.</think>\n"), "no answer after its thoughts"),
    "apart": (completed(None, reasoning_content="I think"), "no answer after its thoughts"),
    "null": (completed(None), "content is null"),
}
"""By question, what the model answers, and why that is not a report."""


def test_an_answer_that_is_no_report_is_a_failed_attempt_with_the_reason(here: Workplace) -> None:
    here.endpoint.answer = lambda text: NO_REPORT[text][0]
    here.write_samples({name: name for name in NO_REPORT})
    folder = here.ran("agent.ask=true", "agent.plain=true")
    for row in here.lines(folder / "samples.jsonl"):
        assert (row["status"], row["report"], row["outcome"]) == ("failed", None, None)
        assert NO_REPORT[row["sample_id"]][1] in row["error"]["message"]
    assert here.summary(folder)["agent_failures"]["failed"] == len(NO_REPORT)
    assert {score["status"] for score in here.lines(folder / "scores.jsonl")} == {"agent_failed"}


def test_a_report_that_was_cut_off_is_judged_and_counted_separately(here: Workplace, capsys: Captured) -> None:
    row, folder = ran(here, completed(TEXT, finish="length"))
    assert (row["status"], row["outcome"], row["report"]) == ("limit", "partial", TEXT)
    assert row["error"]["type"] == "CutOff"
    assert "finish_reason length" in row["error"]["message"]
    out, err = capsys.readouterr()
    assert "cut off, and judged by what there was: 1 of 1 limit" in out
    assert "1 cut off" in err
    assert "failed" not in err
    summary = here.summary(folder)
    assert (summary["statuses"], summary["partial"], summary["agent_failures"]["failed"]) == ({"limit": 1}, 1, 0)
    assert summary["metrics"]["letters.count"]["mean"] == len(TEXT)
    assert next(data_records(folder / "site/summary.js"))["partial"] == 1
    assert main(["show", "latest", "s1"]) == 0
    assert "report, cut off" in capsys.readouterr().out
    assert main(["run", f"resume={folder}"]) == 0
    assert len(here.lines(folder / "samples.jsonl")) == 1  # what there was stands


def test_thoughts_in_tags_are_removed_from_a_report(here: Workplace) -> None:
    row, _ = ran(here, completed("<THINKING>[1] or not?</THINKING>\n\nIt writes `<think>` first."))
    assert (row["status"], row["outcome"], row["report"]) == ("completed", "ok", "It writes `<think>` first.")


def test_the_citation_status_is_shown_wherever_the_report_is(here: Workplace, capsys: Captured) -> None:
    row, folder = ran(here, "Ransen")
    assert row["citation_status"] == "unverified"
    assert here.summary(folder)["citation_statuses"] == {"unverified": 1}
    assert "citations of reports: 1 unverified" in capsys.readouterr().out
    assert next(data_records(folder / "site/summary.js"))["citations"] == "1 unverified"
    assert next(data_records(folder / "site/samples-0.js"))["citation_status"] == "unverified"
    assert main(["show", "latest", "s1"]) == 0
    assert "citations: unverified" in capsys.readouterr().out
