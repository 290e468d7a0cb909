"""Numbers of a summary that no estimator gives."""

import pytest

from aiq.runs.summary import _nearest_rank


@pytest.mark.parametrize(("n", "rank"), [(1, 1), (2, 2), (19, 19), (20, 19), (21, 20), (60, 57), (100, 95)])
def test_the_95th_percentile_is_the_nearest_rank(n: int, rank: int) -> None:
    assert _nearest_rank([float(value) for value in range(1, n + 1)], 95) == rank
