"""Every threshold of AI-Q: type, range and meaning. The defaults are in `conf/agent/ai_q.yaml`."""

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from aiq.agents.toolkit.compaction import CompactionSettings, PruningSettings
from aiq.agents.toolkit.settings import ResearchSettings
from aiq.core.settings import Settings


class IntentSettings(Settings):
    fallback_depth: Literal["shallow", "deep"] = Field(
        description="taken when the classification stays unreadable after one repair call: shallow or deep"
    )
    timeout_seconds: float = Field(
        gt=0, description="of each send of its two calls, where llm.timeout_seconds does not end it sooner"
    )


class ClarifierSettings(Settings):
    max_turns: int = Field(ge=0, description="clarifying questions at most; 0: nothing is asked, without a model call")
    max_searches: int = Field(ge=0, description="calls of research tools before it asks; 0: it asks without looking")
    enable_plan_approval: bool = Field(description="ask the user to approve the plan; it is made either way")
    max_plan_iterations: int = Field(ge=1, description="rounds of feedback until the plan counts as approved")


class ShallowSettings(Settings):
    max_llm_turns: int = Field(ge=1, description="model turns; the last gets the synthesis anchor and no tools")
    max_tool_iterations: int = Field(ge=0, description="tool calls in all")
    parallel_tool_calls: bool = Field(description="several tool calls in one reply")
    tools: tuple[str, ...] | None = Field(description="names of the tools to use; null: all of the run")
    verbose: bool = Field(description="an event for each turn")
    compaction: CompactionSettings = Field(description="of old tool results, in what the model sees")


class DeepSettings(Settings):
    max_loops: int = Field(ge=1, description="research rounds")
    max_researcher_calls: int = Field(ge=1, description="researcher dispatches in one round")
    min_queries: int = Field(ge=1, description="strategic queries that the planner writes, at least")
    max_queries: int = Field(ge=1, description="and at most")
    max_searches_per_researcher: int = Field(ge=1, description="calls of research tools by one researcher")
    enable_draft: bool = Field(
        description="a draft of the report after each round but the last, in which the gaps are looked for"
    )
    enable_todos: bool = Field(description="the todo list tool of deepagents; a few hundred bytes of prompt a call")
    max_model_retries: int = Field(
        ge=0, description="sends of a failed model call after the first, in place of llm.retry.attempts"
    )
    pruning: PruningSettings = Field(description="of old tool results, in what the model sees")
    recursion_limit: int = Field(ge=10, description="graph steps of the orchestrator")
    tools: tuple[str, ...] | None = Field(description="names of the tools to use; null: all of the run")
    verbose: bool = Field(description="an event with todos, files and subagents at the end")

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        if self.min_queries > self.max_queries:
            raise ValueError(f"min_queries={self.min_queries} is above max_queries={self.max_queries}")
        return self


class EscalationSettings(Settings):
    policy: Literal["phrases", "assessed", "never", "always"] = Field(
        description="who says that a shallow answer is not enough: its phrases; assessed: one model call; never; always"
    )
    phrases: tuple[str, ...] = Field(
        description="a shallow researcher's ways to say that it found too little; case and kind of apostrophe are equal"
    )
    window: int = Field(
        ge=1, description="characters at the answer's end, without its reference list, in which a phrase counts"
    )

    @field_validator("phrases")
    @classmethod
    def _as_compared(cls, phrases: tuple[str, ...]) -> tuple[str, ...]:
        found = tuple(plain(phrase) for phrase in phrases)
        if "" in found:
            raise ValueError("a blank phrase is in every answer; leave it out, or set policy=always")
        return found


_APOSTROPHES = str.maketrans("\u2019\u2018\u02bc\uff07", "''''")


def plain(text: str) -> str:
    """The text as phrases are compared: in lower case, with straight apostrophes and single blanks."""
    return " ".join(text.translate(_APOSTROPHES).lower().split())


class AiqSettings(ResearchSettings):
    entry: Literal["chat", "shallow", "deep"] = Field(
        description="chat: the whole graph; shallow or deep: one researcher alone"
    )
    enable_escalation: bool = Field(
        description="from shallow to deep where the answer is not enough; false: policy never"
    )
    enable_clarifier: bool = Field(description="a plan (and questions) before deep research")
    max_history: int = Field(ge=1, description="messages of the conversation that are kept")
    intent: IntentSettings = Field(description="the first classification")
    escalation: EscalationSettings = Field(description="from shallow to deep")
    clarifier: ClarifierSettings = Field(description="questions and the plan before deep research")
    shallow: ShallowSettings = Field(description="the shallow researcher")
    deep: DeepSettings = Field(description="the deep researcher")
