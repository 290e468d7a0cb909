"""Events: any number of them in the stated shares, and questions whose truth agrees with fields and summaries."""

from collections import Counter
from typing import Any

import pytest

from aiq.core.files import shipped
from aiq.core.samples import Expected, TruthRow
from benchmarks.closed_world.entities import CLOCK, World
from benchmarks.closed_world.events import apportioned, make_events, questions
from benchmarks.closed_world.tables import table
from tests.benchmarks.closed_world.conftest import Made
from tests.datasets.conftest import OWN, loaded

PROPERTIES = {name: row["said"] for name, row in table("events")["properties"].items()}
NEEDLES = table("events")["needles"]


@pytest.mark.parametrize("count", [0, 1, 7, 2000])
def test_any_number_works(world: World, count: int) -> None:
    events = [known.event for known in make_events(world, count)]
    assert len(events) == len({event.title for event in events}) == len({event.url for event in events}) == count
    assert [event.event_date for event in events] == sorted(event.event_date for event in events)
    assert all(event.event_date < CLOCK.isoformat() for event in events)
    assert [event.event_id for event in events] == sorted({event.event_id for event in events})


def test_the_largest_remainders_get_what_is_left() -> None:
    assert apportioned(10, {"a": 5, "b": 3, "c": 1}) == {"a": 6, "b": 3, "c": 1}
    assert apportioned(600, {"a": 165, "b": 435}) == {"a": 165, "b": 435}


def test_the_shipped_ones_are_165_of_one_country_and_say_what_their_fields_have(made: Made) -> None:
    events = made.rows("events_mini/events.jsonl")
    assert Counter(event["country"] for event in events)["India"] == 165
    themes = Counter(event["event_theme"] for event in events if event["country"] == "India")
    assert themes == {"AI": 50, "Cloud": 40, "Security": 30, "Data": 20, "Fintech": 15, "Robotics": 10}
    for event in events:
        assert all(text in event["summary"] for text in (event["city"], event["organiser"], f"{event['attendance']:,}"))
        assert event["event_date"][:4] in event["title"]
        assert "{" not in event["title"] + event["summary"]


def counted(events: list[dict[str, Any]], field: str, **where: str) -> dict[str, int]:
    """Counts like the numbers of a truth: by field, or by the first characters of the date."""
    matches = [event for event in events if all(event[name] == value for name, value in where.items())]
    return dict(sorted(Counter(event[field] for event in matches).items()))


def expected(made: Made) -> dict[str, Expected]:
    """The expected numbers by question."""
    by_id = {row["id"]: row["question"] for row in made.rows("events_mini/questions.jsonl")}
    return {by_id[key]: row.expected for key, row in made.truth("events_mini").items() if row.expected}


def test_truth_of_fields_is_what_the_file_has(made: Made) -> None:
    events, truths = made.rows("events_mini/events.jsonl"), expected(made)

    def numbers(start: str) -> dict[str, float]:
        (match,) = [truth for question, truth in truths.items() if question.startswith(start)]
        return {"".join(number.labels[:1]): number.value for number in match.numbers}

    assert numbers("How many events took place in India,") == {"": 165}
    assert numbers("How are the events in India distributed") == counted(events, "event_theme", country="India")
    assert numbers("How many events does the collection hold") == counted(events, "country")
    shares = {
        theme: round(100 * count / 98, 4) for theme, count in counted(events, "event_theme", country="Brazil").items()
    }
    assert numbers("What share of the events in Brazil") == shares
    months = Counter(event["event_date"][:7] for event in events if event["country"] == "Kenya")
    assert numbers("How many events took place in Kenya in each month of 2024?") == {
        month: count for month, count in months.items() if month.startswith("2024")
    }
    fintech = [event for event in events if (event["country"], event["event_theme"]) == ("Kenya", "Fintech")]
    assert numbers("How many people attended") == {"": sum(event["attendance"] for event in fintech)}
    (robotics,) = [truth for question, truth in truths.items() if question.startswith("Which Robotics events")]
    chosen = [event for event in events if (event["country"], event["event_theme"]) == ("India", "Robotics")]
    assert robotics.items == tuple(event["event_id"] for event in chosen)


def test_truth_of_properties_is_what_the_summaries_say(made: Made) -> None:
    """Summaries state them in one of several wordings; similar-sounding sentences do not count."""
    events = made.rows("events_mini/events.jsonl")
    truths = {
        row["question"]: row for row in made.rows("events_mini/questions.jsonl") if row["evidence"] == "summaries"
    }
    answers = {question: expected(made)[question] for question in truths}
    for start, country, wordings in (
        ("Which events in India charged", "India", PROPERTIES["free"]),
        ("At which events in Germany", "Germany", PROPERTIES["moved"]),
        ("At which events in Brazil", "Brazil", PROPERTIES["students"]),
        ("At which events in Japan", "Japan", PROPERTIES["signed"]),
        *(("At which event in India", "India", [NEEDLES["India"]]), ("During which", "Japan", [NEEDLES["Japan"]])),
        ("After which", "Canada", [NEEDLES["Canada"]]),
    ):
        (truth,) = [truth for question, truth in answers.items() if question.startswith(start)]
        event_ids = [
            event["event_id"]
            for event in events
            if event["country"] == country and any(wording in event["summary"] for wording in wordings)
        ]
        assert list(truth.items) == event_ids
        assert len(wordings) == 1 or 3 <= len(event_ids) < 40
    for country, needle in NEEDLES.items():
        country_events = [event for event in events if event["country"] == country]
        (index,) = [number for number, event in enumerate(country_events) if needle in event["summary"]]
        assert index >= len(country_events) - 5, "a needle is on the last page of a scan"


def test_questions_load_with_their_data_source_and_truth() -> None:
    dataset = loaded(OWN, shipped("benchmarks") / "events_mini" / "questions.jsonl")
    assert len(dataset.samples) == 24
    assert {sample.question.data_sources for sample in dataset.samples} == {("events",)}
    kinds = Counter(sample.tags["kind"] for sample in dataset.samples)
    assert set(kinds) == {"count", "distribution", "trend", "comparison", "set", "property", "needle"}
    for sample in dataset.samples:
        assert sample.truth
        assert sample.truth.expected
        assert sample.truth.needs_depth == (sample.tags["evidence"] == "summaries")
        assert bool(sample.truth.expected.items) != bool(sample.truth.expected.numbers)


def test_a_small_collection_asks_what_it_can_answer(world: World) -> None:
    pairs = list(questions(make_events(world, 3)))
    assert 0 < len(pairs) < 24
    assert [row["id"] for row, _ in pairs] == [str(number + 1) for number in range(len(pairs))]
    assert all(isinstance(truth, TruthRow) for _, truth in pairs)
