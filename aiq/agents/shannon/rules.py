"""The deterministic rules of Shannon in one place.

They are pure: no clock, no model, no settings. Numbers that a setting may change are parameters. Texts are measured in
characters unless stated otherwise. Numbers in brackets are sections of the specification. Records, such as citations
and results of agents, may be given as mappings of their fields.
"""

from aiq.agents.shannon.budgets import (
    estimate_tokens,
    merge_memory,
    needs_compression,
    split_tokens,
    window_share,
)
from aiq.agents.shannon.citations import (
    citation_line,
    citation_lines,
    citation_stats,
    clean_citations,
    clean_title,
    clip,
    collect_citations,
    credibility_score,
    deduplicate,
    enforce_diversity,
    extract_citations,
    quality_score,
    rank_citations,
)
from aiq.agents.shannon.coverage import (
    continuation_margin,
    count_inline_citations,
    detect_gaps,
    distinct,
    format_report,
    gap_queries,
    looks_complete,
    minimum_citations,
    needs_continuation,
    needs_more_research,
    reflection_score,
    reflects_again,
    sanitize_output,
    section_body,
    select_evidence,
    shortfalls,
)
from aiq.agents.shannon.entities import entity_matches, filter_by_entity, filter_results
from aiq.agents.shannon.loops import is_task_complete, observations_similar, react_should_stop, truncate_observations
from aiq.agents.shannon.planning import (
    agent_role,
    detect_language,
    model_tier,
    peel_quotes,
    repair_subtasks,
    route_pattern,
    search_line,
    strategy_preset,
    topological_order,
)
from aiq.agents.shannon.urls import extract_doi, extract_domain, normalize_url, registrable_domain
from aiq.agents.shannon.verification import (
    aggregate_verification,
    cited_first,
    evidence_per_claim,
    nearest,
    parse_claims,
    verify_claim,
)

__all__ = [
    "agent_role", "aggregate_verification", "citation_line", "citation_lines", "citation_stats", "cited_first",
    "clean_citations", "clean_title", "clip", "collect_citations", "continuation_margin", "count_inline_citations",
    "credibility_score", "deduplicate", "detect_gaps", "detect_language", "distinct", "enforce_diversity",
    "entity_matches", "estimate_tokens", "evidence_per_claim", "extract_citations", "extract_doi", "extract_domain",
    "filter_by_entity", "filter_results", "format_report", "gap_queries", "is_task_complete", "looks_complete",
    "merge_memory", "minimum_citations", "model_tier", "nearest", "needs_compression", "needs_continuation",
    "needs_more_research", "normalize_url", "observations_similar", "parse_claims", "peel_quotes", "quality_score",
    "rank_citations", "react_should_stop", "reflection_score", "reflects_again", "registrable_domain",
    "repair_subtasks", "route_pattern", "sanitize_output", "search_line", "section_body", "select_evidence",
    "shortfalls", "split_tokens", "strategy_preset", "topological_order", "truncate_observations", "verify_claim",
    "window_share",
]  # fmt: skip
