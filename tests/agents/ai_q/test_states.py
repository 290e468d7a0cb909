"""The state models field by field: name, default, reducer; and that a checkpoint brings their types back."""

from typing import Any, get_args

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
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

FIELDS: dict[type[BaseModel], dict[str, Any]] = {
    ChatResearcherState: {
        "messages": "required",
        "user_info": None,
        "data_sources": None,
        "user_intent": None,
        "depth_decision": None,
        "final_report": None,
        "shallow_result": None,
        "clarifier_result": None,
        "original_query": None,
        "available_documents": None,
    },
    ShallowResearchAgentState: {
        "messages": "required",
        "data_sources": None,
        "user_info": None,
        "tools_info": None,
        "available_documents": None,
        "collection_name": None,
        "tool_iterations": 0,
    },
    DeepResearchAgentState: {
        "messages": "required",
        "data_sources": None,
        "user_info": None,
        "tools_info": None,
        "todos": [],
        "files": {},
        "subagents": [],
        "clarifier_result": None,
        "available_documents": None,
    },
}
SPECIFIED = [
    pytest.param(state, field, default, id=f"{state.__name__}.{field}")
    for state, fields in FIELDS.items()
    for field, default in fields.items()
]
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


@pytest.mark.parametrize(("state", "field", "default"), SPECIFIED)
def test_default(state: type[BaseModel], field: str, default: Any) -> None:
    if default == "required":
        with pytest.raises(ValidationError, match=field):
            state()
    else:
        assert getattr(state(messages=[]), field) == default


@pytest.mark.parametrize("state", FIELDS)
def test_there_are_no_other_fields(state: type[BaseModel]) -> None:
    assert list(state.model_fields) == list(FIELDS[state])


@pytest.mark.parametrize(
    ("state", "field"), [pytest.param(p.values[0], p.values[1], id=p.id) for p in SPECIFIED if p.values[1] in GIVEN]
)
async def test_update(state: Any, field: str) -> None:
    """A node's update replaces the field, or is merged into it by the field's reducer."""
    before: dict[str, Any] = {"files": {"/a": "a"}} if field == "files" else {}
    graph = StateGraph(state)
    graph.add_node("node", lambda _: {field: GIVEN[field]})
    graph.add_edge(START, "node")
    graph.add_edge("node", END)
    after = state.model_validate(await graph.compile().ainvoke(state(messages=[], **before)))
    wanted = state.model_validate(
        {"messages": [], field: {**before.get(field, {}), **GIVEN[field]} if before else GIVEN[field]}
    )
    assert getattr(after, field) == getattr(wanted, field)


@pytest.mark.parametrize("state", FIELDS)
def test_messages_are_added_by_langgraphs_reducer(state: type[BaseModel]) -> None:
    assert add_messages in state.model_fields["messages"].metadata
    merged: Any = add_messages(HumanMessage("a", id="1"), AIMessage("b", id="2"))
    assert [message.id for message in merged] == ["1", "2"]


def test_files_are_merged_and_deleted_by_none() -> None:
    assert merge_files in DeepResearchAgentState.model_fields["files"].metadata
    assert merge_files({"a": "1", "b": "2"}, {"b": "3", "c": "4", "a": None}) == {"b": "3", "c": "4"}
    assert merge_files(None, {"a": "1"}) == {"a": "1"}
    assert merge_files({"a": "1"}, None) == {"a": "1"}


@pytest.mark.parametrize("state", FIELDS)
@pytest.mark.parametrize("value", ["web", {"web"}, 3, [""]])
def test_data_sources_are_none_or_a_list(state: type[BaseModel], value: Any) -> None:
    with pytest.raises(ValidationError, match="data_sources"):
        state(messages=[], data_sources=value)


def test_a_clarifier_begins_with_nothing() -> None:
    given = {"query": "Q"}
    assert ClarifierState(**given).model_dump(exclude={"query"}) == {
        "history": "",
        "data_sources": None,
        "available_documents": None,
        "messages": [],
        "nudged": False,
        "question": None,
        "asked": 0,
        "dialogue": [],
        "plan": None,
        "feedback": [],
        "reviews": 0,
        "approval": None,
        "rejected": False,
    }


def models_in(kind: Any) -> set[type[BaseModel]]:
    """The models that a field's type mentions."""
    inner = set().union(*(models_in(part) for part in get_args(kind)))
    return inner | {kind} if isinstance(kind, type) and issubclass(kind, BaseModel) else inner


@pytest.mark.parametrize("state", [ChatResearcherState, ClarifierState])
def test_every_type_of_a_checkpointed_state_is_registered(state: type[BaseModel]) -> None:
    used = set().union(*(models_in(field.annotation) for field in state.model_fields.values()))
    ours = {kind for kind in used if kind.__module__.startswith("aiq.")}
    assert ours <= set(CHECKPOINTED)


def test_registered_types_come_back_and_others_as_plain_data() -> None:
    class Stranger(BaseModel):
        text: str

    strict = JsonPlusSerializer(allowed_msgpack_modules=[(kind.__module__, kind.__name__) for kind in CHECKPOINTED])
    document = Document(file_name="a.pdf", summary="On rivers.")
    assert strict.loads_typed(strict.dumps_typed([document])) == [document]
    assert strict.loads_typed(strict.dumps_typed(Stranger(text="x"))) == {"text": "x"}
