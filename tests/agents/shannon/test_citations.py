import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import JsonValue

from aiq.agents.shannon.records import AgentResult, Citation, CitationStats, ToolOutput
from aiq.agents.shannon.rules import (
    citation_line,
    citation_lines,
    citation_stats,
    clean_citations,
    clean_title,
    clip,
    collect_citations,
    credibility_score,
    deduplicate,
    extract_citations,
    quality_score,
    rank_citations,
)
from tests.cases import table

each = table(__file__)

NOW = datetime(2026, 1, 31, tzinfo=UTC)
DAY = timedelta(days=1)


@each("domain")
def test_credibility_is_by_suffix_then_by_group(domain: str, score: float) -> None:
    assert credibility_score(domain) == score


@pytest.mark.parametrize(
    ("relevance", "age", "has_title", "has_snippet", "score"),
    [
        (1.0, None, True, True, 0.827),
        (1.0, 0 * DAY, True, True, 1.0),
        (0.5, 7 * DAY - timedelta(seconds=1), False, False, 0.35 + 0.3 + 0.033),
        (0.5, 7 * DAY, False, False, 0.35 + 0.21 + 0.033),
        (0.5, 90 * DAY, False, False, 0.35 + 0.06 + 0.033),
        (0.5, -400 * DAY, False, False, 0.35 + 0.3 + 0.033),
        (0.5, None, True, False, 0.35 + 0.06 + 0.033),
        (0.5, None, False, True, 0.35 + 0.06 + 0.034),
        (2.0, None, False, False, 1.0),
    ],
)
def test_quality(relevance: float, age: timedelta | None, has_title: bool, has_snippet: bool, score: float) -> None:
    published = None if age is None else NOW - age
    assert quality_score(relevance, published, has_title, has_snippet, NOW) == pytest.approx(score, abs=1e-12)


def test_dates_may_be_texts_and_without_a_zone_are_utc() -> None:
    date_text: Any = "2026-01-24T00:00:01"
    assert quality_score(0, date_text, False, False, NOW) == quality_score(0, NOW - 6 * DAY, False, False, NOW)
    assert Citation.model_validate({"published_date": "2026-01-31T00:00:00"}).published == NOW


@pytest.mark.parametrize(
    ("text", "limit", "clipped"), [("abc", 3, "abc"), ("abcd", 3, "abc..."), ("中文字", 2, "中文..."), ("", 0, "")]
)
def test_clipping_counts_characters(text: str, limit: int, clipped: str) -> None:
    assert clip(text, limit) == clipped


@each("title")
def test_titles(title: str, url: str, source: str, clean: str) -> None:
    assert clean_title(title, url, source) == clean


def found(
    tool: str, output: JsonValue, response: str = "", success: bool = True, agent_id: str = "a"
) -> list[Citation]:
    tool_output = ToolOutput(tool=tool, success=success, output=output)
    return extract_citations([AgentResult(agent_id=agent_id, response=response, tool_outputs=(tool_output,))], NOW)


HIT: dict[str, Any] = {
    "url": "https://www.Example.com/a?ref=1",
    "title": " A ",
    "text": "text",
    "snippet": "snippet",
    "score": 0.9,
    "published_date": "2026-01-30T12:00:00Z",
    "category": "news",
}


@pytest.mark.parametrize(
    "output",
    [[HIT], {"results": [HIT]}, json.dumps([HIT]), json.dumps({"results": [HIT]}), [HIT, "text", {"title": "x"}]],
)
def test_hits_of_a_search_are_read_in_every_shape(output: JsonValue) -> None:
    assert found("web_search", output) == [
        Citation(
            url="https://www.Example.com/a?ref=1",
            title="A",
            source="example.com",
            snippet="text",
            published=datetime(2026, 1, 30, 12, tzinfo=UTC),
            relevance=0.9,
            quality=quality_score(0.9, datetime(2026, 1, 30, 12, tzinfo=UTC), True, True, NOW),
            credibility=0.6,
            agent_id="a",
            tool_source="web_search",
            source_type="news",
        )
    ]


@pytest.mark.parametrize(
    "output", ["no JSON", "{", 3, None, {"results": "x"}, {"hits": [HIT]}, [{"url": 3}, {"url": ""}]]
)
def test_anything_but_a_list_of_hits_gives_none(output: JsonValue) -> None:
    assert found("web_search", output) == []


