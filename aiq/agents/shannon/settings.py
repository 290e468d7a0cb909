"""Shannon's settings: type, range and meaning. The defaults are in `conf/agent/shannon.yaml`.

The top-level names are those of a request's `context` in the specification; if one is null, the research strategy
decides (`rules.strategy_preset`), or `WITHOUT_STRATEGY` if there is none.
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
"""Values of settings that are null if there is no strategy (specification 1.4 and 1.12)."""


REQUESTED = (
    *("research_strategy", "react_per_task", "react_max_iterations", "max_concurrent_agents", "enable_verification"),
    *("gap_filling_enabled", "gap_filling_max_gaps", "gap_filling_max_iterations", "gap_filling_check_citations"),
    *("budget_agent_max", "synthesis_style", "synthesis_model_tier", "force_research"),
)
"""Settings that a request may choose, by the specification."""


class MemorySettings(Settings):
    enabled: bool = Field(description="recall earlier turns of the conversation, and remember this one")
    recent: int = Field(ge=0, description="number of latest interactions to recall")
    similar: int = Field(ge=0, description="number of interactions most similar to the question to recall")
    threshold: Share = Field(description="minimum cosine similarity of an interaction that is similar to the question")
    most: Count = Field(description="maximum number of interactions, after both kinds are merged")
    history: Count = Field(description="latest messages of the history to use if no interaction is remembered")
    embedding_model: str | None = Field(description="model of the endpoint; null: match words and word parts, no model")


class CompressionSettings(Settings):
    enabled: bool = Field(description="summarise a long conversation before the research")
    messages: Count = Field(description="compress only conversations with more messages than this")
    window_share: Share = Field(description="compress only conversations that take this share of the context window")
    target_share: Share = Field(description="share of the context window that the summary may take")
    new_messages: int = Field(ge=0, description="minimum number of messages since the last compression")
    minutes: float = Field(ge=0, description="minimum number of minutes since the last compression")
    tier: Tier = Field(description="tier whose context window counts, and whose model writes the summary")


class RefineSettings(Settings):
    enabled: bool = Field(description="refine the query; false: research it as it is, without areas")
    tier: Tier = Field(description="tier of the model that refines")
    min_areas: Count = Field(description="minimum number of research areas to ask for")
    max_areas: Count = Field(description="maximum number of research areas")
    query_chars: Count = Field(description="maximum length of the refined query, in characters")
    cjk_share: Share = Field(description="share of CJK letters above which the query is Chinese, Japanese or Korean")
    ignore_urls: bool = Field(description="ignore URLs when detecting the query's language")
    han_by_kana: float | None = Field(
        ge=0, description="Chinese characters per kana above which a query with kana is Chinese; null: never"
    )
    timeout_seconds: Positive = Field(description="timeout of the model call")


class DecomposeSettings(Settings):
    tier: Tier = Field(description="tier of the model that decomposes")
    temperature: float = Field(ge=0, le=2, description="temperature of the model call")
    max_tokens: Count = Field(description="token limit of the reply")
    timeout_seconds: Positive = Field(description="timeout of the model call")
    contracts: bool = Field(description="subtasks state output format, kinds of sources, number of searches and limits")


class ExecutionSettings(Settings):
    pattern: Literal["auto", Pattern] = Field(description="auto: by complexity and dependencies; else always this one")
    react_below: Share = Field(description="complexity below which one ReAct loop does all the research")
    per_task_above: Share = Field(description="complexity above which deep and academic research loop in each subtask")
    tool_rounds: Count = Field(description="replies with tool calls before an agent must answer")
    observation_window: Count = Field(description="number of latest observations that a reasoning step sees")
    max_observations: Count = Field(description="maximum number of observations that a loop keeps")
    max_thoughts: Count = Field(description="maximum number of thoughts that a loop keeps")
    max_actions: Count = Field(description="maximum number of actions that a loop keeps")
    min_iterations: int = Field(ge=0, description="iterations before which a loop does not stop by itself")
    needs_evidence: bool = Field(description="a loop must not stop before a tool call has succeeded")
    fetch_share: Share = Field(
        description="after three searches, advise a loop with fewer pages opened per search to open some; 0: never"
    )
    force_search: bool = Field(description="search for the question once if no tool call of any agent succeeded")


class CollectionSettings(Settings):
    most: Count = Field(description="maximum number of citations")
    per_domain: Count = Field(description="maximum number of citations from one domain or document")
    entity_threshold: Share = Field(description="minimum score of a citation that is about the entity")
    entity_keep: int = Field(ge=0, description="minimum number of citations that the entity filter keeps, if available")
    least_text: int = Field(
        ge=0, description="cite only http(s) pages with at least this many characters of text; 0: whatever tools return"
    )
    prefer_fetched: bool = Field(description="prefer title and text of an opened page to those of its search result")
    short_alias: int = Field(ge=0, description="names of the entity shorter than this must match whole words")
    least_left: int = Field(ge=0, description="do not apply the entity filter if it would leave fewer citations")
    least_share: Share = Field(description="do not apply the entity filter if it would leave a smaller share of them")
    placement: Literal["inline", "after"] = Field(
        description="inline: the synthesizer cites; after: an agent marks the finished report"
    )
    strict_marks: bool = Field(description="with placement=after: a mark must also have its sentence's hash")
    entity_filter: bool = Field(description="keep only results and citations that name the entity of the question")


class SynthesisSettings(Settings):
    max_results: Count = Field(description="maximum number of results in the prompt, besides those that fill gaps")
    result_chars: Count = Field(description="maximum length of each result, in characters")
    same_above: Share = Field(description="share of common words above which results are duplicates; 1: if equal")
    min_citations: Count = Field(description="inline citations to ask for, if there are as many sources")
    words: Count = Field(description="minimum number of words to ask for")
    words_per_area: Count = Field(description="words to ask for per area, if that is more in all")
    area_chars: int = Field(ge=0, description="an area is covered by a section of at least this many characters")
    area_citations: int = Field(ge=0, description="an area is covered by a section with at least this many citations")
    max_tokens: Count = Field(description="token limit of the report, without what results add")
    tokens_per_result: int = Field(ge=0, description="tokens that each result adds to the limit")
    comprehensive_tokens: Count = Field(description="minimum token limit of a comprehensive report")
    margin_share: Share = Field(description="share of the token limit: a reply that leaves less ran out of room")
    margin_tokens: Count = Field(description="maximum of that margin, in tokens")
    continuation_tokens: Count = Field(description="token limit of a continuation; at most half the report's")
    continuation_chars: Count = Field(description="characters of the report's end that the continuation sees")
    continue_on_length: bool = Field(description="also continue a report that the token limit cut off")
    timeout_seconds: Positive = Field(description="timeout of each model call")


class GapSettings(Settings):
    evaluator: Literal["rules", "model"] = Field(
        description="what finds gaps: rules on the form of sections, or a model that is asked what is not covered"
    )
    confidence: Share = Field(description="with evaluator=model: confidence from which no more searches are made")
    queries: Count = Field(description="with evaluator=model: maximum number of queries in one pass")
    new_urls: Count = Field(description="with evaluator=model: new pages that make a pass useful, as a new domain does")
    stop_urls: Count = Field(description="with evaluator=model: stop after this many new pages in all passes")
    stop_domains: Count = Field(description="with evaluator=model: stop after this many new domains in all passes")
    min_citations: Count = Field(description="minimum number of distinct citations per section, if these are checked")
    max_iterations: int | None = Field(
        ge=1, le=10, description="iterations of the loop for one gap; null: react_max_iterations, or 3"
    )
    at_once: Count = Field(description="maximum number of gaps to search for at the same time")


class ReflectionSettings(Settings):
    evaluator: Literal["constant", "coverage", "model"] = Field(
        description="constant: good unless blank; coverage: share of covered areas; model: asked for a score"
    )
    threshold: Share = Field(description="quality from which a report is not rewritten")
    max_retries: int = Field(ge=0, description="maximum number of evaluations; there is no rewriting after the last")


class VerificationSettings(Settings):
    tier: Tier = Field(description="tier of the model that finds and checks claims")
    verdicts: bool = Field(
        description="ask for a verdict on each claim, given the citations nearest to it; false: ask for a confidence"
    )
    answer_chars: Count = Field(description="characters of the report to search for claims")
    max_claims: Count = Field(description="maximum number of claims to check")
    max_citations: Count = Field(description="maximum number of citations to check claims against")
    snippet_chars: Count = Field(description="characters of each citation to show")
    supported_from: Share = Field(description="confidence from which a claim counts as supported")
    unsupported_below: Share = Field(description="confidence below which a claim counts as unsupported")


class ShannonSettings(ResearchSettings):
    research_strategy: Literal["quick", "standard", "deep", "academic"] | None = Field(
        description="preset of the settings below that are null; null: no strategy"
    )
    react_per_task: bool | None = Field(
        description="a ReAct loop for each subtask; null: for complex questions with deep or academic"
    )
    react_max_iterations: int | None = Field(ge=2, le=8, description="per ReAct loop; null: the strategy's, or 5")
    max_concurrent_agents: int | None = Field(ge=1, le=20, description="agents at once; null: the strategy's, or 5")
    enable_verification: bool | None = Field(description="check claims; null: the strategy's, or false")
    gap_filling_enabled: bool | None = Field(description="search again for gaps; null: the strategy's, or true")
    gap_filling_max_gaps: int | None = Field(ge=1, le=20, description="gaps per pass; null: the strategy's, or 3")
    gap_filling_max_iterations: int | None = Field(ge=1, le=5, description="passes; null: the strategy's, or 2")
    gap_filling_check_citations: bool | None = Field(
        description="a section with few citations is a gap; null: the strategy's, or false"
    )
    budget_agent_max: int | None = Field(ge=1, description="token budget of each agent; null: no limit")
    record_zero_token: bool = Field(description="also record the usage of tool calls that no model asked for")
    synthesis_style: Literal["comprehensive", "concise"] = Field(
        description="a report with a section for each area, or a short answer"
    )
    synthesis_model_tier: Tier = Field(description="tier of the model that writes the report")
    gap_model_tier: Tier | None = Field(
        description="tier of the model that rewrites the report after filling gaps; null: the same"
    )
    model_tier: Tier | None = Field(description="tier of agents; null: small below complexity 0.3, medium below 0.5")
    force_research: bool = Field(
        description="subtasks outside of loops get search and fetch tools, suggested or not; loops always have them"
    )
    memory: MemorySettings = Field(description="earlier turns of the conversation")
    compression: CompressionSettings = Field(description="summary of a long conversation")
    refine: RefineSettings = Field(description="the query, its areas and its entity")
    decompose: DecomposeSettings = Field(description="decomposition into subtasks")
    execution: ExecutionSettings = Field(description="work on subtasks, by agents")
    citations: CollectionSettings = Field(description="collection, ranking and the entity filter")
    synthesis: SynthesisSettings = Field(description="writing the report")
    gaps: GapSettings = Field(description="areas that the report does not cover")
    reflection: ReflectionSettings = Field(description="quality of the report")
    verification: VerificationSettings = Field(description="claims of the report against the citations")

    def of(self, name: str, otherwise: Any = None) -> Any:
        """The value of a setting that may be null: its own, else the strategy's, else `otherwise` or the default."""
        value, preset = getattr(self, name), strategy_preset(self.research_strategy)
        return preset.get(name, otherwise or WITHOUT_STRATEGY[name]) if value is None else value
