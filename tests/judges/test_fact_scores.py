"""FACT's statistics on worked examples (on the official results: `tests/analysis/test_official.py`)."""

from aiq.judges.fact_scores import CitedPage, Judged, Verdict, count, official


def page(*verdicts: Verdict) -> CitedPage:
    return CitedPage(url="u", judged=tuple(Judged(statement="s", verdict=verdict) for verdict in verdicts))


def test_unknown_verdicts_failed_pages_and_reports_without_citations_do_not_count() -> None:
    first = [page("supported", "supported", "unknown"), CitedPage(url="x", error="http: 404"), page("unsupported")]
    second = [page("unknown")]
    assert official([first, second, []]) == {"total_citations": 1.5, "total_valid_citations": 1.0, "valid_rate": 2 / 3}
    counts = count(first)
    assert (counts.supported, counts.unsupported, counts.unknown, counts.failed_pages) == (2, 1, 1, 1)


def test_the_rate_is_0_if_nothing_counts() -> None:
    assert official([])["valid_rate"] == official([[page("unknown")]])["valid_rate"] == 0.0
