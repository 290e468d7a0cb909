"""The states of AI-Q's graphs, field by field as specified, and the types in them that a checkpoint may restore."""

import operator
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, StringConstraints

from aiq.agents.toolkit.conversation import ConversationState
from aiq.core.samples import Document, source_ids

_on_one_line = AfterValidator(lambda text: " ".join(text.split()))
Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), _on_one_line]


class IntentResult(BaseModel):
    """`meta`: about the assistant or small talk, answered at once. `research`: everything else."""

    intent: Literal["meta", "research"]


class DepthDecision(BaseModel):
    decision: Literal["shallow", "deep"]
    reasoning: str = ""


class ShallowResult(BaseModel):
    """The shallow path's answer as written, and whether to escalate it."""

    answer: str
    escalate: bool = False
    reason: str = ""


class Plan(BaseModel):
    """A report's title and the titles of its sections."""

    title: Line
    sections: list[Line] = Field(min_length=1, max_length=20)

    def text(self) -> str:
        """The title and the numbered sections, one per line."""
        return "\n".join([self.title, *(f"{number}. {name}" for number, name in enumerate(self.sections, 1))])


FALLBACK = Plan(title="Research Report", sections=["Introduction", "Background", "Analysis", "Findings", "Conclusion"])
"""The plan used if the model gives no usable one."""


class ResearchState(ConversationState):
    """What every stage receives of a question. `data_sources`: None allows all tools, an empty list none."""

    data_sources: Annotated[list[str] | None, BeforeValidator(source_ids)] = None
    user_info: dict[str, Any] | None = None
    available_documents: list[Document] | None = None

    def shared(self) -> dict[str, Any]:
        """The fields that are passed on to the next stage, apart from `messages`."""
        return {name: value for name, value in self if name in ResearchState.model_fields and name != "messages"}


class ChatResearcherState(ResearchState):
    """Carried through the whole workflow, from intent classification to the final report."""

    user_intent: IntentResult | None = None
    depth_decision: DepthDecision | None = None
    final_report: str | None = None
    partial: bool = False
    shallow_result: ShallowResult | None = None
    clarifier_result: str | None = None
    original_query: str | None = None


class ShallowResearchAgentState(ResearchState):
    """`tool_iterations` counts tool calls made so far."""

    tools_info: list[dict[str, Any]] | None = None
    tool_iterations: int = 0


def merge_files(left: Mapping[str, Any] | None, right: Mapping[str, Any] | None) -> dict[str, Any]:
    """The virtual file system's reducer: later files win, a file set to None is deleted."""
    merged = {**(left or {}), **(right or {})}
    return {name: content for name, content in merged.items() if content is not None}


class DeepResearchAgentState(ResearchState):
    """`files`: the virtual file system. `subagents`: one status entry per dispatched subagent.

    `partial`: the report is the draft, without what the last round found.
    """

    tools_info: list[dict[str, Any]] | None = None
    todos: list[dict[str, Any]] = Field(default_factory=list)
    files: Annotated[dict[str, Any], merge_files] = Field(default_factory=dict)
    subagents: list[dict[str, Any]] = Field(default_factory=list)
    partial: bool = False
    clarifier_result: str | None = None


class ClarifierState(ResearchState):
    """One run of the clarifier. `messages` holds only its searches and their results.

    `asked` counts questions put to the user; `dialogue` holds those that were answered, as `Q:` and `A:` lines.
    `reviews` counts replies to the plan; `unclear`, shown above the plan, says that the last one was ambiguous.
    `approval` says how the plan came to be approved; `new_question` is what the user asked instead.
    """

    messages: Annotated[list[AnyMessage], add_messages] = Field(default_factory=list)
    query: str
    history: str = ""
    nudged: bool = False
    question: str | None = None
    asked: int = 0
    dialogue: Annotated[list[str], operator.add] = Field(default_factory=list)
    plan: Plan = FALLBACK
    feedback: Annotated[list[str], operator.add] = Field(default_factory=list)
    reviews: int = 0
    unclear: str = ""
    approval: str | None = None
    new_question: str | None = None

    @property
    def qa_text(self) -> str:
        return "\n".join(self.dialogue)

    @property
    def briefing(self) -> str:
        """For the orchestrator's prompt: the dialogue and the plan, if it is approved."""
        plan = f"\n\nPlan ({self.approval}):\n{self.plan.text()}" if self.approval else ""
        return f"{self.qa_text}{plan}".strip()


CHECKPOINTED = (IntentResult, DepthDecision, ShallowResult, Plan, Document, ClarifierState)
"""The types that a checkpoint may restore besides messages and plain values; any other remains plain data."""
