"""What the stages of Shannon hand to each other, and the rules read: refinements, subtasks, results, citations."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AliasChoices, ConfigDict, Field, JsonValue, model_validator

from aiq.core.base import Record

Moment = Annotated[datetime, AfterValidator(lambda time: time if time.tzinfo else time.replace(tzinfo=UTC))]
"""A time, in UTC where it states no zone."""


class LenientRecord(Record):
    """What was JSON elsewhere: null is a field left out; other fields and numbers for texts (ids) are no error."""

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: object) -> object:
        return {name: one for name, one in value.items() if one is not None} if isinstance(value, dict) else value


class Refinement(LenientRecord):
    """The question as the refine stage understands it (specification 1.2)."""

    refined_query: str
    research_areas: tuple[str, ...] = ()
    rationale: str = ""
    canonical_name: str = ""
    exact_queries: tuple[str, ...] = ()
    official_domains: tuple[str, ...] = ()
    disambiguation_terms: tuple[str, ...] = ()


class Subtask(LenientRecord):
    """One task of the decomposition; `dependencies` are ids of tasks whose results it needs (specification 1.3)."""

    id: str = ""
    description: str = ""
    dependencies: tuple[str, ...] = ()
    task_type: str = ""
    parent_area: str = ""
    suggested_tools: tuple[str, ...] = ()
    tool_parameters: dict[str, JsonValue] = Field(default_factory=dict)


class ToolOutput(LenientRecord):
    """What one tool call of an agent brought: JSON, or text that may be JSON."""

    tool: str
    success: bool = True
    output: JsonValue = None


class AgentResult(LenientRecord):
    """What one agent brought: its answer, and what its tools did; `area` is the research area of its subtask.

    `steps` are the answers of a loop's actions, which its own answer sums up.
    """

    agent_id: str = ""
    response: str = ""
    role: str = ""
    steps: tuple[str, ...] = ()
    tools_used: tuple[str, ...] = ()
    tool_outputs: tuple[ToolOutput, ...] = ()
    success: bool = True
    error: str | None = None
    area: str = ""


class Citation(LenientRecord):
    """A page that an agent result brought, with its scores (each 0 to 1).

    `source` is the domain, `tool_source` the tool that brought the page (`response` where the answer names it),
    `source_type` the category that the search states.
    """

    url: str = ""
    title: str = ""
    source: str = ""
    snippet: str = ""
    published: Moment | None = Field(None, validation_alias=AliasChoices("published", "published_date"))
    relevance: float = Field(0.5, validation_alias=AliasChoices("relevance", "relevance_score"))
    quality: float = Field(0.0, validation_alias=AliasChoices("quality", "quality_score"))
    credibility: float = Field(0.6, validation_alias=AliasChoices("credibility", "credibility_score"))
    agent_id: str = "unknown"
    tool_source: str = ""
    source_type: str = ""


class CitationStats(Record):
    """What a list of citations is like; all zero where there are none (specification 1.9)."""

    total: int = 0
    unique_domains: int = 0
    mean_quality: float = 0.0
    mean_credibility: float = 0.0
    diversity: float = 0.0


class VerificationSummary(Record):
    """How well citations support the claims of a report (specification 1.14); `unsupported` are positions from 0."""

    claims: int
    supported: int
    unsupported: tuple[int, ...]
    overall: float
