"""Rules on citations of what agents found: extraction, scores, duplicates, diversity and ranks (specification 1.9).

Sorting is stable: equal citations keep the order in which they were found.
"""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from math import inf
from pathlib import Path
from typing import Any

from pydantic import JsonValue, validate_call

from aiq.agents.shannon.records import AgentResult, Citation, CitationStats, Moment
from aiq.agents.shannon.urls import GoUrl, extract_doi, extract_domain, normalize_url, parse

_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)", re.ASCII)
_PLAIN_URL = re.compile(r"""https?://[^\t\n\f\r \])>"']+""")
_RECENCY = ((7, 1.0), (30, 0.7), (90, 0.4))
_OLD_RECENCY = 0.2
_OPTIONAL_FIELDS = ("title", "snippet", "published")


@cache
def _credibility() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("credibility.toml").read_text(encoding="utf-8"))


def credibility_score(domain: str) -> float:
    """The credibility of a domain or URL, by `credibility.toml`: the first matching suffix, else the first group that
    lists the domain or a parent of it, else 0.6 (1.9)."""
    table, domain = _credibility(), extract_domain(domain) or domain.lower()
    for suffix, score in table["suffixes"].items():
        if domain.endswith(suffix):
            return float(score)
    for group in table["groups"]:
        if any(domain == member or domain.endswith(f".{member}") for member in group["domains"]):
            return float(group["score"])
    return float(table["default"])


@validate_call
def quality_score(relevance: float, published: Moment | None, has_title: bool, has_snippet: bool, now: Moment) -> float:
    """min(1, 0.7 relevance + 0.3 recency + completeness); date, title and snippet add 0.033, 0.033 and 0.034 (1.9).

    Recency is 1 below 7 days, 0.7 below 30, 0.4 below 90, else 0.2, also for a page without a date; a future date
    counts as recent.
    """
    age = inf if published is None else (now - published) / timedelta(days=1)
    recency = next((score for limit, score in _RECENCY if age < limit), _OLD_RECENCY)
    completeness = 0.033 * (published is not None) + 0.033 * has_title + 0.034 * has_snippet
    return min(1.0, 0.7 * relevance + 0.3 * recency + completeness)


def clip(text: str, limit: int) -> str:
    """The first `limit` characters, followed by `...` if the text is longer (1.9, 1.10)."""
    return text if len(text) <= limit else text[:limit] + "..."


def clean_title(title: str, url: str, source: str) -> str:
    """The stripped title; for arxiv.org pages without one, or with a captcha's, the paper's id (1.9)."""
    title = title.strip()
    if source != "arxiv.org" or (title and "recaptcha" not in title.lower()):
        return title
    paper_id = (parse(url) or GoUrl()).path.rstrip("/").rpartition("/")[2].removesuffix(".pdf")
    return f"arXiv:{paper_id}" if paper_id else "arXiv"


@validate_call
def extract_citations(results: Sequence[AgentResult], now: Moment) -> list[Citation]:
    """A citation for each page that a result's tools returned or, if they returned none, that its response names."""
    return [citation for result in results for citation in _from_tools(result, now) or _from_response(result, now)]


def _from_tools(result: AgentResult, now: datetime) -> list[Citation]:
    citations: list[Citation] = []
    for output in result.tool_outputs:
        if output.success and output.tool == "web_search":
            citations += _citations(_items(output.output), result.agent_id, output.tool, now)
        elif output.success and output.tool == "web_fetch":
            page = _decode(output.output)
            if isinstance(page, dict):
                item = {**page, "score": 0.8, "text": clip(_text(page, "content"), 200)}
                citations += _citations([item], result.agent_id, output.tool, now)
    return citations


def _from_response(result: AgentResult, now: datetime) -> list[Citation]:
    """A JSON list is read like a search result; else each URL of the text once, with up to 220 characters around it."""
    items = _decode(result.response)
    if isinstance(items, list) and (citations := _citations(_items(items), result.agent_id, "response", now)):
        return citations
    text, by_url = result.response, dict[str, Mapping[str, JsonValue]]()
    for match in _PLAIN_URL.finditer(text):
        url = match[0].rstrip(",.;:)]}")
        excerpt = text[max(0, match.start() - 120) : match.start() + len(url) + 120].strip()
        by_url.setdefault(url, {"url": url, "score": 0.4, "text": clip(excerpt, 220)})
    return _citations(list(by_url.values()), result.agent_id, "response", now)


def _citations(items: Sequence[Mapping[str, JsonValue]], agent: str, tool: str, now: datetime) -> list[Citation]:
    """Citations of search results, in the shape of search APIs; those without a URL are left out."""
    return [_citation(item, agent, tool, now) for item in items if _text(item, "url")]


def _citation(item: Mapping[str, JsonValue], agent: str, tool: str, now: datetime) -> Citation:
    url, score, title = _text(item, "url"), item.get("score"), _text(item, "title")
    snippet = _text(item, "text") or _text(item, "snippet")
    relevance = float(score) if isinstance(score, int | float) and not isinstance(score, bool) else 0.5
    published, source = _date(_text(item, "published_date")), extract_domain(url) or _text(item, "document")
    return Citation(
        url=url,
        title=clean_title(title, url, source),
        source=source,
        snippet=snippet,
        published=published,
        relevance=relevance,
        quality=quality_score(relevance, published, bool(title), bool(snippet), now),
        credibility=credibility_score(source),
        agent_id=agent or "unknown",
        tool_source=tool,
        source_type=_text(item, "category"),
    )


