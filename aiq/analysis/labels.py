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
    state, given = read_state(folder), read_labels(labels)
    sources = [read_state(other) for other in others] or [state]
    found: list[Corrected] = []
    left_out: dict[str, str] = {}
    matched: set[Label] = set()
    for judge in state.spec.judges:
        for metric in judge.metrics:
            mine = [label for label in given if label.metric in ("", metric.name, judge.name)]
            pairs: list[tuple[float, float]] = []
            labelled: set[str] = set()
            for source in sources:
                if judge.hash not in [one.hash for one in source.spec.judges]:
                    left_out[metric.name] = "its judge, prompt or model differs in the labelled run"
                    continue
                scores = _judged(source, metric).scores
                known = [label for label in mine if label.sample in scores]
                matched |= set(known)
                values = _values(known, metric)
                labelled |= values.keys()
                pairs += [(value, scores[sample]) for sample, value in values.items()]
            if pairs:
                here = _judged(state, metric)
                one = _by_other_runs(metric, pairs, here) if others else _by_own_labels(metric, pairs, here, labelled)
                if isinstance(one, str):
                    left_out[metric.name] = one
                else:
                    found.append(one)
    if not matched and not left_out:
        names = ", ".join(state.spec.metrics) or "the run has none"
        raise UserError(
            f"none of {plural(len(given), 'label')} is for a judged sample; check sample_id, metric ({names})"
        )
    return Corrections(
        run_id=folder.read_manifest().run_id,
        labelled_in=tuple(other.read_manifest().run_id for other in others),
        metrics=tuple(found),
        left_out=left_out,
        unmatched=len(set(given) - matched),
    )


def _judged(state: RunState, metric: Metric) -> Judged:
    scored = {
        key.sample_id for key in state.attempts if (one := state.score(key, metric.name)) and one.status == "scored"
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
    given = grouped((label.sample, label.value) for label in labels)
    return {sample: fmean(values) for sample, values in given.items()}


def _by_own_labels(metric: Metric, pairs: Labelled, judged: Judged, labelled: set[str]) -> Corrected | str:
    if metric.estimator == "ratio":
        return "a ratio over many items per report; labels are for reports"
    if len(pairs) < MIN_LABELS:
        return f"{plural(len(pairs), 'label')}; {MIN_LABELS} are needed, and about 20 to add to the judge"
    bounds = Bounded(metric.low, metric.high)
    others = [score for sample, score in judged.scores.items() if sample not in labelled]
    mean, interval, weight = ppi_estimate(pairs, others, bounds)
    alone = _with_failed_samples(*labels_alone(pairs, bounds), metric, judged)
    return _corrected(metric, pairs, judged, (mean, interval), alone, method="ppi++", weight=weight)


def _by_other_runs(metric: Metric, pairs: Labelled, judged: Judged) -> Corrected | str:
    scores = list(judged.scores.values())
    if {*scores, *chain.from_iterable(pairs)} - {0.0, 1.0}:
        return "labels of other runs can only correct scores of 0 or 1 (and one epoch)"
    known = rates(pairs)
    if known is None:
        return "the labels must have both right and wrong samples"
    found = rogan_gladen(scores, known) if scores else None
    if found is None:
        return "by these labels the judge is no better than chance"
    right = {"sensitivity": known.sensitivity, "specificity": known.specificity}
    return _corrected(metric, pairs, judged, found, labels_alone(pairs), method="lee", **right)


def _corrected(
    metric: Metric, pairs: Labelled, judged: Judged, found: MeanAndInterval, alone: MeanAndInterval, **more: Any
) -> Corrected:
    """The result for the judged samples, beside what the judge alone and the labels alone say."""
    mean, interval = _with_failed_samples(*found, metric, judged)
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
        **more,
    )


def _with_failed_samples(mean: float, interval: Interval | None, metric: Metric, judged: Judged) -> MeanAndInterval:
    """Mean and interval over all samples, failed ones included."""
    n = len(judged.scores) + judged.failed
    bounds = Bounded(metric.low, metric.high)
    return with_failed(mean, interval, len(judged.scores) / n, n, metric.worst or 0.0, bounds)
