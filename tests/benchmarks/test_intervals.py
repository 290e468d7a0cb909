"""The simulation of docs/statistics.md, with few experiments: every kind of number is covered."""

from benchmarks.intervals import kinds, measured


def test_every_kind_of_interval_is_measured() -> None:
    for kind in kinds():
        mean, least, where, width = measured(kind, 12, 10)
        assert 0.7 <= mean <= 1
        assert least <= mean
        assert where in kind.distributions
        assert 0.5 < width < 2 or kind.name.startswith("shares,")
