"""Every threshold of AI-Q, with the default of its specification.

Where specification and reference implementation disagree, the value is the one the project settled on
(`docs/agents.md` lists these).
"""

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from aiq.agents.toolkit.compaction import CompactionSettings, PruningSettings
from aiq.core.files import resolve
from aiq.core.prompts import Prompts
from aiq.core.samples import DataSources
from aiq.core.settings import Settings


class IntentSettings(Settings):
    """`fallback_depth`: the depth taken when the classification stays unparsable after one repair call.

    `timeout_seconds`: of each send of both calls, where `llm.timeout_seconds` does not end it sooner.
    """

    fallback_depth: Literal["shallow", "deep"] = "shallow"
    timeout_seconds: float = Field(default=90.0, gt=0)


class ClarifierSettings(Settings):
    """`max_turns`: clarifying questions at most. `max_searches`: calls of research tools before they are asked.

    `max_plan_iterations`: rounds of feedback until the plan counts as approved.
    """

    max_turns: int = Field(default=3, ge=0)
    max_searches: int = Field(default=3, ge=0)
    enable_plan_approval: bool = False
    max_plan_iterations: int = Field(default=10, ge=1)


class ShallowSettings(Settings):
    """`max_tool_iterations` counts tool calls; the turn `max_llm_turns` is the last and gets the synthesis anchor.

    `tools`: names of the tools to use, None for all of the run. `verbose`: an event for each turn.
    """

    max_llm_turns: int = Field(default=10, ge=1)
    max_tool_iterations: int = Field(default=5, ge=0)
    parallel_tool_calls: bool = True
    tools: tuple[str, ...] | None = None
    verbose: bool = False
    compaction: CompactionSettings = CompactionSettings()

    @property
    def recursion_limit(self) -> int:
        """Graph steps: two a turn (agent and tools), and headroom."""
        return 2 * self.max_llm_turns + 10


class DeepSettings(Settings):
    """`max_loops`: research rounds. `max_researcher_calls`: researcher dispatches within one round.

    `min_queries` and `max_queries` bound the planner's strategic queries. `max_model_retries`: sends
    of a failed model call after the first, in place of `llm.retry.attempts`. `recursion_limit` bounds
    graph steps of the orchestrator. `tools`: names of the tools to use, None for all of the run.
    `verbose`: an event with todos, files and subagents at the end.
    """

    max_loops: int = Field(default=2, ge=1)
    max_researcher_calls: int = Field(default=6, ge=1)
    min_queries: int = Field(default=4, ge=1)
    max_queries: int = Field(default=6, ge=1)
    max_searches_per_researcher: int = Field(default=8, ge=1)
    enable_todos: bool = True
    max_model_retries: int = Field(default=10, ge=0)
    pruning: PruningSettings = PruningSettings()
    recursion_limit: int = Field(default=200, ge=10)
    tools: tuple[str, ...] | None = None
    verbose: bool = True

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        if self.min_queries > self.max_queries:
            raise ValueError(f"min_queries={self.min_queries} is above max_queries={self.max_queries}")
        return self


class EscalationSettings(Settings):
    """`policy`: who says that a shallow answer is not enough: its own `phrases`, a model (`assessed`), or nobody."""

    policy: Literal["phrases", "assessed", "never"] = "phrases"


class AiqSettings(Settings):
    """`entry`: the whole chat graph, or one researcher alone. `max_history` counts messages.

    `enable_escalation=false` is the policy `never`, whatever `escalation.policy` says. `prompts_dir`: a folder of
    templates that take the place of shipped ones of the same name.
    """

    entry: Literal["chat", "shallow", "deep"] = "chat"
    enable_escalation: bool = True
    enable_clarifier: bool = True
    max_history: int = Field(default=20, ge=1)
    data_sources: DataSources = None
    prompts_dir: str | None = None
    intent: IntentSettings = IntentSettings()
    escalation: EscalationSettings = EscalationSettings()
    clarifier: ClarifierSettings = ClarifierSettings()
    shallow: ShallowSettings = ShallowSettings()
    deep: DeepSettings = DeepSettings()

    def prompts(self) -> Prompts:
        """The templates in use. Raises ConfigError for a `prompts_dir` that does not fit."""
        variants = None if self.prompts_dir is None else resolve(self.prompts_dir)
        return Prompts(Path(__file__).parent / "prompts", variants, "agent.prompts_dir")
