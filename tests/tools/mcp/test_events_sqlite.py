"""Events in SQLite: counts and pages as a plain loop over the file has them, and what a scan sees of other writers."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from aiq.core.errors import ConfigError, DatasetError, ToolError
from aiq.tools.mcp.events_sqlite import SqliteEvents, read_events
from tests.cases import table
from tests.tools.mcp.shipped_events import EVENTS, FIELDS, NESTED, asked, nested, rows, scan, shipped_engine

each = table(__file__)

ENGINE = shipped_engine()
INDIA = [event for event in EVENTS if event["country"] == "India"]


async def test_the_example_165_events_of_one_country_by_theme() -> None:
    answer = await asked(ENGINE, filters='{"country":"India"}', group_by="event_theme")
    assert answer.aggregations.group_by
    buckets = {bucket.key: (bucket.count, bucket.doc_count) for bucket in answer.aggregations.group_by.buckets}
    assert buckets == {
        theme: (count, count)
        for theme, count in {"AI": 50, "Cloud": 40, "Security": 30, "Data": 20, "Fintech": 15, "Robotics": 10}.items()
    }
    assert list(buckets) == ["AI", "Cloud", "Security", "Data", "Fintech", "Robotics"]
    assert answer.data_context.unique_ids_matched == answer.pagination.total_hits == 165
    assert (len(answer.documents), answer.pagination.has_more, answer.pagination.page_size) == (10, True, 10)


@pytest.mark.parametrize("size", [1, 7, 33, 55, 100])
async def test_a_scan_brings_every_event_once_in_order_and_no_empty_page(size: int) -> None:
    """55 and 33 divide 165: the last page is full, and yet it is known to be the last."""
    pages = await scan(ENGINE, size, filters={"country": "India"})
    assert [document["event_id"] for page in pages for document in page.documents] == [row["event_id"] for row in INDIA]
    assert len(pages) == -(-165 // size)
    assert {page.pagination.total_hits for page in pages} == {165}
    assert (pages[-1].pagination.has_more, pages[-1].pagination.search_after) == (False, None)


async def test_groups_within_groups_with_samples_of_the_innermost() -> None:
    answer = await asked(ENGINE, group_by="country,event_theme,year", top_n=2, top_n_per_group=3, samples_per_bucket=2)
    groups = answer.aggregations.group_by
    assert groups
    counts = Counter((row["country"], row["event_theme"], row["event_date"][:4]) for row in EVENTS)
    assert [bucket.key for bucket in groups.buckets] == ["India", "Germany"]
    assert groups.other_doc_count == 600 - 165 - 120
    assert [bucket.key for bucket in groups.buckets[1].buckets] == ["Robotics", "Security", "Cloud"]
    for country in groups.buckets:
        for theme in country.buckets:
            assert not theme.samples
            years = {year.key: year.count for year in theme.buckets}
            assert list(years) == ["2023", "2024", "2025"]
            assert years == {year: counts[str(country.key), str(theme.key), str(year)] for year in years}
            key = (country.key, theme.key, "2024")
            events = [row for row in EVENTS if (row["country"], row["event_theme"], row["event_date"][:4]) == key][:2]
            assert [sample["event_id"] for sample in theme.buckets[1].samples] == [row["event_id"] for row in events]


@pytest.mark.parametrize(
    ("interval", "keys"),
    [
        ("year", {"2023", "2024", "2025"}),
        ("quarter", {f"{year}-Q{part}" for year in (2023, 2024, 2025) for part in (1, 2, 3, 4)}),
        ("month", {one["event_date"][:7] for one in EVENTS}),
        ("day", {one["event_date"] for one in EVENTS}),
    ],
)
async def test_periods_in_their_order(interval: str, keys: set[str]) -> None:
    answer = await asked(ENGINE, date_histogram={"field": "event_date", "interval": interval})
    periods = answer.aggregations.date_histogram
    assert periods
    assert [bucket.key for bucket in periods.buckets] == sorted(keys)
    assert sum(bucket.count for bucket in periods.buckets) == 600


async def test_a_week_is_named_after_its_monday() -> None:
    engine = SqliteEvents(NESTED)
    engine.add(rows(nested(day, day) for day in ("2024-03-03", "2024-03-04", "2024-03-10", "2024-03-11")))
    periods = (await asked(engine, date_histogram="week")).aggregations.date_histogram
    assert periods
    assert [(bucket.key, bucket.count) for bucket in periods.buckets] == [
        ("2024-02-26", 1),
        ("2024-03-04", 2),
        ("2024-03-11", 1),
    ]


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (
            {"filters": {"country": ["India", "Kenya"], "year": 2024}},
            lambda e: e["country"] in ("India", "Kenya") and "2024" in e["event_date"],
        ),
        ({"range_filters": {"attendance": {"gt": 500, "lte": 1000}}}, lambda e: 500 < e["attendance"] <= 1000),
        (
            {"range_filters": {"event_date": {"gt": "2024-03", "lt": "2025"}}},
            lambda e: "2024-03-31" < e["event_date"] < "2025",
        ),
        (
            {"query": "Sign LANGUAGE interpreters"},
            lambda e: all(word in e["summary"].lower() for word in ("sign", "langu", "interpret")),
        ),
        (
            {"query": "robots", "filters": {"event_theme": "Robotics"}},
            lambda e: e["event_theme"] == "Robotics" and "robot" in (e["title"] + e["summary"]).lower(),
        ),
        ({"filters": {"country": "Utopia"}}, lambda e: False),
    ],
)
async def test_what_filters_select(arguments: dict[str, Any], count: Any) -> None:
    answer = await asked(ENGINE, **arguments)
    assert answer.data_context.documents_matched == sum(map(count, EVENTS))


@pytest.mark.parametrize(("query", "found"), [("北京", 1), ("春天 glass", 1), ("京北", 0), ("회의", 1)])
async def test_texts_without_spaces_are_searched_too(query: str, found: int) -> None:
    engine = SqliteEvents(NESTED)
    engine.add(
        rows([nested("a", "2024-05-01", text="北京会议在春天, glass"), nested("b", "2024-05-02", text="회의에서")])
    )
    assert (await asked(engine, query=query)).data_context.documents_matched == found


async def test_other_shapes_several_documents_of_an_event_and_absent_values() -> None:
    engine = SqliteEvents(NESTED)
    documents = [
        nested("a", "2024-05-01T18:30:00Z", text="glass making", online=True),
        nested("b", "2024-05-02", country=None, seats=None),
        nested("c", "2023-01-01", country="Kenya"),
        nested("a", "2024-05-03", text="glass", announced="2024-01-09"),
    ]
    assert engine.add(rows(documents)) == 4
    assert engine.add(rows([*documents, nested("d", "2025-01-01", country="")])) == 1
    answer = await asked(engine, group_by="country,online", page_size=5)
    assert (answer.data_context.unique_ids_matched, answer.data_context.documents_matched) == (4, 5)
    assert [(one["id"], one["title"], one["url"]) for one in answer.documents][:2] == [
        ("c", "Event c", "doc://c"),
        ("a", "Event a", "doc://a"),
    ]
    groups = answer.aggregations.group_by
    assert groups
    assert [(one.key, one.count, one.doc_count) for one in groups.buckets] == [("India", 1, 2), ("Kenya", 1, 1)]
    assert {one.key for one in groups.buckets[0].buckets} == {"true", "false"}
    assert groups.other_doc_count == 2
    assert (await asked(engine, query="glass")).data_context.documents_matched == 2
    assert (await asked(engine, range_filters={"held": {"lte": "2024-05-01"}})).data_context.documents_matched == 2
    assert await engine.bounds("seats") == (10, 10)
    aggregations = (await asked(engine, date_histogram={"field": "announced", "interval": "year"})).aggregations
    assert aggregations.date_histogram
    assert (len(aggregations.date_histogram.buckets), aggregations.date_histogram.other_doc_count) == (1, 4)


@each("document")
async def test_a_document_that_does_not_fit_is_named_and_nothing_is_added(document: Any, said: str) -> None:
    engine = SqliteEvents(NESTED)
    engine.add(rows([nested("z", "2020-01-01")]))
    with pytest.raises(DatasetError, match=said):
        engine.add(rows([document, nested("b", "2024-01-01")]))
    assert (await asked(engine)).data_context.documents_matched == 1


async def test_positions_from_other_collections_are_refused() -> None:
    beyond = '["2024-01-01", 9999999999999999999]'
    for position in ({"search_after": '["PAG090"]'}, {"search_after": beyond}, {"pit_id": "o463"}, {"query": "?!"}):
        with pytest.raises(ToolError, match=r"give back|no word|cannot answer this"):
            await asked(ENGINE, **position)


def test_files(tmp_path: Path) -> None:
    packed = tmp_path / "events.jsonl.gz"
    packed.write_bytes(gzip.compress(b'{"a": 1}\n\n{"a": 2}\n'))
    assert [row.values["a"] for row in read_events(packed)] == [1, 2]
    torn = tmp_path / "torn.jsonl"
    torn.write_text('{"a": 1}\n{"a"')
    with pytest.raises(DatasetError, match=r"torn\.jsonl, line 2.*not valid JSON"):
        list(read_events(torn))
    with pytest.raises(ConfigError, match="cannot be used"):
        SqliteEvents(FIELDS, torn)
    SqliteEvents(FIELDS, tmp_path / "events.db").close()
    with pytest.raises(ConfigError, match=r"events\.db was made with other events\.fields"):
        SqliteEvents(NESTED, tmp_path / "events.db")


async def test_a_scan_beside_a_writer_loses_and_repeats_nothing(tmp_path: Path) -> None:
    """Another connection adds events before, at and behind the position of the scan, between any two of its pages."""
    db = tmp_path / "events.db"
    engine, writer = SqliteEvents(NESTED, db), SqliteEvents(NESTED, db)
    events = {f"old-{number:03}": f"20{10 + number % 20}-0{1 + number % 9}-15" for number in range(100)}
    engine.add(rows(nested(ref, day) for ref, day in events.items()))
    for _ in range(3):
        expected, pages = {*events}, [await asked(engine, page_size=25)]
        while (last := pages[-1].pagination).has_more:
            number = len(events)
            additions = {
                f"new-{number}": f"20{10 + number % 20}-0{1 + number % 9}-1{number % 10}",
                f"also-{number}": "2015-06-15",
            }
            writer.add(rows(nested(ref, day) for ref, day in additions.items()))
            events |= additions
            pages.append(await asked(engine, page_size=25, search_after=last.search_after, pit_id=last.pit_id))
        ids = [document["id"] for page in pages for document in page.documents]
        assert sorted(ids) == sorted(expected)
        assert {page.pagination.total_hits for page in pages} == {len(expected)}
    assert json.loads((await asked(engine)).pagination.pit_id or "") == len(events)
