"""`events.*`: which numbers a report states beside which labels, which events it names, and how they are scored."""

import json
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest

from aiq.agents.external.perturbations import perturbed
from aiq.core.errors import DatasetError
from aiq.core.files import shipped
from aiq.core.reports import Score
from aiq.core.samples import Expected, NeededNumber, Question, Sample, Truth, TruthRow
from aiq.core.session import Session
from aiq.experiment.compose import config_of_options
from aiq.judges.events import Events, EventsSettings, stated_numbers
from tests.cases import table
from tests.judges.parts import as_report

each = table(__file__)

SESSION = cast(Session, None)  # the judge does not use its session
THEMES = {"AI": 50, "Cloud": 40, "Security": 30}
TITLES = {"ev-1": "Halden AI Summit 2024", "ev-2": "Halden AI Summit 2025", "ev-3": "Velmora Cloud Days 2024"}


def needed(values: Mapping[str, float], percent: bool = False) -> list[NeededNumber]:
    return [NeededNumber(labels=(name,), value=value, percent=percent) for name, value in values.items()]


def total(value: float) -> list[NeededNumber]:
    return [NeededNumber(labels=(), value=value)]


@each("report")
def test_numbers_are_found_beside_their_labels(report: str) -> None:
    assert stated_numbers(report, needed(THEMES)) == {0, 1, 2}


@pytest.mark.parametrize(
    ("report", "right"),
    [
        ("", set()),
        ("AI: 40, Cloud: 50, Security: 30", {2}),
        ("There were 40 AI events, 50 Cloud events and 30 Security events.", {2}),
        ("AI, Cloud and Security have 40, 50 and 30 events respectively.", {2}),
        ("| Theme | Events |\n|---|---|\n| AI | 40 |\n| Cloud | 40 |\n| Security | 300 |", {1}),
        ("| | AI | Cloud |\n|---|---|---|\n| Events | 40 | 50 |", set()),
        ("## AI\n\nThere are 40.\n\n## Cloud\n\nThere are 50.", set()),
        ("AI had more than Cloud, with 50 against 41", {0}),
        ("AI had more, with 40 against Cloud's 50", set()),
        ("AI: 50%, Cloud: 40.5, Security: 30.0", {2}),
        ("AIs: 50, Cloudy: 40, Security: 130", set()),
        ("None.\n\n## References\n\n[1] AI: 50, Cloud: 40 - https://a.example", set()),
    ],
)
def test_a_number_of_another_label_or_kind_does_not_count(report: str, right: set[int]) -> None:
    assert stated_numbers(report, needed(THEMES)) == right


SHARES = needed({"AI": 19.3878, "Cloud": 21.4286}, percent=True)


@pytest.mark.parametrize(
    ("report", "expected", "right"),
    [
        ("The sum is 26,652 visitors.", total(26652), {0}),
        ("**165**", total(165), {0}),
        ("| Total |\n|---|\n| 165 |", total(165), {0}),
        ("1,650 events", total(165), set()),
        ("AI: 19.4%, Cloud: 21 percent", SHARES, {0, 1}),
        ("| Theme | Share (%) |\n|--|--|\n| AI | 19.39 |\n| Cloud | 22 |", SHARES, {0}),
        ("Shares: AI 19, Cloud 21", SHARES, {0, 1}),
        ("AI: 19, Cloud: 21", SHARES, set()),
        ("Robotics had two events, AI had six.", needed({"Robotics": 2, "AI": 6}), {0, 1}),
        ("In January there were 2, in March 2024 there were 3.", [
            NeededNumber(labels=("2024-01", "January 2024", "January"), value=2),
            NeededNumber(labels=("2024-03", "March 2024", "March"), value=3),
        ], {0, 1}),
        ("2023: 38, 2024: 53 (+39%), 2025: 74", needed({"2023": 38, "2025": 74}), {0, 1}),
    ],
)  # fmt: skip
def test_totals_shares_words_and_periods(report: str, expected: list[NeededNumber], right: set[int]) -> None:
    assert stated_numbers(report, expected) == right


@pytest.fixture
def judge(tmp_path: Path) -> Events:
    path = tmp_path / "events.jsonl"
    path.write_text("".join(json.dumps({"eventId": key, "title": title}) + "\n" for key, title in TITLES.items()))
    return Events(EventsSettings(events=str(path), id="eventId", title="title"))


async def scored(judge: Events, report: str, **expected: Any) -> dict[str, Score]:
    truth = Truth(hops=1, needs_depth=True, expected=Expected(**expected))
    sample = Sample(id="1", question=Question(text="?"), truth=truth)
    return {score.metric: score for score in await judge.score(sample, as_report(report), SESSION)}


