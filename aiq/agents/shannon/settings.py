"""Every threshold of Shannon: type, range and meaning. The defaults are in `conf/agent/shannon.yaml`.

The names at the top are those of a request's `context` in the specification; where one is null, the research strategy
decides (`rules.strategy_preset`), and without a strategy `WITHOUT_STRATEGY` does.
"""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from aiq.agents.shannon.rules import strategy_preset
from aiq.agents.toolkit.settings import ResearchSettings
from aiq.core.settings import Count, Positive, Settings, Share

Tier = Literal["small", "medium", "large"]
Pattern = Literal["react", "react_per_task", "parallel", "hybrid", "sequential"]

WITHOUT_STRATEGY: Mapping[str, Any] = {
    **strategy_preset("standard"),
    "enable_verification": False,
    "react_max_iterations": 5,
}
"""Specification 1.4 and 1.12."""


REQUESTED = (
    *("research_strategy", "react_per_task", "react_max_iterations", "max_concurrent_agents", "enable_verification"),
    *("gap_filling_enabled", "gap_filling_max_gaps", "gap_filling_max_iterations", "gap_filling_check_citations"),
    *("budget_agent_max", "synthesis_style", "synthesis_model_tier", "force_research"),
)
"""Those that the specification lets a request choose."""


class MemorySettings(Settings):
    enabled: bool = Field(description="recall earlier turns of the conversation, and remember this one")
    recent: int = Field(ge=0, description="latest interactions of the conversation")
    similar: int = Field(ge=0, description="interactions most like the question")
    threshold: Share = Field(description="cosine similarity from which an interaction is like the question")
    most: Count = Field(description="interactions in all, after both kinds are merged")
    history: Count = Field(description="latest messages of the history, where no interaction is remembered")
    embedding_model: str | None = Field(description="of the endpoint; null: words and parts of words, without a model")


class CompressionSettings(Settings):
    enabled: bool = Field(description="summarise a long conversation before the research")
    messages: Count = Field(description="of the conversation, above which it may be compressed")
    window_share: Share = Field(description="of the window that the tier's models have, from which it is compressed")
    target_share: Share = Field(description="of the window, that the summary may take")
    new_messages: int = Field(ge=0, description="messages since the last compression, at least")
    minutes: float = Field(ge=0, description="since the last compression, at least")
    tier: Tier = Field(description="whose window counts, and which writes the summary")


class RefineSettings(Settings):
    enabled: bool = Field(description="refine the query; false: research it as it is, without areas")
    tier: Tier = Field(description="of the model that refines")
    min_areas: Count = Field(description="research areas that are asked for, at least")
    max_areas: Count = Field(description="and at most")
    query_chars: Count = Field(description="of the refined query, at most")
    cjk_share: Share = Field(description="of Chinese, Japanese and Korean letters, above which a query is in them")
    ignore_urls: bool = Field(description="addresses do not count for the query's language")
    han_by_kana: float | None = Field(
        ge=0, description="Chinese characters for each kana, above which a query is Chinese; null: never"
    )
    timeout_seconds: Positive = Field(description="of its model call")


class DecomposeSettings(Settings):
    tier: Tier = Field(description="of the model that decomposes")
    temperature: float = Field(ge=0, le=2, description="of its model call")
    max_tokens: Count = Field(description="of its reply")
    timeout_seconds: Positive = Field(description="of its model call")
    contracts: bool = Field(description="subtasks say what to bring, from where, in how many searches, and what not")


class ExecutionSettings(Settings):
    pattern: Pattern | Literal["auto"] = Field(description="auto: by complexity and dependencies; else always this one")
    react_below: Share = Field(description="complexity below which one ReAct loop does all the research")
    per_task_above: Share = Field(description="complexity above which deep and academic research loop in each subtask")
    tool_rounds: Count = Field(description="replies with tool calls of one agent, before it has to answer")
    observation_window: Count = Field(description="latest observations that a reasoning step sees")
    max_observations: Count = Field(description="that a loop keeps")
    max_thoughts: Count = Field(description="that a loop keeps")
    max_actions: Count = Field(description="that a loop keeps")
    min_iterations: int = Field(ge=0, description="of a loop, before which it does not stop by itself")
    needs_evidence: bool = Field(description="a loop may not stop before a tool has brought something")
    fetch_share: Share = Field(
        description="pages opened per search that a loop is told to reach after three searches; 0: it is not told"
    )
    force_search: bool = Field(description="one search for the question where no tool call of any agent succeeded")


class CollectionSettings(Settings):
    most: Count = Field(description="citations that synthesis is given")
    per_domain: Count = Field(description="of one domain")
    entity_threshold: Share = Field(description="score from which a citation is about the entity")
    entity_keep: int = Field(ge=0, description="citations that the entity filter leaves at least, where there are any")
    least_text: int = Field(
        ge=0, description="characters of text of an http(s) page that may be cited; 0: whatever tools bring"
    )
    prefer_fetched: bool = Field(description="of a page found and opened, title and text are those of the opened one")
    short_alias: int = Field(ge=0, description="characters below which a name of the entity has to be a whole word")
    least_left: int = Field(ge=0, description="citations that the entity filter must leave, or it is not applied")
    least_share: Share = Field(description="the same as a share")
    placement: Literal["inline", "after"] = Field(
        description="inline: the synthesizer cites; after: an agent marks the finished report"
    )
    strict_marks: bool = Field(description="of placement=after: a mark must name its sentence's hash too")
    entity_filter: bool = Field(description="keep results and citations that name the entity of the question")


