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
from aiq.datasets.perturbed import UNDAMAGED, Damaged
from aiq.runs.folder import RunFolder
from aiq.runs.reader import read_samples, read_scores
from aiq.runs.rows import SampleRow, ScoreRow
from aiq.stats.estimates import mean_of
from aiq.stats.noise import NOISE

CONTROLS: Final = ("padding", "instructions", "remarks", "order")
"""Damages after which a report is as good as before: no better for words that say nothing, or for asking."""

_CONTENT: Final = ("sections", "facts", "roles", "numbers", "nonsense")
_CITED: Final = ("facts", "roles", "numbers", "nonsense", "shuffled")
_MEANT: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("race", _CONTENT),
    ("world.", _CONTENT),
    ("fresheval.", ("facts", "roles", "numbers")),
    ("fact.citation_accuracy", _CITED),
    ("fact.effective_citations", (*_CITED, "fabricated", "sections")),
    ("fact.total_valid_citations", (*_CITED, "fabricated", "sections")),
    ("fact.", ("fabricated", "sections")),
    ("citations.", ("fabricated",)),
)

BY_CHANCE: Final = 0.05
"""A difference counts as more than noise where noise alone brings one as large in no more than so many cases."""

_ASKED_ONCE_A_RUN: Final = "fact."
"""Metrics of a judge that puts the same question to its model once a run, whatever the number of epochs."""

FEWER_IS_BETTER: Final = ("citations.removed",)
"""Metrics whose sign is turned before anything is worked out."""


def meant_to_see(metric: str, damages: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the damages that this metric should answer to: all but the controls for one not known here."""
    known = next((found for prefix, found in _MEANT if metric.startswith(prefix)), None)
    return tuple(name for name in damages if (name in known if known is not None else name not in CONTROLS))


def asked_once_a_run(metric: str) -> bool:
    """Whether a run holds one judgement of a report only: epochs repeat it without asking."""
    return metric.startswith(_ASKED_ONCE_A_RUN)


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

    Copies of one judgement are no repetitions: see `asked_once_a_run`.
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
    `position_bias`: what standing first adds, where the judge scores by comparison.
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

    metric: str
    judge: str
    judge_hash: str
    judge_model: str | None
    scores: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    gaps: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    @property
    def name(self) -> str:
        """As tables show it."""
        return f"{self.metric} ({self.judge_model or 'no model'}, {self.judge_hash[:6]})"

    def mean(self, sample: str) -> float | None:
        values = self.scores.get(sample)
        return sum(values) / len(values) if values else None


@dataclass(frozen=True, slots=True)
class Reports:
    """The reports of some runs. `damaged`: how, by sample id, in the order of the runs; `lengths` in characters."""

    damaged: Mapping[str, Damaged]
    lengths: Mapping[str, int]
    groups: Mapping[str, str]
    rated: tuple[Rated, ...]

    def of(self, damage: str) -> dict[str, list[str]]:
        """Samples of a damage by task, by degree upwards."""
        found: dict[str, list[str]] = {}
        for sample, how in sorted(self.damaged.items(), key=lambda item: item[1].degree):
            if how.damage == damage:
                found.setdefault(how.base, []).append(sample)
        return found

    @property
    def damages(self) -> tuple[str, ...]:
        """Every damage there is, in the order of the runs."""
        return tuple(dict.fromkeys(how.damage for how in self.damaged.values() if how.damage != UNDAMAGED))

    def twin(self, sample: str) -> str:
        """The undamaged report of the same task."""
        return Damaged(self.damaged[sample].base, UNDAMAGED, 0).id


def read_reports(folders: Sequence[RunFolder]) -> Reports:
    """The scored reports of runs over the same dataset; repetitions of a judge are taken together.

    Raises UserError for a folder that is no run, or runs with nothing scored.
    """
    damaged: dict[str, Damaged] = {}
    lengths: dict[str, int] = {}
    groups: dict[str, str] = {}
    rated: dict[tuple[str, str], Rated] = {}
    for folder in folders:
        folder.read_manifest()
        samples = read_samples(folder, SampleRow.light)
        for row in samples.values():
            if row.report is not None:
                lengths[row.sample_id] = len(row.report)
            groups[row.sample_id] = row.tags.get("base", row.sample_id)
            if (how := _damage(row)) is not None:
                damaged[row.sample_id] = how
        scores = read_scores(folder, samples, _plain)
        judged = [score for key in sorted(scores) for score in scores[key]]
        for score, values in _judgements(judged):
            key = (score.metric, score.judge_hash)
            one = rated.setdefault(key, Rated(score.metric, score.judge, score.judge_hash, score.judge_model))
            one.scores[score.sample_id] += values
        for score in judged:
            if score.value is not None:
                rated[score.metric, score.judge_hash].gaps[score.sample_id] += _gap(score)
    if not rated:
        raise UserError(f"{', '.join(str(folder.path) for folder in folders)}: nothing was scored there")
    return Reports(damaged, lengths, groups, tuple(rated.values()))


def _judgements(scores: Sequence[ScoreRow]) -> Iterator[tuple[ScoreRow, list[float]]]:
    """A run's scores of each report and metric; one alone, their mean, where the judge was asked once."""
    found: dict[tuple[str, str, str], tuple[ScoreRow, list[float]]] = {}
    for score in scores:
        if score.value is not None:
            key = (score.sample_id, score.metric, score.judge_hash)
            found.setdefault(key, (score, []))[1].append(score.value)
    for score, values in found.values():
        yield score, [mean_of(values)] if asked_once_a_run(score.metric) else values


def _damage(row: SampleRow) -> Damaged | None:
    how = Damaged.of(row.sample_id)
    return how if how is not None and how.tags.items() <= dict(row.tags).items() else None


def _plain(score: ScoreRow) -> ScoreRow:
    value = score.value if score.status == "scored" else None
    if score.status == "scored" and score.numerator is not None and score.denominator:
        value = score.numerator / score.denominator
    if value is not None and score.metric in FEWER_IS_BETTER:
        value = -value
    noise = {key: item for key, item in score.detail.items() if key == NOISE}
    return score.model_copy(update={"value": value, "detail": noise})


def _gap(score: ScoreRow) -> list[float]:
    """The judge's gap between the two orders, where it judged in both."""
    noise = score.detail.get(NOISE)
    gap = noise.get("order_gap") if isinstance(noise, Mapping) else None
    return [float(gap)] if isinstance(gap, int | float) else []
