"""The state models field by field as specified: name, default, reducer; and which types a checkpoint brings back."""

from typing import Any, get_args

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel, ValidationError

from aiq.agents.ai_q.states import (
    CHECKPOINTED,
    ChatResearcherState,
    ClarifierState,
    DeepResearchAgentState,
    ShallowResearchAgentState,
    merge_files,
)
from aiq.core.samples import Document

COMMON: dict[str, Any] = {"messages": [], "data_sources": None, "user_info": None, "available_documents": None}
DEFAULTS: dict[type[BaseModel], dict[str, Any]] = {
    ChatResearcherState: dict.fromkeys(
        ("user_intent", "depth_decision", "final_report", "shallow_result", "clarifier_result", "original_query")
    ),
    ShallowResearchAgentState: {"tools_info": None, "collection_name": None, "tool_iterations": 0},
    DeepResearchAgentState: {"tools_info": None, "todos": [], "files": {}, "subagents": [], "clarifier_result": None},
}
GIVEN: dict[str, Any] = {
    "user_info": {"name": "Ada"},
    "data_sources": ["web"],
    "user_intent": {"intent": "meta"},
    "depth_decision": {"decision": "deep", "reasoning": "a report"},
    "final_report": "text",
    "shallow_result": {"answer": "text", "escalate": True, "reason": "phrase"},
    "clarifier_result": "Plan",
    "original_query": "Who?",
    "available_documents": [{"file_name": "a.pdf", "summary": "On rivers."}],
    "tools_info": [{"name": "web_search_tool", "description": "Searches."}],
    "collection_name": "mine",
    "tool_iterations": 3,
    "todos": [{"content": "plan", "status": "pending"}],
    "files": {"/report.md": "text"},
    "subagents": [{"name": "planner-agent", "status": "done"}],
}
STATES = pytest.mark.parametrize("state", DEFAULTS)


@STATES
def test_fields_and_defaults(state: type[BaseModel]) -> None:
    assert state.model_validate({"messages": []}).model_dump() == COMMON | DEFAULTS[state]
    with pytest.raises(ValidationError, match="messages"):
        state()


@STATES
async def test_a_nodes_update_replaces_a_field_or_is_merged_into_it_by_its_reducer(state: Any) -> None:
    update = {field: GIVEN[field] for field in state.model_fields if field != "messages"}
    before = {"files": {"/a": "a"}} if "files" in update else {}
    graph = StateGraph(state)
    graph.add_node("node", lambda _: {**update, "messages": [AIMessage("b", id="2")]})
    graph.add_edge(START, "node")
    graph.add_edge("node", END)
    after = await graph.compile().ainvoke(state(messages=[HumanMessage("a", id="1")], **before))
    wanted = state(messages=[], **update)
    for field in update:
        value = {**before["files"], **GIVEN["files"]} if field == "files" else getattr(wanted, field)
        assert getattr(state.model_validate(after), field) == value
    assert [message.id for message in after["messages"]] == ["1", "2"]


def test_files_are_merged_and_deleted_by_none() -> None:
    assert merge_files({"a": "1", "b": "2"}, {"b": "3", "c": "4", "a": None}) == {"b": "3", "c": "4"}
    assert merge_files(None, {"a": "1"}) == merge_files({"a": "1"}, None) == {"a": "1"}


@STATES
@pytest.mark.parametrize("value", ["web", {"web"}, 3, [""]])
def test_data_sources_are_none_or_a_list(state: Any, value: Any) -> None:
    with pytest.raises(ValidationError, match="data_sources"):
        state(messages=[], data_sources=value)


def test_every_type_of_a_checkpointed_state_is_registered() -> None:
    fields = [*ChatResearcherState.model_fields.values(), *ClarifierState.model_fields.values()]
    used = {
        kind
        for field in fields
        for one in (field.annotation, *get_args(field.annotation))
        for kind in (one, *get_args(one))
        if isinstance(kind, type) and kind.__module__.startswith("aiq.")
    }
    assert used <= set(CHECKPOINTED)


def test_registered_types_come_back_and_others_as_plain_data() -> None:
    class Stranger(BaseModel):
        text: str

    strict = JsonPlusSerializer(allowed_msgpack_modules=[(kind.__module__, kind.__name__) for kind in CHECKPOINTED])
    document = Document(file_name="a.pdf", summary="On rivers.")
    assert strict.loads_typed(strict.dumps_typed([document])) == [document]
    assert strict.loads_typed(strict.dumps_typed(Stranger(text="x"))) == {"text": "x"}
