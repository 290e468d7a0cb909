"""The pool of web pages: searches add to it, scans page through it, each page opened once."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import BaseModel

from aiq.agents.planner.pool import Pool, PoolArguments
from aiq.agents.planner.settings import PlannerSettings, PoolSettings
from aiq.agents.planner.tools import DataTools
from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.events import Decision
from aiq.core.session import nested_call
from aiq.core.sources import Source
from aiq.core.tools import Toolbox, ToolResult
from tests.agents.conftest import QueryArguments, on_bench
from tests.agents.planner.conftest import EventsTool, plan, planned, roles
from tests.settings import configured


@dataclass
class Search:
    """Finds the test's pages for each word of a query."""

    pages: dict[str, list[Source]]
    name: str = "web_search_tool"
    description: str = "Searches the web."
    parameters: type[BaseModel] = QueryArguments
    data_source: str | None = "web"
    queries: list[str] = field(default_factory=list)

    async def run(self, arguments: Any) -> ToolResult:
        self.queries.append(arguments.query)
        if arguments.query == "broken":
            raise ToolError(ToolErrorKind.HTTP, "HTTP 400")
        sources = self.pages.get(arguments.query, [])
        return ToolResult(content="\n".join(source.title for source in sources) or "nothing", sources=tuple(sources))


class UrlArguments(BaseModel):
    url: str


@dataclass
class Fetch:
    name: str = "fetch_page"
    description: str = "Opens a page."
    parameters: type[BaseModel] = UrlArguments
    data_source: str | None = "web"
    urls: list[str] = field(default_factory=list)

    async def run(self, arguments: UrlArguments) -> ToolResult:
        self.urls.append(arguments.url)
        if "closed" in arguments.url:
            raise ToolError(ToolErrorKind.NOT_FOUND, "no such page")
        text = f"All of {arguments.url}."
        return ToolResult(content=text, sources=(Source(url=arguments.url, text=text),))


def source(path: str, host: str = "a.test", published: str | None = "2024-03-01") -> Source:
    return Source(
        url=f"https://{host}/{path}",
        title=path,
        text=f"Snippet of {path}.",
        published=published,
        tool="web_search_tool",
    )


AB, BC = [source("a"), source("b", published=None)], [source("b"), source("c", "b.test", "2023-01-01")]


