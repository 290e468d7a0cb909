"""The state of the planner's graph, and the records that the planner and its sub-agents exchange in it."""

import hashlib
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel, Field, create_model, model_validator

from aiq.agents.toolkit.structured import LenientRecord
from aiq.core.base import Record
from aiq.core.samples import DataSources, Turn

Grade = Literal["high", "medium", "low"]
Arguments = dict[str, Any]


class SubQuestion(LenientRecord):
    """A part of the question that can be answered by itself; a blank id is made from its text."""

    id: str = Field("", description="sq_1, sq_2, ...")
    question: str = Field(description="complete by itself: names everything that it is about")
    priority: int = Field(1, ge=1, le=5, description="1 to 5, higher first")
    depends_on: tuple[str, ...] = Field((), description="ids of the sub-questions whose answers it needs")

    @model_validator(mode="before")
    @classmethod
    def _add_id(cls, value: Any) -> Any:
        if isinstance(value, dict) and not str(value.get("id") or "").strip():
            digest = hashlib.sha256(str(value.get("question")).encode()).hexdigest()
            return {**value, "id": f"sq_{digest[:8]}"}
        return value


class Perspective(LenientRecord):
    """An expert's view of the topic."""

    name: str
    focus: str
    questions: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()


class AggregationResult(Record):
    """Buckets of one grouping; each has a `key` and a `count` of distinct documents. `of`: the call's arguments that
    select documents."""

    aggregation_type: Literal["terms", "date_histogram", "numeric_histogram", "stats", "results"]
    field: str
    buckets: tuple[dict[str, Any], ...] = ()
    total_docs: int = 0
    of: Arguments = Field({})
    source_tool: str | None = None

    def lines(self, most: int) -> list[str]:
        """The first buckets as `key: count`; all periods of a histogram, because the first are not the largest."""
        buckets = self.buckets if self.aggregation_type == "date_histogram" else self.buckets[:most]
        return [f"{bucket['key']}: {bucket['count']}" for bucket in buckets]


class ResearchFinding(Record):
    """A claim supported by documents. `doc_ids`: their keys; `relevant_questions`: ids of sub-questions."""

    id: str
    claim: str
    evidence: tuple[str, ...] = ()
    doc_ids: tuple[str, ...] = ()
    confidence: Grade = "medium"
    relevant_questions: tuple[str, ...] = ()
    themes: tuple[str, ...] = ()

    @property
    def evidence_count(self) -> int:
        """The number of documents that state it, whichever sub-agent extracted it."""
        return len(self.doc_ids)


class ValidationIssue(LenientRecord):
    issue_type: Literal["contradiction", "coverage_gap", "weak_evidence", "outdated", "relevance"]
    description: str
    affected_findings: tuple[str, ...] = Field((), description="ids of the findings that it is about")
    severity: Grade = "medium"
    suggested_action: str | None = None


class ResearchGap(LenientRecord):
    gap_description: str
    importance: Grade = "medium"
    suggested_agent: str = ""
    suggested_params: Arguments = Field({})


class SubAgentCall(LenientRecord):
    agent_name: str = Field(description="the name of a sub-agent of the list")
    arguments: Arguments = Field(
        {}, description="what its list of arguments has; leave out what you do not want to set"
    )
    reasoning: str = ""
    depends_on: tuple[int, ...] = Field((), description="positions, from 0, of sub_agent_calls that must end before")


class DataCall(LenientRecord):
    """A call of a data tool that the planner makes itself."""

    tool: str = Field(description="the name of a tool of the list")
    arguments: Arguments = Field({}, description="by the tool's parameters")
    reasoning: str = ""


Action = Literal["call_sub_agents", "call_tools", "synthesize", "validate", "analyze_gaps", "complete"]


class FirstPlan(LenientRecord):
    """What the planner is asked for in the first iteration."""

    strategy: str = Field("", description="in one or two sentences, how the question is going to be answered")
    sub_agent_calls: tuple[SubAgentCall, ...] = ()
    tool_calls: tuple[DataCall, ...] = ()