class SynthesisSettings(Settings):
    max_results: Count = Field(description="results of agents in the prompt; those that fill gaps come on top")
    result_chars: Count = Field(description="of each result")
    same_above: Share = Field(description="share of common words above which two results are one; 1: only equal ones")
    min_citations: Count = Field(description="inline citations that the report is asked for, where there are as many")
    words: Count = Field(description="of a report, at least")
    words_per_area: Count = Field(description="where that is more")
    area_chars: int = Field(ge=0, description="characters of a section, below which its area is not covered")
    area_citations: int = Field(ge=0, description="different citations of a section, below which it is not covered")
    max_tokens: Count = Field(description="of the report, for its frame")
    tokens_per_result: int = Field(ge=0, description="of the report, for each result of an agent")
    comprehensive_tokens: Count = Field(description="of a comprehensive report, at least")
    margin_share: Share = Field(description="of the reply's limit, that must be left or it lacked room")
    margin_tokens: Count = Field(description="the same in tokens, where that is less")
    continuation_tokens: Count = Field(description="of a continuation, at most")
    continuation_chars: Count = Field(description="of the report's end that the continuation sees")
    continue_on_length: bool = Field(description="continue a report that the token limit cut off, too")
    timeout_seconds: Positive = Field(description="of its model call")


class GapSettings(Settings):
    evaluator: Literal["rules", "model"] = Field(
        description="who finds gaps: the rules of a section's form, or a model that is asked what is not covered"
    )
    confidence: Share = Field(description="of evaluator=model, from which nothing is searched for any more")
    queries: Count = Field(description="of evaluator=model, in one pass")
    new_urls: Count = Field(description="new pages of a pass, or a new domain, or it has brought nothing")
    stop_urls: Count = Field(description="new pages of all passes after which evaluator=model stops")
    stop_domains: Count = Field(description="new domains of all passes after which evaluator=model stops")
    min_citations: Count = Field(description="different citations of a section, where citations are checked")
    max_iterations: int | None = Field(
        ge=1, le=10, description="of the loop that searches for one gap; null: react_max_iterations, or 3"
    )
    at_once: Count = Field(description="gaps that are searched for at the same time")


class ReflectionSettings(Settings):
    evaluator: Literal["constant", "coverage", "model"] = Field(
        description="constant: good unless blank; coverage: share of covered areas; model: asked for a score"
    )
    threshold: Share = Field(description="of quality, from which a report stays as it is")
    max_retries: int = Field(ge=0, description="evaluations, after the last of which nothing is written anew")


class VerificationSettings(Settings):
    tier: Tier = Field(description="of the model that finds and checks claims")
    verdicts: bool = Field(
        description="a claim is supported, unsupported or open by the citations nearest to it; false: by confidence"
    )
    answer_chars: Count = Field(description="of the report that are searched for claims")
    max_claims: Count = Field(description="that are checked")
    max_citations: Count = Field(description="that each claim is checked against")
    snippet_chars: Count = Field(description="of each citation")
    supported_from: Share = Field(description="confidence of a claim that counts as supported")
    unsupported_below: Share = Field(description="confidence of a claim that counts as unsupported")


class ShannonSettings(ResearchSettings):
    research_strategy: Literal["quick", "standard", "deep", "academic"] | None = Field(
        description="what the settings below that are null follow; null: none"
    )
    react_per_task: bool | None = Field(
        description="a ReAct loop for each subtask; null: for complex questions with deep or academic"
    )
    react_max_iterations: int | None = Field(ge=2, le=8, description="of one ReAct loop; null: the strategy's, or 5")
    max_concurrent_agents: int | None = Field(ge=1, le=20, description="at once; null: the strategy's, or 5")
    enable_verification: bool | None = Field(description="check claims; null: as the strategy, or not")
    gap_filling_enabled: bool | None = Field(description="search again for gaps; null: as the strategy, or so")
    gap_filling_max_gaps: int | None = Field(ge=1, le=20, description="in one pass; null: the strategy's, or 3")
    gap_filling_max_iterations: int | None = Field(ge=1, le=5, description="passes; null: the strategy's, or 2")
    gap_filling_check_citations: bool | None = Field(
        description="a section with few citations is a gap; null: as the strategy, or not"
    )
    budget_agent_max: int | None = Field(ge=1, description="tokens of one agent; null: no limit")
    record_zero_token: bool = Field(description="a record of usage for tool calls that no model was asked for")
    synthesis_style: Literal["comprehensive", "concise"] = Field(
        description="a report with a section for each area, or a short answer"
    )
    synthesis_model_tier: Tier = Field(description="of the model that writes the report")
    gap_model_tier: Tier | None = Field(description="of that which rewrites it once gaps are filled; null: the same")
    model_tier: Tier | None = Field(description="of agents; null: by complexity, small below 0.3, medium below 0.5")
    force_research: bool = Field(
        description="subtasks outside of loops get search and fetch tools, suggested or not; loops always have them"
    )
    memory: MemorySettings = Field(description="earlier turns of the conversation")
    compression: CompressionSettings = Field(description="of a long conversation")
    refine: RefineSettings = Field(description="the query, its areas and its entity")
    decompose: DecomposeSettings = Field(description="into subtasks")
    execution: ExecutionSettings = Field(description="of subtasks, by agents")
    citations: CollectionSettings = Field(description="collection, ranking and the entity filter")
    synthesis: SynthesisSettings = Field(description="the report")
    gaps: GapSettings = Field(description="areas that the report does not cover")
    reflection: ReflectionSettings = Field(description="quality of the report")
    verification: VerificationSettings = Field(description="claims of the report against the citations")

    def of(self, name: str, otherwise: Any = None) -> Any:
        """The value of a setting that may be null: its own, else the strategy's, else `otherwise` or without one."""
        own, preset = getattr(self, name), strategy_preset(self.research_strategy)
        return preset.get(name, otherwise or WITHOUT_STRATEGY[name]) if own is None else own
