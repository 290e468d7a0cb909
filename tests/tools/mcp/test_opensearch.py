"""Events in OpenSearch: requests and answers as its documentation has them, over HTTP on loopback.

The server below speaks what is used of the wire format and answers from the shipped events by a plain loop, so that
what comes back can be compared with SQLite's answer to the same call.
"""

import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from aiq.core.errors import ToolError
from aiq.llm.http import AsyncClient
from aiq.tools.mcp.opensearch import OpenSearchEvents
from tests.tools.conftest import serving
from tests.tools.mcp.shipped_events import EVENTS, FIELDS, asked, scan, settings, shipped_engine

Json = dict[str, Any]
OURS = shipped_engine()
FORMATS = {"yyyy": "%Y", "yyyy-MM": "%Y-%m", "yyyy-MM-dd": "%Y-%m-%d"}


def milliseconds(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000)


class Cluster:
    """One index; `asked` has every request as method, path, query and body."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, Json]] = []
        self.answer: Callable[[Json], Json] | None = None
        self.pits: set[str] = set()

    async def handle(self, request: Request) -> Response:
        body = json.loads(await request.body() or "{}")
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        self.asked.append((request.method, path, body))
        if request.headers.get("authorization") != "Bearer abc":
            return JSONResponse(
                {"error": {"type": "security_exception", "reason": "no permissions"}, "status": 403}, 403
            )
        if request.url.path.endswith("/point_in_time"):
            return self.point_in_time(request, body)
        if "pit" in body and body["pit"]["id"] not in self.pits:
            cause = {"type": "search_context_missing_exception", "reason": "No search context found for id [7]"}
            return JSONResponse({"error": {"root_cause": [cause], **cause}, "status": 404}, 404)
        return JSONResponse(self.answer(body) if self.answer else found(body))

    def point_in_time(self, request: Request, body: Json) -> Response:
        shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
        if request.method == "POST":
            self.pits.add(pit := f"pit-{len(self.asked)}==")
            return JSONResponse({"pit_id": pit, "_shards": shards, "creation_time": 1658146050064})
        self.pits -= set(body["pit_id"])
        return JSONResponse({"pits": [{"successful": True, "pit_id": pit} for pit in body["pit_id"]]})


def hit(event: Json) -> Json:
    order = [milliseconds(event["event_date"]), event["event_id"]]
    return {"_index": "events", "_id": "x", "_score": None, "_source": event, "sort": order}


def found(body: Json) -> Json:
    """The answer to a search."""
    filters = body["query"]["bool"]["filter"] if "query" in body else []
    matching = [event for event in EVENTS if all(fits(event, one) for one in filters)]
    after = body.get("search_after")
    page = [one for one in map(hit, matching) if after is None or one["sort"] > after]
    answer = {
        "took": 3,
        "timed_out": False,
        "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
        "hits": {"total": {"value": len(matching), "relation": "eq"}, "max_score": None, "hits": page[: body["size"]]},
        "aggregations": {name: aggregated(matching, one) for name, one in body["aggs"].items()},
    }
    return answer | ({"pit_id": body["pit"]["id"]} if "pit" in body else {})


def fits(event: Json, condition: Json) -> bool:
    match condition:
        case {"terms": terms}:
            return all(event[field.removesuffix(".keyword")] in values for field, values in terms.items())
        case {"range": {"attendance": bounds}}:
            return bool(bounds["gte"] <= event["attendance"] < bounds["lt"])
        case {"range": {"event_date": bounds}}:
            days = {bound: value.removesuffix("||/d") for bound, value in bounds.items()}
            return bool(days["gte"] <= event["event_date"] <= days["lte"])
        case {"bool": {"should": options, "minimum_should_match": 1}}:
            return any(fits(event, option) for option in options)
        case {"multi_match": {"query": words, "fields": fields, "type": "cross_fields", "operator": "and"}}:
            text = " ".join(event[field] for field in fields).lower()
            return all(word in text for word in words.lower().split())
    raise AssertionError(condition)


def aggregated(events: list[Json], asked_for: Json) -> Json:
    match asked_for:
        case {"cardinality": {"field": "event_id.keyword", "precision_threshold": 40000}}:
            return {"value": len({event["event_id"] for event in events})}
        case {"min": {"field": field}} | {"max": {"field": field}}:
            values = [milliseconds(event[field]) if field == "event_date" else event[field] for event in events]
            return {"value": float(min(values) if "min" in asked_for else max(values))}
        case {"top_hits": {"size": size, "sort": _}}:
            hits = [hit(event) for event in events[:size]]
            return {"hits": {"total": {"value": len(events), "relation": "eq"}, "max_score": None, "hits": hits}}
        case {"terms": {"field": field, "size": size, "order": [{"ids": "desc"}, {"_key": "asc"}]}, "aggs": inner}:
            name = field.removesuffix(".keyword")
            keys = sorted(
                {event[name] for event in events}, key=lambda key: (-sum(e[name] == key for e in events), key)
            )
            shown = [(key, {"key": key}, [event for event in events if event[name] == key]) for key in keys[:size]]
        case {
            "date_histogram": {"field": "event_date", "calendar_interval": _, "format": form, "min_doc_count": 1},
            "aggs": inner,
        }:
            days = [datetime.fromisoformat(event["event_date"]) for event in events]
            names = [
                f"{day:{FORMATS[form]}}" if form in FORMATS else f"{day:%Y}-Q{(day.month + 2) // 3}" for day in days
            ]
            shown = [
                (
                    key,
                    {"key_as_string": key, "key": 0},
                    [e for e, name in zip(events, names, strict=True) if name == key],
                )
                for key in sorted(set(names))
            ]
        case _:
            raise AssertionError(asked_for)
    buckets = [
        {**key, "doc_count": len(group), **{name: aggregated(group, one) for name, one in inner.items()}}
        for _, key, group in shown
    ]
    return {"doc_count_error_upper_bound": 0, "sum_other_doc_count": 0, "buckets": buckets}


@pytest.fixture
async def cluster() -> AsyncIterator[tuple[Cluster, OpenSearchEvents]]:
    made = Cluster()
    app = Starlette(routes=[Route("/{path:path}", made.handle, methods=["POST", "DELETE"])])
    with serving(app) as port:
        url = f"events.opensearch.url=http://127.0.0.1:{port}"
        given = settings(url, "events.opensearch.keyword_suffix=.keyword")
        async with AsyncClient() as client:
            yield made, OpenSearchEvents(FIELDS, given.opensearch, client, "Bearer abc")


CALLS: list[Json] = [
    {},
    {"filters": {"country": "India"}, "group_by": "event_theme", "samples_per_bucket": 2, "page_size": 3},
    {"filters": {"country": ["India", "Kenya"], "year": [2023, 2025]}, "group_by": "country,year", "page_size": 100},
    {"group_by": "country,event_theme,city", "top_n": 2, "top_n_per_group": 3, "samples_per_bucket": 1},
    {"range_filters": {"attendance": {"gte": 500, "lt": 900}}, "date_histogram": "quarter"},
    {"query": "sign language", "filters": {"quarter": "2024-Q2"}, "date_histogram": "day"},
    {"filters": {"country": "Utopia"}, "group_by": "country", "date_histogram": "month"},
]


@pytest.mark.parametrize("call", CALLS)
async def test_both_engines_answer_alike(cluster: tuple[Cluster, OpenSearchEvents], call: Json) -> None:
    ours, theirs = await asked(OURS, **call), await asked(cluster[1], **call)
    assert theirs.documents == ours.documents
    assert theirs.aggregations == ours.aggregations
    assert theirs.data_context == ours.data_context
    assert theirs.pagination.has_more == ours.pagination.has_more


async def test_a_request_is_the_documented_one(cluster: tuple[Cluster, OpenSearchEvents]) -> None:
    made, engine = cluster
    call: Json = {"filters": {"country": "India", "year": 2024}, "query": "robots", "group_by": "event_theme"}
    await asked(engine, **call, date_histogram="month", page_size=20, samples_per_bucket=1, top_n=7)
    pit, search, given_back = made.asked
    assert pit == ("POST", "/events/_search/point_in_time?keep_alive=300s", {})
    order = [{"event_date": "asc"}, {"event_id.keyword": "asc"}]
    ids = {"cardinality": {"field": "event_id.keyword", "precision_threshold": 40000}}
    words = {"query": "robots", "fields": ["title", "summary"], "type": "cross_fields", "operator": "and"}
    assert search == (
        "POST",
        "/_search",
        {
            "size": 21,
            "query": {
                "bool": {
                    "filter": [
                        {"terms": {"country.keyword": ["India"]}},
                        {"range": {"event_date": {"gte": "2024-01-01||/d", "lte": "2024-12-31||/d"}}},
                        {"multi_match": words},
                    ]
                }
            },
            "pit": {"id": "pit-1==", "keep_alive": "300s"},
            "sort": order,
            "track_total_hits": True,
            "aggs": {
                "ids": ids,
                "group_by": {
                    "terms": {"field": "event_theme.keyword", "size": 7, "order": [{"ids": "desc"}, {"_key": "asc"}]},
                    "aggs": {"ids": ids, "samples": {"top_hits": {"size": 1, "sort": order}}},
                },
                "date_histogram": {
                    "date_histogram": {
                        "field": "event_date",
                        "calendar_interval": "month",
                        "format": "yyyy-MM",
                        "min_doc_count": 1,
                    },
                    "aggs": {"ids": ids},
                },
            },
        },
    )
    assert given_back == ("DELETE", "/_search/point_in_time", {"pit_id": ["pit-1=="]})
    assert not made.pits


@pytest.mark.parametrize("size", [33, 100])
async def test_a_scan_keeps_one_point_in_time_and_gives_it_back(
    cluster: tuple[Cluster, OpenSearchEvents], size: int
) -> None:
    made, engine = cluster
    pages = await scan(engine, size, filters={"country": "India"})
    ids = [document["event_id"] for page in pages for document in page.documents]
    assert ids == [event["event_id"] for event in EVENTS if event["country"] == "India"]
    assert len(pages) == -(-165 // size)
    assert [path.partition("?")[0] for _, path, _ in made.asked] == [
        "/events/_search/point_in_time",
        *["/_search"] * len(pages),
        "/_search/point_in_time",
    ]
    assert {body["pit"]["id"] for _, path, body in made.asked if path == "/_search"} == {"pit-1=="}
    assert not made.pits


async def test_bounds(cluster: tuple[Cluster, OpenSearchEvents]) -> None:
    for field in ("attendance", "event_date"):
        assert await cluster[1].bounds(field) == await OURS.bounds(field)


def broken(**parts: Any) -> Callable[[Json], Json]:
    return lambda body: {**found(body), **parts}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (broken(timed_out=True), "incomplete"),
        (broken(_shards={"total": 2, "successful": 1, "skipped": 0, "failed": 1}), "incomplete: 1 shards failed"),
        (lambda body: {"hits": 3}, "not a search answer"),
    ],
)
async def test_what_would_give_wrong_counts_is_an_error(
    cluster: tuple[Cluster, OpenSearchEvents], answer: Callable[[Json], Json], said: str
) -> None:
    cluster[0].answer = answer
    with pytest.raises(ToolError, match=said):
        await asked(cluster[1])


async def test_a_point_in_time_that_has_ended_a_wrong_key_and_nobody_there(
    cluster: tuple[Cluster, OpenSearchEvents],
) -> None:
    _, engine = cluster
    with pytest.raises(ToolError, match=r"OpenSearch at http://127.*HTTP 404.*search_context_missing_exception"):
        await asked(engine, pit_id="old", search_after=[1, "a"])
    address = settings(f"events.opensearch.url={engine._base}").opensearch
    async with AsyncClient() as client:
        with pytest.raises(ToolError, match=r"HTTP 403.*no permissions"):
            await asked(OpenSearchEvents(FIELDS, address, client, "Bearer x"))
        nobody = settings("events.opensearch.url=http://127.0.0.1:1").opensearch
        with pytest.raises(ToolError, match="no connection"):
            await asked(OpenSearchEvents(FIELDS, nobody, client, ""))