@pytest.mark.parametrize(
    ("changed", "field", "value"),
    [
        ({"score": None}, "relevance", 0.5),
        ({"score": "0.9"}, "relevance", 0.5),
        ({"score": 1}, "relevance", 1.0),
        ({"score": 0}, "relevance", 0.0),
        ({"text": ""}, "snippet", "snippet"),
        ({"text": None, "snippet": None}, "snippet", ""),
        ({"title": None}, "title", ""),
        ({"category": None}, "source_type", ""),
        ({"url": "Report.pdf, p.2", "document": "report.pdf"}, "source", "report.pdf"),
        ({"document": "report.pdf"}, "source", "example.com"),
        (
            {"published_date": "2026-01-30T12:00:00.123456789+02:00"},
            "published",
            datetime(2026, 1, 30, 10, 0, 0, 123456, UTC),
        ),
        ({"published_date": "2026-01-30"}, "published", None),
        ({"published_date": "2026-01-30T12:00:00"}, "published", None),
        ({"published_date": "2026-02-31T12:00:00Z"}, "published", None),
        ({"published_date": "30 January 2026"}, "published", None),
    ],
)
def test_the_fields_of_a_hit(changed: dict[str, Any], field: str, value: object) -> None:
    assert getattr(found("web_search", [{**HIT, **changed}])[0], field) == value


def test_failed_calls_other_tools_and_missing_agents() -> None:
    assert found("web_search", [HIT], success=False) == found("calculator", [HIT]) == []
    assert found("web_search", [HIT], agent_id="")[0].agent_id == "unknown"


@pytest.mark.parametrize("as_text", [False, True])
def test_a_fetched_page_has_a_fixed_relevance_and_the_beginning_of_its_content(as_text: bool) -> None:
    page: JsonValue = {"url": "https://a.example/", "title": "A", "content": "中" * 201, "score": 0.1}
    [citation] = found("web_fetch", json.dumps(page) if as_text else page)
    assert (citation.relevance, citation.snippet, citation.tool_source) == (0.8, "中" * 200 + "...", "web_fetch")
    assert found("web_fetch", [page]) == found("web_fetch", "a page") == []


def test_a_response_counts_only_if_tools_returned_nothing() -> None:
    response = "See https://other.example/b."
    assert [c.source for c in found("web_search", [HIT], response)] == ["example.com"]
    assert [c.source for c in found("web_search", [], response)] == ["other.example"]
    listed = json.dumps([HIT])
    assert [(c.relevance, c.tool_source) for c in found("web_search", [], listed)] == [(0.9, "response")]
    assert [c.relevance for c in found("web_search", [], json.dumps([{"link": "https://c.example/"}]))] == [0.4]


def test_urls_of_plain_text_are_trimmed_and_counted_once() -> None:
    text = "(https://a.example/x), <https://b.example/y>; again https://a.example/x. [z](https://c.example/z)"
    citations = found("web_search", [], text)
    assert [c.url for c in citations] == ["https://a.example/x", "https://b.example/y", "https://c.example/z"]
    assert {(c.title, c.relevance, c.tool_source) for c in citations} == {("", 0.4, "response")}


def test_a_url_of_plain_text_has_the_text_around_it() -> None:
    [near] = found("web_search", [], "a" * 130 + " https://x.example/ " + "b" * 130)
    assert near.snippet == clip("a" * 119 + " https://x.example/ " + "b" * 119, 220)
    assert len(near.snippet) == 223
    [short] = found("web_search", [], "Look at https://x.example/ now")
    assert short.snippet == "Look at https://x.example/ now"


def cited(url: str, **fields: Any) -> Citation:
    return Citation(url=url, **{"source": url.split("/")[2], "quality": 0.5, **fields})


@pytest.mark.parametrize("nested", ["[" * 100_000, '{"results": ' * 100_000])
def test_json_that_is_nested_too_deeply_gives_nothing(nested: str) -> None:
    assert found("web_search", nested, nested) == []


def test_records_may_be_mappings() -> None:
    rows: Any = [
        {"url": "https://a.example/", "quality_score": 0.4, "relevance_score": 0.3, "credibility_score": 0.7},
        {"url": "https://a.example/#x", "quality": 0.6, "title": "T", "retrieved_at": "now", "published_date": None},
    ]
    [merged] = deduplicate(rows)
    assert (merged.quality, merged.relevance, merged.credibility, merged.title) == (0.6, 0.5, 0.7, "T")
    results: Any = [{"response": "See https://a.example/x.", "tools_used": ["web_search"], "tokens_used": 3}]
    [citation], stats = collect_citations(results, NOW)
    assert (citation.url, citation.agent_id, stats.total) == ("https://a.example/x", "unknown", 1)


