"""The deterministic rules of Shannon: signatures; the bodies follow."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from pydantic import JsonValue

from aiq.agents.shannon.records import AgentResult, Citation, CitationStats, Refinement, Subtask, VerificationSummary


def normalize_url(url: str) -> str:
    raise NotImplementedError


def extract_domain(url: str) -> str:
    raise NotImplementedError


def extract_doi(url: str) -> str:
    raise NotImplementedError


def clean_title(title: str, url: str, source: str) -> str:
    raise NotImplementedError


def quality_score(
    relevance: float, published: datetime | None, has_title: bool, has_snippet: bool, now: datetime
) -> float:
    raise NotImplementedError


def credibility_score(domain: str) -> float:
    raise NotImplementedError


def extract_citations(results: Sequence[AgentResult], now: datetime) -> list[Citation]:
    raise NotImplementedError


def deduplicate(citations: Sequence[Citation]) -> list[Citation]:
    raise NotImplementedError


def rank_citations(citations: Sequence[Citation]) -> list[Citation]:
    raise NotImplementedError


def enforce_diversity(citations: Sequence[Citation], per_domain: int = 3) -> list[Citation]:
    raise NotImplementedError


def citation_stats(citations: Sequence[Citation]) -> CitationStats:
    raise NotImplementedError


def collect_citations(
    results: Sequence[AgentResult], now: datetime, maximum: int = 15, per_domain: int = 3
) -> tuple[list[Citation], CitationStats]:
    raise NotImplementedError


def citation_line(number: int, citation: Citation) -> str:
    raise NotImplementedError


def citation_lines(citations: Sequence[Citation]) -> list[str]:
    raise NotImplementedError


def entity_matches(text: str, aliases: Sequence[str], domains: Sequence[str]) -> bool:
    raise NotImplementedError


def filter_results(
    results: Sequence[AgentResult], canonical_name: str, exact_queries: Sequence[str], official_domains: Sequence[str]
) -> list[AgentResult]:
    raise NotImplementedError


def filter_by_entity(
    citations: Sequence[Citation],
    canonical_name: str,
    exact_queries: Sequence[str],
    official_domains: Sequence[str],
    threshold: float = 0.3,
    min_keep: int = 8,
) -> list[Citation]:
    raise NotImplementedError


def section_body(text: str, area: str) -> str | None:
    raise NotImplementedError


def count_inline_citations(text: str) -> int:
    raise NotImplementedError


def looks_complete(text: str, areas: Sequence[str], min_characters: int = 600, min_citations: int = 2) -> bool:
    raise NotImplementedError


def detect_gaps(
    text: str, areas: Sequence[str], max_gaps: int, check_citations: bool, min_citations: int = 2
) -> list[str]:
    raise NotImplementedError


def gap_reason(text: str, area: str, check_citations: bool, min_citations: int = 2) -> str:
    raise NotImplementedError


def gap_queries(areas: Sequence[str], original_query: str) -> list[str]:
    raise NotImplementedError


def minimum_citations(available: int) -> int:
    raise NotImplementedError


def target_words(areas: int) -> int:
    raise NotImplementedError


def synthesis_max_tokens(results: int, comprehensive: bool) -> int:
    raise NotImplementedError


def clip(text: str, limit: int) -> str:
    raise NotImplementedError


def select_evidence(results: Sequence[AgentResult], maximum: int = 6, characters: int = 4000) -> list[str]:
    raise NotImplementedError


def sanitize_output(text: str) -> str:
    raise NotImplementedError


def format_report(report: str, lines: Sequence[str]) -> str:
    raise NotImplementedError


def continuation_margin(effective_max: int) -> int:
    raise NotImplementedError


def needs_continuation(
    finish_reason: str, complete: bool, effective_max: int, completion_tokens: int, continue_on_length: bool = False
) -> bool:
    raise NotImplementedError


def continuation_excerpt(text: str) -> str:
    raise NotImplementedError


def continuation_budget(max_tokens: int) -> int:
    raise NotImplementedError


def reflection_score(text: str) -> float:
    raise NotImplementedError


def detect_language(text: str, cjk_threshold: float = 0.3) -> str:
    raise NotImplementedError


def strip_fence(text: str) -> str:
    raise NotImplementedError


def peel_quotes(text: str) -> str:
    raise NotImplementedError


def parse_refinement(reply: str, query: str) -> Refinement:
    raise NotImplementedError


def search_line(
    exact_queries: Sequence[str], official_domains: Sequence[str], disambiguation_terms: Sequence[str]
) -> str:
    raise NotImplementedError


def repair_subtasks(subtasks: Sequence[Subtask], query: str, complexity: float) -> list[Subtask]:
    raise NotImplementedError


def topological_order(tasks: Mapping[str, Sequence[str]]) -> list[str]:
    raise NotImplementedError


def route_pattern(complexity: float, subtasks: int, react_per_task: bool, strategy: str, dependencies: bool) -> str:
    raise NotImplementedError


def model_tier(tier: str = "", complexity: float | None = None) -> str:
    raise NotImplementedError


def clamp_react_iterations(value: object, default: int = 5) -> int:
    raise NotImplementedError


def clamp_concurrency(value: object, default: int = 5) -> int:
    raise NotImplementedError


def clamp_gap_iterations(value: object, default: int = 2) -> int:
    raise NotImplementedError


def clamp_max_gaps(value: object, strategy: str) -> int:
    raise NotImplementedError


def strategy_preset(name: str) -> Mapping[str, bool | int]:
    raise NotImplementedError


def gap_filling_enabled(value: object, strategy: str) -> bool:
    raise NotImplementedError


def gap_checks_citations(value: object, strategy: str) -> bool:
    raise NotImplementedError


def is_task_complete(text: str) -> bool:
    raise NotImplementedError


def observations_similar(first: str, second: str) -> bool:
    raise NotImplementedError


def react_should_stop(
    observations: Sequence[str], thoughts: Sequence[str], results: Sequence[AgentResult], iteration: int
) -> bool:
    raise NotImplementedError


def truncate_observations(observations: Sequence[str], maximum: int = 20) -> list[str]:
    raise NotImplementedError


def split_tokens(total: int) -> tuple[int, int]:
    raise NotImplementedError


def backpressure_delay(used: float) -> int:
    raise NotImplementedError


def backpressure_level(used: float) -> str:
    raise NotImplementedError


def estimate_tokens(messages: Sequence[str]) -> int:
    raise NotImplementedError


def context_window(tier: str) -> int:
    raise NotImplementedError


def compression_threshold(tier: str) -> int:
    raise NotImplementedError


def compression_target(tier: str) -> int:
    raise NotImplementedError


def needs_compression(
    session_id: str, messages: int, tokens: int, tier: str, new_messages: int, minutes: float | None
) -> tuple[bool, str]:
    raise NotImplementedError


def merge_memory(
    recent: Sequence[Mapping[str, JsonValue]],
    semantic: Sequence[Mapping[str, JsonValue]],
    summaries: Sequence[Mapping[str, JsonValue]],
    maximum: int = 10,
) -> tuple[list[dict[str, JsonValue]], dict[str, int]]:
    raise NotImplementedError


def parse_claims(text: str, maximum: int = 10) -> list[str]:
    raise NotImplementedError


def verify_claim(
    supporting: Sequence[int], conflicting: Sequence[int], confidence: float, credibilities: Sequence[float]
) -> float:
    raise NotImplementedError


def aggregate_verification(confidences: Sequence[float]) -> VerificationSummary:
    raise NotImplementedError
