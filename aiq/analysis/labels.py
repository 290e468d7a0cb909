"""The means of a run, corrected by a few human labels: of its own samples, or of those of other runs."""

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from aiq.analysis.calibration_inputs import Label, read_labels
from aiq.core.base import Record, grouped
from aiq.core.errors import UserError
from aiq.core.reports import Metric
from aiq.core.text import plural
from aiq.runs.folder import RunFolder
from aiq.runs.reader import read_state
from aiq.runs.state import RunState
from aiq.stats.intervals import Interval
from aiq.stats.labels import Bounded, Corrected, Labelled, labels_alone, ppi_estimate, rates, rogan_gladen, with_failed

MeanAndInterval = tuple[float, Interval | None]

MIN_LABELS = 2
"""The least number of labels of a metric from which their variation can be estimated."""


class Corrections(Record):
    """The corrected means of a run. `left_out`: why labelled metrics have none. `unmatched`: labels without a score."""

    schema_version: int = 1
    run_id: str
    labelled_in: tuple[str, ...]
    metrics: tuple[Corrected, ...]
    left_out: Mapping[str, str]
    unmatched: int


class Judged(NamedTuple):
    """A metric's scores by sample, over its epochs, and the samples whose epochs all failed before a judge saw them."""

    scores: Mapping[str, float]
    failed: int


def correct(folder: RunFolder, labels: Path, others: Sequence[RunFolder] = ()) -> Corrections:
    """Correct a run by labels of its samples, or of those of `others` that the same judges scored.

    Raises UserError if no label is for a scored sample, or one is outside its metric's range.
    """
    state, all_labels = read_state(folder), read_labels(labels)
    sources = [read_state(other) for other in others] or [state]
    corrections: list[Corrected] = []
    left_out: dict[str, str] = {}
    matched: set[Label] = set()
    for judge in state.spec.judges:
        for metric in judge.metrics:
            metric_labels = [label for label in all_labels if label.metric in ("", metric.name, judge.name)]
            pairs: list[tuple[float, float]] = []
            labelled: set[str] = set()
            for source in sources:
                if judge.hash not in [j.hash for j in source.spec.judges]:
                    left_out[metric.name] = "its judge, prompt or model differs in the labelled run"
                    continue
                scores = _judged(source, metric).scores
                usable = [label for label in metric_labels if label.sample in scores]
                matched |= set(usable)
                values = _values(usable, metric)
                labelled |= values.keys()
                pairs += [(value, scores[sample]) for sample, value in values.items()]
            if pairs:
                run = _judged(state, metric)
                result = _by_other_runs(metric, pairs, run) if others else _by_own_labels(metric, pairs, run, labelled)
                if isinstance(result, str):
                    left_out[metric.name] = result
                else:
                    corrections.append(result)
    if not matched and not left_out:
        names = ", ".join(state.spec.metrics) or "the run has none"
        raise UserError(
            f"none of {plural(len(all_labels), 'label')} is for a judged sample; check sample_id, metric ({names})"
        )
    return Corrections(
        run_id=folder.read_manifest().run_id,
        labelled_in=tuple(other.read_manifest().run_id for other in others),
        metrics=tuple(corrections),
        left_out=left_out,
        unmatched=len(set(all_labels) - matched),
    )


def _judged(state: RunState, metric: Metric) -> Judged:
    scored = {
        key.sample_id for key in state.attempts if (score := state.score(key, metric.name)) and score.status == "scored"
    }
    samples = state.by_sample(metric.name)
    means = {sample: fmean(value for value, _ in epochs) for sample, epochs in samples.items() if sample in scored}
    return Judged(means, len(samples.keys() - scored))


def _values(labels: Sequence[Label], metric: Metric) -> dict[str, float]:
    """The mean label of each sample. Raises UserError for a value that the metric cannot have."""
    for label in labels:
        if not metric.allows(label.value):
            raise UserError(
                f"label {label.value:g} of sample {label.sample} is outside {metric.name} ({metric.range_text}); "
                "name its metric or judge in the column `metric`"
            )
    by_sample = grouped((label.sample, label.value) for label in labels)
    return {sample: fmean(values) for sample, values in by_sample.items()}


def _by_own_labels(metric: Metric, pairs: Labelled, judged: Judged, labelled: set[str]) -> Corrected | str:
    if metric.estimator == "ratio":
        return "a ratio over many items per report; labels are for reports"
    if len(pairs) < MIN_LABELS:
        return f"{plural(len(pairs), 'label')}; {MIN_LABELS} are needed, and about 20 to add to the judge"
    bounds = Bounded(metric.low, metric.high)
    unlabelled = [score for sample, score in judged.scores.items() if sample not in labelled]
    mean, interval, weight = ppi_estimate(pairs, unlabelled, bounds)
    alone = _with_failed_samples(*labels_alone(pairs, bounds), metric, judged)
    return _corrected(metric, pairs, judged, (mean, interval), alone, method="ppi++", weight=weight)


def _by_other_runs(metric: Metric, pairs: Labelled, judged: Judged) -> Corrected | str:
    scores = list(judged.scores.values())
    if {*scores, *chain.from_iterable(pairs)} - {0.0, 1.0}:
        return "labels of other runs can only correct scores of 0 or 1 (and one epoch)"
    judge_rates = rates(pairs)
    if judge_rates is None:
        return "the labels must have both right and wrong samples"
    estimate = rogan_gladen(scores, judge_rates) if scores else None
    if estimate is None:
        return "by these labels the judge is no better than chance"
    extras = {"sensitivity": judge_rates.sensitivity, "specificity": judge_rates.specificity}
    return _corrected(metric, pairs, judged, estimate, labels_alone(pairs), method="lee", **extras)


def _corrected(
    metric: Metric, pairs: Labelled, judged: Judged, estimate: MeanAndInterval, alone: MeanAndInterval, **extras: Any
) -> Corrected:
    """The result for the judged samples, beside what the judge alone and the labels alone say."""
    mean, interval = _with_failed_samples(*estimate, metric, judged)
    return Corrected(
        metric=metric.name,
        mean=mean,
        ci95=interval,
        n=len(judged.scores) + judged.failed,
        labels=len(pairs),
        failed=judged.failed,
        judge=_with_failed_samples(fmean(judged.scores.values()), None, metric, judged)[0],
        labels_alone=alone[0],
        labels_ci95=alone[1],
        **extras,
    )


def _with_failed_samples(mean: float, interval: Interval | None, metric: Metric, judged: Judged) -> MeanAndInterval:
    """Mean and interval over all samples, failed ones included."""
    n = len(judged.scores) + judged.failed
    bounds = Bounded(metric.low, metric.high)
    return with_failed(mean, interval, len(judged.scores) / n, n, metric.worst or 0.0, bounds)
