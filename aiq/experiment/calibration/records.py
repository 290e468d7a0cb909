"""The figures of a calibration, as `reliability.json` has them."""

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import Field

from aiq.core.base import Record

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
