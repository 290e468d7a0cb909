"""What the stages of one research hand on: the state of the graph and the records in it."""

from typing import Any, Literal

from pydantic import BaseModel

from aiq.agents.shannon.records import AgentResult, Citation, CitationStats, Refinement, Subtask
from aiq.core.base import Record
from aiq.core.samples import DataSources, Turn


class Plan(Record):
    """The decomposition of a query. `complexity` is 0 to 1; `agent_types` are by subtask, where a model names them."""

    complexity: float
    subtasks: tuple[Subtask, ...]
    agent_types: tuple[str, ...] = ()


class Remembered(Record):
    """An earlier interaction of the conversation, and why it is recalled."""

    query: str
    answer: str
    origin: Literal["recent", "semantic", "summary", "session"]


class Claim(Record):
    """A statement of the report, and how far the citations bear it out (`confidence`, 0 to 1)."""

    text: str
    supporting: tuple[int, ...] = ()
    conflicting: tuple[int, ...] = ()
    confidence: float


class Verification(Record):
    """Claims by confidence; `overall` is 0 to 1."""

    overall: float
    supported: int
    claims: tuple[Claim, ...] = ()
    unsupported: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()


class ResearchState(BaseModel):
    """One research, from the question to its report.

    `sections` are the areas that the report must have one of, none for a concise one. `results` are all that agents
    have found, `kept` those about the entity, `filled` those that gaps were searched for with; `first_urls` are the
    pages cited before any was. `written` is the report without its list of sources, `cut_off` where the
    token limit ended it.
    """

    query: str
    history: tuple[Turn, ...] = ()
    thread: str = ""
    data_sources: DataSources = None
    user_info: Any = None
    memory: tuple[Remembered, ...] = ()
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
        """What every prompt may show of the conversation and its user."""
        return {"memory": self.memory, "summary": self.summary, "user_info": self.user_info}
