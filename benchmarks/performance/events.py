"""What the events server costs at 100,000 events: `python -m benchmarks.performance.events [--quick]`.

Promises are ratios: with ten times the events, counts and scans take at most 25 times as long; a scan keeps nothing in
memory; and finding and reading a page takes less than 8 times as long as finding it, as one process reads the pages of
all samples. The exit code is 1 if one is broken. Seconds are processor time, for orientation.
"""

import argparse
import asyncio
import resource
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

from mcp import Client

from aiq.core.files import Row
from aiq.core.plugins import validate
from aiq.experiment.compose import compose_group
from aiq.tools.deny import DenyList
from aiq.tools.mcp.events import AnalyzeEvents, Answer, query_of
from aiq.tools.mcp.events_server import EventsSettings, make_server
from aiq.tools.mcp.events_sqlite import SqliteEvents
from aiq.tools.mcp.results import Reading
from benchmarks.closed_world.events import make_events
from benchmarks.closed_world.facts import build_world

_FIELDS = validate(EventsSettings, compose_group("events", "default", ()), "events").fields
_CALLS: dict[str, dict[str, Any]] = {
    "count by one field": {"group_by": "event_theme"},
    "count by three fields": {"group_by": "country,event_theme,year", "samples_per_bucket": 2},
    "count by month": {"date_histogram": "month"},
    "filter and count": {"filters": {"country": "India"}, "group_by": "city"},
    "words": {"query": "sign language"},
}


def rows(count: int) -> Iterator[Row]:
    """`count` events: those of a small collection again and again, with unique ids."""
    events = [known.event.model_dump() for known in make_events(build_world(0, english=8, chinese=4), min(count, 5000))]
    for number in range(count):
        event = events[number % len(events)]
        yield Row(f"event {number}", {**event, "event_id": f"ev-{number}", "title": f"{event['title']} {number}"})


def seconds(run: Callable[[], object], times: int) -> float:
    """The minimum processor time of several runs."""
    durations = []
    for _ in range(times):
        start = process_time()
        run()
        durations.append(process_time() - start)
    return min(durations)


def ask(engine: SqliteEvents, **arguments: Any) -> Answer:
    return asyncio.run(engine.analyze(query_of(AnalyzeEvents(**arguments), _FIELDS)))


async def scan(engine: SqliteEvents, peaks: list[int]) -> int:
    """Read pages of 100 to the end; adds the memory in use after each page, in bytes, to `peaks`."""
    count, cursor = 0, dict[str, Any]()
    while True:
        page = await engine.analyze(query_of(AnalyzeEvents(page_size=100, **cursor), _FIELDS))
        count += len(page.documents)
        peaks.append(tracemalloc.get_traced_memory()[0] if tracemalloc.is_tracing() else 0)
        if not page.pagination.has_more:
            return count
        cursor = {"search_after": page.pagination.search_after, "pit_id": page.pagination.pit_id}


async def read_pages(engine: SqliteEvents, pages: int) -> None:
    """Read the first page of 100 `pages` times, like a run's tools: with the official SDK, validation and sources."""
    async with Client(make_server(engine)) as client:
        await client.list_tools()
        for _ in range(pages):
            result = await client.call_tool("analyze_events", {"page_size": 100})
            Reading("analyze_events", 400_000, DenyList(), urls_in_text=False).result(result)


def measured(count: int, folder: Path, times: int) -> dict[str, float]:
    """Processor seconds by operation, and the growth of memory over a scan in MB."""
    events = list(rows(count)) if count <= 10_000 else rows(count)
    engine, figures = SqliteEvents(_FIELDS, folder / f"{count}.db"), dict[str, float]()
    figures["load"] = seconds(lambda: engine.add(events), times=1)
    for name, call in _CALLS.items():
        figures[name] = seconds(lambda call=call: ask(engine, page_size=1, **call), times)  # type: ignore[misc]
    figures["a page, found"] = seconds(lambda: [ask(engine, page_size=100) for _ in range(20)], times) / 20
    figures["a page, found and read"] = seconds(lambda: asyncio.run(read_pages(engine, 20)), times) / 20
    start = perf_counter()
    figures["scan by 100"] = seconds(lambda: asyncio.run(scan(engine, [])), times=1)
    figures["scan by 100, by the clock"] = perf_counter() - start
    tracemalloc.start()
    peaks: list[int] = []
    assert asyncio.run(scan(engine, peaks)) == count
    tracemalloc.stop()
    figures["memory kept by a scan, MB"] = (peaks[-1] - peaks[min(5, len(peaks) - 1)]) / 2**20
    engine.close()
    return figures


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.performance.events", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="does it run? small sizes, no promises")
    quick = parser.parse_args(arguments).quick
    small, large, times = (50, 500, 1) if quick else (10_000, 100_000, 3)
    with TemporaryDirectory() as folder:
        few, many = measured(small, Path(folder), times), measured(large, Path(folder), times)
    print(f"{'':<28}{small:>10,}{large:>10,}{'ratio':>8}")
    for name in many:
        print(f"{name:<28}{few[name]:>10.3f}{many[name]:>10.3f}{many[name] / max(few[name], 1e-6):>8.1f}")
    print(
        f"{'greatest resident set, MB':<28}{'':>10}{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:>10.0f}"
    )
    promises = {
        "ten times the events, at most 25 times as long": all(
            many[name] < 25 * few[name] for name in (*_CALLS, "load", "scan by 100")
        ),
        "a page found and read in less than 8 times of finding it": (
            many["a page, found and read"] < 8 * many["a page, found"]
        ),
        "a scan keeps less than 1 MB": many["memory kept by a scan, MB"] < 1,
    }
    for promise, is_kept in promises.items():
        print(f"{'kept  ' if is_kept else 'BROKEN'} {promise}")
    return 0 if quick or all(promises.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
