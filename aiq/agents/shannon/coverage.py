"""The text of a report: sections, gaps, completeness, continuation, sources (specification 1.10, 1.11, 1.15)."""

import re
from collections.abc import Sequence

from aiq.agents.shannon.citations import clip
from aiq.agents.shannon.records import AgentResult

GAP_PHRASES = (
    "limited information available", "insufficient data", "not enough information", "no clear evidence",
    "data unavailable", "no information found",
    "未找到足够信息", "数据不足", "信息不足", "情報不足", "情報が不足", "정보가 부족",
)  # fmt: skip
"""What a section says that found too little."""

DANGLING = frozenset((
    "and", "or", "but", "however", "therefore", "thus",
    "additionally", "moreover", "furthermore", "meanwhile", "consequently", "subsequently"
))  # fmt: skip
"""Words that no complete text ends in."""

_CITATION = re.compile(r"\[[0-9]+\]")
_CLOSING = re.compile(r"""(?:\[[0-9]+\]|[\s"'“”‘’«»()\[\]{}（）【】「」『』《》〉])+\Z""")
_LAST_WORD = re.compile(r"(\w+)(?:\[[0-9]+\]|\W)*\Z")
_SOURCES = re.compile(r"#{2,3}\s+sources:?", re.IGNORECASE)
_LONE_URL = re.compile(r"(?:[-*+•]\s*)?https?://\S+|\[[0-9]+\]\s*https?://.*", re.IGNORECASE)


def section_body(text: str, area: str) -> str | None:
    """What stands below the heading `### area`, up to the next `### ` or `## `; None where there is no such heading.

    The heading is a whole line of level 3, in any case (specification 1.18, rows 8 and 9).
    """
    heading = re.search(rf"^###[ \t]+{re.escape(area.strip())}[ \t\r]*$", text, re.MULTILINE | re.IGNORECASE)
    if heading is None:
        return None
    return re.split(r"^###? ", text[heading.end() :], maxsplit=1, flags=re.MULTILINE)[0].strip()


def count_inline_citations(text: str) -> int:
    """How many different `[n]` there are."""
    return len(set(_CITATION.findall(text)))


def looks_complete(text: str, areas: Sequence[str], min_characters: int = 600, min_citations: int = 2) -> bool:
    """Whether a report, without its list of sources, ends as a text does and covers every area.

    It ends in . ! ? 。！ or ？, whatever citations, quotes and brackets follow, and not in a dangling word. An area is
    covered by a section of the length in characters with so many different citations (1.18, rows 5 to 9).
    """
    end = _CLOSING.sub("", text.rstrip()[-200:])
    if not end.endswith((".", "!", "?", "。", "！", "？")):
        return False
    last = _LAST_WORD.search(end)
    if last and last[1].lower() in DANGLING:
        return False
    bodies = [section_body(text, area) or "" for area in areas]
    return all(len(body) >= min_characters and count_inline_citations(body) >= min_citations for body in bodies)


def gap_reason(text: str, area: str, check_citations: bool, min_citations: int = 2) -> str:
    """Why an area is not covered: its section is missing, says so itself, or cites too little; "" where it is."""
    body = section_body(text, area)
    if body is None:
        return "no section"
    said = next((phrase for phrase in GAP_PHRASES if phrase in body.lower()), None)
    if said:
        return f"says: {said}"
    cited = count_inline_citations(body)
    return f"cites {cited} of {min_citations}" if check_citations and cited < min_citations else ""


def detect_gaps(
    text: str, areas: Sequence[str], max_gaps: int, check_citations: bool, min_citations: int = 2
) -> list[str]:
    """The first `max_gaps` areas that the report does not cover, in their order."""
    return [area for area in areas if gap_reason(text, area, check_citations, min_citations)][:max_gaps]


def coverage_verdict(
    coverage: float, critical: bool, iteration: int, most: int, report: str, confidence: float
) -> tuple[bool, float]:
    """Whether to search for gaps once more, and how sure that is, of what a model says of a report's coverage.

    Five rules in this order (specification, later improvements): little coverage at first, critical gaps, and hardly
    any coverage go on, as long as iterations are left; a high coverage of a report below 500 bytes is not believed.
    """
    left = iteration < most
    if left and ((iteration <= 1 and coverage < 0.5) or critical or coverage < 0.3):
        return True, confidence
    if len(report.encode()) < 500 and coverage > 0.7:
        confidence = 0.0
    return left, confidence


