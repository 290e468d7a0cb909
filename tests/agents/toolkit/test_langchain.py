"""LangGraph's tool calls go through the session: logged under the model's ids, ordered, typed errors as text."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph import START, StateGraph
from pydantic import BaseModel, Field

from aiq.agents.toolkit.conversation import ConversationState
from aiq.agents.toolkit.langchain import as_langchain, normalise_reply, tool_node
from aiq.core.errors import LimitReached, ToolError, ToolErrorKind
from aiq.core.events import Event, EventLog, Recovery, ToolCalled, ToolReturned
from aiq.core.session import Session
from aiq.core.sources import Source
from aiq.core.tools import Toolbox, ToolResult
from tests.sessions import make_session


class Wait(BaseModel):
    """How long to think, and what to find."""

    page: str = Field(description="the page to bring")
    seconds: float = 0.0


class SlowPages:
    """Returns a page after a while; two page names make it fail."""

    name = "pages"
    description = "Brings a page."
    parameters: type[BaseModel] = Wait
    data_source: str | None = "web"

    async def run(self, arguments: BaseModel) -> ToolResult:
        assert isinstance(arguments, Wait)
        await asyncio.sleep(arguments.seconds)
        if arguments.page == "broken":
            raise ToolError(ToolErrorKind.TIMEOUT, "pages: no answer in 3 s")
        if arguments.page == "costly":
            raise LimitReached("limits.sample_seconds", 3)
        return ToolResult(content=f"about {arguments.page}", sources=(Source(url=f"https://x.test/{arguments.page}"),))


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def session(events: list[Event]) -> Iterator[Session]:
    bound = make_session(tools=Toolbox([SlowPages()]), events=EventLog(events.append))
    with bound.bind():
        yield bound


async def run_calls(*calls: dict[str, Any], earlier: tuple[AnyMessage, ...] = ()) -> list[ToolMessage]:
    """A graph with one ToolNode, given an AI message with these calls."""
    graph = StateGraph(ConversationState)
    graph.add_node("tools", tool_node([SlowPages()], most=9))
    graph.add_edge(START, "tools")
    tool_calls = [{"name": "pages", "id": f"call-{n}", "args": args} for n, args in enumerate(calls)]
    messages = [HumanMessage("q"), *earlier, AIMessage("", tool_calls=tool_calls)]
    result = await graph.compile().ainvoke(ConversationState(messages=messages))
    return [message for message in result["messages"] if isinstance(message, ToolMessage)]


def test_the_schema_is_the_tools_own() -> None:
    function = convert_to_openai_tool(as_langchain(SlowPages()))["function"]
    assert function["name"] == "pages"
    assert function["parameters"]["properties"]["page"]["description"] == "the page to bring"
    assert function["parameters"]["required"] == ["page"]


async def test_calls_are_logged_and_sources_numbered_by_turn_and_call_not_by_arrival(
    session: Session, events: list[Event]
) -> None:
    earlier_replies = (AIMessage("", tool_calls=[]), AIMessage("", tool_calls=[]))
    await run_calls({"page": "later"}, earlier=earlier_replies)
    messages = await run_calls({"page": "slow", "seconds": 0.05}, {"page": "quick"})
    sources = session.sources.all()
    assert [source.url for source in sources] == [f"https://x.test/{page}" for page in ("slow", "quick", "later")]
    logged = [event for event in events if isinstance(event, ToolCalled)][1:]
    ids = ["call-0", "call-1"]
    assert [event.call_id for event in logged] == [message.tool_call_id for message in messages] == ids
    assert [source.call_id for source in sources[:2]] == ids
    assert [event.parent_id for event in logged] == [None, None]


@pytest.mark.parametrize(
    ("arguments", "says", "kind"),
    [
        ({"page": "broken"}, "Error: pages: no answer in 3 s", ToolErrorKind.TIMEOUT),
        ({"pages": "misspelt"}, "Error: pages: page: must be set", ToolErrorKind.INVALID_ARGUMENTS),
    ],
)
async def test_a_tool_error_is_text_for_the_model(
    session: Session, events: list[Event], arguments: dict[str, Any], says: str, kind: ToolErrorKind
) -> None:
    (message,) = await run_calls(arguments)
    assert (message.status, str(message.content)[: len(says)]) == ("error", says)
    assert [e.error for e in events if isinstance(e, ToolReturned)] == [kind]
    assert session.sources.all() == ()


async def test_a_reached_limit_ends_the_attempt(session: Session) -> None:
    with pytest.raises(LimitReached):
        await run_calls({"page": "costly"})


async def test_unparsable_calls_become_calls_that_the_session_refuses(session: Session, events: list[Event]) -> None:
    invalid_call = {"name": "pages", "args": '{"page": ', "id": "c9", "error": None, "type": "invalid_tool_call"}
    reply = normalise_reply(AIMessage("", invalid_tool_calls=[invalid_call]))
    assert [(call["name"], call["args"], call["id"]) for call in reply.tool_calls] == [("pages", {}, "c9")]
    assert reply.invalid_tool_calls == []
    assert [event.what for event in events if isinstance(event, Recovery)] == ["malformed_tool_arguments"]


@pytest.mark.parametrize("given", [("a", "a"), ("", ""), (None, None)])
def test_every_call_in_a_reply_has_its_own_id(given: tuple[str | None, str | None]) -> None:
    calls = [{"name": "pages", "args": {"page": str(n)}, "id": name} for n, name in enumerate(given)]
    reply = normalise_reply(AIMessage("", tool_calls=calls))
    assert len({call["id"] for call in reply.tool_calls}) == 2
    assert all(call["id"] for call in reply.tool_calls)
    assert [call["args"] for call in reply.tool_calls] == [{"page": "0"}, {"page": "1"}]