def _items(output: JsonValue) -> list[Mapping[str, JsonValue]]:
    output = _decode(output)
    items = output.get("results") if isinstance(output, dict) else output
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _decode(output: JsonValue) -> JsonValue:
    """The value of a string that is JSON, else None; other values are returned as they are."""
    if not isinstance(output, str):
        return output
    try:
        value: JsonValue = json.loads(output)
    except (ValueError, RecursionError):
        return None
    return value


def _text(item: Mapping[str, JsonValue], name: str) -> str:
    value = item.get(name)
    return value if isinstance(value, str) else ""


def _date(text: str) -> datetime | None:
    if not _RFC_3339.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:  # the 31st of February
        return None


@validate_call
def deduplicate(citations: Sequence[Citation], *, prefer_fetched: bool = False) -> list[Citation]:
    """One citation for each DOI (ignoring case) or else normalised URL, in the order of first occurrence (1.9).

    The first keeps its URL, source and agent, gets the best scores of all, and takes a missing title, snippet or date
    from later ones. `prefer_fetched`: title and snippet of a fetched page take precedence over those of a search.
    """
    merged: dict[str, Citation] = {}
    for new in citations:
        doi = extract_doi(new.url)
        key = f"doi:{doi.lower()}" if doi else normalize_url(new.url)
        first = merged.setdefault(key, new)
        best = {name: max(getattr(first, name), getattr(new, name)) for name in ("quality", "credibility", "relevance")}
        is_preferred = prefer_fetched and new.tool_source == "web_fetch" and first.tool_source != "web_fetch"
        order = (new, first) if is_preferred else (first, new)
        details = {name: getattr(order[0], name) or getattr(order[1], name) for name in _OPTIONAL_FIELDS}
        merged[key] = first.model_copy(update=best | details)
    return list(merged.values())


_DEBRIS = re.compile(r"(?:</|%3c/|&lt;/)url.*$", re.IGNORECASE)


@validate_call
def clean_citations(citations: Sequence[Citation], least_text: int) -> list[Citation]:
    """Citations of http(s) pages with at least `least_text` characters; remains of tags are cut off their URLs."""
    cleaned = [c.model_copy(update={"url": _DEBRIS.sub("", c.url)}) for c in citations]
    return [
        c
        for c in cleaned
        if (url := parse(c.url)) and url.scheme in ("http", "https") and url.host and len(c.snippet) >= least_text
    ]


@validate_call
def rank_citations(citations: Sequence[Citation]) -> list[Citation]:
    """Citations by quality times credibility, best first (1.9)."""
    return sorted(citations, key=lambda citation: -citation.quality * citation.credibility)


@validate_call
def enforce_diversity(citations: Sequence[Citation], per_domain: int = 3) -> list[Citation]:
    """The first `per_domain` citations of each source, in order; a subdomain is a source of its own (1.9)."""
    counts: Counter[str] = Counter()
    kept = []
    for citation in citations:
        counts[citation.source] += 1
        if counts[citation.source] <= per_domain:
            kept.append(citation)
    return kept


@validate_call
def citation_stats(citations: Sequence[Citation]) -> CitationStats:
    """Totals and means; diversity is the number of domains divided by the number of citations (1.9)."""
    total, unique_domains = len(citations), len({citation.source for citation in citations})
    if not total:
        return CitationStats()
    return CitationStats(
        total=total,
        unique_domains=unique_domains,
        mean_quality=sum(citation.quality for citation in citations) / total,
        mean_credibility=sum(citation.credibility for citation in citations) / total,
        diversity=unique_domains / total,
    )


@validate_call
def collect_citations(
    results: Sequence[AgentResult],
    now: Moment,
    maximum: int = 15,
    per_domain: int = 3,
    *,
    least_text: int = 0,
    prefer_fetched: bool = False,
) -> tuple[list[Citation], CitationStats]:
    """The best `maximum` citations of the results (15 if that is not positive), and their statistics (1.9).

    They are extracted and scored, deduplicated, ranked, and limited to `per_domain` from one source.
    `least_text`: see `clean_citations`, which is skipped if it is 0.
    """
    citations = extract_citations(results, now)
    citations = clean_citations(citations, least_text) if least_text else citations
    ranked = rank_citations(deduplicate(citations, prefer_fetched=prefer_fetched))
    kept = enforce_diversity(ranked, per_domain)[: maximum if maximum > 0 else 15]
    return kept, citation_stats(kept)


@validate_call
def citation_line(number: int, citation: Citation) -> str:
    """`[n] title-or-source (url) - source, YYYY-MM-DD`, without the date if it is unknown (1.9)."""
    date = f", {citation.published:%Y-%m-%d}" if citation.published else ""
    return f"[{number}] {citation.title or citation.source} ({citation.url}) - {citation.source}{date}"


@validate_call
def citation_lines(citations: Sequence[Citation]) -> list[str]:
    """A line for each citation, numbered from 1."""
    return [citation_line(number, citation) for number, citation in enumerate(citations, start=1)]
