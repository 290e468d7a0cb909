"""The results of a sweep, from the rows of its points: differences, main effects, Pareto front, recommended point."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from statistics import fmean, stdev
from typing import Final, get_args

from aiq.core.base import grouped
from aiq.core.errors import UserError
from aiq.core.reports import Metric
from aiq.core.text import plural
from aiq.core.usage import SpendName
from aiq.runs.folder import RunFolder
from aiq.runs.manifest import JudgeSpec
from aiq.runs.reader import read_state
from aiq.runs.summary import by_sample, difference, estimate
from aiq.runs.sweeps import MainEffect, Point, PointDifference, Recommendation, Sweep, SweepFolder, pick_spend
from aiq.stats.estimates import Difference, Estimate, Pairs, mean_estimate
from aiq.stats.power import detectable_effect
from aiq.stats.recommendation import Choice, one_standard_error, pareto_front
from aiq.stats.significance import LEVEL, holm_corrected

SPEND_WORDS: Final[Mapping[SpendName, str]] = {
    "cost_usd": "cost",
    "tokens": "tokens",
    "calls": "model calls",
    "seconds": "seconds",
}

Places = tuple[int, int, str]
"""Two points and a metric: the second point minus the first."""


def with_results(point: Point, run: RunFolder) -> Point:
    """The point with the numbers of its run; unchanged if it has none."""
    if not run.summary_path.is_file():
        return point
    summary, state = run.read_summary(), read_state(run)
    spend = {name: _mean_spend(list(state.spend_by_sample(name).values())) for name in get_args(SpendName)}
    return point.model_copy(
        update={
            "n_samples": summary.n_samples,
            "failed": summary.n_errors,
            "unjudged": sum(errors.n for errors in summary.judge_errors.values())
            + sum(caveat.n for caveat in summary.judge_caveats.values() if caveat.retry),
            "metrics": summary.metrics,
            "spend": {name: estimate for name, estimate in spend.items() if estimate},
        }
    )


def _mean_spend(values: Sequence[float]) -> Estimate | None:
    """The mean spend; no interval if it never varied, because spend is not a count of rare events."""
    return mean_estimate([[value] for value in values], 0 if len(set(values)) > 1 else None)


def expected_resolution(sweep: Sweep, judges: Sequence[JudgeSpec]) -> dict[str, float | None]:
    """What the samples should resolve, before anything has run, for the leading metrics with two bounds.

    Assumes that a sample's scores are right or wrong with equal probability, the most that they can vary, and have a
    correlation of 0.5 between points.
    """
    metrics = [judge.metrics[0] for judge in judges if judge.metrics]
    level = LEVEL / max(1, _family(len(sweep.points), len(neighbours(sweep, sweep.points)), len(metrics)))
    spans = {metric.name: metric.span for metric in metrics if metric.span is not None}
    return {name: detectable_effect(span / 2, sweep.samples, level, span) for name, span in spans.items()}


def neighbours(sweep: Sweep, points: Sequence[Point]) -> list[tuple[Point, Point]]:
    """Pairs of points that are next to each other on one axis and equal on all others, axis by axis."""
    pairs: list[tuple[Point, Point]] = []
    for axis in sweep.axes:
        order = {value: place for place, value in enumerate(axis.values)}
        other_values = (tuple(value for name, value in point.axes.items() if name != axis.name) for point in points)
        for line in grouped(zip(other_values, points, strict=True)).values():
            pairs += pairwise(sorted(line, key=lambda point: order[point.axes[axis.name]]))
    return pairs


def evaluate(sweep: Sweep, folder: SweepFolder, metric: str | None = None, spend: SpendName | None = None) -> Sweep:
    """The sweep with the results of its finished points. `metric`, `spend`: instead of the sweep's own.

    Raises UserError if one of these is unknown for some points; if the sweep's own is, there is no recommendation.
    """
    points = [point for point in sweep.points if point.status == "finished" and point.metrics]
    if not points:
        return sweep.model_copy(update={**_BLANK, "undecided": "no point is finished"})
    try:
        return _Evaluation(sweep, folder, points, metric, spend).result()
    except UserError as error:
        if metric or spend:
            raise
        return sweep.model_copy(update={**_BLANK, "undecided": str(error)})


_BLANK: Final = {"differences": (), "main_effects": (), "front": (), "recommendation": None}


def _family(points: int, neighbours: int, metrics: int) -> int:
    """The number of tests. The best point is chosen after looking at all, so each pair of points counts as compared."""
    return points * (points - 1) // 2 + neighbours * (metrics - 1)


class _Evaluation:
    def __init__(
        self, sweep: Sweep, folder: SweepFolder, points: Sequence[Point], metric: str | None, spend: SpendName | None
    ) -> None:
        self._sweep, self._points = sweep, points
        self._states = {point.number: read_state(folder.point(point.number)) for point in points}
        manifests = [folder.point(point.number).read_manifest() for point in points]
        self._same_questions = len({manifest.dataset.fingerprint for manifest in manifests}) == 1
        declared = {name: m for state in self._states.values() for name, m in state.spec.metrics.items()}
        self._metrics: dict[str, Metric] = {
            name: m for name, m in declared.items() if all(name in point.metrics for point in points)
        }
        wanted = metric or sweep.metric
        if wanted is not None and wanted not in self._metrics:
            raise UserError(f"not all points have the metric {wanted}; they have {', '.join(self._metrics) or 'none'}")
        judges = next(iter(self._states.values())).spec.judges
        firsts = [next((m.name for m in judge.metrics if m.name in self._metrics), None) for judge in judges]
        self._leading = [name for name in firsts if name is not None]
        self._metric = wanted or next(iter(self._leading), None)
        if wanted is not None and wanted not in self._leading:
            self._leading.insert(0, wanted)
        spends = [name for name in get_args(SpendName) if all(name in point.spend for point in points)]
        if (wanted_spend := spend or sweep.spend) is not None:
            self._check_spend(wanted_spend, spends)
        self._spend = wanted_spend or pick_spend(points)
        self._scores = {
            name: {number: state.by_sample(name) for number, state in self._states.items()} for name in self._metrics
        }

    def _check_spend(self, spend: SpendName, spends: Sequence[SpendName]) -> None:
        """Raises UserError if the spend is unknown for some points, or 0 at all of them."""
        nonzero = [name for name in spends if any(point.spend[name].mean for point in self._points)]
        if spend not in nonzero:
            why = "is not known for all points"
            if spend in spends:
                why = "is 0 at every point" + (": no prices are known (llm.prices)" if spend == "cost_usd" else "")
            raise UserError(f"{spend} {why}; take one of: {', '.join(nonzero) or 'none is known'}")

    def _common_samples(self, metric: str) -> list[str]:
        """The samples that all points have scored."""
        return sorted(set.intersection(*(set(scores) for scores in self._scores[metric].values())))

    def result(self) -> Sweep:
        recommendation = self._recommendation()
        differences, resolution = self._differences()
        return self._sweep.model_copy(
            update={
                "metric": self._metric,
                "spend": self._spend,
                "higher_is_better": {name: metric.higher_is_better for name, metric in self._metrics.items()},
                "differences": tuple(differences),
                "main_effects": tuple(self._main_effects()) if len(self._sweep.axes) > 1 else (),
                "front": self._front(),
                "resolves": resolution or self._sweep.resolves,
                "recommendation": None if isinstance(recommendation, str) else recommendation,
                "undecided": recommendation if isinstance(recommendation, str) else None,
            }
        )

    def _differences(self) -> tuple[list[PointDifference], dict[str, float | None]]:
        """The differences to show, corrected together, and by metric what this number of samples resolves."""
        if not self._same_questions:
            return [], {}
        pairs = neighbours(self._sweep, self._points)
        comparisons = [(a.number, b.number, "neighbour", name) for name in self._leading for a, b in pairs]
        if self._metric is not None and (best := self._best(self._metric)) is not None:
            comparisons += [(best, p.number, "best", self._metric) for p in self._points if p.number != best]
        diffs = {
            (first, second, name): change
            for first, second, _, name in comparisons
            if (change := difference(self._metrics[name], self._scores[name][first], self._scores[name][second]))
        }
        p_values, family = self._corrected_p(diffs)
        differences = [
            PointDifference(point=second, against=first, kind=kind, metric=name, difference=diffs[key], p=p_values[key])
            for first, second, kind, name in comparisons
            if (key := (first, second, name)) in diffs
        ]
        return differences, dict(self._resolution(differences, LEVEL / max(1, family)))

    def _best(self, name: str) -> int | None:
        """The best point, over the samples that all points have scored."""
        metric, common = self._metrics[name], self._common_samples(name)
        estimates = {n: estimate(metric, [scores[s] for s in common]) for n, scores in self._scores[name].items()}
        means = {number: e.mean if metric.higher_is_better else -e.mean for number, e in estimates.items() if e}
        return max(means, key=lambda number: means[number], default=None)

    def _corrected_p(self, diffs: Mapping[Places, Difference]) -> tuple[dict[Places, float | None], int]:
        """p-values by Holm's method. Two points and a metric are one test in either order; pairs not shown count too.

        So do those of points that were stopped after a look, and of points still to come; not those of points that are
        the same as another, which share its tests.
        """
        tests: dict[object, float | None] = {
            (frozenset((first, second)), name): change.p for (first, second, name), change in diffs.items()
        }
        examined = [point for point in self._sweep.points if point.same_as is None and point.status != "failed"]
        total = _family(len(examined), len(neighbours(self._sweep, examined)), len(self._leading))
        family = total - sum(p is None for p in tests.values())
        unseen = dict.fromkeys(range(family - sum(p is not None for p in tests.values())), 1.0)
        p_values = holm_corrected({**tests, **unseen})
        return {
            (first, second, name): p_values[frozenset((first, second)), name] for first, second, name in diffs
        }, family

    def _resolution(self, differences: Sequence[PointDifference], level: float) -> Iterator[tuple[str, float | None]]:
        """By how samples changed between points; with one point by how they vary, assuming a correlation of 0.5.

        Nothing for metrics in which nothing varied.
        """
        for name in self._leading:
            metric, changes = self._metrics[name], [d.difference for d in differences if d.metric == name]
            points = [list(by_sample(scores).values()) for scores in self._scores[name].values()]
            spreads = [change.spread for change in changes if change.spread is not None]
            if spreads:
                n, spread = min(change.n for change in changes), fmean(x**2 for x in spreads) ** 0.5
            else:
                n, spread = len(points[0]), stdev(points[0]) if len(points[0]) > 1 else 0.0
            if spread:
                binary = metric.estimator == "mean" and {metric.low, metric.high} >= {*chain.from_iterable(points)}
                smallest = detectable_effect(spread, n, level, metric.span if binary else None)
                yield name, None if (smallest or 0) > (metric.span or math.inf) else smallest

    def _main_effects(self) -> Iterator[MainEffect]:
        """Only for a complete grid: with points missing, an axis's means would also depend on other axes' values."""
        runs = {p.number: p.number if p.same_as is None else p.same_as for p in self._sweep.points}
        complete = math.prod(len(axis.values) for axis in self._sweep.axes) == len(runs)
        if not complete or not self._states.keys() >= set(runs.values()):
            return
        for name in self._leading:
            common = self._common_samples(name)
            for axis in self._sweep.axes:
                for value in axis.values:
                    numbers = [runs[p.number] for p in self._sweep.points if p.axes[axis.name] == value]
                    scores = self._scores[name]
                    clusters = {sample: [pair for n in numbers for pair in scores[n][sample]] for sample in common}
                    if numbers and (effect := estimate(self._metrics[name], clusters.values())) is not None:
                        yield MainEffect(axis=axis.name, value=value, metric=name, estimate=effect)

    def _front(self) -> tuple[int, ...]:
        if self._metric is None or self._spend is None:
            return ()
        sign = 1 if self._metrics[self._metric].higher_is_better else -1
        merits = [sign * point.metrics[self._metric].mean for point in self._points]
        front = pareto_front(merits, [point.spend[self._spend].mean for point in self._points])
        return tuple(self._points[index].number for index in front)

    def _recommendation(self) -> Recommendation | str:
        """The recommendation, or why there is none."""
        if self._metric is None:
            return "the points have no metric in common"
        if self._spend is None:
            return "neither dollars, tokens nor calls are known for all points and above 0; --spend seconds uses time"
        if unfinished := self._sweep.unfinished:
            return f"{unfinished} of {plural(len(self._sweep.points), 'point')} are not finished"
        if len(self._points) < 2:
            return "only one point has numbers"
        if not self._same_questions:
            return "the points have different datasets, so they cannot be paired by sample"
        if len(self._common_samples(self._metric)) < 2:
            return f"all points have scored fewer than two samples by {self._metric}"
        return self._recommend(self._metric, self._spend)

    def _recommend(self, name: str, spend: SpendName) -> Recommendation:
        import numpy as np

        metric, common = self._metrics[name], self._common_samples(name)
        table = [[self._scores[name][point.number][sample] for point in self._points] for sample in common]
        over, under = (np.array([[_part(pairs, metric, k) for pairs in row] for row in table]) for k in (0, 1))
        by_point = [self._states[point.number].spend_by_sample(spend) for point in self._points]
        spends = np.array([[amounts[sample] for amounts in by_point] for sample in common])
        choice = one_standard_error(over, under, spends, higher_is_better=metric.higher_is_better)
        point, best = self._points[choice.place], self._points[choice.best]
        share = choice.shares.get(choice.place, 0.0)
        reason = self._reason(point, best, name, spend, choice)
        return Recommendation(
            point=point.number,
            best=best.number,
            metric=name,
            spend=spend,
            threshold=choice.threshold,
            n=len(common),
            chosen={self._points[index].number: share for index, share in choice.shares.items()},
            reason=f"{reason}; {100 * share:.0f} % of bootstrap resamples choose it",
        )

    def _reason(self, point: Point, best: Point, name: str, spend: SpendName, choice: Choice) -> str:
        mean, top = choice.means[choice.place], choice.means[choice.best]
        if point == best:
            return f"it has the best {name}, {top:.3f}, and no cheaper point is within one standard error of it"
        share, error = choice.spends[choice.place] / choice.spends[choice.best], abs(top - choice.threshold)
        return (
            f"its {name} of {mean:.3f} is within one standard error ({error:.3f}) of the best, {top:.3f} "
            f"({self._sweep.label(best)}), at {100 * share:.0f} % of its {SPEND_WORDS[spend]}, and no cheaper point is"
        )


def _part(pairs: Pairs, metric: Metric, index: int) -> float:
    """Of a sample's epochs, the sum of a ratio's numerators (place 0) or denominators (1); of a mean, the mean or 1."""
    if metric.estimator == "ratio":
        return sum(pair[index] for pair in pairs)
    return fmean(value for value, _ in pairs) if index == 0 else 1.0
