"""The states of the graphs: what they refuse, and how updates are merged."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import END, START, StateGraph
from pydantic import ValidationError

from aiq.agents.ai_q.states import (
    ChatResearcherState,
    DeepResearchAgentState,
    ShallowResearchAgentState,
)


@pytest.mark.parametrize("value", ["web", {"web"}, 3, [""]])
def test_data_sources_must_be_a_list_of_ids(value: Any) -> None:
    for state in (ChatResearcherState, ShallowResearchAgentState, DeepResearchAgentState):
        with pytest.raises(ValidationError, match="data_sources"):
            state(messages=[], data_sources=value)


async def test_a_nodes_update_is_merged_into_messages_and_files_and_replaces_the_rest() -> None:
    files = {"/b": "new", "/c": None}
    graph = StateGraph(DeepResearchAgentState)
    graph.add_node("node", lambda _: {"files": files, "todos": [], "messages": [AIMessage("b", id="2")]})
    graph.add_edge(START, "node")
    graph.add_edge("node", END)
    before = {"files": {"/a": "a", "/b": "b", "/c": "c"}, "todos": [{"content": "plan"}]}
    after = await graph.compile().ainvoke(DeepResearchAgentState(messages=[HumanMessage("a", id="1")], **before))
    assert (after["files"], after["todos"]) == ({"/a": "a", "/b": "new"}, [])
    assert [message.id for message in after["messages"]] == ["1", "2"]
