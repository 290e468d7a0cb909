"""Look-ups: which level wins, and that their cost is bounded. The five levels are in `lookups.jsonl`."""

import time

import pytest

from aiq.citations.match import SourceIndex
from aiq.core.sources import Source

LONG = ("https://e.com/news/2026/a-long-article-name",)


def _index(urls: tuple[str, ...]) -> SourceIndex:
    return SourceIndex([Source(url=url) for url in urls])


@pytest.mark.parametrize(
    ("cited", "marked"),
    [("https://e.com/news/2026/a-long-…", True), ("https://e.com/news/2026", False), (LONG[0], False)],
)
def test_a_marked_truncation_is_told_from_the_others(cited: str, marked: bool) -> None:
    match = _index(LONG).match_url(cited)
    assert match is not None
    assert match.marked is marked


def test_an_earlier_level_wins_and_malformed_sources_are_harmless() -> None:
    index = _index(("http://[::1", "", "https://e.com/a/b", "https://e.com/a/b/c", "https://e.com/a/b?x=1"))
    match = index.match_url("https://e.com/a/b")
    assert match is not None
    assert match.level == "exact"
    assert index.match_url("http://[::1") is None


def test_look_ups_do_not_slow_down_in_a_large_registry() -> None:
    """Generous: a scan of 4,000 sources would be some eighty times slower than one of 50."""

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

    assert seconds(4_000) < 20 * seconds(50) + 0.05


def test_a_path_of_any_depth() -> None:
    deep = "https://e.com/" + "/".join("abc"[n % 3] for n in range(3000))
    index = _index((deep, f"{deep}/x"))
    match = index.match_url(f"{deep}/x/y")
    assert match is not None
    assert (match.source.url, match.level) == (f"{deep}/x", "child_path")
    assert index.match_url(deep[:-2]) is None
