"""The inputs of a calibration: the scores of each report by judge and metric, how it was perturbed, users' labels."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Final, NamedTuple, TypeVar

from aiq.core.base import grouped
from aiq.core.errors import DatasetError, UserError
from aiq.core.files import Files, read_rows
from aiq.core.reports import Metric
from aiq.datasets.perturbed import UNPERTURBED, Perturbed
from aiq.runs.folder import RunFolder
from aiq.runs.reader import read_samples, read_scores
from aiq.runs.rows import SampleRow, ScoreRow
from aiq.stats.noise import NOISE

T = TypeVar("T")

_WORDS: Final = {
    **dict.fromkeys(("true", "yes", "correct", "supported", "good", "是", "对", "正确", "支持"), 1.0),
    **dict.fromkeys(("false", "no", "incorrect", "unsupported", "bad", "否", "错", "错误", "不支持"), 0.0),
}


@dataclass
class MetricScores:
    """The scores of one metric of one judge: by sample, one per repetition, higher always better.

    `gaps`: by sample, how much higher the report scored as the first article than as the second.
    """

    metric: Metric
    judge: str
    judge_hash: str
    judge_model: str | None
    scores: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    gaps: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, rows: Iterable[ScoreRow]) -> None:
        """Add a run's scores; of a judge that is asked once per run, one for each report: the mean of its copies."""
        values: dict[str, list[float]] = defaultdict(list)
        for row in rows:
            if row.number is not None:
                values[row.sample_id].append(row.number if self.metric.higher_is_better else -row.number)
            noise = row.detail.get(NOISE)
            gap = noise.get("order_gap") if isinstance(noise, Mapping) else None
            if isinstance(gap, int | float):
                self.gaps[row.sample_id].append(float(gap))
        for sample, numbers in values.items():
            self.scores[sample] += [fmean(numbers)] if self.metric.once_per_run else numbers

    @property
    def name(self) -> str:
        """The name shown in tables."""
        return f"{self.metric.name} ({self.judge_model or 'no model'}, {self.judge_hash[:6]})"

    @cached_property
    def means(self) -> dict[str, float]:
        """The mean over repetitions, by sample."""
        return {sample: fmean(values) for sample, values in self.scores.items()}


@dataclass(frozen=True, slots=True)
class ReportSet:
    """The reports of some runs.

    `perturbed`: how each sample was perturbed, in the order of the runs. `tasks`: the task of each sample.
    `lengths`: in characters. `metrics`: those that the judges declare, in their order.
    """

    perturbed: Mapping[str, Perturbed]
    tasks: Mapping[str, str]
    lengths: Mapping[str, int]
    scored: tuple[MetricScores, ...]
    metrics: tuple[str, ...]

    @property
    def perturbations(self) -> tuple[str, ...]:
        """Every perturbation there is, in the order of the runs."""
        names = dict.fromkeys(variant.perturbation for variant in self.perturbed.values())
        return tuple(name for name in names if name != UNPERTURBED)

    def by_task(self, perturbation: str) -> dict[str, list[str]]:
        """Samples of a perturbation by task, in order of severity."""
        by_severity = sorted(self.perturbed.items(), key=lambda item: item[1].severity)
        return grouped((v.base, sample) for sample, v in by_severity if v.perturbation == perturbation)

    def clusters(self, values: Mapping[str, T]) -> list[list[T]]:
        """Values by sample, grouped by task."""
        return list(grouped((self.tasks[sample], value) for sample, value in values.items()).values())

    def original(self, sample: str) -> str:
        """The unperturbed report of the same task."""
        return Perturbed(self.perturbed[sample].base, UNPERTURBED, 0).id


def read_reports(folders: Sequence[RunFolder]) -> ReportSet:
    """The scored reports of runs over the same dataset; repetitions of a judge are combined.

    Raises UserError for a folder that is not a run, or runs with nothing scored.
    """
    perturbed: dict[str, Perturbed] = {}
    tasks: dict[str, str] = {}
    lengths: dict[str, int] = {}
    declared: dict[str, Metric] = {}
    scored: dict[tuple[str, str], MetricScores] = {}
    for folder in folders:
        declared |= {metric.name: metric for judge in folder.read_manifest().judges for metric in judge.metrics}
        samples = read_samples(folder, SampleRow.compact)
        for row in samples.values():
            tasks[row.sample_id] = row.tags.get("base", row.sample_id)
            variant = Perturbed.parse(row.sample_id)
            if variant is not None and row.tags.get("base") == variant.base:
                perturbed[row.sample_id] = variant
            if row.report is not None:
                lengths[row.sample_id] = len(row.report)
        rows = (score for _, scores in sorted(read_scores(folder, samples).items()) for score in scores)
        scored_rows = (score for score in rows if score.metric in declared and score.status == "scored")
        for key, group in grouped(((score.metric, score.judge_hash), score) for score in scored_rows).items():
            first = group[0]
            metric_scores = MetricScores(declared[first.metric], first.judge, first.judge_hash, first.judge_model)
            scored.setdefault(key, metric_scores).add(group)
    if not scored:
        names = ", ".join(str(folder.path) for folder in folders)
        raise UserError(f"{names}: nothing was scored there (a run of an older version: resume it first)")
    return ReportSet(perturbed, tasks, lengths, tuple(scored.values()), tuple(declared))


class Label(NamedTuple):
    """A user's label for a sample. `metric`: a metric's name, a judge's, or empty for all."""

    sample: str
    metric: str
    value: float


def read_labels(path: Path) -> list[Label]:
    """A user's labels: rows of `sample_id`, `label`, and `metric` or `judge`. Raises DatasetError naming the row."""
    labels = []
    for row in read_rows(Files(), path, "--labels", ("sample_id", "label")):
        text = row.required("label").lower()
        try:
            value = float(_WORDS.get(text, text))
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise DatasetError(f"{row.where}: label {text!r} is neither a number nor one of {', '.join(_WORDS)}")
        labels.append(Label(row.required("sample_id"), row.text("metric") or row.text("judge"), value))
    return labels
