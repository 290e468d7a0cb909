"""Means corrected by labels: against other packages with these estimators, in edge cases, and by simulation."""

import random
from statistics import fmean

import pytest

from aiq.stats.intervals import Interval
from aiq.stats.labels import Labelled, Rates, labels_alone, ppi, ppi_estimate, rates, rogan_gladen, with_failed


def bits(text: str) -> list[float]:
    return [float(digit) for digit in text]


RIGHT = bits("111100111111111011110111110110")
JUDGED = bits("100101111011111001000111110111")
OTHERS = bits(
    "111101011110100111010111011011110011100111111111101111111001"
    "101111111111111110111111100010111111100101011110110111111111"
)
LABELS = [0.74, 0.03, 0.43, 0.4, 0.5, 0.29, 0.19, 0.01, 0.31, 0.14, 0.56, 0.36, 0.61, 0.29, 0.25]
SCORES = [0.47, 0.17, 0.37, 0.55, 0.62, 0.3, 0.3, 0.0, 0.27, 0.51, 0.66, 0.43, 0.78, 0.51, 0.22]
FURTHER = [0.44, 0.23, 0.73, 0.19, 0.15, 0.26, 0.0, 0.64, 0.39, 0.24, 0.66, 0.32, 0.46, 0.33, 0.07, 0.14, 0.29, 0.26]


@pytest.mark.parametrize(
    ("labels", "scores", "others", "expected"),
    [
        (RIGHT, JUDGED, OTHERS, (0.8280075187969926, 0.28007518796992487, 0.07034591566919275)),
        (LABELS, SCORES, FURTHER, (0.3066642269005638, 0.38444969584789696, 0.04449173315103201)),
    ],
)
def test_the_corrected_mean_matches_other_packages(
    labels: list[float], scores: list[float], others: list[float], expected: tuple[float, float, float]
) -> None:
    """Mean, weight and standard error as in truescore 0.7.4; ppi-python 0.2.3 gives the same means."""
    mean = ppi(list(zip(labels, scores, strict=True)), others)
    assert (mean.mean, mean.weight, mean.spread.error) == pytest.approx(expected, rel=1e-12)


def test_labels_of_other_runs_correct_by_the_judges_error_rates_there() -> None:
    """The mean is truescore's rogan_gladen_estimate, 0.992; a judge that is never wrong leaves the share unchanged."""
    known = rates(list(zip(RIGHT, JUDGED, strict=True)))
    assert known == Rates(18 / 24, 4 / 6, 24, 6)
    mean, (low, high) = rogan_gladen([*JUDGED, *OTHERS], known) or (0.0, (0.0, 0.0))
    assert mean == pytest.approx(0.992, abs=1e-12)
    assert 0 < low < mean <= high == 1
    mean, (low, high) = rogan_gladen([1.0] * 60 + [0.0] * 40, Rates(1.0, 1.0, 10**6, 10**6)) or (0.0, (0.0, 0.0))
    assert mean == pytest.approx(0.6)
    assert (low, high) == pytest.approx((0.502, 0.691), abs=0.002)  # Wilson's interval
    assert rogan_gladen([1.0], Rates(0.5, 0.5, 9, 9)) is None
    assert rates([(1.0, 1.0)]) is None


def test_a_useless_judge_leaves_the_mean_of_the_labels() -> None:
    labelled: Labelled = [(float(number < 12), 1.0) for number in range(16)]
    mean, interval, weight = ppi_estimate(labelled, [1.0] * 50)
    assert (mean, weight) == (0.75, 0.0)
    assert interval == pytest.approx(labels_alone(labelled)[1])
    assert ppi_estimate(labelled, [])[:2] == labels_alone(labelled)  # every sample is labelled


def test_an_interval_with_failures_covers_the_truth_of_all_samples() -> None:
    """With practically known error rates; coverage was 0.689 when the number of failures was treated as certain."""
    rng, covered, known = random.Random(1), 0, Rates(1.0, 1.0, 10**6, 10**6)
    for _ in range(400):
        scores = [float(rng.random() < 0.9) for _ in range(100) if rng.random() < 0.5]
        corrected = rogan_gladen(scores, known)
        assert corrected is not None
        mean, interval = with_failed(*corrected, len(scores) / 100, 100, 0.0)
        assert mean == pytest.approx(sum(scores) / 100)
        assert interval is not None
        covered += interval[0] <= 0.45 <= interval[1]
    assert 0.92 <= covered / 400 <= 0.98


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_intervals_cover_the_truth_and_are_narrower_than_with_labels_alone(share: float) -> None:
    """With 40 labels, sensitivity 0.9 and specificity 0.8; the normal interval covers only 0.85 to 0.91."""
    rng, covered, elsewhere = random.Random(share), 0, 0
    widths: list[tuple[Interval, Interval]] = []

    def judge(right: bool) -> tuple[float, float]:
        return float(right), float(rng.random() < (0.9 if right else 0.2))

    for _ in range(300):
        labelled = [judge(rng.random() < share) for _ in range(40)]
        unlabelled = [judge(rng.random() < share)[1] for _ in range(200)]
        interval, alone = ppi_estimate(labelled, unlabelled)[1], labels_alone(labelled)[1]
        assert interval is not None
        assert alone is not None
        covered += interval[0] <= share <= interval[1]
        widths.append((interval, alone))
        known = rates([judge(rng.random() < 0.5) for _ in range(40)])
        corrected = rogan_gladen(unlabelled, known) if known else None
        elsewhere += corrected is None or corrected[1][0] <= share <= corrected[1][1]
    assert covered / 300 >= 0.92
    assert elsewhere / 300 >= 0.92
    assert fmean(b - a for (a, b), _ in widths) < 0.95 * fmean(b - a for _, (a, b) in widths)
