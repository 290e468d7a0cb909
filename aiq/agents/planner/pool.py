"""A pool of the web pages that one research has found, with the paging and grouping of a data tool.

If none of a question's tools pages through documents, the pool sits between the planner and the search tools: a query
adds what they find, and a scan reads all of it page by page, opening each web page. So "documents fetched" means the
same as with a collection behind an MCP server.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, JsonValue

from aiq.agents.planner.settings import PAGE_LIMIT, PoolSettings
from aiq.agents.toolkit.subagents import gather_ordered
from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.events import call_path
from aiq.core.session import current
from aiq.core.sources import CallPath, Source
from aiq.core.tools import FETCH, Tool, ToolResult


class PoolArguments(BaseModel):
    query: str = Field(
        "", description="what to search for, in a few words or a short question; its results join the pool"
    )
    filters: dict[str, str] = Field({}, description="values of the fields domain, year or source_type")
    group_by: str = Field("domain", description="domain, year or source_type: how many documents there are of each")
    page_size: int = Field(1, description=f"documents of this page, 1 to {PAGE_LIMIT}")
    search_after: str = Field("", description="where the page before ended, as that page said")


class Pool:
    """A tool of one research. A call sees what earlier iterations found, and the results of its own query.

    So its result does not depend on which of several concurrent calls ends first.
    """

    name = "search_pool"
    description = (
        "Search for documents and keep them in a pool. Returns how many documents the pool holds, how many of them "
        "each domain, year or source type has, and one page of them. Call it once for each thing to look up."
    )
    parameters: type[BaseModel] = PoolArguments
    data_source: str | None = "pool"

    def __init__(self, settings: PoolSettings, at_once: int, tools: Sequence[Tool]) -> None:
        self._settings, self._at_once = settings, at_once
        self._searches = {tool.name: tool.data_source for tool in tools if "query" in tool.parameters.model_fields}
        self._opens_pages = settings.open_pages and any(tool.name == FETCH for tool in tools)
        self._queries: dict[str, CallPath] = {}
        self._results: dict[str, tuple[Source, ...]] = {}
        self._pooled: dict[str, Source] = {}
        self._texts: dict[str, str] = {}

    async def grow(self, queries: Sequence[str]) -> int:
        """End an iteration: add what it found, and the results of these queries (none if a query fails).

        Returns the number of documents now in the pool.
        """
        room = max(0, self._settings.max_queries - len(self._queries))
        new_queries = [query for query in dict.fromkeys(queries) if query not in self._queries][:room]

        async def search(query: str) -> None:
            with suppress(ToolError):
                await self._search(query)

        await gather_ordered([partial(search, query) for query in new_queries], self._at_once, 0)
        for query in sorted(self._results, key=lambda query: self._queries[query]):
            for source in self._results[query]:
                self._pooled.setdefault(source.address, source)
        return min(len(self._pooled), self._settings.max_documents)

    async def run(self, args: Any) -> ToolResult:
        """Counts and a page of documents, as JSON. Raises ToolError if the search fails."""
        if args.query.strip() and args.query not in self._queries and len(self._queries) < self._settings.max_queries:
            await self._search(args.query)
        results = {source.address: source for source in self._results.get(args.query, ())}
        rows = [self._row(source) for source in [*{**self._pooled, **results}.values()][: self._settings.max_documents]]
        rows = [row for row in rows if all(row["metadata"].get(k) == v for k, v in args.filters.items())]
        start = _offset(args.search_after)
        end = start + max(1, min(args.page_size, PAGE_LIMIT))
        answer: dict[str, Any] = {
            "data_context": {"unique_ids_matched": len(rows)},
            "aggregations": {"group_by": {"buckets": _buckets(rows, args.group_by)}},
            "documents": await self._with_texts(rows[start:end]),
            "pagination": {
                "total_hits": len(rows),
                "page_size": end - start,
                "has_more": end < len(rows),
                "search_after": json.dumps([str(end)]),
            },
        }
        return ToolResult(content=json.dumps(answer, ensure_ascii=False))

    async def _search(self, query: str) -> None:
        """Ask every search tool. Raises the last ToolError if none has found anything."""
        self._queries[query] = call_path.get()
        sources: list[Source] = []
        failure: ToolError | None = None
        for name in self._searches:
            try:
                sources += (await current().call_tool(name, {"query": query})).sources
            except ToolError as error:
                failure = error
        self._results[query] = tuple(sources)
        if failure and not sources:
            raise failure

    def _row(self, source: Source) -> dict[str, Any]:
        host = urlsplit(source.url or "").hostname or "documents"
        year = (source.published or "")[:4] or "unknown"
        source_type = self._searches.get(source.tool) or "web"
        metadata = {"domain": host, "year": year, "source_type": source_type}
        text = self._texts.get(source.address, source.text)
        return {
            "id": source.address,
            "title": source.title,
            "url": source.address,
            "date": source.published,
            "text": text,
            "metadata": metadata,
        }

    async def _with_texts(self, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The rows with the texts of their pages; one that cannot be opened keeps the search result's text."""

        async def open_page(row: dict[str, Any]) -> None:
            with suppress(ToolError):
                result = await current().call_tool(FETCH, {"url": row["url"]})
                text = next((source.text for source in result.sources), "")[: self._settings.document_chars]
                self._texts[row["id"]] = text or row["text"]

        web_rows = [row for row in rows if row["url"].startswith(("https://", "http://"))]
        unopened = [row for row in web_rows if self._opens_pages and row["id"] not in self._texts]
        await gather_ordered([partial(open_page, row) for row in unopened], self._at_once, 0)
        return [row | {"text": self._texts.get(row["id"], row["text"])} for row in rows]


def _offset(search_after: str) -> int:
    """Where the previous page ended. Raises ToolError (invalid_arguments) for a value that no page returns."""
    if not search_after:
        return 0
    if match := re.fullmatch(r'\[?"?(\d+)"?\]?', search_after.strip()):
        return int(match[1])
    message = f"search_pool: search_after is what the page before said, not {search_after[:40]}"
    raise ToolError(ToolErrorKind.INVALID_ARGUMENTS, message)


def _buckets(rows: Sequence[Mapping[str, Any]], field: str) -> list[dict[str, JsonValue]]:
    """The number of documents with each value of a field, most frequent first, then by value."""
    counts = Counter(str(row["metadata"].get(field, "unknown")) for row in rows)
    return [{"key": key, "count": count} for key, count in sorted(counts.items(), key=lambda kv: (-kv[1], kv[0]))]