def gap_queries(areas: Sequence[str], original_query: str) -> list[str]:
    """What to search for, for each area."""
    return [f"Find detailed information about: {area} (related to: {original_query})" for area in areas]


def minimum_citations(available: int, wanted: int = 6) -> int:
    """Inline citations to ask for: `wanted`, or as many as there are (1.18, row 13)."""
    return min(wanted, available)


def select_evidence(results: Sequence[AgentResult], maximum: int = 6, characters: int = 4000) -> list[AgentResult]:
    """The first successful results that say anything, each cut to so many characters."""
    usable = [result for result in results if result.success and result.response.strip()]
    return [one.model_copy(update={"response": clip(one.response, characters)}) for one in usable[:maximum]]


def distinct(results: Sequence[AgentResult], same_above: float) -> list[AgentResult]:
    """The first of results that say the same: equal texts, or a share of common words (Jaccard) above the limit."""
    kept: list[tuple[AgentResult, frozenset[str]]] = []
    for result in results:
        words = frozenset(result.response.lower().split())
        alike = (len(words & known) / (len(words | known) or 1) for _, known in kept)
        if not any(share > same_above or (share == 1 and same_above >= 1) for share in alike):
            kept.append((result, words))
    return [result for result, _ in kept]


def sanitize_output(text: str) -> str:
    """An agent's answer without its Sources sections (up to the next line that starts with `##`) and lone URLs."""
    kept, in_sources = [], False
    for line in text.splitlines():
        stripped = line.strip()
        if _SOURCES.fullmatch(stripped):
            in_sources = True
        elif stripped.startswith("##"):
            in_sources = False
        if not in_sources and not _LONE_URL.fullmatch(stripped):
            kept.append(line)
    return "\n".join(kept).strip()


def format_report(report: str, lines: Sequence[str]) -> str:
    """The report with a new list of its sources; a blank one stays as it is, without lines it gets none.

    `lines` are those of `citation_lines`, here sorted by number and marked as cited or not. What follows the last
    `## Sources`, in any case, is cut off first; numbers in it count as cited. They have at most three digits.
    """
    if not report.strip():
        return report
    used = {int(number) for number in re.findall(r"\[([0-9]{1,3})\]", report)} - {0}
    headings = list(re.finditer("## sources", report, re.IGNORECASE))
    body = (report[: headings[-1].start()] if headings else report).strip()
    numbered = sorted((int(found[1]), line) for line in lines if (found := re.match(r"\s*\[([0-9]+)\]", line)))
    if not numbered:
        return body
    marks = (
        f"{line.strip()} - {'Used inline' if number in used else 'Additional source'}" for number, line in numbered
    )
    return "\n".join([body, "", "## Sources", *marks])


def continuation_margin(effective_max: int, share: float = 0.25, tokens: int = 300) -> int:
    """Tokens that must be left of the limit, or a reply that is not complete has stopped for lack of room."""
    return min(int(effective_max * share), tokens)


def needs_continuation(
    finish_reason: str,
    complete: bool,
    effective_max: int,
    completion_tokens: int,
    continue_on_length: bool = False,
    margin: int | None = None,
) -> bool:
    """Whether to ask for the rest of an incomplete report: it stopped by itself, less than the margin from the limit.

    `continue_on_length`: also if the limit cut it off (specification 1.18, row 24).
    """
    if complete:
        return False
    if finish_reason == "length":
        return continue_on_length
    margin = continuation_margin(effective_max) if margin is None else margin
    return finish_reason == "stop" and effective_max - completion_tokens < margin


def continuation_excerpt(text: str, characters: int = 2000) -> str:
    """The end of a report, which its continuation sees."""
    return text[max(0, len(text) - characters) :]


def continuation_budget(max_tokens: int, maximum: int = 4096) -> int:
    """Tokens that a continuation may have."""
    return min(max_tokens // 2, maximum)


def reflection_score(text: str) -> float:
    """The original's constant evaluator: 0.3 for a report of less than 8 bytes, else 0.85."""
    return 0.3 if len(text.strip().encode()) < 8 else 0.85


def reflects_again(score: float, retries: int, threshold: float = 0.8, max_retries: int = 2) -> bool:
    """Whether a report of this score is written again, after `retries` that fell short: at most `max_retries` - 1."""
    return score < threshold and retries + 1 < max_retries
