"""The state models of the three AI-Q graphs, field by field as specified."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from pydantic import BaseModel, Field

from aiq.core.samples import Document as AvailableDocument


class IntentResult(BaseModel):
    """`meta`: about the assistant or small talk, answered at once. `research`: everything else."""

    intent: Literal["meta", "research"]


class DepthDecision(BaseModel):
    decision: Literal["shallow", "deep"]
    reasoning: str = ""


class ShallowResult(BaseModel):
    """The shallow path's answer as written, and whether it asks to be escalated."""

    answer: str
    escalate: bool = False
    reason: str = ""


def merge_files(left: Mapping[str, Any] | None, right: Mapping[str, Any] | None) -> dict[str, Any]:
    """The virtual file system's reducer: later files win, a file set to None is deleted."""
    merged = {**(left or {}), **(right or {})}
    return {name: content for name, content in merged.items() if content is not None}


class ChatResearcherState(BaseModel):
    """Carried through the whole workflow, from intent classification to the final report."""

    messages: Annotated[list[AnyMessage], add_messages]
    user_info: dict[str, Any] | None = None
    data_sources: list[str] | None = None
    user_intent: IntentResult | None = None
    depth_decision: DepthDecision | None = None
    final_report: str | None = None
    shallow_result: ShallowResult | None = None
    clarifier_result: str | None = None
    original_query: str | None = None
    available_documents: list[AvailableDocument] | None = None


class ShallowResearchAgentState(BaseModel):
    """`tool_iterations` counts tool calls made so far."""

    messages: Annotated[list[AnyMessage], add_messages]
    data_sources: list[str] | None = None
    user_info: dict[str, Any] | None = None
    tools_info: list[dict[str, Any]] | None = None
    available_documents: list[AvailableDocument] | None = None
    collection_name: str | None = None
    tool_iterations: int = 0


class DeepResearchAgentState(BaseModel):
    """`files`: the virtual file system. `subagents`: one status entry per dispatched subagent."""

    messages: Annotated[list[AnyMessage], add_messages]
    data_sources: list[str] | None = None
    user_info: dict[str, Any] | None = None
    tools_info: list[dict[str, Any]] | None = None
    todos: list[dict[str, Any]] = Field(default_factory=list)
    files: Annotated[dict[str, Any], merge_files] = Field(default_factory=dict)
    subagents: list[dict[str, Any]] = Field(default_factory=list)
    clarifier_result: str | None = None
    available_documents: list[AvailableDocument] | None = None
