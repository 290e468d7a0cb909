"""FACT's statistics: by hand, and by the official rules."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from aiq.judges.fact_scores import CitedPage, Judged, Verdict, count, official

VERDICTS: st.SearchStrategy[list[Verdict]] = st.lists(
    st.sampled_from(["supported", "unsupported", "unknown"]), max_size=5
)
PAGES = st.builds(
    lambda verdicts, error: page(*verdicts) if error is None else CitedPage(url="u", error=error),
    VERDICTS,
    st.none() | st.just("timeout"),
)


def page(*verdicts: Verdict, url: str = "u") -> CitedPage:
    return CitedPage(url=url, judged=tuple(Judged(statement="s", verdict=verdict) for verdict in verdicts))


def test_unknown_failed_and_uncited_count_nowhere() -> None:
    first = [page("supported", "supported", "unknown"), CitedPage(url="x", error="http: 404"), page("unsupported")]
    second = [page("unknown")]
    assert official([first, second, []]) == {"total_citations": 1.5, "total_valid_citations": 1.0, "valid_rate": 2 / 3}
    counts = count(first)
    assert (counts.supported, counts.unsupported, counts.unknown, counts.failed_pages) == (2, 1, 1, 1)


def test_without_anything_there_is_no_rate() -> None:
    assert official([])["valid_rate"] == official([[page("unknown")]])["valid_rate"] == 0.0


@given(st.lists(st.lists(PAGES, max_size=4), max_size=5))
def test_the_official_figures_by_plain_counting(reports: list[Sequence[CitedPage]]) -> None:
    kept = [report for report in reports if report]
    verdicts = [j.verdict for report in kept for p in report if p.error is None for j in p.judged]
    supported, unsupported = verdicts.count("supported"), verdicts.count("unsupported")
    statistics = official(reports)
    if kept:
        assert statistics["total_citations"] == (supported + unsupported) / len(kept)
        assert statistics["total_valid_citations"] == supported / len(kept)
    if supported + unsupported:
        assert statistics["valid_rate"] == supported / (supported + unsupported)
