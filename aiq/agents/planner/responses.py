"""Parsing results of data tools: documents, totals, pages and buckets, in any of the shapes that servers use."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, Literal

from pydantic import JsonValue

from aiq.agents.planner.settings import FieldSettings
from aiq.agents.planner.state import AggregationResult, Arguments, DataDocument
from aiq.core.base import Record
from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.text import json_value
from aiq.core.tools import ToolResult

_NOTE = 4000  # characters
_NOT_FILTERS = re.compile(r"group|histogram|top_n|samples|page|size|offset|search_after|pit_id")
"""Arguments that say how to group and page, not which documents to select."""
_CUT_MARK = re.compile(r"\[cut: the first \d+ of \d+ characters\]\s*\Z")
_TYPES: Mapping[str, Literal["terms", "date_histogram", "numeric_histogram", "stats"]] = {
    "date": "date_histogram",
    "month": "date_histogram",
    "numeric": "numeric_histogram",
    "stats": "stats",
}
"""The type of an aggregation, by a word in its name; otherwise it is `terms`."""


class DataPage(Record):
    """One answer of a data tool. `total`: the number of distinct matching documents, None if unknown; `following`:
    arguments to add to get the next page, None if there is none; `note`: the beginning of an answer with neither
    documents nor counts."""

    documents: tuple[DataDocument, ...] = ()
    total: int | None = None
    following: Arguments | None = None
    aggregations: tuple[AggregationResult, ...] = ()
    note: str = ""

    @property
    def size(self) -> int:
        """The number of matching documents, as far as known."""
        return len(self.documents) if self.total is None else self.total


class ResponseReader:
    """Parses the answers of any tool; config names the documents' fields."""

    def __init__(self, fields: FieldSettings) -> None:
        self._fields = fields

    def read(self, tool: str, result: ToolResult, arguments: Mapping[str, Any], page: int = 0) -> DataPage:
        """The answer to a call. `page`: the page of a scan, used to name documents without an id.

        If the text is not JSON, the documents are the sources that the tool declares. Raises ToolError (too_large) for
        JSON that was cut off.
        """
        data = _data(result.content)
        if data is None:
            if _CUT_MARK.search(result.content) and result.content.lstrip()[:1] in "{[":
                raise ToolError(ToolErrorKind.TOO_LARGE, f"{tool}: the result is cut off; ask for a smaller page")
            return self._page_of_sources(tool, result)
        rows = _rows(data)
        documents = {d.key: d for d in (self._document(tool, row, n, page) for n, row in enumerate(rows))}
        aggregations = tuple(self._aggregations(tool, data, arguments))
        answer = DataPage(documents=tuple(documents.values()), total=_total(data), following=_following(data))
        groupings = tuple(aggregation.model_copy(update={"total_docs": answer.size}) for aggregation in aggregations)
        has_data = rows or groupings or answer.total is not None
        return answer.model_copy(update={"aggregations": groupings, "note": "" if has_data else result.content[:_NOTE]})

    def _page_of_sources(self, tool: str, result: ToolResult) -> DataPage:
        documents = {
            source.address: DataDocument(
                key=f"{tool}:{source.address}",
                title=source.title,
                url=source.address,
                date=source.published or "",
                text=source.text,
            )
            for source in result.sources
        }
        return DataPage(documents=tuple(documents.values()), note="" if documents else result.content[:_NOTE])

    def _document(self, tool: str, row: Mapping[str, Any], number: int, page: int) -> DataDocument:
        """A row as a document; other fields of the row are appended to its text."""
        row = {**row, **row["_source"]} if isinstance(row.get("_source"), Mapping) else row
        parts = {part: self._first(row, getattr(self._fields, part)) for part in ("id", "title", "url", "date", "text")}
        values = {name: value for name, (field, value) in parts.items() if field}
        used = {name for name, _ in parts.values()}
        others = [
            f"{name}: {value}"
            for name, value in row.items()
            if name not in used and isinstance(value, str | int | float) and value != values.get("id")
        ]
        text = "\n".join(filter(None, [values.get("text", "").rstrip(), "; ".join(others)]))
        key = values.get("id") or values.get("url") or f"doc_{page}_{number}"
        details = {name: values.get(name, "") for name in ("title", "url", "date")}
        return DataDocument(key=f"{tool}:{key}", text=text, **details)

    def _first(self, row: Mapping[str, Any], names: Sequence[str]) -> tuple[str, str]:
        """The first of these fields that the row has, and its value; empty if it has none."""
        return next(((name, str(row[name])) for name in names if row.get(name) not in (None, "")), ("", ""))

    def _aggregations(
        self, tool: str, data: Mapping[str, Any], arguments: Mapping[str, Any]
    ) -> Iterator[AggregationResult]:
        """Groupings with buckets; if they name no field, it is the one that the call grouped by."""
        filters = {key: _json(value) or value for key, value in arguments.items() if not _NOT_FILTERS.search(key)}
        for name, group in _groupings(data):
            kind = next((kind for word, kind in _TYPES.items() if word in name), "terms")
            grouped_by = arguments.get("group_by" if kind == "terms" else "date_histogram") or name
            field = str(group.get("field") or _object(_json(grouped_by)).get("field") or grouped_by)
            buckets = tuple(_bucket(bucket) for bucket in group["buckets"] if isinstance(bucket, Mapping))
            yield AggregationResult(aggregation_type=kind, field=field, buckets=buckets, of=filters, source_tool=tool)


