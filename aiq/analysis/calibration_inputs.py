"""The figures of a calibration, as `reliability.json` has them.

Reads run folders: the scores of each report by judge and metric, and how each report was damaged.

A metric against a user's own labels: rows of `sample_id`, `label`, and `metric` or `judge`.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from pydantic import Field

from aiq.core.base import Record
from aiq.core.errors import UserError
from aiq.core.reports import Metric
from aiq.core.settings import Plugin
from aiq.datasets.perturbed import UNPERTURBED, Perturbed
from aiq.judges.base import make_judge
from aiq.runs.folder import RunFolder
from aiq.runs.manifest import Manifest
from aiq.runs.reader import read_samples, read_scores
from aiq.runs.rows import SampleRow, ScoreRow
from aiq.stats.estimates import mean_of
from aiq.stats.noise import NOISE

CONTROLS: Final = ("padding", "instructions", "remarks", "order")
"""Damages after which a report is as good as before: no better for words that say nothing, or for asking."""

BY_CHANCE: Final = 0.05
"""A difference counts as more than noise where noise alone brings one as large in no more than so many cases."""


def meant_to_see(metric: Metric, damages: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the damages that this metric claims to notice: all but the controls where it names none."""
    return tuple(
        name for name in damages if (name not in CONTROLS if metric.notices is None else name in metric.notices)
    )


def declared_metrics(manifest: Manifest) -> dict[str, Metric]:
    """The metrics of a run's judges, as they declare them, by name."""
    if manifest.judges:
        return {metric.name: metric for judge in manifest.judges for metric in judge.metrics}
    configured = manifest.config.get("judge")  # manifests of version 1 name the judges only
    judges = configured.items() if isinstance(configured, Mapping) else ()
    made = [make_judge(name, Plugin.model_validate(values))[0] for name, values in judges]
    return {metric.name: metric for judge in made for metric in judge.metrics}


class Figure(Record):
    """A number with its 95 % bootstrap interval over tasks; `n` counts what it was taken over."""

    value: float
    ci95: tuple[float, float] | None
    n: int


class Seen(Record):
    """One damage. `meant`: whether the metric should see it, and it counts in the reliability.

    `spearman`, `kendall`: of score and planted quality over the degrees within a task, mean over
    tasks; a task whose scores are all equal counts 0. `recall`: share of damaged reports scored
    below their twin by more than the judge's noise; `precision`: that share against the share of
    control reports below their twin, at equal numbers of both; `None` where nothing is flagged. `drop`: mean
    of twin - damaged.
    """

    meant: bool
    spearman: Figure | None
    kendall: Figure | None
    recall: Figure | None
    precision: float | None
    drop: Figure | None


class Steadiness(Record):
    """Repeated judgements of one report. `sd`: pooled within reports; `equal`: share of equal pairs of scores.

    Copies of one judgement are no repetitions: see `Metric.once_per_run`.
    """

    sd: float
    equal: float
    reports: int


class MetricReliability(Record):
    """How far to trust one metric of one judge (`judge_hash`).

    `reliability`: mean Spearman correlation with planted quality over the damages that the metric is
    meant to see, then over tasks; 0 where it is negative. 1: it always ranks by quality; 0: as by
    chance, or not at all. `correlation` is the same before 0 cuts it. `false_alarms`: share of the
    control `order` found worse. `obeys_instructions`: share of reports with instructions to the judge that
    score above the same report with as many `remarks` by more than the noise, which 1 in 20 does by
    chance. `length_rise`: what padding adds to the score; `length_correlation`: Spearman's of score and
    length among reports of equal quality, within tasks.
    `position_bias`: what standing first adds, where the judge scores by comparison. `once_per_run`: epochs of a
    run copy one judgement, so that `noise` shows between runs only.
    """

    metric: str
    judge: str
    judge_hash: str
    judge_model: str | None
    reports: int
    tasks: int
    correlation: Figure | None
    reliability: Figure | None
    noise: Steadiness | None
    false_alarms: Figure | None
    obeys_instructions: Figure | None
    length_rise: Figure | None
    length_correlation: Figure | None
    position_bias: Figure | None
    damages: Mapping[str, Seen]
    once_per_run: bool = False


class Agreement(Record):
    """Two judges. `equal`, `kappa`: share and kappa of equal verdicts on whether a report is worse than its twin.

    `spearman` and `alpha` (Krippendorff's, interval) are over the scores of the same reports, and only
    given where both yield the same metric.
    """

    first: str
    second: str
    reports: int
    equal: float | None
    kappa: Figure | None
    spearman: Figure | None
    alpha: Figure | None


class LabelAgreement(Record):
    """A metric against a user's labels. `accuracy` and `kappa` only where both are 0 or 1."""

    metric: str
    judge_model: str | None
    labels: int
    accuracy: Figure | None
    kappa: Figure | None
    spearman: Figure | None
    kendall: Figure | None


class Calibration(Record):
    """`reliability.json`. `offline`: the model was the embedded one. `alpha`: of all judges' verdicts, nominal."""

    schema_version: Literal[1] = 1
    runs: tuple[str, ...]
    offline: bool
    metrics: tuple[MetricReliability, ...] = ()
    agreement: tuple[Agreement, ...] = ()
    alpha: Figure | None = None
    labels: tuple[LabelAgreement, ...] = ()
    unmatched_labels: int = Field(default=0, ge=0)


