"""Events in OpenSearch: queries in its DSL, and the reading of its answers; a scan uses a point in time.

Documents are ordered by date and id, so a page may lose some of several documents with the same date and id.
Distinct events are counted by `cardinality`, which is exact up to about 40,000 and close above. A point in time waits
`keep_alive_seconds` for the next page, and is released after the last one.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from pydantic import AliasPath, BaseModel, Field

from aiq.core.errors import ToolErrorKind
from aiq.core.settings import Count, Endpoint, Positive, Settings
from aiq.llm.http import AsyncClient
from aiq.tools.api import ApiClient
from aiq.tools.mcp.events import (
    Answer,
    Bucket,
    Condition,
    Document,
    EventFields,
    Interval,
    Level,
    Query,
    Scalar,
    answer,
    answer_document,
)

_FORMATS: Mapping[Interval, str] = {
    "year": "yyyy",
    "quarter": "yyyy-'Q'q",
    "month": "yyyy-MM",
    "week": "yyyy-MM-dd",
    "day": "yyyy-MM-dd",
}
_MOST_EXACT = 40_000  # the greatest precision_threshold
_IDS = "ids"


class OpenSearchSettings(Settings):
    """Section `events.opensearch`: a server that holds the collection instead of SQLite."""

    url: Endpoint | None = Field(description="its address; null: the collection is in SQLite")
    index: str = Field(pattern=r"^[^\s/?#]+$", description="index, alias or pattern")
    keyword_suffix: str = Field(description="suffix of paths to filter and group by; .keyword for dynamic mappings")
    api_key_env: str | None = Field(description="the environment variable with the value of the Authorization header")
    keep_alive_seconds: Count = Field(description="how long a point in time waits for the next page")
    timeout_seconds: Positive = Field(description="of one request")


class _Hit(BaseModel):
    source: Document = Field(alias="_source")
    sort: list[Scalar]


class _Found(BaseModel):
    """The parts of a search answer that are read."""

    timed_out: bool
    failed: int = Field(validation_alias=AliasPath("_shards", "failed"))
    total: int = Field(validation_alias=AliasPath("hits", "total", "value"))
    hits: list[_Hit] = Field(validation_alias=AliasPath("hits", "hits"))
    aggregations: dict[str, Any] = {}
    pit_id: str | None = None


class _PointInTime(BaseModel):
    pit_id: str


class _Deleted(BaseModel):
    pits: list[Any]


class OpenSearchEvents:
    """A collection that an OpenSearch server (2.4 or later) holds."""

    def __init__(self, fields: EventFields, settings: OpenSearchSettings, client: AsyncClient, key: str) -> None:
        self.fields, self._settings = fields, settings
        self._base = f"{settings.url}".rstrip("/")
        headers = {"authorization": key} if key else {}
        failure = f"OpenSearch at {self._base}: {{}}"
        self._api = ApiClient(client, self._base, settings.timeout_seconds, failure, headers, key)

    async def analyze(self, query: Query) -> Answer:
        keep_alive = f"{self._settings.keep_alive_seconds}s"
        pit = query.call.pit_id or await self._point_in_time(keep_alive)
        order = [{self.fields.paths[self.fields.date]: "asc"}, {self._path("id"): "asc"}]
        body: dict[str, Any] = {
            "size": query.call.page_size + 1,  # one more, to know whether more follow
            "query": {"bool": {"filter": [*map(self._condition, query.conditions), *self._words(query.call.query)]}},
            "pit": {"id": pit, "keep_alive": keep_alive},
            "sort": order,
            "track_total_hits": True,
            "aggs": {_IDS: self._distinct()},
        }
        if query.after is not None:
            body["search_after"] = list(query.after)
        if query.group_by:
            body["aggs"]["group_by"] = self._aggregation(query.group_by, query, order, query.call.samples_per_bucket)
        if query.histogram:
            body["aggs"]["date_histogram"] = self._aggregation((query.histogram,), query, order, 0)
        response = await self._search(f"{self._base}/_search", body)
        pit, page = response.pit_id or pit, response.hits[: query.call.page_size]
        after = page[-1].sort if len(response.hits) > len(page) else None
        if after is None:
            await self._api.send("DELETE", f"{self._base}/_search/point_in_time", {"pit_id": [pit]}, _Deleted)
        return answer(
            query,
            (response.total, response.aggregations[_IDS]["value"]),
            [answer_document(hit.source, self.fields) for hit in page],
            after,
            None if after is None else pit,
            self._buckets(response.aggregations.get("group_by"), query.group_by),
            self._buckets(response.aggregations.get("date_histogram"), [query.histogram] if query.histogram else []),
        )

    async def bounds(self, field: str) -> tuple[Scalar | None, Scalar | None]:
        aggs = {name: {name: {"field": self._path(field)}} for name in ("min", "max")}
        response = await self._search(f"{self._base}/{quote(self._settings.index)}/_search", {"size": 0, "aggs": aggs})
        least, greatest = (response.aggregations[name]["value"] for name in aggs)
        if field in self.fields.dates:
            least, greatest = (
                value and f"{datetime.fromtimestamp(value / 1000, UTC):%Y-%m-%d}" for value in (least, greatest)
            )
        return least, greatest

    async def _point_in_time(self, keep_alive: str) -> str:
        url = f"{self._base}/{quote(self._settings.index)}/_search/point_in_time?keep_alive={keep_alive}"
        return (await self._api.send("POST", url, None, _PointInTime)).pit_id

    async def _search(self, url: str, body: Mapping[str, Any]) -> _Found:
        """Raises ToolError, also for an incomplete answer: its counts would be wrong."""
        response = await self._api.send("POST", url, body, _Found)
        if response.timed_out or response.failed:
            raise self._api.error(ToolErrorKind.HTTP, f"incomplete: {response.failed} shards failed, or time was out")
        return response

    def _path(self, name: str) -> str:
        """The path in the index by which a field is filtered, sorted and grouped."""
        is_keyword = name == "id" or name in self.fields.keywords
        return self.fields.paths[name] + (self._settings.keyword_suffix if is_keyword else "")

    def _condition(self, condition: Condition) -> dict[str, Any]:
        path, is_date = self._path(condition.field), condition.field in self.fields.dates
        if condition.values:
            return {"terms": {path: list(condition.values)}}
        # ||/d rounds a bound to the whole day
        spans = [
            {"range": {path: {bound: f"{value}||/d" if is_date else value for bound, value in span.items()}}}
            for span in condition.spans
        ]
        return spans[0] if len(spans) == 1 else {"bool": {"should": spans, "minimum_should_match": 1}}

    def _words(self, text: str) -> list[dict[str, Any]]:
        fields = list(self.fields.text)
        multi_match = {"query": text, "fields": fields, "type": "cross_fields", "operator": "and"}
        return [{"multi_match": multi_match}] if text.strip() else []

    def _distinct(self) -> dict[str, Any]:
        return {"cardinality": {"field": self._path("id"), "precision_threshold": _MOST_EXACT}}

    def _aggregation(self, levels: Sequence[Level], query: Query, order: Sequence[Any], samples: int) -> dict[str, Any]:
        """The aggregation of the first level, with those of the others nested in it."""
        level, *inner = levels
        nested: dict[str, Any] = {_IDS: self._distinct()}
        if inner:
            nested["below"] = self._aggregation(inner, query, order, samples)
        elif samples:
            nested["samples"] = {"top_hits": {"size": samples, "sort": order}}
        if level.interval:
            periods = {"calendar_interval": level.interval, "format": _FORMATS[level.interval], "min_doc_count": 1}
            return {"date_histogram": {"field": self._path(level.field), **periods}, "aggs": nested}
        top = query.call.top_n if level is query.group_by[0] else query.call.top_n_per_group
        ranking = {"size": top, "order": [{_IDS: "desc"}, {"_key": "asc"}]}
        return {"terms": {"field": self._path(level.field), **ranking}, "aggs": nested}

    def _buckets(self, aggregation: Mapping[str, Any] | None, levels: Sequence[Level]) -> list[Bucket]:
        if aggregation is None:
            return []
        return [
            Bucket(
                key=bucket["key_as_string"] if levels[0].interval else bucket["key"],
                count=bucket[_IDS]["value"],
                doc_count=bucket["doc_count"],
                samples=tuple(
                    answer_document(hit["_source"], self.fields)
                    for hit in bucket.get("samples", {}).get("hits", {}).get("hits", ())
                ),
                buckets=tuple(self._buckets(bucket.get("below"), levels[1:])),
            )
            for bucket in aggregation["buckets"]
        ]
