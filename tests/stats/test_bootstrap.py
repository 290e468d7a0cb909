"""Resampled means and ratios: their center, their spread, and that columns are paired."""

import numpy as np
import pytest

from aiq.stats.bootstrap import resampled


def test_means_spread_as_the_standard_error_says() -> None:
    values = np.random.default_rng(1).normal(3.0, [1.0, 4.0], size=(400, 2))
    means = resampled(values, np.ones((400, 2)))
    assert means.shape == (10_000, 2)
    assert means.mean(axis=0) == pytest.approx(values.mean(axis=0), abs=0.02)
    assert means.std(axis=0) == pytest.approx(values.std(axis=0) / 20, rel=0.03)


def test_columns_share_the_draws() -> None:
    values = np.random.default_rng(2).random((50, 1))
    means = resampled(np.concatenate((values, values + 0.5), axis=1), np.ones((50, 2)), resamples=100)
    assert means[:, 1] - means[:, 0] == pytest.approx(0.5)


def test_a_ratio_is_the_ratio_of_sums() -> None:
    ratios = resampled(np.array([[1.0], [9.0]]), np.array([[1.0], [10.0]]), resamples=500)
    assert set(np.round(ratios[:, 0], 6)) == {1.0, round(10 / 11, 6), 0.9}


def test_samples_without_a_score_have_no_weight() -> None:
    means = resampled(np.array([[0.0], [1.0]]), np.array([[0.0], [1.0]]), resamples=200)
    assert np.nanmin(means) == np.nanmax(means) == 1.0
    assert 0.15 < np.isnan(means).mean() < 0.35  # in a quarter of cases both draws are the first sample


def test_the_seed_determines_the_draws() -> None:
    values, ones = np.random.default_rng(3).random((3, 1)), np.ones((3, 1))
    assert np.array_equal(resampled(values, ones, seed=5), resampled(values, ones, seed=5))
    assert not np.array_equal(resampled(values, ones, seed=5), resampled(values, ones, seed=6))
