"""How numbers and gaps are shown to people; files have every digit."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from aiq.agents.toolkit.conversation import Thread
from aiq.core.errors import say
from aiq.core.samples import Turn
from aiq.core.text import printable
from aiq.core.usage import Usage
from aiq.runs.folder import RunFolder
from aiq.runs.manifest import Manifest
from aiq.runs.rows import ScoreRow
from aiq.runs.summary import Summary
from aiq.site.chat import show_threads
from aiq.site.tables import Sheet, dollars, missing_metrics, print_summary, rounded, score_value, show

RUN = json.loads(Path(__file__).with_name("run.json").read_text(encoding="utf-8"))
SUMMARY = RUN["summary"]


def test_numbers_are_rounded_wherever_they_are_in_json() -> None:
    exact = {"race": 0.4085143465771552, "all": [{"cost": 0.000012345678, "n": 3, "text": "0.4085143465771552"}, True]}
    assert rounded(exact) == {"race": 0.409, "all": [{"cost": 1.23e-05, "n": 3, "text": "0.4085143465771552"}, True]}


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        ({"value": 0.4085143465771552}, "0.409"),
        ({"value": 1234.0}, "1234"),
        ({"value": 12345.6789}, "12345.679"),
        ({"numerator": 2 / 3, "denominator": 3.0}, "0.667 of 3"),
        ({"status": "error"}, "error"),
    ],
)
def test_a_score_is_short(found: dict[str, Any], shown: str) -> None:
    key = {"sample_id": "s", "epoch": 1, "attempt": 1, "metric": "m", "status": "scored"}
    judge = {"judge": "j", "judge_hash": "h", "judge_version": "1", "judge_model": None, "prompt_hash": None}
    assert score_value(ScoreRow.model_validate({**key, **judge, **found})) == shown


@pytest.mark.parametrize(
    ("cost", "unreported", "shown"),
    [
        (0.0, 0, "$0.00"),
        (0.000031, 0, "$0.000031"),
        (0.0123, 1, "at least $0.0123 (no usage reported for 1 call)"),
        (None, 0, "cost unknown (no price)"),
        (None, 1200, "cost unknown (no price, no usage reported for 1,200 calls)"),
    ],
)
def test_a_cost_says_what_is_missing(cost: float | None, unreported: int, shown: str) -> None:
    assert dollars(Usage(calls=2000, cost_usd=cost, unreported_calls=unreported)) == shown


def test_metrics_without_a_number_have_a_line_per_reason() -> None:
    why = "the attempt ended as limit"
    lacking = ["race.overall", "race.insight", "fact.a", "fact.b", "world.coverage", "citations.valid_rate"]
    unavailable = {**dict.fromkeys(lacking, why), "citations.kept": "there are no sources"}
    metrics = {"fact.c": SUMMARY["metrics"]["fact.citations"]}
    summary = Summary.model_validate({**SUMMARY, "metrics": metrics, "unavailable": unavailable})
    assert list(missing_metrics(summary)) == [
        f"no race.*, fact.a, fact.b, world.coverage, citations.valid_rate: {why}",
        "no citations.kept: there are no sources",
    ]


@pytest.mark.parametrize(("excluded", "width"), [(True, 60), (True, 80), (True, 200), (False, 80)])
def test_the_table_of_a_run_fits_any_terminal(
    tmp_path: Path, excluded: bool, width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    folder = RunFolder(tmp_path)
    folder.write_manifest(Manifest.model_validate(RUN["manifest"]))
    metric = "fact.citation_accuracy"
    estimate = {"mean": 0.5, "ci95": [0.41, 0.59], "n": 100, "estimator": "ratio"}
    failures = {**SUMMARY["agent_failures"], "metrics": {metric: estimate} if excluded else {}}
    used = Usage(calls=20_000, input_tokens=21_000_000, output_tokens=1_100_000, cost_usd=None, unreported_calls=1200)
    usage = {"agent": {"total": used, "roles": {}}}
    changed = {"metrics": {metric: estimate}, "agent_failures": failures, "usage": usage, "judge_noise": {}}
    print_summary(Summary.model_validate({**SUMMARY, **changed, "offline": False}), folder)
    out = capsys.readouterr().out
    assert ("excluded" in out) == excluded
    assert max(len(line) for line in out.splitlines() if str(tmp_path) not in line) <= width


def test_printed_text_cannot_control_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "\x1b]8;;http://evil.example\x07here\x1b]8;;\x07 \x1b[2J \x9b31m\rred"
    show(hostile, Text(hostile), Panel(hostile, title=hostile))
    say(f"aiq: there is no run {hostile}")
    printed = capsys.readouterr()
    for text in (printed.out, printed.err):
        assert "here" in text
        assert text == printable(text)


def test_a_list_of_conversations_fits_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    turn = Turn(speaker="user", text="Write a report on tidal energy: companies, founders and outlook.")
    show_threads([Thread("chat-0123abcd", (turn,), "2026-11-01T09:00:00", "deep_research")])
    out = capsys.readouterr().out
    assert "broke off in deep research  Write a report" in out
    assert max(map(len, out.splitlines())) <= 100


NAME = "fresheval.relaxed"
WIDE = (("metric", "95 %\ninterval", "n", "cost"), [[NAME, "0.1 to 0.2", 3, 0.5]] * 3)
FEW = (WIDE[0], WIDE[1][:1])
TEXT = (("axis", "values"), [["max_loops", "1, 2, 3, 5, 8, 13, 21, 34, 55, 89"]])
CJK = (("a", "b"), [["a long \x1bcell of text", "中文字 中文字"]], "title")


@pytest.mark.parametrize(
    ("sheet", "width", "shown"),
    [
        (Sheet(*WIDE), 80, ["metric                   95 %  n   cost", "                     interval",
                            *[f"{NAME}  0.1 to 0.2  3  0.500"] * 3]),
        (Sheet(*WIDE), 34, ["metric                   95 %  n", "                     interval",
                            *[f"{NAME}  0.1 to 0.2  3"] * 3, "", "metric              cost", *[f"{NAME}  0.500"] * 3]),
        (Sheet(*WIDE), 20, ["metric", "        95 %", "    interval", *[NAME, "  0.1 to 0.2"] * 3, "",
                            "metric             n", *[f"{NAME}  3"] * 3, "",
                            "metric", "   cost", *[NAME, "  0.500"] * 3]),
        (Sheet(*FEW), 34, [f"metric    {NAME}", "95 %      0.1 to 0.2", "interval",
                           "n         3", "cost      0.500"]),
        (Sheet(*TEXT, left=2), 40, ["axis       values", "max_loops  1, 2, 3, 5, 8, 13, 21, 34,", "           55, 89"]),
        (Sheet(*CJK, 2), 12, ["title", "a", "  b", "a long cell", "of text", "  中文字", "  中文字"]),
        (Sheet(("a", "b"), []), 2, ["a", "b"]),
    ],
)  # fmt: skip
def test_a_table_that_is_too_wide_is_transposed(sheet: Sheet, width: int, shown: list[str]) -> None:
    console = Console(width=width, file=io.StringIO())
    with console.capture() as capture:
        console.print(sheet)
    assert capture.get().splitlines() == shown