@dataclass(slots=True)
class Rated:
    """All that one metric of one judge says: its scores by sample, one a repetition, a greater one the better.

    `gaps`: by sample, how much higher the report scored as the first article than as the second one.
    """

    metric: Metric
    judge: str
    judge_hash: str
    judge_model: str | None
    scores: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    gaps: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    @property
    def name(self) -> str:
        """As tables show it."""
        return f"{self.metric.name} ({self.judge_model or 'no model'}, {self.judge_hash[:6]})"

    def mean(self, sample: str) -> float | None:
        values = self.scores.get(sample)
        return sum(values) / len(values) if values else None


@dataclass(frozen=True, slots=True)
class Reports:
    """The reports of some runs. `damaged`: how, by sample id, in the order of the runs; `lengths` in characters.

    `metrics`: those that the judges declare, in their order.
    """

    damaged: Mapping[str, Perturbed]
    lengths: Mapping[str, int]
    groups: Mapping[str, str]
    rated: tuple[Rated, ...]
    metrics: tuple[str, ...]

    def of(self, damage: str) -> dict[str, list[str]]:
        """Samples of a damage by task, by degree upwards."""
        found: dict[str, list[str]] = {}
        for sample, how in sorted(self.damaged.items(), key=lambda item: item[1].severity):
            if how.perturbation == damage:
                found.setdefault(how.base, []).append(sample)
        return found

    @property
    def damages(self) -> tuple[str, ...]:
        """Every damage there is, in the order of the runs."""
        names = dict.fromkeys(how.perturbation for how in self.damaged.values())
        return tuple(name for name in names if name != UNPERTURBED)

    def twin(self, sample: str) -> str:
        """The undamaged report of the same task."""
        return Perturbed(self.damaged[sample].base, UNPERTURBED, 0).id


def read_reports(folders: Sequence[RunFolder]) -> Reports:
    """The scored reports of runs over the same dataset; repetitions of a judge are taken together.

    Raises UserError for a folder that is no run, or runs with nothing scored.
    """
    damaged: dict[str, Perturbed] = {}
    lengths: dict[str, int] = {}
    groups: dict[str, str] = {}
    rated: dict[tuple[str, str], Rated] = {}
    declared: dict[str, Metric] = {}
    for folder in folders:
        declared |= declared_metrics(folder.read_manifest())
        samples = read_samples(folder, SampleRow.light)
        for row in samples.values():
            if row.report is not None:
                lengths[row.sample_id] = len(row.report)
            groups[row.sample_id] = row.tags.get("base", row.sample_id)
            if (how := _damage(row)) is not None:
                damaged[row.sample_id] = how
        scores = read_scores(folder, samples)
        every = (score for key in sorted(scores) for score in scores[key])
        judged = [_plain(score, declared[score.metric]) for score in every if score.metric in declared]
        for score, values in _judgements(judged, declared):
            key = (score.metric, score.judge_hash)
            one = rated.setdefault(key, Rated(declared[score.metric], score.judge, score.judge_hash, score.judge_model))
            one.scores[score.sample_id] += values
        for score in judged:
            if score.value is not None:
                rated[score.metric, score.judge_hash].gaps[score.sample_id] += _gap(score)
    if not rated:
        raise UserError(f"{', '.join(str(folder.path) for folder in folders)}: nothing was scored there")
    return Reports(damaged, lengths, groups, tuple(rated.values()), tuple(declared))


def _judgements(scores: Sequence[ScoreRow], declared: Mapping[str, Metric]) -> Iterator[tuple[ScoreRow, list[float]]]:
    """A run's scores of each report and metric; one alone, their mean, where the judge was asked once."""
    found: dict[tuple[str, str, str], tuple[ScoreRow, list[float]]] = {}
    for score in scores:
        if score.value is not None:
            key = (score.sample_id, score.metric, score.judge_hash)
            found.setdefault(key, (score, []))[1].append(score.value)
    for score, values in found.values():
        yield score, [mean_of(values)] if declared[score.metric].once_per_run else values


def _damage(row: SampleRow) -> Perturbed | None:
    how = Perturbed.of(row.sample_id)
    return how if how is not None and row.tags.get("base") == how.base else None


def _plain(score: ScoreRow, metric: Metric) -> ScoreRow:
    value = score.value if score.status == "scored" else None
    if score.status == "scored" and score.numerator is not None and score.denominator:
        value = score.numerator / score.denominator
    if value is not None and not metric.higher_is_better:
        value = -value
    noise = {key: item for key, item in score.detail.items() if key == NOISE}
    return score.model_copy(update={"value": value, "detail": noise})


def _gap(score: ScoreRow) -> list[float]:
    """The judge's gap between the two orders, where it judged in both."""
    noise = score.detail.get(NOISE)
    gap = noise.get("order_gap") if isinstance(noise, Mapping) else None
    return [float(gap)] if isinstance(gap, int | float) else []
