"""Tool names, empty results, and the replies they repair."""

from typing import Any

import pytest
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, ToolMessage

from aiq.agents.toolkit.langchain import EMPTY
from aiq.agents.toolkit.middleware import EmptyContentFix, sanitized
from aiq.offline.chat import ChatReply
from tests.agents.conftest import on_bench
from tests.cases import table

each = table(__file__)

VALID = ("web_search_tool", "read_file", "grep", "think")


@each("name")
def test_names_are_repaired_only_to_valid_ones(name: str, repaired: str) -> None:
    assert sanitized(name, VALID) == repaired


@pytest.mark.parametrize("content", ["", "  \n", [{"type": "text", "text": " "}], []])
async def test_a_placeholder_keeps_status_and_artifact(content: Any) -> None:
    blank = ToolMessage(content, tool_call_id="1", status="error", artifact={"kept": 1}, name="think")
    image = ToolMessage([{"type": "image_url", "image_url": {"url": "data:,"}}], tool_call_id="2")
    sent: list[Any] = []

    async def handler(request: Any) -> Any:
        sent.extend(request.messages)
        return ModelResponse(result=[AIMessage("ok")])

    async with on_bench(lambda request: ChatReply(text="x")) as bench:
        request = ModelRequest(model=bench.session.models.chat("aiq.planner"), messages=[blank, image])
        await EmptyContentFix().awrap_model_call(request, handler)
    assert (sent[0].content, sent[0].status, sent[0].artifact, sent[0].name) == (EMPTY, "error", {"kept": 1}, "think")
    assert sent[1] is image
