"""From the scores of damaged reports to what they say of one metric of one judge.

The unit of every interval is the task: its reports are variants of one text.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Final

from aiq.core.damage import UNDAMAGED
from aiq.experiment.calibration.records import Figure, MetricReliability, Seen, Steadiness, meant_to_see
from aiq.experiment.calibration.scored import Rated, Reports
from aiq.stats.agreement import bootstrap95
from aiq.stats.estimates import mean_of
from aiq.stats.ranks import kendall, spearman

_BEYOND_NOISE: Final = 1.645
"""A drop counts where chance alone brings one as large in 1 of 20 cases (normal distribution, one-sided)."""
_EQUAL: Final = 1e-9
"""Scores that differ by no more are one: what rounding leaves."""

Correlation = Callable[[Sequence[float], Sequence[float]], float | None]


def reliability_of(rated: Rated, reports: Reports, *, identical: bool = False) -> MetricReliability:
    """`identical`: the undamaged report is the very one that RACE compares with, so that parity is 0.5."""
    noise = steadiness(rated)
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
        noise=noise,
        false_alarms=false_alarms,
        obeys_instructions=figure(_by_task(reports, _better_than_twin(rated, reports, noise), "instructions")),
        length_rise=figure([[-drop for drop in task] for task in _drops(rated, reports, "padding")]),
        length_correlation=figure([[value] for value in _with_length(rated, reports)]),
        position_bias=_position_bias(rated, reports) if identical and rated.metric.startswith("race.") else None,
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


def worse_than_twin(rated: Rated, reports: Reports, noise: Steadiness | None) -> dict[str, bool]:
    """For each damaged report with a scored twin: whether it scores lower by more than the judge's own noise."""
    return {sample: drop > slack for sample, (drop, slack) in _compared(rated, reports, noise).items()}


def _better_than_twin(rated: Rated, reports: Reports, noise: Steadiness | None) -> dict[str, bool]:
    return {sample: -drop > slack for sample, (drop, slack) in _compared(rated, reports, noise).items()}


def _compared(rated: Rated, reports: Reports, noise: Steadiness | None) -> dict[str, tuple[float, float]]:
    """How much lower than its twin a report scores, and how much of that may be noise."""
    found = {}
    for sample, how in reports.damaged.items():
        twin = reports.twin(sample)
        mine, whole = rated.mean(sample), rated.mean(twin)
        if how.damage == UNDAMAGED or mine is None or whole is None:
            continue
        spread = math.sqrt(1 / len(rated.scores[sample]) + 1 / len(rated.scores[twin]))
        found[sample] = (whole - mine, max(_EQUAL, _BEYOND_NOISE * noise.sd * spread if noise else 0.0))
    return found


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
    drops = {sample: drop for sample, (drop, _) in _compared(rated, reports, None).items()}
    return _by_task(reports, drops, damage)


def _by_task(reports: Reports, values: Mapping[str, float], damage: str) -> list[list[float]]:
    grouped = [[float(values[s]) for s in samples if s in values] for samples in reports.of(damage).values()]
    return [values for values in grouped if values]


def _position_bias(rated: Rated, reports: Reports) -> Figure | None:
    """How far the first of two identical articles lies above parity."""
    samples = [sample for task in reports.of(UNDAMAGED).values() for sample in task]
    return figure([[mean_of(rated.scores[sample]) - 0.5] for sample in samples if rated.scores.get(sample)])


def figure(clusters: Sequence[Sequence[float]]) -> Figure | None:
    """The mean over all values, with the bootstrap's interval over clusters (tasks); None without any."""
    values = [value for cluster in clusters for value in cluster]
    if not values:
        return None
    return Figure(value=mean_of(values), ci95=bootstrap95(clusters, mean_of), n=len(values))


def _cut(correlation: Figure | None) -> Figure | None:
    """Below 0 a judge is as useless as at 0."""
    if correlation is None:
        return None
    ci95 = correlation.ci95 and (max(0.0, correlation.ci95[0]), max(0.0, correlation.ci95[1]))
    return Figure(value=max(0.0, correlation.value), ci95=ci95, n=correlation.n)
