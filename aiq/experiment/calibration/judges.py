"""Judges against each other: do they call the same reports worse, and score them alike?"""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Final, TypeVar

from aiq.experiment.calibration.figures import known_noise, worse_than_twin
from aiq.experiment.calibration.records import CONTROLS, Agreement, Figure, meant_to_see
from aiq.experiment.calibration.scored import Rated, Reports
from aiq.stats.agreement import accuracy, bootstrap95, kappa
from aiq.stats.krippendorff import alpha_interval, alpha_nominal
from aiq.stats.ranks import spearman

T = TypeVar("T")

_SPEAKS_FOR: Final = (
    "race.overall",
    "race_absolute.overall",
    "fact.citation_accuracy",
    "fresheval.relaxed",
)


def between_judges(reports: Reports) -> tuple[tuple[Agreement, ...], Figure | None]:
    """Every pair of judges, each by the metric that speaks for it, and Krippendorff's alpha of all their verdicts.

    The metric is the judge's main one, or else its first. A judge has a verdict on damages that the
    metric is meant to see, and on the controls.
    """
    speakers = _speakers(reports.rated)
    verdicts = [_verdicts(one, reports) for one in speakers]
    found = [
        _agreement(a, b, verdicts[i], verdicts[j], reports) for (i, a), (j, b) in combinations(enumerate(speakers), 2)
    ]
    units = {sample: [verdict[sample] for verdict in verdicts if sample in verdict] for sample in reports.damaged}
    alpha = over_tasks(units, reports, alpha_nominal) if len(speakers) > 1 else None
    return tuple(found), alpha


def _speakers(rated: Sequence[Rated]) -> list[Rated]:
    found: dict[str, Rated] = {}
    for one in rated:
        if one.judge_hash not in found or one.metric in _SPEAKS_FOR:
            found[one.judge_hash] = one
    return list(found.values())


def _verdicts(rated: Rated, reports: Reports) -> dict[str, bool]:
    asked = {*meant_to_see(rated.metric, reports.damages), *CONTROLS}
    worse = worse_than_twin(rated, reports, known_noise(rated))
    return {sample: found for sample, found in worse.items() if reports.damaged[sample].damage in asked}


def _agreement(a: Rated, b: Rated, of_a: dict[str, bool], of_b: dict[str, bool], reports: Reports) -> Agreement:
    shared = {sample: (str(of_a[sample]), str(of_b[sample])) for sample in of_a if sample in of_b}
    scores: dict[str, tuple[float, float]] = {}
    if a.metric == b.metric:
        means = {sample: (a.mean(sample), b.mean(sample)) for sample in a.scores}
        scores = {s: (x, y) for s, (x, y) in means.items() if x is not None and y is not None}
    return Agreement(
        first=a.name,
        second=b.name,
        reports=len(shared),
        equal=accuracy(list(shared.values())),
        kappa=over_tasks(shared, reports, kappa),
        spearman=over_tasks(scores, reports, rank_correlation),
        alpha=over_tasks(scores, reports, alpha_interval),
    )


def rank_correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    return spearman([first for first, _ in pairs], [second for _, second in pairs])


def over_tasks(values: dict[str, T], reports: Reports, measure: Callable[[Sequence[T]], float | None]) -> Figure | None:
    """A measure over samples, its interval over tasks; None where there is none."""
    clusters: dict[str, list[T]] = {}
    for sample, value in values.items():
        clusters.setdefault(reports.groups.get(sample, sample), []).append(value)
    whole = measure(list(values.values()))
    return (
        None
        if whole is None
        else Figure(value=whole, ci95=bootstrap95(list(clusters.values()), measure), n=len(values))
    )
