"""Tool names, empty results, and the replies they repair."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage

from aiq.agents.toolkit.langchain import SessionCalls, as_langchain
from aiq.agents.toolkit.middleware import EMPTY, EmptyContentFix, SystemPrompt, ToolNameSanitization, sanitized
from aiq.core.events import Recovery
from aiq.offline.chat import ChatReply, ChatRequest, call

VALID = ("web_search_tool", "read_file", "grep", "glob", "think")


@pytest.mark.parametrize(
    ("name", "repaired"),
    [
        ("think", "think"),
        ("think<|channel|>commentary", "think"),
        ("functions.web_search_tool", "web_search_tool"),
        ("functions.think<|channel|>json", "think"),
        ("web_search_tool.run", "web_search_tool"),
        ("default_api.web_search_tool", "web_search_tool"),
        ("functions.web_search_tool.run", "web_search_tool"),
        ("functions.open_file", "read_file"),
        ("open_file", "read_file"),
        ("find", "grep"),
        ("find_file", "glob"),
        ("delete_everything", "delete_everything"),
        ("made_up<|channel|>json", "made_up<|channel|>json"),
        ("", ""),
    ],
)
def test_names_are_repaired_only_to_valid_ones(name: str, repaired: str) -> None:
    assert sanitized(name, VALID) == repaired


def test_aliases_need_a_valid_target() -> None:
    assert sanitized("open_file", ("think",)) == "open_file"


@given(st.text(max_size=30))
def test_a_name_is_valid_or_unchanged(name: str) -> None:
    assert sanitized(name, VALID) in (*VALID, name)


async def test_a_repaired_reply_keeps_usage_and_metadata_and_the_call_is_made(on_bench: Any) -> None:
    def script(request: ChatRequest) -> ChatReply:
        if len(request.messages) > 2:
            return ChatReply(text="done")
        return ChatReply(tool_calls=(call("functions.web_search_tool", query="orlune"),))

    async with on_bench(script) as bench:
        agent: Any = create_agent(
            bench.session.models.chat("aiq.researcher"),
            [as_langchain(bench.search)],
            middleware=[SessionCalls(), ToolNameSanitization(), SystemPrompt(lambda state: "Search.")],
        )
        state = await agent.ainvoke({"messages": [HumanMessage("go")]})
    reply = state["messages"][1]
    assert reply.tool_calls[0]["name"] == "web_search_tool"
    assert reply.usage_metadata["total_tokens"] > 0
    assert reply.response_metadata["model_name"] == "test"
    assert bench.search.queries == ["orlune"]
    assert [event.what for event in bench.logged(Recovery)] == ["tool_name"]
    assert bench.endpoint.requests[0].messages[0].content == "Search."


async def test_blank_tool_results_are_shown_as_a_placeholder_and_kept_as_they_are(on_bench: Any) -> None:
    def script(request: ChatRequest) -> ChatReply:
        if any(message.role == "tool" for message in request.messages):
            return ChatReply(text="done")
        return ChatReply(tool_calls=(call("web_search_tool", query="nothing"),))

    async with on_bench(script) as bench:
        bench.search.empty = True
        agent: Any = create_agent(
            bench.session.models.chat("aiq.researcher"),
            [as_langchain(bench.search)],
            middleware=[SessionCalls(), EmptyContentFix()],
        )
        state = await agent.ainvoke({"messages": [HumanMessage("go")]})
    shown = [message.text for message in bench.endpoint.requests[1].messages if message.role == "tool"]
    assert shown == [EMPTY]
    assert state["messages"][2].content.strip() == ""