async def asked(pool: Pool, **arguments: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads((await pool.run(PoolArguments(**arguments))).content)
    return answer


def made(search: Search, fetch: Fetch | None, **settings: Any) -> tuple[Pool, Toolbox]:
    tools: Sequence[Any] = [search, *([fetch] if fetch else [])]
    return Pool(configured(PoolSettings, **settings), 5, tools), Toolbox(tools)


async def test_a_query_adds_to_the_pool_and_counts() -> None:
    search = Search({"x": AB, "y": BC})
    pool, tools = made(search, None)
    async with on_bench(roles([{}]), tools=tools) as bench:
        answer = await asked(pool, query="x")
        assert answer["data_context"] == {"unique_ids_matched": 2}
        assert [row["title"] for row in answer["documents"]] == ["a"]
        assert answer["pagination"] == {"total_hits": 2, "page_size": 1, "has_more": True, "search_after": '["1"]'}
        assert await pool.grow(["y", "x"]) == 3
        assert search.queries == ["x", "y"]
        grouped = {
            key: (await asked(pool, group_by=key))["aggregations"]["group_by"]["buckets"] for key in ("domain", "year")
        }
        assert grouped["domain"] == [{"key": "a.test", "count": 2}, {"key": "b.test", "count": 1}]
        assert grouped["year"] == [
            {"key": "2023", "count": 1},
            {"key": "2024", "count": 1},
            {"key": "unknown", "count": 1},
        ]
        assert (await asked(pool, filters={"domain": "b.test"}))["data_context"]["unique_ids_matched"] == 1
        assert [s.url for s in bench.session.sources.all()] == [s.url for s in [*AB, BC[1]]]


async def test_pages_are_consecutive_and_opened_once() -> None:
    fetch = Fetch()
    pool, tools = made(Search({"x": [*AB, source("closed")]}), fetch)
    async with on_bench(roles([{}]), tools=tools):
        await pool.grow(["x"])
        first = await asked(pool, page_size=2)
        second = await asked(pool, page_size=2, search_after=first["pagination"]["search_after"])
        assert not second["pagination"]["has_more"]
        texts = [row["text"] for row in [*first["documents"], *second["documents"]]]
        assert texts == ["All of https://a.test/a.", "All of https://a.test/b.", "Snippet of closed."]
        await asked(pool, page_size=2)
        assert fetch.urls.count("https://a.test/a") == 1


@pytest.mark.parametrize(
    ("settings", "text"), [({"open_pages": False}, "Snippet of a."), ({"document_chars": 6}, "All of")]
)
async def test_whether_and_how_much_of_a_page_is_opened(settings: Any, text: str) -> None:
    pool, tools = made(Search({"x": AB}), Fetch(), **settings)
    async with on_bench(roles([{}]), tools=tools):
        assert (await asked(pool, query="x"))["documents"][0]["text"] == text


async def test_a_pool_has_ceilings() -> None:
    many = [source(str(n)) for n in range(9)]
    search = Search({"x": many, "y": BC})
    pool, tools = made(search, None, max_documents=4, max_queries=1)
    async with on_bench(roles([{}]), tools=tools):
        assert await pool.grow(["x", "y"]) == 4
        assert (await asked(pool, query="y"))["data_context"]["unique_ids_matched"] == 4
        assert search.queries == ["x"]


async def test_a_call_sees_its_own_query_but_no_other_of_the_same_iteration() -> None:
    pool, tools = made(Search({"x": AB, "y": BC}), None)
    async with on_bench(roles([{}]), tools=tools):
        with nested_call(0, 1, None):
            await asked(pool, query="y")
        with nested_call(0, 0, None):
            assert (await asked(pool, query="x"))["data_context"]["unique_ids_matched"] == 2
        assert await pool.grow([]) == 3
        ids = [row["title"] for row in (await asked(pool, page_size=9))["documents"]]
        assert ids == ["a", "b", "c"]  # in the order of the calls, whichever was answered first


async def test_a_failing_search_is_a_failed_call_but_does_not_stop_growing() -> None:
    pool, tools = made(Search({"x": AB}), None)
    async with on_bench(roles([{}]), tools=tools):
        with pytest.raises(ToolError):
            await asked(pool, query="broken")
        assert await pool.grow(["broken", "x"]) == 2
        with pytest.raises(ToolError) as raised:
            await asked(pool, search_after="page two")
        assert raised.value.kind is ToolErrorKind.INVALID_ARGUMENTS


async def test_a_pool_replaces_tools_that_do_not_page() -> None:
    settings = configured(PlannerSettings)
    search, events = Search({}), EventsTool()
    async with on_bench(roles([{}]), tools=Toolbox([search, Fetch(), events])):
        assert DataTools.discover(settings, ["web"]).names == ("search_pool",)
        assert DataTools.discover(settings, ["web", "events"]).pool is None
        assert DataTools.discover(settings, ["events"]).names == ("analyze_events",)
        assert DataTools.discover(settings, []).names == ()


async def test_a_research_over_the_web_reads_what_sub_questions_and_gaps_find() -> None:
    results = {"India events by theme": AB, "What are the main event themes in India?": BC, "Fintech": [source("d")]}
    search, fetch = Search(results), Fetch()
    gap = {
        "gaps": [
            {"gap_description": "Nothing on Fintech", "importance": "high", "suggested_params": {"query": "Fintech"}}
        ]
    }
    plans = [
        plan("decomposer", tools=[("search_pool", {"query": "India events by theme"})]),
        plan(("scanner", {}), ("gap_analyzer", {}, [0])),
        plan("scanner"),
    ]
    async with planned(roles(plans, gap_analyzer=gap), search, fetch, confidence=1.0) as (report, bench):
        assert search.queries[0] == "India events by theme"
        assert search.queries[-1] == "Fintech"
        assert report.extras["documents"] == report.extras["total_documents"] == 4
        causes = [event.cause for event in bench.logged(Decision) if event.name == "completion"]
        assert causes[0] == "confidence 0.40, 1 of 3 documents"
        assert causes[-1] == "all documents fetched: 4 of 4"
        assert sorted(fetch.urls) == sorted({str(s.url) for pages in results.values() for s in pages})
