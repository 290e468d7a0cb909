"""Events: any number, spread over countries, themes and months, counted as they are."""

import re
from collections import Counter

import pytest

from benchmarks.closed_world.entities import CLOCK, World
from benchmarks.closed_world.events import counts, make_events
from tests.benchmarks.closed_world.conftest import EVENTS, Made


@pytest.mark.parametrize("count", [0, 1, 7, 1000])
def test_any_number_works(world: World, count: int) -> None:
    events = make_events(world, count)
    assert len(events) == len({event.id for event in events}) == len({event.url for event in events}) == count
    assert [event.date for event in events] == sorted(event.date for event in events)
    assert sum(row["events"] for row in counts(events)) == count


def test_the_truth_counts_what_the_texts_tell(made: Made, world: World) -> None:
    events = made.rows("events/events.jsonl")
    assert events == [event.model_dump(mode="json") for event in make_events(world, EVENTS)]
    months: Counter[tuple[str, str, str]] = Counter()
    figures: Counter[tuple[str, str, str]] = Counter()
    for event in events:
        key = event["country"], event["theme"], event["date"][:7]
        months[key] += 1
        figures[key] += event["value"]
        assert event["place"] in event["text"] + event["title"]
        assert event["country"] in event["text"]
        assert all(actor in event["text"] for actor in event["actors"])
        assert f"{event['value']:,}" in event["text"]
        assert event["date"] < CLOCK.isoformat()
        assert "{" not in event["text"] + event["title"]
    truth = made.rows("events/truth.jsonl")
    assert {(row["country"], row["theme"], row["month"]): row["events"] for row in truth} == months
    assert {(row["country"], row["theme"], row["month"]): row["total"] for row in truth} == figures
    spread = [len({event[name] for event in events}) for name in ("country", "theme")]
    assert [*spread, len({event["date"][:7] for event in events})] == [6, 6, 12]
    assert max(Counter(actor for event in events for actor in event["actors"]).values()) >= 5
    openings = Counter(re.sub(r"\d|[A-Z]\w+", "", event["text"].split(".")[0]) for event in events)
    assert len(openings) > 15
