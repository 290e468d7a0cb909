"""Rules on the report's text: sections, gaps, completeness, continuation, sources (specification 1.10, 1.11, 1.15)."""

import re
from collections.abc import Sequence

from pydantic import validate_call

from aiq.agents.shannon.citations import citation_line, clip
from aiq.agents.shannon.records import AgentResult, Citation

GAP_PHRASES = (
    "limited information available", "insufficient data", "not enough information", "no clear evidence",
    "data unavailable", "no information found",
    "未找到足够信息", "数据不足", "信息不足", "情報不足", "情報が不足", "정보가 부족",
)  # fmt: skip
"""Phrases of a section that found too little."""

DANGLING = frozenset((
    "and", "or", "but", "however", "therefore", "thus",
    "additionally", "moreover", "furthermore", "meanwhile", "consequently", "subsequently"
))  # fmt: skip
"""A text that ends with one of these words is incomplete."""

_CITATION = re.compile(r"\[[0-9]+\]")
_CLOSING = re.compile(r"""(?:\[[0-9]+\]|[\s"'“”‘’«»()\[\]{}（）【】「」『』《》〉])+\Z""")
_SOURCES = re.compile(r"#{2,3}\s+sources:?", re.IGNORECASE)
_LONE_URL = re.compile(r"(?:[-*+•]\s*)?https?://\S+|\[[0-9]+\]\s*https?://.*", re.IGNORECASE)


def section_body(text: str, area: str) -> str | None:
    """The text below the heading `### area`, up to the next `### ` or `## `; None if there is no such heading.

    The heading is a whole line of level 3; its case does not matter (specification 1.18, rows 8 and 9).
    """
    heading = re.search(rf"^###[ \t]+{re.escape(area.strip())}[ \t\r]*$", text, re.MULTILINE | re.IGNORECASE)
    if heading is None:
        return None
    return re.split(r"^###? ", text[heading.end() :], maxsplit=1, flags=re.MULTILINE)[0].strip()


def count_inline_citations(text: str) -> int:
    """The number of distinct `[n]` (1.10)."""
    return len(set(_CITATION.findall(text)))


def looks_complete(text: str, areas: Sequence[str] = (), min_characters: int = 600, min_citations: int = 2) -> bool:
    """Whether a report, without its list of sources, ends properly and covers every area (1.18, rows 5 to 9).

    It must end with . ! ? 。！ or ？, which citations, quotes and brackets may follow, and not with a dangling word. An
    area is covered by a section with at least `min_characters` and `min_citations` distinct citations.
    """
    ending = _CLOSING.sub("", text.rstrip()[-1000:])
    if not ending.endswith((".", "!", "?", "。", "！", "？")):
        return False
    words = re.findall(r"\w+", _CITATION.sub("", ending).lower())
    if DANGLING.intersection(words[-1:]):
        return False
    return not shortfalls(text, areas, min_characters, min_citations)


def shortfalls(text: str, areas: Sequence[str], min_characters: int, min_citations: int) -> dict[str, str]:
    """By area, what its section lacks in characters or distinct citations; no section counts as an empty one."""
    missing = {}
    for area in areas:
        body = section_body(text, area) or ""
        counts = (len(body), min_characters, "characters"), (count_inline_citations(body), min_citations, "citations")
        if parts := [f"{count} of {least} {unit}" for count, least, unit in counts if count < least]:
            missing[area] = ", ".join(parts)
    return missing


def detect_gaps(
    text: str,
    areas: Sequence[str],
    max_gaps: int = 3,
    check_citations: bool = False,
    min_citations_per_section: int = 2,
) -> list[str]:
    """The first `max_gaps` areas, in their order, that the report does not cover (1.11; 1.18, rows 1, 8 and 9).

    An area is a gap if it has no section, if its section says that too little was found, or, with `check_citations`,
    if the section has fewer distinct citations than `min_citations_per_section`.
    """

    def is_gap(area: str) -> bool:
        body = section_body(text, area)
        if body is None or any(phrase in body.lower() for phrase in GAP_PHRASES):
            return True
        return check_citations and count_inline_citations(body) < min_citations_per_section

    return list(filter(is_gap, areas))[: max(0, max_gaps)]


def needs_more_research(
    coverage: float, critical: bool, confidence: float, iteration: int, report: str, enough: float = 0.85
) -> bool:
    """Whether to search again, given a model's view of the report's coverage (specification, later improvements).

    True for coverage below 0.5 in the first iteration or below 0.3 in any, critical gaps, confidence below `enough`,
    or coverage above 0.7 of a report of less than 500 bytes, which is not credible.
    """
    unbelievable = len(report.encode()) < 500 and coverage > 0.7
    return (iteration <= 1 and coverage < 0.5) or critical or coverage < 0.3 or unbelievable or confidence < enough


