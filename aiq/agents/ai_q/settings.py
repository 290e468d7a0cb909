"""Every threshold of AI-Q, with the default of its specification.

Where specification and reference implementation disagree, the value is the one the project settled on
(`docs/agents.md` lists these).
"""

from typing import Literal

from pydantic import Field

from aiq.core.settings import Settings


class IntentSettings(Settings):
    """`fallback_depth`: the depth taken when the classification stays unparsable after one repair call."""

    fallback_depth: Literal["shallow", "deep"] = "shallow"


class ClarifierSettings(Settings):
    """`max_turns`: clarifying questions at most. `max_plan_iterations`: plan previews until auto-approval."""

    max_turns: int = Field(default=3, ge=0)
    enable_plan_approval: bool = False
    max_plan_iterations: int = Field(default=10, ge=1)


class ShallowSettings(Settings):
    """`max_tool_iterations` counts tool calls; the turn `max_llm_turns` is the last and gets the synthesis anchor."""

    max_llm_turns: int = Field(default=10, ge=1)
    max_tool_iterations: int = Field(default=5, ge=0)
    parallel_tool_calls: bool = True


class DeepSettings(Settings):
    """`max_loops`: research rounds. `max_researcher_calls`: researcher dispatches within one round.

    `min_queries` and `max_queries` bound the planner's strategic queries. `recursion_limit` bounds
    graph steps of the orchestrator.
    """

    max_loops: int = Field(default=2, ge=1)
    max_researcher_calls: int = Field(default=6, ge=1)
    min_queries: int = Field(default=4, ge=1)
    max_queries: int = Field(default=6, ge=1)
    max_searches_per_researcher: int = Field(default=8, ge=1)
    enable_todos: bool = True
    recursion_limit: int = Field(default=200, ge=10)


class AiqSettings(Settings):
    """`entry`: the whole chat graph, or one researcher alone. `max_history` counts messages.

    `user`: who answers the clarifier in evaluations.
    """

    entry: Literal["chat", "shallow", "deep"] = "chat"
    enable_escalation: bool = True
    enable_clarifier: bool = True
    max_history: int = Field(default=20, ge=1)
    user: Literal["approve", "reject"] = "approve"
    intent: IntentSettings = IntentSettings()
    clarifier: ClarifierSettings = ClarifierSettings()
    shallow: ShallowSettings = ShallowSettings()
    deep: DeepSettings = DeepSettings()