@pytest.mark.parametrize(
    ("report", "precision", "recall"),
    [
        ("- Halden AI Summit 2024\n- **Halden AI Summit, 2025**", 1.0, 1.0),
        ("- [Halden AI Summit 2024](https://a.example/1) [1]", 1.0, 0.5),
        ("The events ev-1, ev-2 and ev-3.", 2 / 3, 1.0),
        ("It was Velmora Cloud Days 2024.", 0.0, 0.0),
        ("Halden AI Summit 2024a and Halden AI Summit.", None, 0.0),
        ("Halden AI Summit 2025 [1]\n\n## References\n\n[1] Velmora Cloud Days 2024 - https://a.example", 1.0, 0.5),
    ],
)
async def test_precision_and_recall_of_the_events_named(
    judge: Events, report: str, precision: float | None, recall: float
) -> None:
    scores = await scored(judge, report, items=("ev-1", "ev-2"))
    assert (scores["events.precision"].value, scores["events.recall"].value) == (precision, recall)
    assert scores["events.coverage"].value == recall
    assert scores["events.numbers"].not_applicable == "the question asks for no numbers"


async def test_coverage_counts_numbers_and_events_and_the_detail_says_what_is_missing(judge: Events) -> None:
    report = "AI: 50, Cloud: 41. Halden AI Summit 2024 and Velmora Cloud Days 2024."
    scores = await scored(judge, report, numbers=needed({"AI": 50, "Cloud": 40}), items=("ev-1", "ev-2"))
    assert (scores["events.coverage"].value, scores["events.numbers"].value) == (0.5, 0.5)
    assert scores["events.coverage"].detail == {
        "numbers_missing": ["Cloud"],
        "events_missing": ["ev-2"],
        "events_wrong": ["ev-3"],
    }


def test_a_question_has_the_metrics_of_what_it_asks_for(judge: Events, tmp_path: Path) -> None:
    def names(expected: Expected | None) -> list[str]:
        truth = Truth(hops=1, needs_depth=False, expected=expected)
        return [
            metric.name.removeprefix("events.")
            for metric in judge.metrics_for(Sample(id="1", question=Question(text="?"), truth=truth))
        ]

    assert names(None) == []
    assert names(Expected(numbers=tuple(needed({"AI": 1})))) == ["coverage", "numbers"]
    assert names(Expected(items=("ev-1",))) == ["coverage", "precision", "recall"]
    absent = Events(EventsSettings(events=str(tmp_path / "no.jsonl"), id="event_id", title="title"))
    truth = Truth(hops=1, needs_depth=False, expected=Expected(items=("ev-1",)))
    with pytest.raises(DatasetError, match=r"no\.jsonl cannot be read .*check judge\.events\.events"):
        absent.check([Sample(id="1", question=Question(text="?"), truth=truth)])


@pytest.fixture
def shipped_judge() -> Events:
    config = config_of_options(["judge=events"])["judge"]["events"]
    return Events(EventsSettings.model_validate({name: config[name] for name in EventsSettings.model_fields}))


def ideal() -> dict[str, tuple[Sample, str]]:
    """Every shipped question with a correct and complete report."""
    folder = shipped("benchmarks") / "events_mini"
    titles = {row["event_id"]: row["title"] for row in map(json.loads, (folder / "events.jsonl").open())}
    reports = {}
    for line in (folder / "truth.jsonl").open():
        truth = TruthRow.model_validate_json(line)
        assert truth.expected
        numbers = [
            f"- {''.join(n.labels[:1]) or 'All'}: " + (f"{n.value:.1f}%" if n.percent else f"{n.value:,.0f}")
            for n in truth.expected.numbers
        ]
        events = [f"- {titles[key]} was one of them, as its summary says." for key in truth.expected.items]
        report = "\n".join(["# Findings", "", *numbers, *events])
        reports[truth.sample_id] = (Sample(id=truth.sample_id, question=Question(text="?"), truth=truth), report)
    return reports


async def test_a_right_report_on_any_shipped_question_scores_1(shipped_judge: Events) -> None:
    for sample, report in ideal().values():
        scores = await shipped_judge.score(sample, as_report(report), SESSION)
        assert {score.value for score in scores if score.not_applicable is None} == {1.0}, (sample.id, report)


@pytest.mark.parametrize("name", Events.metrics[0].notices or ())
async def test_it_notices_what_it_claims_to(shipped_judge: Events, name: str) -> None:
    noticed = 0
    for sample, report in ideal().values():
        damaged = perturbed(name, report, 1.0, Random(1))
        (coverage, *_) = await shipped_judge.score(sample, as_report(damaged), SESSION)
        noticed += coverage.value is not None and coverage.value < 1
    assert noticed >= len(ideal()) / 4
