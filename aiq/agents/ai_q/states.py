"""The state models of the AI-Q graphs, field by field as specified, and what of them a checkpoint may hold."""

import operator
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from pydantic import BaseModel, BeforeValidator, Field

from aiq.core.samples import Document as AvailableDocument
from aiq.core.samples import source_ids

DataSources = Annotated[list[str] | None, BeforeValidator(source_ids)]


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


class Plan(BaseModel):
    """A report's title and the titles of its sections."""

    title: str = Field(min_length=1)
    sections: list[Annotated[str, Field(min_length=1)]] = Field(min_length=1, max_length=20)

    def text(self) -> str:
        """The title and the numbered sections, one a line."""
        return "\n".join([self.title, *(f"{number}. {name}" for number, name in enumerate(self.sections, 1))])


def merge_files(left: Mapping[str, Any] | None, right: Mapping[str, Any] | None) -> dict[str, Any]:
    """The virtual file system's reducer: later files win, a file set to None is deleted."""
    merged = {**(left or {}), **(right or {})}
    return {name: content for name, content in merged.items() if content is not None}


class ChatResearcherState(BaseModel):
    """Carried through the whole workflow, from intent classification to the final report."""

    messages: Annotated[list[AnyMessage], add_messages]
    user_info: dict[str, Any] | None = None
    data_sources: DataSources = None
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
    data_sources: DataSources = None
    user_info: dict[str, Any] | None = None
    tools_info: list[dict[str, Any]] | None = None
    available_documents: list[AvailableDocument] | None = None
    collection_name: str | None = None
    tool_iterations: int = 0


class DeepResearchAgentState(BaseModel):
    """`files`: the virtual file system. `subagents`: one status entry per dispatched subagent."""

    messages: Annotated[list[AnyMessage], add_messages]
    data_sources: DataSources = None
    user_info: dict[str, Any] | None = None
    tools_info: list[dict[str, Any]] | None = None
    todos: list[dict[str, Any]] = Field(default_factory=list)
    files: Annotated[dict[str, Any], merge_files] = Field(default_factory=dict)
    subagents: list[dict[str, Any]] = Field(default_factory=list)
    clarifier_result: str | None = None
    available_documents: list[AvailableDocument] | None = None


class ClarifierState(BaseModel):
    """One run of the clarifier. `messages`: its searches and what they brought, and nothing else.

    `asked` counts questions put to the user, `dialogue` holds those that were answered, as `Q:` and `A:` lines.
    `reviews` counts rounds of feedback. `approval` says how the plan came to stand, once it does.
    """

    query: str
    history: str = ""
    data_sources: DataSources = None
    available_documents: list[AvailableDocument] | None = None
    messages: Annotated[list[AnyMessage], add_messages] = Field(default_factory=list)
    nudged: bool = False
    question: str | None = None
    asked: int = 0
    dialogue: Annotated[list[str], operator.add] = Field(default_factory=list)
    plan: Plan | None = None
    feedback: Annotated[list[str], operator.add] = Field(default_factory=list)
    reviews: int = 0
    approval: str | None = None
    rejected: bool = False


CHECKPOINTED: tuple[type[BaseModel], ...] = (
    IntentResult,
    DepthDecision,
    ShallowResult,
    Plan,
    AvailableDocument,
    ClarifierState,
)
"""The types that a checkpoint may bring back beside messages and plain values; any other stays plain data."""
