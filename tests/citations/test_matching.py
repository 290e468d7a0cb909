"""The five levels: one row a case, among them every row of the table of levels and the defects V1 to V3."""

import time

import pytest

from aiq.citations.match import SourceIndex
from aiq.core.sources import Source

ARXIV = ("https://arxiv.org/abs/1706.03762", "https://arxiv.org/abs/1706.08500")
BENEFITS = ("https://e.com/us/benefits/", "https://e.com/us/benefits/time-off/")
DOC = ("https://e.com/doc?id=123&mode=view",)
SHARED = ("https://e.com/doc?sourcedoc=X&file=..&action=edit",)
LONG = ("https://e.com/news/2026/a-long-article-name",)

FOUND = [
    # level 1
    (("https://e.com/a", "https://e.com/a/b"), "https://e.com/a", "exact", 0),
    (("https://e.com/a", "https://e.com/a/b"), "http://www.e.com/a/b/?utm_medium=x#top", "exact", 1),
    (("https://e.com/a", "http://e.com/a/"), "https://e.com/a", "exact", 0),
    # level 2, marked
    (LONG, "https://e.com/news/2026/a-long-art...", "truncation", 0),
    (LONG, "https://e.com/news/2026/a-long-…", "truncation", 0),
    (LONG, "http://www.e.com/ne…", "truncation", 0),
    (LONG, "https://e.com/...", "truncation", 0),
    (SHARED, "https://e.com/doc?sour...", "truncation", 0),
    (("https://e.com/a",), "https://e.com/a...", "truncation", 0),
    (("https://e.com/a",), "https://e.com/a/...", "truncation", 0),
    (("https://e.com/café-und-mehr",), "https://e.com/caf%C3…", "truncation", 0),  # an encoding cut in two
    (("https://e.com/top-10-list",), "https://e.com/top-10…", "truncation", 0),  # 10 stays 10
    (("https://e.com/年报2024年全文",), "https://e.com/年报2024年…", "truncation", 0),
    (("https://e.com/d?id=123&b=2",), "https://e.com/d?id=123…", "truncation", 0),
    (LONG, "https://e.com/news/2026/a-lo[...]", "truncation", 0),
    (LONG, "https://e.com/news/2026/a-lo%E2%80%A6", "truncation", 0),
    # level 1 first: a source may end like that
    (("https://e.com/wait...", "https://e.com/wait-a-bit"), "https://e.com/wait...", "exact", 0),
    # level 2, at a boundary
    (LONG, "https://e.com/news", "truncation", 0),
    (LONG, "https://e.com/news/2026/", "truncation", 0),
    # level 3: what level 2 would be if it were spelled as the tool spells it
    (LONG, "http://e.com/news/2026", "prefix", 0),
    (("https://e.com/a%20b/c",), "https://e.com/a b", "prefix", 0),
    (DOC, "https://e.com/doc", "prefix", 0),
    # level 4
    (BENEFITS, "https://e.com/us/benefits/healthcare/", "child_path", 0),
    (("https://e.com/a/b", "https://e.com/a/b/c"), "https://e.com/a/b/c/d", "child_path", 1),  # D15: nearest parent
    (("https://github.com/o/r",), "https://github.com/o/r/blob/main/FAKE.md", "child_path", 0),  # V3: by its level
    (("https://e.com/a/b?x=1", "https://e.com/a/b"), "https://e.com/a/b/c", "child_path", 1),
    (("https://e.com/a/b",), "https://e.com/" + "/".join("ab" * 60), "child_path", 0),
    # level 5
    (DOC, "https://e.com/doc?id=123", "query_subset", 0),
    (DOC, "https://e.com/doc?mode=view", "query_subset", 0),
    (SHARED, "https://e.com/doc?action=edit&sourcedoc=X", "query_subset", 0),
    (("https://e.com/d?a=1&b=2", "https://e.com/d?a=1&b=3"), "https://e.com/d?b=3", "query_subset", 1),
]

