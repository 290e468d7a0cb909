"""The entity filter: which results and citations are about the entity of the question (specification 1.8)."""

import re
from collections.abc import Sequence

from pydantic import validate_call

from aiq.agents.shannon.records import AgentResult, Citation
from aiq.agents.shannon.urls import GoUrl, extract_domain, parse, registrable_domain


def entity_matches(text: str, aliases: Sequence[str], domains: Sequence[str] = ()) -> bool:
    """Whether the text contains, ignoring case, one of an entity's names (without quotes) or domains (1.8)."""
    text = text.lower()
    return any(name in text for name in [*_names(aliases), *map(_bare_domain, domains)] if name)


@validate_call
def filter_results(
    results: Sequence[AgentResult], canonical_name: str, exact_queries: Sequence[str], official_domains: Sequence[str]
) -> list[AgentResult]:
    """The results that name the entity or used no tools; all of them if none would be left or there is no entity."""
    if not canonical_name.strip():
        return list(results)
    aliases = [canonical_name, *exact_queries]
    kept = [r for r in results if not r.tools_used or entity_matches(r.response, aliases, official_domains)]
    return kept or list(results)


@validate_call
def filter_by_entity(
    citations: Sequence[Citation],
    canonical_name: str,
    exact_queries: Sequence[str],
    official_domains: Sequence[str],
    threshold: float = 0.3,
    min_keep: int = 8,
    *,
    short_alias: int = 0,
    least_left: int = 0,
    least_share: float = 0.0,
) -> list[Citation]:
    """Pages of official domains, then others whose score reaches the threshold, each in their order; if there are fewer
    than `min_keep`, also the best of the rest, by quality times credibility plus score.

    An official domain scores 0.6, else a name in the URL 0.4; a name in title, snippet or source adds 0.4. Without a
    canonical name nothing changes. Official domains are compared as registered, so that x.com does not match
    netflix.com; if one is given with a path (github.com/acme), the page must be below that path.

    Names shorter than `short_alias` characters must be whole words. If fewer than `least_left` citations, or less than
    `least_share` of them, would be left, nothing is filtered.
    """
    if not canonical_name.strip():
        return list(citations)
    names, domains = _names([canonical_name, *exact_queries]), [_bare_domain(domain) for domain in official_domains]
    rated = [(citation, *_entity_score(citation, names, domains, short_alias)) for citation in citations]
    kept = [citation for citation, _, official in rated if official]
    kept += [citation for citation, score, official in rated if not official and score >= threshold]
    urls = {citation.url for citation in kept}
    for citation, _, _ in sorted(rated, key=lambda row: -(row[0].quality * row[0].credibility + row[1])):
        if len(kept) < min_keep and citation.url not in urls:
            kept.append(citation)
            urls.add(citation.url)
    enough = len(kept) >= max(least_left, least_share * len(citations))
    return kept if enough else list(citations)


def _entity_score(
    citation: Citation, names: Sequence[str], domains: Sequence[str], short_alias: int
) -> tuple[float, bool]:
    def contains(text: str, name: str) -> bool:
        as_word = len(name) < short_alias
        return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None if as_word else name in text

    url = citation.url.lower()
    is_official = any(_lies_below(url, domain) for domain in domains if domain)
    score = 0.6 if is_official else 0.4 * any(contains(url, name) for name in names)
    text = f"{citation.title} {citation.snippet} {citation.source}".lower()
    return score + 0.4 * any(contains(text, name) for name in names), is_official


def _lies_below(url: str, domain: str) -> bool:
    """Whether page and domain have the same owner and, if the domain has a path, the page is below it."""
    host, _, path = domain.partition("/")
    if registrable_domain(extract_domain(url)) != registrable_domain(host):
        return False
    page, folder = (parse(url) or GoUrl()).path.strip("/"), path.strip("/")
    return not folder or f"{page}/".startswith(f"{folder}/")


def _names(aliases: Sequence[str]) -> list[str]:
    """The non-blank aliases, in lower case and without surrounding quotes."""
    return [name for alias in aliases if (name := alias.lower().strip().strip("\"'").strip())]


def _bare_domain(domain: str) -> str:
    """The domain in lower case, without scheme and `www.`; a path stays."""
    domain = domain.lower().strip()
    for prefix in ("https://", "http://", "www."):
        domain = domain.removeprefix(prefix)
    return domain
