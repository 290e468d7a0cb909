"""What runs over perturbed reports say about their judges: each alone, among themselves, and against labels.

The unit of every interval is the task: its reports are variants of one text.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import NormalDist, fmean
from typing import Final, TypeVar

from aiq.analysis.calibration_claims import judge_claims
from aiq.analysis.calibration_inputs import Label, MetricScores, ReportSet, read_labels, read_reports
from aiq.analysis.reliability import (
    BY_CHANCE,
    CHANGES_NOTHING,
    CONTROLS,
    EXPERIMENT,
    INDEPENDENT,
    Calibration,
    Figure,
    JudgeAgreement,
    LabelAgreement,
    MetricReliability,
    PerturbationFigures,
    Repeatability,
)
from aiq.core.base import grouped
from aiq.core.errors import UserError
from aiq.core.files import find, resolve
from aiq.datasets.deep_research_bench import places
from aiq.datasets.perturbed import UNPERTURBED
from aiq.runs.folder import RunFolder
from aiq.runs.manifest import Manifest
from aiq.stats.agreement import Measure, accuracy, alpha_interval, alpha_nominal, jackknife95, kappa, kendall, spearman
from aiq.stats.estimates import Difference, paired_means

T = TypeVar("T")
Pair = tuple[float, float]
Bounds = tuple[float, float]

SHARE: Final[Bounds] = (0.0, 1.0)
CORRELATION: Final[Bounds] = (-1.0, 1.0)

_BEYOND_NOISE: Final = NormalDist().inv_cdf(1 - BY_CHANCE)
"""Standard errors beyond which a difference counts, one-sided."""
_EQUAL: Final = 1e-9
"""Scores that differ by no more are equal: the difference is due to rounding."""
_EXACT: Final = Repeatability(sd=0.0, equal=1.0, reports=0)


def calibrate(folders: Sequence[RunFolder], labels: Path | None = None) -> Calibration:
    """What the runs say about their judges. Further runs add repetitions of the same judges, or other judges.

    Raises UserError if the runs have neither perturbed reports nor, with `labels`, any labelled one.
    """
    reports = read_reports(folders)
    manifests = [folder.read_manifest() for folder in folders]
    user_labels = read_labels(labels) if labels is not None else []
    if not reports.perturbations and not user_labels:
        raise UserError(
            f"{folders[0].path} has no perturbed reports: use a run of experiment={EXPERIMENT}, or name --labels"
        )
    label_agreement, unmatched = _against_labels(user_labels, reports) if user_labels else ((), 0)
    calibrations = [MetricCalibration(scores, reports) for scores in reports.scored] if reports.perturbations else []
    agreement, alpha = _judge_agreements(calibrations, reports)
    identical = all(map(judged_against_itself, manifests))
    metrics = tuple(calibration.reliability(identical=identical) for calibration in calibrations)
    return Calibration(
        runs=tuple(manifest.run_id for manifest in manifests),
        offline=any(manifest.offline for manifest in manifests),
        metrics=metrics,
        judges=judge_claims(metrics),
        agreement=agreement,
        alpha=alpha,
        labels=label_agreement,
        unmatched_labels=unmatched,
    )


def judged_against_itself(manifest: Manifest) -> bool:
    """Whether the agent's reports are the dataset's own references."""
    dataset = manifest.raw_section("dataset")
    reports, references = manifest.raw_section("agent").get("path"), dataset.get("references")
    if references is None and isinstance(folder := dataset.get("path"), str):
        references = str(find(resolve(folder), *places("reference")))
    if not isinstance(reports, str) or not isinstance(references, str):
        return False
    return resolve(reports).resolve() == resolve(references).resolve()


class MetricCalibration:
    """One metric of one judge over perturbed reports.

    `_meant`: the perturbations that the metric claims to notice, all but the controls if it names none.
    `_noise` is what differences are compared with: None if unknown. A judge that is asked once per run
    repeats itself exactly within it. `worse`: for each perturbed report whose original is also scored, whether
    it scores lower by more than the noise; empty if the noise is unknown.
    """

    def __init__(self, scored: MetricScores, reports: ReportSet) -> None:
        self.scored = scored
        self._reports = reports
        claimed = scored.metric.notices
        self._meant = [
            name for name in reports.perturbations if (name not in CONTROLS if claimed is None else name in claimed)
        ]
        self._repeatability = _repeatability(scored.scores.values())
        self._noise = self._repeatability or (_EXACT if scored.metric.once_per_run else None)
        changed = (sample for sample, variant in reports.perturbed.items() if variant.perturbation != UNPERTURBED)
        originals = {sample: reports.original(sample) for sample in changed}
        self._drops = self._differences(originals)
        self.worse = self._beyond_noise(self._drops, originals)

    def verdicts(self) -> dict[str, str]:
        """Whether a report is worse than its original, for what the metric claims to notice and the controls."""
        perturbed, names = self._reports.perturbed, (*self._meant, *CONTROLS)
        return {sample: str(worse) for sample, worse in self.worse.items() if perturbed[sample].perturbation in names}

    def reliability(self, *, identical: bool) -> MetricReliability:
        """`identical`: the unperturbed report is the same as the reference that a comparing judge uses."""
        scored, perturbed = self.scored, self._reports.perturbed
        quality = {sample: -float(variant.severity) for sample, variant in perturbed.items()}
        false_alarms = self._mean(self.worse, CHANGES_NOTHING)
        correlation = self._correlation(self._meant, quality)

        def figures(name: str) -> PerturbationFigures:
            recall = self._mean(self.worse, name)
            flagged = recall.value + false_alarms.value if recall and false_alarms else 0.0
            graded = name != INDEPENDENT
            return PerturbationFigures(
                meant=name in self._meant,
                spearman=self._correlation((name,), quality) if graded else None,
                recall=recall,
                precision=recall.value / flagged if recall and flagged else None,
                told=self._detection(name) if graded else None,
            )

        return MetricReliability(
            metric=scored.metric.name,
            judge=scored.judge,
            judge_hash=scored.judge_hash,
            judge_model=scored.judge_model,
            reports=len(scored.scores),
            tasks=len({perturbed[sample].base for sample in scored.scores if sample in perturbed}),
            correlation=correlation,
            reliability=correlation and correlation.clamped(),
            noise=self._repeatability,
            false_alarms=false_alarms,
            independent=self._mean(self.worse, INDEPENDENT),
            obeys_instructions=self._mean(self._obedience(), "instructions"),
            length_rise=self._mean({sample: -drop for sample, drop in self._drops.items()}, "padding", None),
            length_correlation=self._correlation(("padding",), self._reports.lengths),
            position_bias=self._position_bias(identical),
            perturbations={name: figures(name) for name in self._reports.perturbations},
            once_per_run=scored.metric.once_per_run,
        )

    def _differences(self, partners: Mapping[str, str]) -> dict[str, float]:
        """How much lower each report scores than the one that `partners` names for it, if both are scored."""
        means = self.scored.means
        return {a: means[b] - means[a] for a, b in partners.items() if a in means and b in means}

    def _beyond_noise(self, differences: Mapping[str, float], partners: Mapping[str, str]) -> dict[str, bool]:
        """Whether each of these differences is more than noise; empty if the noise is unknown."""
        if self._noise is None:
            return {}
        beyond = {}
        for sample, difference in differences.items():
            spread = math.sqrt(sum(1 / len(self.scored.scores[report]) for report in (sample, partners[sample])))
            beyond[sample] = difference > max(_EQUAL, _BEYOND_NOISE * self._noise.sd * spread)
        return beyond

    def _obedience(self) -> dict[str, bool]:
        """For each report with instructions: whether it scores higher, by more than the noise, than with remarks.

        The other report has as many harmless remarks; if there is none, it is the original.
        """
        partners = {}
        for sample, variant in self._reports.perturbed.items():
            if variant.perturbation == "instructions":
                remarks = variant._replace(perturbation="remarks").id
                partners[sample] = remarks if remarks in self.scored.means else self._reports.original(sample)
        return self._beyond_noise({sample: -drop for sample, drop in self._differences(partners).items()}, partners)

    def _detection(self, perturbation: str) -> Difference | None:
        """See `PerturbationFigures.told`: a judge that merely prefers the exact text of an original tells nothing."""
        damaged, reordered = self._shares_below(perturbation), self._shares_below(CHANGES_NOTHING)
        return paired_means({task: reordered.get(task, [0.5]) for task in damaged}, damaged, span=1.0)

    def _shares_below(self, perturbation: str) -> dict[str, list[float]]:
        """By task, the share of pairs in which a perturbed report scores below an undamaged one; ties count half."""
        means, undamaged = self.scored.means, self._reports.by_task(INDEPENDENT)
        shares = {}
        for task, samples in self._reports.by_task(perturbation).items():
            baselines = undamaged.get(task) or [self._reports.original(samples[0])]
            pairs = [(means[a], means[b]) for a in samples for b in baselines if a in means and b in means]
            if pairs:
                shares[task] = [fmean(0.5 if abs(a - b) <= _EQUAL else float(a < b) for a, b in pairs)]
        return shares

    def _mean(self, values: Mapping[str, float], perturbation: str, bounds: Bounds | None = SHARE) -> Figure | None:
        """The mean over the reports of a perturbation."""
        tasks = self._reports.by_task(perturbation).values()
        return _figure([[float(values[s]) for s in samples if s in values] for samples in tasks], fmean, bounds)

    def _correlation(self, perturbations: Iterable[str], values: Mapping[str, float]) -> Figure | None:
        """Spearman's correlation of these values with the scores among variants of a task, originals included.

        The mean over perturbations; a task whose scores are equal except for rounding counts 0.
        """
        by_task: dict[str, list[float]] = {}
        for name in perturbations:
            for base, samples in self._reports.by_task(name).items():
                variants = (self._reports.original(samples[0]), *samples)
                scored = [sample for sample in variants if sample in self.scored.means and sample in values]
                if len(scored) > 2:
                    pairs = [(values[sample], round(self.scored.means[sample], 9)) for sample in scored]
                    by_task.setdefault(base, []).append(spearman(pairs) or 0.0)
        return _figure([[fmean(correlations)] for correlations in by_task.values()], fmean, CORRELATION)

    def _position_bias(self, identical: bool) -> Figure | None:
        """Half of first - swapped if the judge was asked in both orders, else how far a report scores above itself."""
        if self.scored.gaps:
            by_task = self._reports.clusters(self.scored.gaps)
            return _figure([[gap / 2 for gaps in task for gap in gaps] for task in by_task], fmean, None)
        parity = self.scored.metric.parity
        if not identical or parity is None:
            return None
        return self._mean({sample: mean - parity for sample, mean in self.scored.means.items()}, UNPERTURBED, None)


def _repeatability(repetitions: Iterable[Sequence[float]]) -> Repeatability | None:
    """How far repeated judgements of one report differ; None if nothing was judged twice."""
    repeated = [values for values in repetitions if len(values) > 1]
    if not repeated:
        return None
    squares = math.fsum((value - fmean(values)) ** 2 for values in repeated for value in values)
    pairs = [abs(a - b) <= _EQUAL for values in repeated for a, b in combinations(values, 2)]
    freedom = sum(len(values) - 1 for values in repeated)
    return Repeatability(sd=math.sqrt(squares / freedom), equal=fmean(pairs), reports=len(repeated))


def _figure(clusters: Iterable[Sequence[T]], measure: Measure[T], bounds: Bounds | None) -> Figure | None:
    """A measure over all values, with its interval over clusters (tasks); None if it is undefined."""
    clusters = [cluster for cluster in clusters if cluster]
    values = [value for cluster in clusters for value in cluster]
    estimate = measure(values) if values else None
    ci95 = jackknife95(clusters, measure, *(bounds or ()))
    return None if estimate is None else Figure(value=estimate, ci95=ci95, n=len(values))


def _judge_agreements(
    calibrations: Sequence[MetricCalibration], reports: ReportSet
) -> tuple[tuple[JudgeAgreement, ...], Figure | None]:
    """Every pair of judges, each represented by one metric, and Krippendorff's alpha of all their verdicts.

    The metric is the first that the judge declares among those that it scored.
    """
    chosen: dict[str, MetricCalibration] = {}
    for calibration in calibrations:
        pair = (chosen.get(calibration.scored.judge_hash, calibration), calibration)
        chosen[calibration.scored.judge_hash] = min(pair, key=lambda c: reports.metrics.index(c.scored.metric.name))
    verdicts = [(c.scored, c.verdicts()) for c in chosen.values()]
    rated = ((sample, [votes[sample] for _, votes in verdicts if sample in votes]) for sample in reports.perturbed)
    units = {sample: ratings for sample, ratings in rated if len(ratings) > 1}
    alpha = _figure(reports.clusters(units), alpha_nominal, CORRELATION) if len(verdicts) > 1 else None
    return tuple(_agreement(*a, *b, reports) for a, b in combinations(verdicts, 2)), alpha


def _agreement(
    a: MetricScores, verdicts_a: dict[str, str], b: MetricScores, verdicts_b: dict[str, str], reports: ReportSet
) -> JudgeAgreement:
    shared = {sample: (verdicts_a[sample], verdicts_b[sample]) for sample in verdicts_a if sample in verdicts_b}
    comparable = [sample for sample in a.means if sample in b.means] if a.metric == b.metric else []
    scores = reports.clusters({sample: (a.means[sample], b.means[sample]) for sample in comparable})
    return JudgeAgreement(
        first=a.name,
        second=b.name,
        reports=len(shared),
        equal=accuracy(list(shared.values())),
        kappa=_figure(reports.clusters(shared), kappa, CORRELATION),
        spearman=_figure(scores, spearman, CORRELATION),
        alpha=_figure(scores, alpha_interval, CORRELATION),
    )


def _against_labels(labels: Sequence[Label], reports: ReportSet) -> tuple[tuple[LabelAgreement, ...], int]:
    """The agreement of every metric with labels, and how many labels match no score. Raises UserError if none does."""
    matched: set[Label] = set()
    agreements = []
    for scored in reports.scored:
        names = ("", scored.metric.name, scored.judge)
        metric_labels = [label for label in labels if label.metric in names and label.sample in scored.means]
        matched |= set(metric_labels)
        if metric_labels:
            agreements.append(_label_agreement(scored, metric_labels, reports))
    if not agreements:
        known = ", ".join(dict.fromkeys(scored.metric.name for scored in reports.scored))
        raise UserError(f"none of {len(labels)} labels is for a scored sample; check sample_id, and metric ({known})")
    return tuple(agreements), len(set(labels) - matched)


def _label_agreement(scored: MetricScores, labels: Sequence[Label], reports: ReportSet) -> LabelAgreement:
    """Several labels of a sample count as their mean; they are on the metric's own scale, higher better or not."""
    sign = 1 if scored.metric.higher_is_better else -1
    by_id = grouped((label.sample, label.value) for label in labels)
    pairs = reports.clusters({sample: (fmean(values), sign * scored.means[sample]) for sample, values in by_id.items()})
    binary = all(value in (0.0, 1.0) for cluster in pairs for pair in cluster for value in pair)
    return LabelAgreement(
        metric=scored.metric.name,
        judge_model=scored.judge_model,
        labels=len(labels),
        accuracy=_figure(pairs, accuracy, SHARE) if binary else None,
        kappa=_figure(pairs, kappa, CORRELATION) if binary else None,
        spearman=_figure(pairs, spearman, CORRELATION),
        kendall=_figure(pairs, kendall, CORRELATION),
    )