def test_urls_are_cleaned_of_debris_and_pages_without_text_dropped() -> None:
    urls = ["https://a.example/x</url>", "https://b.example/%3C/URL>", "https://c.example/&lt;/url&gt;"]
    kept = clean_citations([cited(url, snippet="text") for url in [*urls, "ftp://d.example/", "https:///e"]], 4)
    assert [c.url for c in kept] == ["https://a.example/x", "https://b.example/", "https://c.example/"]
    assert clean_citations([cited("https://a.example/", snippet="tex")], 4) == []


def test_duplicates_are_merged_into_the_first_with_the_best_of_all() -> None:
    first = cited("https://www.a.example/x/?utm_source=y", quality=0.4, credibility=0.7, relevance=0.2, agent_id="one")
    second = cited("https://b.example/", agent_id="two")
    third = cited(
        "HTTPS://a.example/x#part", quality=0.6, credibility=0.5, relevance=0.9, title="T", snippet="S", published=NOW
    )
    merged, other = deduplicate([first, second, third, cited("https://a.example/x", title="later")])
    changes = {"quality": 0.6, "relevance": 0.9, "title": "T", "snippet": "S", "published": NOW}
    assert merged == first.model_copy(update=changes)
    assert other == second


@each("duplicate")
def test_what_is_a_duplicate(one: str, two: str, kept: int) -> None:
    assert len(deduplicate([cited(one), cited(two)])) == kept


def test_ranks_are_by_quality_times_credibility_and_keep_the_order_of_equals() -> None:
    scores = [(0.5, 0.6), (0.6, 0.5), (0.9, 0.9), (0.5, 0.6)]
    listed = [cited(f"https://a.example/{n}", quality=q, credibility=c) for n, (q, c) in enumerate(scores)]
    assert [citation.url[-1] for citation in rank_citations(listed)] == ["2", "0", "1", "3"]


def test_statistics() -> None:
    listed = [cited("https://a.example/1", quality=0.2, credibility=0.4), cited("https://a.example/2", quality=0.4)]
    listed.append(cited("https://www.a.example/3", quality=0.6, credibility=0.5))
    stats = citation_stats(listed)
    assert (stats.total, stats.unique_domains) == (3, 2)
    assert stats.mean_quality == pytest.approx(0.4)
    assert stats.mean_credibility == pytest.approx(0.5)
    assert stats.diversity == pytest.approx(2 / 3)
    assert citation_stats([]) == CitationStats(total=0, mean_quality=0, mean_credibility=0, diversity=0)


def searched(*urls: str) -> AgentResult:
    output: JsonValue = [{"url": url, "title": url, "score": 0.9} for url in urls]
    return AgentResult(
        agent_id="a", response="", tool_outputs=(ToolOutput(tool="web_search", success=True, output=output),)
    )


def test_collection_ranks_before_it_cuts() -> None:
    many = searched(*(f"https://site{n}.example/" for n in range(20)))
    best = searched(
        "https://nature.com/1", "https://nature.com/1#again", *(f"https://nature.com/{n}" for n in range(2, 6))
    )
    kept, stats = collect_citations([many, best], NOW)
    assert [c.url for c in kept[:4]] == [f"https://nature.com/{n}" for n in (1, 2, 3)] + ["https://site0.example/"]
    assert (len(kept), stats) == (15, citation_stats(kept))
    assert len(collect_citations([many, best], NOW, 0)[0]) == len(collect_citations([many, best], NOW, -1)[0]) == 15
    assert len(collect_citations([many, best], NOW, 100)[0]) == 23
    assert len(collect_citations([many, best], NOW, 100, 50)[0]) == 25
    assert collect_citations([], NOW) == ([], CitationStats())


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"title": "T", "published": NOW}, "[3] T (https://a.example/x) - a.example, 2026-01-31"),
        ({}, "[3] a.example (https://a.example/x) - a.example"),
    ],
)
def test_the_line_of_a_citation(fields: dict[str, Any], line: str) -> None:
    assert citation_line(3, cited("https://a.example/x", **fields)) == line
    assert citation_lines([cited("https://a.example/x", **fields)] * 3)[2] == line
