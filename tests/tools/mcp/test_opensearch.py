"""Events in OpenSearch: requests and answers as its documentation has them, over HTTP on loopback."""

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
from tests.tools.mcp.shipped_events import EVENTS, FIELDS, asked, scan, settings

Json = dict[str, Any]
INDIA = [event for event in EVENTS if event["country"] == "India"]
SHARDS = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}


def hit(event: Json) -> Json:
    day = datetime.fromisoformat(event["event_date"]).replace(tzinfo=UTC)
    order = [int(day.timestamp() * 1000), event["event_id"]]
    return {"_index": "events", "_id": "x", "_score": None, "_source": event, "sort": order}


def found(body: Json, **aggregations: Json) -> Json:
    """The answer to a search that all events of one country match."""
    after = body.get("search_after")
    page = [item for item in map(hit, INDIA) if after is None or item["sort"] > after][: body["size"]]
    hits = {"total": {"value": len(INDIA), "relation": "eq"}, "max_score": None, "hits": page}
    answer = {"took": 3, "timed_out": False, "_shards": SHARDS, "hits": hits}
    return answer | {"aggregations": {"ids": {"value": 160}, **aggregations}}


class Cluster:
    """One index; `asked` has every request as method, path, query and body."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, Json]] = []
        self.answer: Callable[[Json], Json] = found
        self.pits: set[str] = set()

    async def handle(self, request: Request) -> Response:
        body = json.loads(await request.body() or "{}")
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        self.asked.append((request.method, path, body))
        if request.headers.get("authorization") != "Bearer abc":
            refused = {"type": "security_exception", "reason": "no permissions"}
            return JSONResponse({"error": refused, "status": 403}, 403)
        if request.url.path.endswith("/point_in_time"):
            return self.point_in_time(request, body)
        if "pit" in body and body["pit"]["id"] not in self.pits:
            cause = {"type": "search_context_missing_exception", "reason": "No search context found for id [7]"}
            return JSONResponse({"error": {"root_cause": [cause], **cause}, "status": 404}, 404)
        return JSONResponse(self.answer(body) | ({"pit_id": body["pit"]["id"]} if "pit" in body else {}))

    def point_in_time(self, request: Request, body: Json) -> Response:
        if request.method == "POST":
            self.pits.add(pit := f"pit-{len(self.asked)}==")
            return JSONResponse({"pit_id": pit, "_shards": SHARDS, "creation_time": 1658146050064})
        self.pits -= set(body["pit_id"])
        return JSONResponse({"pits": [{"successful": True, "pit_id": pit} for pit in body["pit_id"]]})


@pytest.fixture
async def cluster() -> AsyncIterator[tuple[Cluster, OpenSearchEvents]]:
    server = Cluster()
    app = Starlette(routes=[Route("/{path:path}", server.handle, methods=["POST", "DELETE"])])
    with serving(app) as port:
        url = f"events.opensearch.url=http://127.0.0.1:{port}"
        options = settings(url, "events.opensearch.keyword_suffix=.keyword")
        async with AsyncClient(verify=False) as client:
            yield server, OpenSearchEvents(FIELDS, options.opensearch, client, "Bearer abc")


ORDER = [{"event_date": "asc"}, {"event_id.keyword": "asc"}]
IDS = {"cardinality": {"field": "event_id.keyword", "precision_threshold": 40000}}


async def test_a_request_is_the_documented_one_and_so_is_the_answer(cluster: tuple[Cluster, OpenSearchEvents]) -> None:
    server, engine = cluster
    samples = {"hits": {"total": {"value": 1, "relation": "eq"}, "max_score": None, "hits": [hit(EVENTS[0])]}}
    year = {"key_as_string": "2024", "key": 0, "doc_count": 7, "ids": {"value": 6}, "samples": samples}
    theme = {"key": "AI", "doc_count": 50, "ids": {"value": 49}, "below": {"buckets": [year]}}
    month = {"key_as_string": "2024-03", "key": 0, "doc_count": 9, "ids": {"value": 8}}
    server.answer = lambda body: found(body, group_by={"buckets": [theme]}, date_histogram={"buckets": [month]})
    call: Json = {"filters": {"country": "India"}, "group_by": "event_theme,year", "date_histogram": "month"}
    answer = await asked(engine, **call, page_size=20, samples_per_bucket=1, top_n=7)
    pit, search = server.asked  # more pages follow: nothing is given back yet
    assert pit == ("POST", "/events/_search/point_in_time?keep_alive=300s", {})
    by_year = {"field": "event_date", "calendar_interval": "year", "format": "yyyy", "min_doc_count": 1}
    by_month = by_year | {"calendar_interval": "month", "format": "yyyy-MM"}
    top_hits = {"samples": {"top_hits": {"size": 1, "sort": ORDER}}}
    ranking = {"size": 7, "order": [{"ids": "desc"}, {"_key": "asc"}]}
    years = {"date_histogram": by_year, "aggs": {"ids": IDS, **top_hits}}
    groups = {"terms": {"field": "event_theme.keyword", **ranking}, "aggs": {"ids": IDS, "below": years}}
    assert search[:2] == ("POST", "/_search")
    assert search[2] == {
        "size": 21,
        "query": {"bool": {"filter": [{"terms": {"country.keyword": ["India"]}}]}},
        "pit": {"id": "pit-1==", "keep_alive": "300s"},
        "sort": ORDER,
        "track_total_hits": True,
        "aggs": {"ids": IDS, "group_by": groups, "date_histogram": {"date_histogram": by_month, "aggs": {"ids": IDS}}},
    }
    groups_read, periods = answer.aggregations.group_by, answer.aggregations.date_histogram
    assert groups_read
    assert periods
    (bucket,), (inner,) = groups_read.buckets, groups_read.buckets[0].buckets
    counts = [(one.key, one.count, one.doc_count) for one in (bucket, inner, *periods.buckets)]
    assert counts == [("AI", 49, 50), ("2024", 6, 7), ("2024-03", 8, 9)]
    assert (groups_read.other_doc_count, [one["id"] for one in inner.samples]) == (115, [EVENTS[0]["event_id"]])
    assert (answer.data_context.documents_matched, answer.data_context.unique_ids_matched) == (165, 160)


WORDS = {"fields": ["title", "summary"], "type": "cross_fields", "operator": "and"}
YEARS = [{"range": {"event_date": {"gte": f"{y}-01-01||/d", "lte": f"{y}-12-31||/d"}}} for y in (2023, 2025)]


@pytest.mark.parametrize(
    ("call", "conditions"),
    [
        ({"filters": {"country": ["India", "Kenya"]}}, [{"terms": {"country.keyword": ["India", "Kenya"]}}]),
        ({"filters": {"year": [2023, 2025]}}, [{"bool": {"should": YEARS, "minimum_should_match": 1}}]),
        ({"filters": {"year": 2023}, "query": "robots"}, [YEARS[0], {"multi_match": {"query": "robots", **WORDS}}]),
        (
            {"range_filters": {"attendance": {"gte": 500, "lt": 900}}},
            [{"range": {"attendance": {"gte": 500, "lt": 900}}}],
        ),
    ],
)
async def test_conditions(cluster: tuple[Cluster, OpenSearchEvents], call: Json, conditions: list[Json]) -> None:
    await asked(cluster[1], **call)
    assert cluster[0].asked[1][2]["query"]["bool"]["filter"] == conditions


@pytest.mark.parametrize("size", [33, 100])
async def test_a_scan_keeps_one_point_in_time_and_releases_it(
    cluster: tuple[Cluster, OpenSearchEvents], size: int
) -> None:
    server, engine = cluster
    pages = await scan(engine, size, filters={"country": "India"})
    assert [doc["event_id"] for page in pages for doc in page.documents] == [event["event_id"] for event in INDIA]
    assert len(pages) == -(-165 // size)
    assert [path.partition("?")[0] for _, path, _ in server.asked] == [
        "/events/_search/point_in_time",
        *["/_search"] * len(pages),
        "/_search/point_in_time",
    ]
    assert {body["pit"]["id"] for _, path, body in server.asked if path == "/_search"} == {"pit-1=="}
    assert not server.pits


async def test_bounds(cluster: tuple[Cluster, OpenSearchEvents]) -> None:
    days = {name: {"value": float(hit(EVENTS[i])["sort"][0])} for name, i in (("min", 0), ("max", -1))}
    cluster[0].answer = lambda body: found(body, **days)
    assert await cluster[1].bounds("event_date") == (EVENTS[0]["event_date"], EVENTS[-1]["event_date"])
    assert cluster[0].asked[0][1] == "/events/_search"
    cluster[0].answer = lambda body: found(body, min={"value": 50.0}, max={"value": 1200.0})
    assert await cluster[1].bounds("attendance") == (50, 1200)


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
    async with AsyncClient(verify=False) as client:
        with pytest.raises(ToolError, match=r"HTTP 403.*no permissions"):
            await asked(OpenSearchEvents(FIELDS, address, client, "Bearer x"))
        nobody = settings("events.opensearch.url=http://127.0.0.1:1").opensearch
        with pytest.raises(ToolError, match="no connection"):
            await asked(OpenSearchEvents(FIELDS, nobody, client, ""))