def merge_documents(known: Sequence[DataDocument], new: Sequence[DataDocument]) -> tuple[DataDocument, ...]:
    """All documents without duplicates, in order of arrival; one that was read in either counts as read."""
    by_key = {document.key: document for document in known}
    for document in new:
        earlier = by_key.get(document.key)
        by_key[document.key] = document.model_copy(
            update={"read": document.read or (earlier is not None and earlier.read)}
        )
    return tuple(by_key.values())


def _data(content: str) -> dict[str, Any] | None:
    """The JSON object that a result is, or that follows other text in it; None if there is none."""
    value = _json(content)
    if value is None and (opening := re.search(r"(?m)^\{", content)):
        value = _json(content[opening.start() :])
    if isinstance(value, list):
        return {"results": value}
    return value if isinstance(value, dict) else None


def _json(text: Any) -> Any:
    try:
        return json_value(text)
    except (TypeError, ValueError):
        return None


def _object(value: Any) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def _rows(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of `documents`, `results`, samples of buckets, or `hits.hits`: the first of these with any."""
    samples = [row for _, group in _groupings(data) for bucket in _walk(group["buckets"]) for row in _samples(bucket)]
    values = (
        data.get("documents"),
        data.get("results"),
        samples,
        _object(data.get("hits")).get("hits"),
    )
    rows = ([row for row in value if isinstance(row, dict)] for value in values if isinstance(value, list))
    return next(filter(None, rows), [])


def _groupings(data: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Aggregations with their names; a top-level list of buckets is called `group_by`."""
    for name, group in _object(data.get("aggregations")).items():
        group = {"buckets": group} if isinstance(group, list) else group
        if isinstance(group, Mapping) and isinstance(group.get("buckets"), list):
            yield str(name), group
    if isinstance(data.get("buckets"), list):
        yield "group_by", {"buckets": data["buckets"]}


def _walk(buckets: Sequence[Any]) -> Iterator[Mapping[str, Any]]:
    """Buckets and the buckets within them."""
    for bucket in buckets:
        if isinstance(bucket, Mapping):
            yield bucket
            for inner in bucket.values():
                nested = inner.get("buckets") if isinstance(inner, Mapping) else inner
                if inner is not bucket.get("samples") and isinstance(nested, list):
                    yield from _walk(nested)


def _samples(bucket: Mapping[str, Any]) -> list[Any]:
    samples = bucket.get("samples")
    return samples if isinstance(samples, list) else []


def _bucket(bucket: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Key, count and other numbers of a bucket. `count` is of distinct documents and preferred to `doc_count`."""
    key = bucket.get("key_as_string") or bucket.get("key")
    key = (
        " / ".join(map(str, key.values() if isinstance(key, Mapping) else key)) if isinstance(key, list | dict) else key
    )
    count = bucket.get("count", bucket.get("doc_count"))
    numbers = {name: value for name, value in bucket.items() if isinstance(value, int | float) and "count" not in name}
    is_number = isinstance(count, int) or (isinstance(count, float) and isfinite(count))
    return {**numbers, "key": str(key), "count": int(count) if is_number else 0}


def _total(data: Mapping[str, Any]) -> int | None:
    """The number of distinct matching documents, from the most reliable field that the server has."""
    context, hits, pagination = (_object(data.get(name)) for name in ("data_context", "hits", "pagination"))
    total = hits.get("total")
    candidates = (
        context.get("unique_ids_matched"),
        context.get("documents_matched"),
        total.get("value") if isinstance(total, Mapping) else total,
        pagination.get("total_hits"),
    )
    return next((value for value in candidates if isinstance(value, int) and not isinstance(value, bool)), None)


def _following(data: Mapping[str, Any]) -> Arguments | None:
    """`search_after` as JSON text, and the point in time, if the server says that there are more pages."""
    pagination = _object(data.get("pagination"))
    cursor = pagination.get("search_after")
    if not pagination.get("has_more") or cursor is None:
        return None
    point = {"pit_id": pagination["pit_id"]} if pagination.get("pit_id") else {}
    return {"search_after": cursor if isinstance(cursor, str) else json.dumps(cursor), **point}
