"""The records that Shannon's stages exchange and its rules read, and the state of the graph."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AliasChoices, BaseModel, Field, JsonValue

from aiq.agents.toolkit.structured import LenientRecord
from aiq.core.base import Record
from aiq.core.samples import DataSources, Turn

Moment = Annotated[datetime, AfterValidator(lambda time: time if time.tzinfo else time.replace(tzinfo=UTC))]
"""A time; UTC if it has no time zone."""


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
    """What one tool call of an agent returned: JSON, or text that may be JSON."""

    tool: str
    success: bool = True
    output: JsonValue = None


class AgentResult(LenientRecord):
    """What one agent found: its answer and its tools' outputs; `area` is the research area of its subtask.

    `steps` are the answers of a loop's actions, which `response` sums up.
    """

    agent_id: str = ""
    response: str = ""
    steps: tuple[str, ...] = ()
    tools_used: tuple[str, ...] = ()
    tool_outputs: tuple[ToolOutput, ...] = ()
    success: bool = True
    error: str | None = None
    area: str = ""


class Citation(LenientRecord):
    """A page from an agent's result, with its scores (each 0 to 1).

    `source` is the domain, `tool_source` the tool that returned the page (`response` if only the answer names it),
    `source_type` the category stated by the search.
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
    """Statistics of a list of citations; all zero if it is empty (specification 1.9)."""

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


class Plan(Record):
    """The decomposition of a query. `complexity` is 0 to 1; `agent_types` has a role for each subtask, or fewer."""

    complexity: float
    subtasks: tuple[Subtask, ...]
    agent_types: tuple[str, ...] = ()


class MemoryItem(Record):
    """An earlier interaction of the conversation, and why it is recalled."""

    query: str
    answer: str
    origin: Literal["recent", "semantic", "summary", "session"]


class Claim(Record):
    """A statement of the report, and how well the citations support it (`confidence`, 0 to 1)."""

    text: str
    supporting: tuple[int, ...] = ()
    conflicting: tuple[int, ...] = ()
    confidence: float


class Verification(Record):
    """The claims with their confidence; `overall` is 0 to 1."""

    overall: float
    supported: int
    claims: tuple[Claim, ...] = ()
    unsupported: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()


class ResearchState(BaseModel):
    """The state of one research, from the question to the report.

    `sections` are the areas that need a section each; a concise report has none. `results` are all results of agents,
    `kept` those about the entity, `filled` those of searches that fill gaps; `first_urls` are the pages cited before
    gaps were filled. `written` is the report without its list of sources; `cut_off` says that the token limit ended it.
    """

    query: str
    history: tuple[Turn, ...] = ()
    thread: str = ""
    data_sources: DataSources = None
    user_info: Any = None
    memory: tuple[MemoryItem, ...] = ()
    summary: str = ""
    refined: Refinement = Refinement(refined_query="")
    language: str = ""
    sections: tuple[str, ...] = ()
    plan: Plan = Plan(complexity=0, subtasks=())
    results: tuple[AgentResult, ...] = ()
    kept: tuple[AgentResult, ...] = ()
    filled: tuple[AgentResult, ...] = ()
    citations: tuple[Citation, ...] = ()
    stats: CitationStats = CitationStats()
    written: str = ""
    cut_off: bool = False
    first_urls: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    gap_iteration: int = 0
    quality: float | None = None
    verification: Verification | None = None

    @property
    def context(self) -> dict[str, Any]:
        """What every prompt may show about the conversation and its user."""
        return {"memory": self.memory, "summary": self.summary, "user_info": self.user_info}
