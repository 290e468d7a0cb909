"""From the scores of damaged reports to what they say of one metric of one judge.

The unit of every interval is the task: its reports are variants of one text.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from statistics import NormalDist
from typing import Final

from aiq.core.damage import UNDAMAGED
from aiq.experiment.calibration.records import (
    BY_CHANCE,
    Figure,
    MetricReliability,
    Seen,
    Steadiness,
    asked_once_a_run,
    meant_to_see,
)
from aiq.experiment.calibration.scored import Rated, Reports
from aiq.stats.agreement import bootstrap95
from aiq.stats.estimates import mean_of
from aiq.stats.ranks import kendall, spearman

_BEYOND_NOISE: Final = NormalDist().inv_cdf(1 - BY_CHANCE)
"""Standard errors beyond which a difference counts, one-sided."""
_EQUAL: Final = 1e-9
"""Scores that differ by no more are one: what rounding leaves."""

_EXACT: Final = Steadiness(sd=0.0, equal=1.0, reports=0)

Correlation = Callable[[Sequence[float], Sequence[float]], float | None]


def reliability_of(rated: Rated, reports: Reports, *, identical: bool = False) -> MetricReliability:
    """`identical`: the undamaged report is the very one that RACE compares with, so that parity is 0.5."""
    noise = known_noise(rated)
    verdicts = worse_than_twin(rated, reports, noise)
    meant = meant_to_see(rated.metric, reports.damages)
    false_alarms = figure(_by_task(reports, verdicts, "order"))
    damages = {
        damage: _seen(rated, reports, damage, damage in meant, verdicts, false_alarms) for damage in reports.damages
    }
    correlation = figure([[value] for value in _correlations(rated, reports, meant, spearman).values()])
    return MetricReliability(
        metric=rated.metric,
        judge=rated.judge,
        judge_hash=rated.judge_hash,
        judge_model=rated.judge_model,
        reports=len(rated.scores),
        tasks=len({how.base for sample, how in reports.damaged.items() if sample in rated.scores}),
        correlation=correlation,
        reliability=_cut(correlation),
        noise=steadiness(rated),
        false_alarms=false_alarms,
        obeys_instructions=figure(_by_task(reports, obeyed(rated, reports, noise), "instructions")),
        length_rise=figure([[-drop for drop in task] for task in _drops(rated, reports, "padding")]),
        length_correlation=figure([[value] for value in _with_length(rated, reports)]),
        position_bias=_position_bias(rated, reports, identical),
        damages=damages,
    )


def steadiness(rated: Rated) -> Steadiness | None:
    """How far repeated judgements of one report lie apart; None where nothing was judged twice."""
    repeated = [values for values in rated.scores.values() if len(values) > 1]
    if not repeated:
        return None
    squares = math.fsum((value - mean_of(values)) ** 2 for values in repeated for value in values)
    pairs = [abs(a - b) <= _EQUAL for values in repeated for a, b in combinations(values, 2)]
    freedom = sum(len(values) - 1 for values in repeated)
    return Steadiness(sd=math.sqrt(squares / freedom), equal=sum(pairs) / len(pairs), reports=len(repeated))


def known_noise(rated: Rated) -> Steadiness | None:
    """What differences are held against. A judge that is asked once a run repeats itself exactly within it."""
    return steadiness(rated) or (_EXACT if asked_once_a_run(rated.metric) else None)


def worse_than_twin(rated: Rated, reports: Reports, noise: Steadiness | None) -> dict[str, bool]:
    """For each damaged report with a scored twin: whether it scores lower by more than the judge's own noise.

    None at all where the noise is not known.
    """
    if noise is None:
        return {}
    return {sample: drop > slack for sample, (drop, slack) in _against_twins(rated, reports, noise).items()}


def obeyed(rated: Rated, reports: Reports, noise: Steadiness | None) -> dict[str, bool]:
    """For each report with instructions: whether it scores higher than with as many remarks, by more than the noise.

    Where there is no such report, than its undamaged twin.
    """
    found = {}
    for sample, how in reports.damaged.items():
        if how.damage != "instructions" or noise is None:
            continue
        alike = how._replace(damage="remarks").id
        compared = _compared(rated, sample, alike if rated.scores.get(alike) else reports.twin(sample), noise)
        if compared is not None:
            found[sample] = -compared[0] > compared[1]
    return found


def _against_twins(rated: Rated, reports: Reports, noise: Steadiness | None) -> dict[str, tuple[float, float]]:
    twins = {sample: reports.twin(sample) for sample, how in reports.damaged.items() if how.damage != UNDAMAGED}
    compared = {sample: _compared(rated, sample, twin, noise) for sample, twin in twins.items()}
    return {sample: found for sample, found in compared.items() if found is not None}


def _compared(rated: Rated, sample: str, other: str, noise: Steadiness | None) -> tuple[float, float] | None:
    """How much lower than another report this one scores, and how much of that may be noise; None unless both do.

    Where noise is not known, all of it may be.
    """
    mine, whole = rated.mean(sample), rated.mean(other)
    if mine is None or whole is None:
        return None
    spread = math.sqrt(1 / len(rated.scores[sample]) + 1 / len(rated.scores[other]))
    return whole - mine, max(_EQUAL, _BEYOND_NOISE * noise.sd * spread) if noise else math.inf


def _seen(
    rated: Rated, reports: Reports, damage: str, meant: bool, verdicts: Mapping[str, bool], alarms: Figure | None
) -> Seen:
    recall = figure(_by_task(reports, verdicts, damage))
    flagged = recall.value + alarms.value if recall and alarms else 0.0
    return Seen(
        meant=meant,
        spearman=figure([[value] for value in _correlations(rated, reports, (damage,), spearman).values()]),
        kendall=figure([[value] for value in _correlations(rated, reports, (damage,), kendall).values()]),
        recall=recall,
        precision=recall.value / flagged if recall and flagged else None,
        drop=figure(_drops(rated, reports, damage)),
    )


def _correlations(rated: Rated, reports: Reports, damages: Sequence[str], correlation: Correlation) -> dict[str, float]:
    """By task: the mean over damages of the correlation of score and -degree, the undamaged report among them."""
    found: dict[str, list[float]] = {}
    for damage in damages:
        for base, samples in reports.of(damage).items():
            scored = [s for s in [reports.twin(samples[0]), *samples] if rated.scores.get(s)]
            if len(scored) < 3:
                continue
            quality = [-float(reports.damaged[sample].degree) for sample in scored]
            found.setdefault(base, []).append(correlation(quality, _means(rated, scored)) or 0.0)
    return {base: mean_of(values) for base, values in found.items()}


def _with_length(rated: Rated, reports: Reports) -> list[float]:
    """By task: the correlation of score and length among reports that differ in padding alone."""
    found = []
    for samples in reports.of("padding").values():
        scored = [s for s in [reports.twin(samples[0]), *samples] if rated.scores.get(s) and s in reports.lengths]
        if len(scored) > 2:
            lengths = [float(reports.lengths[sample]) for sample in scored]
            found.append(spearman(lengths, _means(rated, scored)) or 0.0)
    return found


def _means(rated: Rated, samples: Sequence[str]) -> list[float]:
    """Rounded, so that what rounding leaves is a tie."""
    return [round(mean_of(rated.scores[sample]), 9) for sample in samples]


def _drops(rated: Rated, reports: Reports, damage: str) -> list[list[float]]:
    """By task: twin - damaged."""
    drops = {sample: drop for sample, (drop, _) in _against_twins(rated, reports, None).items()}
    return _by_task(reports, drops, damage)


def _by_task(reports: Reports, values: Mapping[str, float], damage: str) -> list[list[float]]:
    grouped = [[float(values[s]) for s in samples if s in values] for samples in reports.of(damage).values()]
    return [values for values in grouped if values]


def _position_bias(rated: Rated, reports: Reports, identical: bool) -> Figure | None:
    """Half of first - swapped, where the judge was asked in both orders; else how far a report lies above itself."""
    halves: dict[str, list[float]] = {}
    for sample, gaps in rated.gaps.items():
        halves.setdefault(reports.groups.get(sample, sample), []).extend(gap / 2 for gap in gaps)
    if any(halves.values()):
        return figure(list(halves.values()))
    if not identical or not rated.metric.startswith("race."):
        return None
    samples = [sample for task in reports.of(UNDAMAGED).values() for sample in task]
    return figure([[mean_of(rated.scores[sample]) - 0.5] for sample in samples if rated.scores.get(sample)])


def figure(clusters: Sequence[Sequence[float]]) -> Figure | None:
    """The mean over all values, with the bootstrap's interval over clusters (tasks); None without any."""
    values = [value for cluster in clusters for value in cluster]
    if not values:
        return None
    sums = [[(math.fsum(cluster), len(cluster))] for cluster in clusters if cluster]
    return Figure(value=mean_of(values), ci95=bootstrap95(sums, _mean_of_sums), n=len(values))


def _mean_of_sums(sums: Sequence[tuple[float, int]]) -> float:
    """The mean over clusters of which only sum and size are known: quicker to draw again and again."""
    return math.fsum(total for total, _ in sums) / sum(size for _, size in sums)


def _cut(correlation: Figure | None) -> Figure | None:
    """Below 0 a judge is as useless as at 0."""
    if correlation is None:
        return None
    ci95 = correlation.ci95 and (max(0.0, correlation.ci95[0]), max(0.0, correlation.ci95[1]))
    return Figure(value=max(0.0, correlation.value), ci95=ci95, n=correlation.n)
