"""`aiq mcp events` as any client sees it: real sessions of the official SDK, over stdio and over HTTP."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent

from aiq.__main__ import main
from aiq.tools.mcp.events_sqlite import SqliteEvents, read_events
from tests.cases import table
from tests.experiment.conftest import Workplace
from tests.forked import Forked
from tests.tools.mcp.shipped_events import EVENTS, FIELDS, FILE, asked

each = table(__file__)

ROOT = Path(__file__).resolve().parents[3]
COMMAND = ("aiq", "mcp", "events")


@asynccontextmanager
async def over_stdio(*options: str) -> AsyncIterator[Client]:
    """A client whose server is a process of its own."""
    environment = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
    process = StdioServerParameters(command=sys.executable, args=["-m", *COMMAND, *options], env=environment)
    async with Client(stdio_client(process)) as client:
        yield client


@asynccontextmanager
async def over_http(*options: str) -> AsyncIterator[Client]:
    """A client of a server that listens on a port of this machine."""
    with Forked(*COMMAND, "--http", "0", *options, cwd=ROOT) as server:
        await asyncio.to_thread(Workplace.wait_for, lambda: "\n" in server.err, 60)
        url = server.err.split()[0]
        assert url.startswith("http://127.0.0.1:")
        async with Client(url) as client:
            yield client
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 0
        assert "Traceback" not in server.err


async def data(client: Client, tool: str = "analyze_events", **arguments: Any) -> dict[str, Any]:
    """The structured content of an answer, which the text has too."""
    result = await client.call_tool(tool, arguments)
    (block,) = result.content
    assert isinstance(result, CallToolResult)
    assert isinstance(block, TextContent)
    assert not result.is_error, block.text
    assert json.loads(block.text) == result.structured_content
    return dict(result.structured_content or {})


@pytest.mark.slow
async def test_a_collection_is_counted_scanned_and_described_and_mistakes_are_results_that_say_so() -> None:
    async with over_http() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == ["analyze_events", "describe_events"]
        analyze = tools["analyze_events"]
        assert analyze.output_schema
        documents = analyze.output_schema["properties"]["documents"]["items"]
        assert documents == {"type": "object", "additionalProperties": True}  # checked at once, not value by value
        properties = analyze.input_schema["properties"]
        assert {"filters", "range_filters", "group_by", "date_histogram", "search_after", "pit_id"} <= set(properties)
        assert "country, city, event_theme, organiser" in (analyze.description or "")

        first = await data(client, filters='{"country": "India"}', group_by="event_theme")
        assert {bucket["key"]: bucket["count"] for bucket in first["aggregations"]["group_by"]["buckets"]}["AI"] == 50
        assert first["data_context"] == {"unique_ids_matched": 165, "documents_matched": 165}
        assert len(first["documents"]) == 10

        page = await data(client, filters='{"country": "India"}', page_size=100)
        pagination = page["pagination"]
        assert (pagination["total_hits"], pagination["has_more"]) == (165, True)
        where = {"search_after": pagination["search_after"], "pit_id": pagination["pit_id"]}
        last_page = await data(client, filters='{"country": "India"}', page_size=100, **where)
        assert (last_page["pagination"]["has_more"], last_page["pagination"]["search_after"]) == (False, None)
        ids = [document["id"] for document in (*page["documents"], *last_page["documents"])]
        assert ids == [event["event_id"] for event in EVENTS if event["country"] == "India"]
        assert last_page["documents"][0]["url"].startswith("https://events.offline.example/")

        description = await data(client, "describe_events")
        fields = {field["name"]: field for field in description["fields"]}
        assert (description["events"], list(fields)) == (
            600,
            ["country", "city", "event_theme", "organiser", "attendance", "event_date"],
        )
        assert fields["country"]["values"][0] == {"key": "India", "count": 165, "doc_count": 165}
        numbers = [event["attendance"] for event in EVENTS]
        assert (fields["attendance"]["least"], fields["attendance"]["greatest"]) == (min(numbers), max(numbers))
        assert (fields["event_date"]["least"], fields["event_date"]["greatest"]) == (
            EVENTS[0]["event_date"],
            EVENTS[-1]["event_date"],
        )
        for tool, arguments, message in (
            ("analyze_events", {"filters": '{"contry": 1}'}, "did you mean country?"),
            ("analyze_events", {"groupby": "country"}, "groupby: there is no such field"),
            ("analyze_events", {"top_n": 0}, "greater than or equal to 1"),
            ("analyze_events", {"date_histogram": "decade"}, "none of year, quarter"),
            ("describe_events", {"x": 1}, "x: there is no such field"),
            ("analyse_events", {}, "there are: analyze_events, describe_events"),
        ):
            result = await client.call_tool(tool, arguments)
            assert result.is_error
            assert isinstance(result.content[0], TextContent)
            assert message in result.content[0].text


@pytest.mark.slow
async def test_a_file_of_ones_own_kept_in_a_database_takes_what_is_new(tmp_path: Path) -> None:
    events, db = tmp_path / "events.jsonl", tmp_path / "events.db"
    lines = FILE.read_text(encoding="utf-8").splitlines(keepends=True)
    events.write_text("".join(lines[:5]))
    SqliteEvents(FIELDS, db).add(read_events(events))  # as an earlier server has
    events.write_text("".join(lines[3:8]))
    async with over_stdio("--events", str(events), "--db", str(db)) as client:
        assert (await data(client))["data_context"]["documents_matched"] == 8
    assert (await asked(SqliteEvents(FIELDS, db))).data_context.documents_matched == 8


@each("options")
def test_mistakes_are_one_line(
    options: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["mcp", "events", *options]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
