"""The state models field by field as specified: name, default, reducer; and which types a checkpoint brings back."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel, ValidationError

from aiq.agents.ai_q.states import (
    ChatResearcherState,
    DeepResearchAgentState,
    ShallowResearchAgentState,
)

COMMON: dict[str, Any] = {"messages": [], "data_sources": None, "user_info": None, "available_documents": None}
CHAT = ("user_intent", "depth_decision", "final_report", "shallow_result", "clarifier_result", "original_query")
DEFAULTS: dict[type[BaseModel], dict[str, Any]] = {
    ChatResearcherState: dict.fromkeys(CHAT),
    ShallowResearchAgentState: {"tools_info": None, "collection_name": None, "tool_iterations": 0},
    DeepResearchAgentState: {"tools_info": None, "todos": [], "files": {}, "subagents": [], "clarifier_result": None},
}
STATES = pytest.mark.parametrize("state", DEFAULTS)


@STATES
def test_fields_and_defaults(state: Any) -> None:
    assert state.model_validate({"messages": []}).model_dump() == COMMON | DEFAULTS[state]
    with pytest.raises(ValidationError, match="messages"):
        state()
    for value in ("web", {"web"}, 3, [""]):  # none of them allows what nobody named
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
