"""What a session does with tool calls and time; its model calls are tested with the transport."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import BaseModel

from aiq.core.errors import LimitReached, ToolError, ToolErrorKind
from aiq.core.events import Event, EventLog, ToolCalled, ToolReturned
from aiq.core.session import Session, current, nested_call
from aiq.core.sources import Source
from aiq.core.tools import Toolbox, ToolResult
from aiq.core.usage import Limits
from tests.sessions import make_session
from tests.settings import configured


class Arguments(BaseModel):
    query: str
    seconds: float = 0.0


class Lookup:
    """Finds two pages about anything, after the time it is asked to take."""

    name = "lookup"
    description = "Look something up."
    parameters: type[BaseModel] = Arguments
    data_source: str | None = "web"

    async def run(self, arguments: BaseModel) -> ToolResult:
        request = Arguments.model_validate(arguments)
        await asyncio.sleep(request.seconds)
        if request.query == "nothing":
            raise ToolError(ToolErrorKind.NOT_AVAILABLE, "there is nothing at https://a.example/gone")
        if request.query == "bug":
            raise KeyError("of the tool's own")
        if request.query == "empty":
            return ToolResult(content="none; see https://a.example/help")
        urls = [f"https://a.example/{request.query}/{n}" for n in (1, 2)]
        text = "It links to https://b.example/linked."
        return ToolResult(content="found", sources=tuple(Source(url=url, text=text) for url in urls))


def session(events: list[Event], **limits: Any) -> Session:
    return make_session(tools=Toolbox([Lookup()]), limits=configured(Limits, **limits), events=EventLog(events.append))


def urls(found: Sequence[Source]) -> list[str]:
    return [(source.url or "").removeprefix("https://a.example/") for source in found]


async def test_sources_are_in_call_order_whichever_call_returns_first() -> None:
    attempt = session([])

    async def call(turn: int, index: int, query: str, seconds: float) -> None:
        with nested_call(turn, index, None):
            await attempt.call_tool("lookup", {"query": query, "seconds": seconds})

    await asyncio.gather(call(1, 0, "c", 0), call(0, 1, "b", 0.01), call(0, 0, "a", 0.03))
    assert urls(attempt.sources.all()) == ["a/1", "a/2", "b/1", "b/2", "c/1", "c/2"]


async def test_calls_at_the_same_position_are_in_the_order_they_started() -> None:
    attempt = session([])
    for turn, queries in ((2, "zy"), (1, "xw")):
        with nested_call(turn, 0, None):
            for query in queries:
                await attempt.call_tool("lookup", {"query": query})
    assert urls(attempt.sources.all()) == ["x/1", "x/2", "w/1", "w/2", "z/1", "z/2", "y/1", "y/2"]


async def test_calls_are_logged_with_their_outcome_and_failed_ones_add_no_source() -> None:
    events: list[Event] = []
    attempt = session(events)
    await attempt.call_tool("lookup", {"query": "a\ud83d"}, "id-1")
    failing: tuple[tuple[str, dict[str, Any]], ...] = (
        ("lookup", {"query": "nothing"}),
        ("lookup", {"words": 1}),
        ("absent", {}),
        ("lookup", {"query": "bug"}),
    )
    for name, arguments in failing:
        with pytest.raises(ToolError):
            await attempt.call_tool(name, arguments)
    returned = [event for event in events if isinstance(event, ToolReturned)]
    assert [event.call_id for event in returned] == ["id-1", "call-1", "call-2", "call-3", "call-4"]
    assert [event.error for event in returned] == [
        None,
        ToolErrorKind.NOT_AVAILABLE,
        ToolErrorKind.INVALID_ARGUMENTS,
        ToolErrorKind.UNKNOWN_TOOL,
        ToolErrorKind.FAILED,
    ]
    assert returned[-1].content == """lookup: KeyError: "of the tool's own\""""
    assert [event.traceback is None for event in returned] == [True, True, True, True, False]
    assert f"{__file__}" in (returned[-1].traceback or "")
    assert isinstance(events[0], ToolCalled)
    assert events[0].arguments == {"query": "a\ufffd"}  # half a surrogate pair cannot be logged
    assert urls(attempt.sources.all()) == ["a\ufffd/1", "a\ufffd/2"]
    assert {source.call_id for source in attempt.sources.all()} == {"id-1"}


async def test_arguments_may_be_the_json_that_the_model_wrote() -> None:
    events: list[Event] = []
    attempt = session(events)
    await attempt.call_tool("lookup", '{"query": "a"}', "id-1")
    deep = '{"a":' * 300 + "1" + "}" * 300
    for arguments in ('{"query": "a', "[1]", "", deep, json.loads(deep)):
        with pytest.raises(ToolError, match=r"^lookup: (arguments are no JSON object: |query: )"):
            await attempt.call_tool("lookup", arguments)
    with pytest.raises(ToolError, match="query: must be set"):
        await attempt.call_tool("lookup", '{"seconds": NaN, "of": [Infinity]}')
    *logged, odd = [event.arguments for event in events if isinstance(event, ToolCalled)]
    assert logged == [{"query": "a"}, *[{}] * 5]
    assert str(odd["seconds"]) == "nan", "whatever models write is logged"
    returned = [event.error for event in events if isinstance(event, ToolReturned)]
    assert returned == [None, *[ToolErrorKind.INVALID_ARGUMENTS] * 6]


async def test_sources_of_calls_without_a_position_are_in_call_order() -> None:
    attempt = session([])
    await attempt.call_tool("lookup", {"query": "z"})
    await asyncio.gather(*(attempt.call_tool("lookup", {"query": query}) for query in ("y", "x")))
    assert urls(attempt.sources.all()) == ["z/1", "z/2", "y/1", "y/2", "x/1", "x/2"]


async def test_urls_only_mentioned_or_echoed_are_not_retrieved_sources() -> None:
    attempt = session([])
    await attempt.call_tool("lookup", {"query": "https://c.example/asked"}, "id-1")
    await attempt.call_tool("lookup", {"query": "empty"})
    with pytest.raises(ToolError):
        await attempt.call_tool("lookup", {"query": "nothing"})
    kinds = {source.url: (source.kind, source.call_id) for source in attempt.sources.known()}
    assert kinds == {
        "https://a.example/https://c.example/asked/1": ("retrieved", "id-1"),
        "https://a.example/https://c.example/asked/2": ("retrieved", "id-1"),
        "https://b.example/linked": ("mentioned", "id-1"),
        "https://c.example/asked": ("echoed", "id-1"),
        "https://a.example/help": ("echoed", "call-1"),
        "https://a.example/gone": ("echoed", "call-2"),
    }
    assert {source.kind for source in attempt.sources.all()} == {"retrieved"}
    assert all(source.digest for source in attempt.sources.all())


async def test_exceeding_the_sample_time_is_a_limit_and_other_timeouts_are_not() -> None:
    with pytest.raises(LimitReached, match=r"limits\.sample_seconds=0\.01"):
        await session([], sample_seconds=0.01).within_time(asyncio.sleep(5))

    async def late() -> None:
        raise TimeoutError("of something else")

    with pytest.raises(TimeoutError, match="something else"):
        await session([], sample_seconds=5).within_time(late())


async def test_a_bound_session_is_visible_only_to_tasks_started_within_it() -> None:
    async def current_session() -> Session:
        return current()

    outer, inner = session([]), session([])
    with outer.bind():
        task = asyncio.create_task(current_session())
        with inner.bind():
            assert await asyncio.create_task(current_session()) is inner
        assert current() is outer
        assert await task is outer
    with pytest.raises(RuntimeError, match="no session is bound"):
        current()