def gap_queries(areas: Sequence[str], original_query: str) -> list[str]:
    """A search query for each area (1.11)."""
    return [f"Find detailed information about: {area} (related to: {original_query})" for area in areas]


def minimum_citations(available: int, target: int = 6) -> int:
    """The number of inline citations to ask for: `target`, but no more than are available (1.10; 1.18, row 13)."""
    return min(target, available)


@validate_call
def select_evidence(results: Sequence[AgentResult], maximum: int = 6, characters: int = 4000) -> list[AgentResult]:
    """The first `maximum` successful, non-blank results, each cut to `characters` (1.10)."""
    usable = [result for result in results if result.success and result.response.strip()]
    return [result.model_copy(update={"response": clip(result.response, characters)}) for result in usable[:maximum]]


@validate_call
def distinct(results: Sequence[AgentResult], same_above: float) -> list[AgentResult]:
    """The results without near-duplicates of earlier ones: equal texts, or a Jaccard index of words above the limit."""
    kept: list[tuple[AgentResult, frozenset[str]]] = []
    for result in results:
        words = frozenset(result.response.lower().split())
        similarities = (len(words & kept_words) / (len(words | kept_words) or 1) for _, kept_words in kept)
        if not any(similarity > same_above or (similarity == 1 and same_above >= 1) for similarity in similarities):
            kept.append((result, words))
    return [result for result, _ in kept]


def sanitize_output(text: str) -> str:
    """An agent's answer without lines that are only a URL, and without Sources sections, up to the next `##` (1.10)."""
    kept, in_sources = [], False
    for line in text.split("\n"):
        stripped = line.strip()
        if _SOURCES.fullmatch(stripped):
            in_sources = True
        elif stripped.startswith("##"):
            in_sources = False
        if not in_sources and not _LONE_URL.fullmatch(stripped):
            kept.append(line)
    return "\n".join(kept).strip()


@validate_call
def format_report(report: str, citations: str | Sequence[str | Citation]) -> str:
    """The report with a new list of sources, or none without citations; a blank report stays as it is (1.10).

    Entries, given as lines (see `citation_line`) or citations, are sorted by number and marked as cited or not. The old
    text from the last `## Sources` (in any case) on is dropped, but `[n]` of one to three digits in it count as cited.
    """
    if not report.strip():
        return report
    cited = {int(n) for n in re.findall(r"\[([0-9]{1,3})\]", report)} - {0}
    headings = list(re.finditer("## sources", report, re.IGNORECASE))
    body = (report[: headings[-1].start()] if headings else report).strip()
    entries = citations.splitlines() if isinstance(citations, str) else citations
    lines = [entry if isinstance(entry, str) else citation_line(n, entry) for n, entry in enumerate(entries, start=1)]
    numbered = sorted((int(match[1]), line) for line in lines if (match := re.match(r"\s*\[([0-9]+)\]", line)))
    if not numbered:
        return body
    source_lines = (f"{line.strip()} - {'Used inline' if n in cited else 'Additional source'}" for n, line in numbered)
    return "\n".join([body, "", "## Sources", *source_lines])


def continuation_margin(effective_max: int, share: float = 0.25, tokens: int = 300) -> int:
    """min(effective_max x share, tokens): a reply that ends closer to its limit than this ran out of room (1.10)."""
    return min(int(effective_max * share), tokens)


def needs_continuation(
    finish_reason: str,
    complete: bool,
    effective_max: int,
    completion_tokens: int,
    continue_on_length: bool = False,
    margin: int | None = None,
) -> bool:
    """Whether to ask for the rest of an incomplete report: if it stopped by itself within `margin` of the limit (1.10)
    or, with `continue_on_length`, was cut off by the limit (1.18, row 24)."""
    if complete:
        return False
    if finish_reason == "length":
        return continue_on_length
    margin = continuation_margin(effective_max) if margin is None else margin
    return finish_reason == "stop" and effective_max - completion_tokens < margin


def reflection_score(text: str) -> float:
    """The original Shannon's constant evaluator: 0.3 for a report of less than 8 bytes, else 0.85 (1.15)."""
    return 0.3 if len(text.strip().encode()) < 8 else 0.85


def reflects_again(score: float, retries: int, threshold: float = 0.8, max_retries: int = 2) -> bool:
    """Whether to rewrite a report with this score after `retries` rewrites, of at most `max_retries` - 1 (1.15)."""
    return score < threshold and retries + 1 < max_retries