NOT_FOUND = [
    (ARXIV, "https://arxiv.org/abs/1706"),
    (ARXIV, "https://arxiv.org/abs/1706..."),
    (ARXIV, "https://arxiv.org/abs/1706.0376…"),  # a number is never completed
    (("https://arxiv.org/abs/hep-th/9901001",), "https://arxiv.org/abs/hep-th…"),  # nor one with a slash
    (ARXIV, "https://arxiv.org/abs/1706.03762/appendix"),  # V3: nothing lies below a paper
    (("https://e.com/docs",), "https://e.com/docs/fake"),  # the parent has one segment only
    (DOC, "https://e.com/doc?id=999"),
    (DOC, "https://e.com/doc?id=12"),  # V2
    (DOC, "https://e.com/doc?id=123&mode=edit"),
    (DOC, "https://e.com/doc?id=123&mode=view&x=1"),
    (("https://nvidia.com/a",), "https://nvidia.co"),  # V1
    (("https://nvidia.com/a",), "https://nvidia.co..."),  # V1
    (("https://nvidia.com/a",), "https://"),  # V1
    (("https://nvidia.com/a",), "http"),  # V1
    (("https://nvidia.com/a",), ""),  # V1
    (("https://nvidia.com/a",), "..."),
    (("https://e.com/pull/112",), "https://e.com/pull/1"),  # V2
    (("https://e.com/pull/112",), "https://e.com/pull/1..."),  # V2
    (("https://e.com/page10",), "https://e.com/page1"),  # V2
    (("https://e.com/?id=123",), "https://e.com/?id=12"),  # V2
    (("https://e.com/commit/4f2a91c",), "https://e.com/commit/4f2a…"),  # an identifier neither
    (("https://e.com/a/b", "https://e.com/a/c"), "https://e.com/a"),  # ambiguous
    (("https://e.com/long-a", "https://e.com/long-b"), "https://e.com/long-…"),  # ambiguous
    (("https://e.com/d?a=1&b=2", "https://e.com/d?a=1&b=3"), "https://e.com/d?a=1"),  # ambiguous
    (("https://e.com/a/b?x=1", "https://e.com/a/b?x=2"), "https://e.com/a/b/c"),  # ambiguous parent
    (("https://e.com/?id=1&id=2",), "https://e.com/?id=2&id=2"),
    (("https://e.com/a", "https://e.com/a/b"), "https://e.com/a…"),  # which of the two was cut off?
    (("https://e.com/p?a=1&b=2#/one",), "https://e.com/p?a=1#/two"),  # another page of the application
    (("https://e.com//docs",), "https://e.com//docs/fake"),  # an empty segment does not count
    (("https://e.com/article",), "https://e.com/art"),  # no segment boundary, no mark
    (("https://e.com/a",), "https://e.com:8080/a"),
    (("https://e.com/a",), "http://[::1"),
]


def _index(urls: tuple[str, ...]) -> SourceIndex:
    return SourceIndex([Source(url=url) for url in urls])


@pytest.mark.parametrize(("urls", "cited", "level", "position"), FOUND)
def test_found(urls: tuple[str, ...], cited: str, level: str, position: int) -> None:
    match = _index(urls).match_url(cited)
    assert match is not None
    assert (match.level, match.source.url) == (level, urls[position])


@pytest.mark.parametrize(("urls", "cited"), NOT_FOUND)
def test_not_found(urls: tuple[str, ...], cited: str) -> None:
    assert _index(urls).match_url(cited) is None


@pytest.mark.parametrize(
    ("cited", "marked"),
    [("https://e.com/news/2026/a-long-…", True), ("https://e.com/news/2026", False), (LONG[0], False)],
)
def test_a_marked_truncation_is_told_from_the_others(cited: str, marked: bool) -> None:
    match = _index(LONG).match_url(cited)
    assert match is not None
    assert match.marked is marked


def test_parameters_that_many_sources_share_pick_out_none() -> None:
    """The bound that keeps a look-up's cost apart from the number of sources."""
    index = _index(tuple(f"https://e.com/d?{'a' if n % 2 else 'b'}=1&c=1&id={n}" for n in range(400)))
    assert index.match_url("https://e.com/d?c=1&a=1") is None
    match = index.match_url("https://e.com/d?c=1&id=7")
    assert match is not None
    assert match.source.url == "https://e.com/d?a=1&c=1&id=7"


def test_an_earlier_level_wins() -> None:
    index = _index(("https://e.com/a/b", "https://e.com/a/b/c", "https://e.com/a/b?x=1"))
    match = index.match_url("https://e.com/a/b")
    assert match is not None
    assert match.level == "exact"


@pytest.mark.parametrize(
    ("entry", "key"),
    [
        ("Annual Report - report.pdf, p.15", "report.pdf, p.15"),
        ("report.pdf, p.15", "report.pdf, p.15"),
        ("report.pdf, p.16", "report.pdf, p.15"),  # a page beside it
        ("report.pdf, p.9", None),
        ("REPORT.pdf", "report.pdf, p.2"),
        ("report.pdf, pp. 14-16", "report.pdf, p.15"),
        ("a.md", "a.md"),
        ("data.md", None),  # V5
        ("A wholly invented study, via knowledge_search", None),  # V5
        ("step9.pdf", None),  # V4
    ],
)
def test_documents(entry: str, key: str | None) -> None:
    keys = ("report.pdf, p.2", "report.pdf, p.15", "a.md", "knowledge_search", "step1.pdf")
    match = SourceIndex([Source(citation_key=k) for k in keys]).match_document(entry)
    assert (match.source.citation_key if match else None) == key
    assert match is None or match.level == "document"


@pytest.mark.timing
def test_malformed_and_empty_sources_harm_nothing() -> None:
    index = SourceIndex([Source(url="http://[::1"), Source(), Source(url=""), Source(url="https://e.com/a")])
    assert index.match_url("http://[::1") is None
    assert index.match_url("https://e.com/a") is not None


def test_a_look_up_costs_the_same_in_a_large_registry() -> None:
    """Generous: a scan of 10,000 sources would be some two hundred times slower than one of 50."""

    def seconds(size: int) -> float:
        index = _index(tuple(f"https://e.com/section/{n % 7}/page-{n:06d}?id={n}&mode=view" for n in range(size)))
        cited = [
            "https://e.com/section/3/page-0000…",
            "https://e.com/section/3/page-000010?mode=view",
            "https://e.com/section/3/none/below",
            "https://other.com/none",
        ]
        for url in cited:
            index.match_url(url)
        start = time.process_time()
        for _ in range(50):
            for url in cited:
                index.match_url(url)
        return time.process_time() - start

    assert seconds(10_000) < 20 * seconds(50) + 0.05