class PlannerDecision(LenientRecord):
    """What to do in one iteration: both lists may hold calls at once."""

    next_action: Action = "call_sub_agents"
    reasoning: str = ""
    sub_agent_calls: tuple[SubAgentCall, ...] = ()
    tool_calls: tuple[DataCall, ...] = ()

    @property
    def agents(self) -> tuple[str, ...]:
        return tuple(call.agent_name for call in self.sub_agent_calls)

    @property
    def is_empty(self) -> bool:
        return not (self.sub_agent_calls or self.tool_calls)


@cache
def plan_form(
    kind: type[FirstPlan | PlannerDecision], agents: tuple[str, ...], tools: tuple[str, ...]
) -> type[LenientRecord]:
    """The model of a plan that can name only these sub-agents and tools."""

    def calls(model: type[LenientRecord], field: str, names: tuple[str, ...]) -> Any:
        text = model.model_fields[field].description
        definition: Any = (Literal[names], Field(description=text)) if names else (str, Field(description=text))
        return tuple[create_model(model.__name__, __base__=model, **{field: definition}), ...], ()  # type: ignore[misc]

    return create_model(
        kind.__name__,
        __base__=kind,
        sub_agent_calls=calls(SubAgentCall, "agent_name", agents),
        tool_calls=calls(DataCall, "tool", tools),
    )


class DataDocument(Record):
    """A document that a tool returned. `key` is its id, prefixed by the tool because two tools may use the same ids.

    `text`: its content, for extraction; `read`: whether it was searched for findings.
    """

    key: str
    title: str = ""
    url: str = ""
    date: str = ""
    text: str = ""
    read: bool = False

    @property
    def address(self) -> str:
        return self.url or f"doc://{self.key}"


class Outcome(Record):
    """How a call of the plan ended: its output, or its error with the category."""

    name: str
    is_tool: bool = False
    arguments: Arguments = Field({})
    output: Any = None
    error: str = ""

    @property
    def failed(self) -> bool:
        return bool(self.error)


class PlannerState(BaseModel):
    """The state of one research. `tools`: its `DataTools`. `documents`: all that tools returned, without duplicates;
    `total_docs`: how many there are, according to the tools; `notes`: tool answers without documents; `calls`:
    successful tool calls, as tool, arguments and number of matching documents.

    `confidence` is 0 to 1; once a validator has run (`validation_status`), it is the validator's. `quiet`: consecutive
    iterations with data but no new finding. `why`: what ended the research; `error`: why the planner failed.
    """

    query: str
    history: tuple[Turn, ...] = ()
    data_sources: DataSources = None
    user_preferences: str = ""
    tools: Any = None
    iteration: int = 0
    decision: PlannerDecision = PlannerDecision()
    outcomes: tuple[Outcome, ...] = ()
    sub_questions: tuple[SubQuestion, ...] = ()
    perspectives: tuple[Perspective, ...] = ()
    findings: tuple[ResearchFinding, ...] = ()
    aggregations: tuple[AggregationResult, ...] = ()
    insights: tuple[str, ...] = ()
    documents: tuple[DataDocument, ...] = ()
    total_docs: int = 0
    needs_full_scan: bool = False
    calls: tuple[Arguments, ...] = ()
    last_tool_args: Arguments = {}
    notes: tuple[str, ...] = ()
    confidence: float = 0.0
    question_confidence: dict[str, float] = {}
    validation_status: str = ""
    validation_issues: tuple[ValidationIssue, ...] = ()
    gaps: tuple[ResearchGap, ...] = ()
    recommendation: str = ""
    quiet: int = 0
    report: str = ""
    key_findings: tuple[str, ...] = ()
    limitations: tuple[str, ...] = ()
    route: str = ""
    why: str = ""
    error: str = ""

    @property
    def conversation(self) -> str:
        """The conversation before the question, as prompts show it."""
        return "\n".join(f"{turn.speaker}: {turn.text}" for turn in self.history)

    @property
    def docs_fetched(self) -> int:
        """The number of distinct documents, whether from samples of an aggregation, a scan, or both."""
        return len(self.documents)

    @property
    def unfetched(self) -> int:
        return max(0, self.total_docs - self.docs_fetched)

    @property
    def has_material(self) -> bool:
        """Whether there is anything to write a report from."""
        return bool(self.aggregations or self.findings or self.calls or self.documents)
