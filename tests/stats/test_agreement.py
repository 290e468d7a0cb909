"""Agreement figures against values worked out by hand."""

import pytest

from aiq.stats.agreement import accuracy, bootstrap95, kappa

PAIRS = [("a", "a")] * 20 + [("a", "b")] * 5 + [("b", "a")] * 10 + [("b", "b")] * 15


def test_figures_of_a_textbook_table() -> None:
    assert accuracy(PAIRS) == pytest.approx(0.7)
    assert kappa(PAIRS) == pytest.approx(0.4)


def test_nothing_has_no_figure() -> None:
    assert accuracy([]) is None
    assert kappa([("a", "a")]) is None


def test_the_bootstrap_resamples_clusters_and_repeats() -> None:
    clusters = [[("a", "a")] * 4, [("a", "b")] * 4, [("a", "a")] * 4, [("a", "b")] * 4]
    interval = bootstrap95(clusters, accuracy, draws=200)
    assert interval == bootstrap95(clusters, accuracy, draws=200)
    assert interval is not None
    assert interval[0] < 0.5 < interval[1]
    assert bootstrap95(clusters[:1], accuracy) is None
