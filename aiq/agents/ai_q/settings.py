"""Every threshold of AI-Q: type, range and meaning. The defaults are in `conf/agent/ai_q.yaml`."""

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from aiq.agents.toolkit.compaction import CompactionSettings, PruningSettings
from aiq.agents.toolkit.settings import ResearchSettings
from aiq.core.settings import Settings


class IntentSettings(Settings):
    fallback_depth: Literal["shallow", "deep"] = Field(
        description="used if the classification is still unreadable after one repair call: shallow or deep"
    )
    timeout_seconds: float = Field(
        gt=0, description="for each request of its two calls, unless llm.timeout_seconds ends it sooner"
    )


class ClarifierSettings(Settings):
    max_turns: int = Field(ge=0, description="clarifying questions at most; 0: no question and no model call")
    max_searches: int = Field(ge=0, description="research tool calls before it asks; 0: it asks without searching")
    enable_plan_approval: bool = Field(description="ask the user to approve the plan, which is made either way")
    max_plan_iterations: int = Field(ge=1, description="rounds of feedback after which the plan counts as approved")


class ShallowSettings(Settings):
    max_llm_turns: int = Field(ge=1, description="model turns; the last gets the synthesis anchor and no tools")
    max_tool_iterations: int = Field(ge=0, description="tool calls in total")
    parallel_tool_calls: bool = Field(description="allow several tool calls in one reply")
    tools: tuple[str, ...] | None = Field(description="names of the tools to use; null: all of the run")
    verbose: bool = Field(description="log an event for each turn")
    compaction: CompactionSettings = Field(description="summaries of old tool results in what the model sees")


class DeepSettings(Settings):
    max_loops: int = Field(ge=1, description="research rounds")
    max_researcher_calls: int = Field(ge=1, description="researcher dispatches in one round")
    min_queries: int = Field(ge=1, description="fewest strategic queries in the plan")
    max_queries: int = Field(ge=1, description="most strategic queries in the plan")
    max_searches_per_researcher: int = Field(ge=1, description="research tool calls per researcher")
    enable_draft: bool = Field(
        description="draft the report after each round but the last, and look for gaps in the draft"
    )
    enable_todos: bool = Field(description="offer deepagents' todo list tool; a few hundred bytes of prompt per call")
    max_model_retries: int = Field(ge=0, description="retries of a failed model call, instead of llm.retry.attempts")
    pruning: PruningSettings = Field(description="of old tool results, in what the model sees")
    recursion_limit: int = Field(ge=10, description="graph steps of the orchestrator")
    tools: tuple[str, ...] | None = Field(description="names of the tools to use; null: all of the run")
    verbose: bool = Field(description="log an event with todos, files and subagents at the end")

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        if self.min_queries > self.max_queries:
            raise ValueError(f"min_queries={self.min_queries} is above max_queries={self.max_queries}")
        return self


class EscalationSettings(Settings):
    policy: Literal["phrases", "assessed", "never", "always"] = Field(
        description="what decides that a shallow answer escalates: phrases in it; assessed: a model call; never; always"
    )
    phrases: tuple[str, ...] = Field(
        description="how a shallow answer admits that too little was found; case and style of apostrophe do not matter"
    )
    window: int = Field(
        ge=1, description="characters at the end of the answer, without its reference list, in which phrases count"
    )

    @field_validator("phrases")
    @classmethod
    def _as_compared(cls, phrases: tuple[str, ...]) -> tuple[str, ...]:
        normalised = tuple(normalise(phrase) for phrase in phrases)
        if "" in normalised:
            raise ValueError("a blank phrase matches every answer; remove it, or set policy=always")
        return normalised


_APOSTROPHES = str.maketrans("\u2019\u2018\u02bc\uff07", "''''")


def normalise(text: str) -> str:
    """The text as phrases are compared: in lower case, with straight apostrophes and single spaces."""
    return " ".join(text.translate(_APOSTROPHES).lower().split())


class AiqSettings(ResearchSettings):
    entry: Literal["chat", "shallow", "deep"] = Field(
        description="chat: the whole graph; shallow or deep: one researcher alone"
    )
    enable_escalation: bool = Field(description="go from shallow to deep if the answer is not enough; false: never")
    enable_clarifier: bool = Field(description="make a plan (and ask questions) before deep research")
    max_history: int = Field(ge=1, description="latest messages of the conversation that the agent sees")
    intent: IntentSettings = Field(description="the intent classifier")
    escalation: EscalationSettings = Field(description="from shallow to deep")
    clarifier: ClarifierSettings = Field(description="questions and the plan before deep research")
    shallow: ShallowSettings = Field(description="the shallow researcher")
    deep: DeepSettings = Field(description="the deep researcher")
