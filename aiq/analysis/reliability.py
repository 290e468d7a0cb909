"""How far to trust judges: the figures of a calibration, their file, and what is known about the judges of a run."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, Literal

from pydantic import AliasChoices, ConfigDict, Field, ValidationError

from aiq.core.base import Record
from aiq.core.errors import UserError
from aiq.core.files import resolve
from aiq.core.plugins import describe
from aiq.runs.folder import RunFolder
from aiq.stats.estimates import Difference

FILE: Final = "reliability.json"
EXPERIMENT: Final = "judge_calibration"
NOT_MEASURED: Final = "not measured"

CHANGES_NOTHING: Final = "order"
"""The control whose text differs and whose quality is the same."""
INDEPENDENT: Final = "independent"
"""The name for undamaged reports by others on the same task."""
CONTROLS: Final = ("padding", "instructions", "remarks", CHANGES_NOTHING, INDEPENDENT)
"""Perturbations that leave a report as good as before: empty words, or asking for a good score, make it no better."""

BY_CHANCE: Final = 0.05
"""A difference counts as more than noise if noise alone produces one as large in no more than this share of cases."""


class Figure(Record):
    """A number with its 95 % interval over tasks; `n` counts the values it is based on."""

    value: float
    ci95: tuple[float, float] | None
    n: int

    def clamped(self) -> "Figure":
        """The figure cut at 0: below 0 a judge is as useless as at 0."""
        ci95 = self.ci95 and (max(0.0, self.ci95[0]), max(0.0, self.ci95[1]))
        return Figure(value=max(0.0, self.value), ci95=ci95, n=self.n)


class PerturbationFigures(Record):
    """What a metric makes of one perturbation.

    `meant`: whether the metric claims to notice it, so that it counts in the reliability. `spearman`: of score and
    planted quality over the severities within a task, mean over tasks; a task whose scores are all equal counts 0.
    `recall`: share of perturbed reports scored below the original by more than the judge's noise; `precision`: recall /
    (recall + the same share of the control `order`), None if nothing is flagged. `told`: how often a perturbed report
    scores below an undamaged one by others (its original, if there are none) on the same task, ties counted half, minus
    how often one with its paragraphs in another order does (one half, if there is none); paired by task.
    """

    model_config = ConfigDict(extra="ignore")  # older files have more figures

    meant: bool
    spearman: Figure | None
    recall: Figure | None
    precision: float | None
    told: Difference | None = None


class Claim(Record):
    """Whether a judge notices a perturbation that it claims to notice, by the metric that detects it best.

    `noticed`: told from undamaged reports, p corrected by Holm's method for all that the judge's metrics claim.
    `cannot tell`: not so, but the interval is above 0, or there are too few tasks for any test.
    Else it is a `blind spot`. `tasks`: how many would show it with a power of 0.8 if the effect is as measured.
    """

    verdict: Literal["noticed", "cannot tell", "blind spot"]
    metric: str
    told: Difference
    p: float | None
    tasks: int | None


class JudgeClaims(Record):
    """A judge's claims, by perturbation; `unclaimed`: perturbations that lower quality but that it does not look at."""

    judge: str
    judge_hash: str
    judge_model: str | None
    claims: Mapping[str, Claim]
    unclaimed: tuple[str, ...]


class Repeatability(Record):
    """Repeated judgements of one report. `sd`: pooled within reports; `equal`: share of equal pairs of scores.

    Copies of one judgement are not repetitions: see `Metric.once_per_run`.
    """

    sd: float
    equal: float
    reports: int


