"""Tool names, empty results, and the replies they repair."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain.agents.middleware.types import ModelRequest, ModelResponse, dynamic_prompt
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from aiq.agents.toolkit.langchain import SessionCalls, as_langchain
from aiq.agents.toolkit.middleware import EMPTY, EmptyContentFix, ToolNameSanitization, sanitized
from aiq.core.events import Recovery
from aiq.offline.chat import ChatReply, ChatRequest, call
from tests.agents.conftest import on_bench

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


async def test_a_repaired_reply_keeps_usage_and_metadata_and_the_call_is_made() -> None:
    def script(request: ChatRequest) -> ChatReply:
        if len(request.messages) > 2:
            return ChatReply(text="done")
        return ChatReply(tool_calls=(call("functions.web_search_tool", query="orlune"),))

    async with on_bench(script) as bench:
        agent: Any = create_agent(
            bench.session.models.chat("aiq.researcher"),
            [as_langchain(bench.search)],
            middleware=[SessionCalls(), ToolNameSanitization(), dynamic_prompt(lambda request: "Search.")],
        )
        state = await agent.ainvoke({"messages": [HumanMessage("go")]})
    reply = state["messages"][1]
    assert reply.tool_calls[0]["name"] == "web_search_tool"
    assert reply.usage_metadata["total_tokens"] > 0
    assert reply.response_metadata["model_name"] == "test"
    assert bench.search.queries == ["orlune"]
    assert [event.what for event in bench.logged(Recovery)] == ["tool_name"]
    assert bench.endpoint.requests[0].messages[0].content == "Search."


@pytest.mark.parametrize("content", ["", "  \n", [{"type": "text", "text": " "}], []])
async def test_a_placeholder_keeps_status_and_artifact(content: Any) -> None:
    blank = ToolMessage(content, tool_call_id="1", status="error", artifact={"kept": 1}, name="think")
    image = ToolMessage([{"type": "image_url", "image_url": {"url": "data:,"}}], tool_call_id="2")
    seen: list[Any] = []

    async def handler(request: Any) -> Any:
        seen.extend(request.messages)
        return ModelResponse(result=[AIMessage("ok")])

    async with on_bench(lambda request: ChatReply(text="x")) as bench:
        request = ModelRequest(model=bench.session.models.chat("aiq.planner"), messages=[blank, image])
        await EmptyContentFix().awrap_model_call(request, handler)
    assert (seen[0].content, seen[0].status, seen[0].artifact, seen[0].name) == (EMPTY, "error", {"kept": 1}, "think")
    assert seen[1] is image
