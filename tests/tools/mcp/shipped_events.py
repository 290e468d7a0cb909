"""Collections that tests of the events server work with: the shipped one, and small ones of other shapes."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from aiq.core.files import Row, shipped
from aiq.core.plugins import validate
from aiq.experiment.compose import compose_group
from aiq.tools.mcp.events import AnalyzeEvents, Answer, EventFields, query_of
from aiq.tools.mcp.events_server import EventsSettings
from aiq.tools.mcp.events_sqlite import SqliteEvents, read_events

FILE = shipped("benchmarks") / "events_mini" / "events.jsonl"
EVENTS: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def settings(*overrides: str) -> EventsSettings:
    return validate(EventsSettings, compose_group("events", "default", overrides), "events")


FIELDS = settings().fields
NESTED = EventFields(
    id="ref",
    title="name",
    url=None,
    text=("name", "about.text"),
    keywords={"country": "venue.country", "online": "online"},
    numbers={"seats": "venue.seats"},
    dates={"held": "when.start", "announced": "when.announced"},
)


def nested(ref: str, day: str, **more: Any) -> dict[str, Any]:
    """A document of the other shape."""
    venue = {"country": more.get("country", "India"), "seats": more.get("seats", 10)}
    when = {"start": day, "announced": more.get("announced")}
    return {"ref": ref, "name": f"Event {ref}", "about": {"text": more.get("text", "")}, "venue": venue, "when": when,
            "online": more.get("online", False)}  # fmt: skip


def rows(documents: Iterable[Mapping[str, Any]]) -> list[Row]:
    return [Row(f"document {number}", document) for number, document in enumerate(documents, start=1)]


def shipped_engine() -> SqliteEvents:
    engine = SqliteEvents(FIELDS)
    engine.add(read_events(FILE))
    return engine


async def asked(engine: Any, **arguments: Any) -> Answer:
    """The answer to a call."""
    answer: Answer = await engine.analyze(query_of(AnalyzeEvents(**arguments), engine.fields))
    return answer


async def scan(engine: Any, page_size: int, **arguments: Any) -> list[Answer]:
    """All pages."""
    pages = [await asked(engine, page_size=page_size, **arguments)]
    while (pagination := pages[-1].pagination).has_more:
        where = {"search_after": pagination.search_after, "pit_id": pagination.pit_id}
        pages.append(await asked(engine, page_size=page_size, **where, **arguments))
    return pages