class MetricReliability(Record):
    """How far to trust one metric of one judge (`judge_hash`).

    `correlation`: mean Spearman correlation with planted quality over the perturbations that the metric claims to
    notice, then over tasks. 1: it always ranks by quality; 0: as by chance, or not at all. `reliability`: the same, cut
    at 0. `false_alarms`: share of the control `order` found worse; `independent`: of undamaged reports by others.
    `obeys_instructions`: share of reports with instructions to the judge that score above the same report with as many
    `remarks` by more than the noise, which 1 in 20 does by chance. `length_rise`: what padding adds to the score;
    `length_correlation`: Spearman's of score and length among reports of equal quality, within tasks. `position_bias`:
    what being first adds, if the judge scores by comparison. `once_per_run`: the epochs of a run copy one judgement, so
    `noise` shows only between runs.
    """

    metric: str
    judge: str
    judge_hash: str
    judge_model: str | None
    reports: int
    tasks: int
    correlation: Figure | None
    reliability: Figure | None
    noise: Repeatability | None
    false_alarms: Figure | None
    independent: Figure | None = None
    obeys_instructions: Figure | None
    length_rise: Figure | None
    length_correlation: Figure | None
    position_bias: Figure | None
    perturbations: Mapping[str, PerturbationFigures] = Field(
        validation_alias=AliasChoices("perturbations", "damages")  # the older name, in files that exist
    )
    once_per_run: bool = False


class JudgeAgreement(Record):
    """Two judges. `equal`, `kappa`: share and kappa of equal verdicts on whether a report is worse than its original.

    `spearman` and `alpha` (Krippendorff's, interval) are over the scores of the same reports, and only
    given if both yield the same metric.
    """

    first: str
    second: str
    reports: int
    equal: float | None
    kappa: Figure | None
    spearman: Figure | None
    alpha: Figure | None


class LabelAgreement(Record):
    """A metric against a user's labels. `accuracy` and `kappa` only if both are 0 or 1."""

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
    judges: tuple[JudgeClaims, ...] = ()
    agreement: tuple[JudgeAgreement, ...] = ()
    alpha: Figure | None = None
    labels: tuple[LabelAgreement, ...] = ()
    unmatched_labels: int = Field(default=0, ge=0)


def read_calibration(path: Path) -> Calibration:
    """Read a `reliability.json`. Raises UserError if it cannot be read or is another file."""
    try:
        return Calibration.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); write it with aiq calibrate RUN") from None
    except ValidationError as error:
        raise UserError(f"{path}: {describe(error)}; rewrite it with aiq calibrate RUN") from None


def read_reliabilities(results: Path, given: str | None = None) -> dict[tuple[str, str], MetricReliability]:
    """The latest figures by (judge hash, metric): from the file `given`, else the calibration runs in `results`."""
    paths = [resolve(given)] if given else sorted((results / EXPERIMENT).glob(f"*/{FILE}"))  # run ids sort by time
    return {(metric.judge_hash, metric.metric): metric for path in paths for metric in read_calibration(path).metrics}


def reliabilities(folder: RunFolder, metrics: Iterable[str]) -> tuple[Mapping[str, str], str | None]:
    """By metric, as tables show it: the latest calibration of exactly this judge (settings, prompts and model).

    Empty if none of the metrics was measured. The second member says why, if a file cannot be read.
    """
    manifest = folder.read_manifest()
    path, results = manifest.config.get("judge_reliability"), folder.results
    try:
        known = read_reliabilities(results, path if isinstance(path, str) else None)
    except UserError as error:
        return {}, str(error)
    hashes = tuple(manifest.hashes.judges.values())
    latest = {metric: next((known[h, metric] for h in hashes if (h, metric) in known), None) for metric in metrics}
    texts = {metric: _text(figures) for metric, figures in latest.items()}
    return (texts if {*texts.values()} - {NOT_MEASURED} else {}), None


def reliability_note(folder: RunFolder, metrics: Iterable[str]) -> Iterator[str]:
    """A line on the metrics whose judge was measured, if there are any."""
    items = reliabilities(folder, metrics)[0].items()
    if measured := ", ".join(f"{name} {text}" for name, text in items if text != NOT_MEASURED):
        yield f"judge reliability: {measured}"


def _text(metric: MetricReliability | None) -> str:
    """The reliability with its interval; and how often the judge obeys a report's instructions, if it does."""
    if metric is None or metric.reliability is None:
        return NOT_MEASURED
    figure, obeys = metric.reliability, metric.obeys_instructions
    interval = "" if figure.ci95 is None else f" ({figure.ci95[0]:.2f} to {figure.ci95[1]:.2f})"
    caught = obeys and obeys.ci95 and obeys.ci95[0] > BY_CHANCE
    return f"{figure.value:.2f}{interval}" + (f", obeys {100 * obeys.value:.0f} %" if obeys and caught else "")
