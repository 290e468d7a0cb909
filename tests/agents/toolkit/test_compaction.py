"""Compaction of old tool results: bounded, deterministic, and only in what the model sees."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from pydantic import BaseModel

from aiq.agents.ai_q.settings import ShallowSettings
from aiq.agents.ai_q.shallow import ShallowResearcher
from aiq.agents.ai_q.states import ShallowResearchAgentState
from aiq.agents.toolkit.compaction import MARK, CompactionSettings, compacted
from aiq.core.events import Decision, ToolReturned
from aiq.core.sources import Source
from aiq.core.tools import ToolResult
from aiq.offline.chat import ChatReply, ChatRequest, call
from aiq.tools.blocks import document
from tests.agents.conftest import PROMPTS

LONG = "A sentence about farms. " * 60


class Query(BaseModel):
    query: str


class LongSearch:
    """Pages of 1,500 characters, one a query."""

    name = "web_search_tool"
    description = "Searches the web."
    parameters: type[BaseModel] = Query
    data_source: str | None = "web"

    async def run(self, arguments: Any) -> ToolResult:
        url = f"https://pages.test/{arguments.query}"
        return ToolResult(
            content=document(url, arguments.query, LONG), sources=(Source(url=url, title=arguments.query, text=LONG),)
        )


def chain(count: int) -> list[AnyMessage]:
    """A question and `count` calls with a long result each."""
    messages: list[AnyMessage] = [HumanMessage("Who is the mayor?")]
    for n in range(count):
        asked = {"name": "web_search_tool", "args": {"query": f"query {n}"}, "id": f"c{n}"}
        messages += [
            AIMessage("", tool_calls=[asked]),
            ToolMessage(document(f"https://p.test/{n}", "T", LONG), tool_call_id=f"c{n}"),
        ]
    return messages


def sizes(messages: list[AnyMessage]) -> list[int]:
    return [len(str(m.content)) for m in messages if isinstance(m, ToolMessage)]


async def shown(on_bench: Any, messages: list[AnyMessage], **settings: Any) -> list[AnyMessage]:
    async with on_bench(lambda request: ChatReply(text="x")):
        return compacted(messages, CompactionSettings(**settings))


async def test_oldest_first_until_the_window_fits(on_bench: Any) -> None:
    messages = chain(6)
    whole = sizes(messages)[0]
    seen = await shown(on_bench, messages, max_chars=5 * whole, keep_last=2, extract_chars=300)
    assert [size <= 300 for size in sizes(seen)] == [True, True, False, False, False, False]
    assert [m.tool_call_id for m in seen if isinstance(m, ToolMessage)] == [f"c{n}" for n in range(6)]
    assert sizes(messages) == [whole] * 6  # the state's own messages are untouched


@pytest.mark.parametrize(
    ("settings", "short"),
    [
        pytest.param({"enabled": False, "max_chars": 1}, 0, id="enabled-false"),
        pytest.param({"max_chars": 10**6}, 0, id="max_chars-not-reached"),
        pytest.param({"max_chars": 1, "keep_last": 3}, 3, id="keep_last"),
        pytest.param({"max_chars": 1, "keep_last": 9}, 0, id="keep_last-of-all"),
        pytest.param({"max_chars": 1, "keep_last": 0}, 6, id="keep_last-none"),
    ],
)
async def test_settings(on_bench: Any, settings: dict[str, Any], short: int) -> None:
    seen = await shown(on_bench, chain(6), extract_chars=300, **settings)
    assert sum(size <= 300 for size in sizes(seen)) == short


async def test_a_long_chain_stays_bounded_and_nothing_is_lost_elsewhere(on_bench: Any) -> None:
    def script(request: ChatRequest) -> ChatReply:
        turn = sum(message.role == "assistant" for message in request.messages)
        return (
            ChatReply(tool_calls=(call("web_search_tool", query=f"q{turn}"),))
            if request.tools
            else ChatReply(text="A [1].")
        )

    settings = ShallowSettings(
        max_tool_iterations=12,
        max_llm_turns=20,
        compaction=CompactionSettings(max_chars=4000, keep_last=2, extract_chars=200),
    )
    async with on_bench(script, search=LongSearch()) as bench:
        state = ShallowResearchAgentState(messages=[HumanMessage("Who?")])
        found = await ShallowResearcher(settings, PROMPTS).run(state)
    windows = [sum(len(m.text) for m in r.messages if m.role == "tool") for r in bench.endpoint.requests]
    assert max(windows) <= max(4000, 2 * 1600 + 10 * 200)
    last = bench.endpoint.requests[-1]
    results = [m.text for m in last.messages if m.role == "tool"]
    assert all(f'<Document href="https://pages.test/q{n}">' in text for n, text in enumerate(results))
    assert [MARK in text for text in results] == [True] * 10 + [False] * 2
    assert all(len(event.content) > 1400 for event in bench.logged(ToolReturned))
    assert all(source.text == LONG for source in bench.session.sources.all())
    assert len(bench.session.sources.all()) == 12
    assert all(MARK not in str(message.content) for message in found.messages)
    notes = [event for event in bench.logged(Decision) if event.name == "compaction"]
    assert notes[-1].value == 10
    assert notes[-1].detail["characters_after"] == windows[-1] < notes[-1].detail["characters_before"]
