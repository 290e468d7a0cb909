"""From runs over perturbed reports to what they say of their judges, each alone, among themselves and against labels.

The unit of every interval is the task: its reports are variants of one text.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import NormalDist, fmean
from typing import Final, TypeVar

from pydantic import JsonValue

from aiq.analysis.calibration_inputs import (
    CONTROLS,
    Label,
    MetricScores,
    ReportSet,
    meant_to_notice,
    read_labels,
    read_reports,
)
from aiq.analysis.reliability import (
    BY_CHANCE,
    EXPERIMENT,
    Calibration,
    Figure,
    JudgeAgreement,
    LabelAgreement,
    MetricReliability,
    PerturbationFigures,
    Repeatability,
)
from aiq.core.errors import UserError
from aiq.core.files import find, resolve
from aiq.datasets.perturbed import UNPERTURBED
from aiq.runs.folder import RunFolder
from aiq.stats.agreement import accuracy, alpha_interval, alpha_nominal, bootstrap95, kappa, kendall, spearman

T = TypeVar("T")
Correlation = Callable[[Sequence[float], Sequence[float]], float | None]

_BEYOND_NOISE: Final = NormalDist().inv_cdf(1 - BY_CHANCE)
"""Standard errors beyond which a difference counts, one-sided."""
_EQUAL: Final = 1e-9
"""Scores that differ by no more are one: what rounding leaves."""
_EXACT: Final = Repeatability(sd=0.0, equal=1.0, reports=0)
_REFERENCES: Final = (
    "reference.jsonl",
    "data/test_data/cleaned_data/reference.jsonl",
    "test_data/cleaned_data/reference.jsonl",
)


def calibrate(folders: Sequence[RunFolder], labels: Path | None = None) -> Calibration:
    """What the runs say of their judges. Further runs add repetitions of the same judges, or other judges.

    Raises UserError where the runs hold neither perturbed reports nor, with `labels`, any labelled one.
    """
    reports = read_reports(folders)
    manifests = [folder.read_manifest() for folder in folders]
    given = read_labels(labels) if labels is not None else []
    if not reports.perturbations and not given:
        raise UserError(
            f"{folders[0].path} holds no perturbed reports: take a run of experiment={EXPERIMENT}, or name --labels"
        )
    compared, unmatched = _against_labels(given, reports) if given else ((), 0)
    judged = [MetricCalibration(one, reports) for one in reports.scored] if reports.perturbations else []
    agreement, alpha = _between_judges(judged, reports)
    identical = all(judged_against_itself(manifest.config) for manifest in manifests)
    return Calibration(
        runs=tuple(manifest.run_id for manifest in manifests),
        offline=any(manifest.offline for manifest in manifests),
        metrics=tuple(one.reliability(identical=identical) for one in judged),
        agreement=agreement,
        alpha=alpha,
        labels=compared,
        unmatched_labels=unmatched,
    )


def judged_against_itself(config: Mapping[str, JsonValue]) -> bool:
    """Whether the agent gives the very reports that are the dataset's references."""
    agent, dataset = config.get("agent"), config.get("dataset")
    if not isinstance(agent, Mapping) or not isinstance(dataset, Mapping):
        return False
    given, references = agent.get("path"), dataset.get("references")
    if references is None and isinstance(folder := dataset.get("path"), str):
        references = str(find(resolve(folder), *_REFERENCES))
    if not isinstance(given, str) or not isinstance(references, str):
        return False
    return resolve(given).resolve() == resolve(references).resolve()


class MetricCalibration:
    """One metric of one judge over perturbed reports.

    `noise` is what differences are held against: None where it is not known. A judge that is asked once a run
    repeats itself exactly within it. `worse`: for each perturbed report whose original is scored too, whether
    it scores lower by more than the noise; empty where that is not known.
    """

    def __init__(self, scored: MetricScores, reports: ReportSet) -> None:
        self.scored = scored
        self._reports = reports
        self._repeated = _repeatability(scored)
        self.noise = self._repeated or (_EXACT if scored.metric.once_per_run else None)
        self._drops = {
            sample: drop
            for sample, how in reports.perturbed.items()
            if how.perturbation != UNPERTURBED and (drop := self._drop(sample, reports.original(sample))) is not None
        }
        self.worse = {
            sample: drop > self._slack(sample, reports.original(sample))
            for sample, drop in self._drops.items()
            if self.noise is not None
        }

    def verdicts(self) -> dict[str, bool]:
        """Whether a report is worse than its original, for what the metric claims to notice and the controls."""
        asked = {*meant_to_notice(self.scored.metric, self._reports.perturbations), *CONTROLS}
        perturbed = self._reports.perturbed
        return {sample: worse for sample, worse in self.worse.items() if perturbed[sample].perturbation in asked}

    def reliability(self, *, identical: bool) -> MetricReliability:
        """`identical`: the unperturbed report is the very one that a comparing judge holds it against."""
        scored, perturbations = self.scored, self._reports.perturbations
        meant = meant_to_notice(scored.metric, perturbations)
        false_alarms = self._figure(self.worse, "order")
        correlation = self._correlation(meant, spearman)
        return MetricReliability(
            metric=scored.metric.name,
            judge=scored.judge,
            judge_hash=scored.judge_hash,
            judge_model=scored.judge_model,
            reports=len(scored.scores),
            tasks=len({how.base for sample, how in self._reports.perturbed.items() if sample in scored.scores}),
            correlation=correlation,
            reliability=_cut(correlation),
            noise=self._repeated,
            false_alarms=false_alarms,
            obeys_instructions=self._figure(self._obeyed(), "instructions"),
            length_rise=self._figure({sample: -drop for sample, drop in self._drops.items()}, "padding"),
            length_correlation=self._length_correlation(),
            position_bias=self._position_bias(identical),
            perturbations={name: self._perturbation(name, name in meant, false_alarms) for name in perturbations},
            once_per_run=scored.metric.once_per_run,
        )

    def _drop(self, sample: str, other: str) -> float | None:
        """How much lower than another report this one scores; None unless both do."""
        mine, whole = self.scored.mean(sample), self.scored.mean(other)
        return None if mine is None or whole is None else whole - mine

    def _slack(self, sample: str, other: str) -> float:
        """How much of a difference of two reports may be noise; where it is not known, all of it."""
        if self.noise is None:
            return math.inf
        spread = math.sqrt(sum(1 / len(self.scored.scores[one]) for one in (sample, other)))
        return max(_EQUAL, _BEYOND_NOISE * self.noise.sd * spread)

    def _obeyed(self) -> dict[str, bool]:
        """For each report with instructions: whether it scores higher by more than the noise than with as many remarks.

        Where there is no report with remarks, than its original.
        """
        found = {}
        for sample, how in self._reports.perturbed.items():
            if how.perturbation != "instructions" or self.noise is None:
                continue
            alike = how._replace(perturbation="remarks").id
            other = alike if self.scored.scores.get(alike) else self._reports.original(sample)
            drop = self._drop(sample, other)
            if drop is not None:
                found[sample] = -drop > self._slack(sample, other)
        return found

    def _figure(self, values: Mapping[str, float], perturbation: str) -> Figure | None:
        tasks = self._reports.by_task(perturbation).values()
        return _figure([float(values[sample]) for sample in samples if sample in values] for samples in tasks)

    def _perturbation(self, name: str, meant: bool, alarms: Figure | None) -> PerturbationFigures:
        recall = self._figure(self.worse, name)
        flagged = recall.value + alarms.value if recall and alarms else 0.0
        return PerturbationFigures(
            meant=meant,
            spearman=self._correlation((name,), spearman),
            kendall=self._correlation((name,), kendall),
            recall=recall,
            precision=recall.value / flagged if recall and flagged else None,
            drop=self._figure(self._drops, name),
        )

    def _correlation(self, perturbations: Iterable[str], correlation: Correlation) -> Figure | None:
        """The correlation of score and -severity within a task, originals included; its mean over perturbations."""
        quality = {sample: -float(how.severity) for sample, how in self._reports.perturbed.items()}
        found: dict[str, list[float]] = {}
        for name in perturbations:
            for base, samples in self._reports.by_task(name).items():
                points = self._points(samples, quality)
                if len(points) > 2:
                    found.setdefault(base, []).append(_correlated(points, correlation) or 0.0)
        return _figure([fmean(values)] for values in found.values())

    def _length_correlation(self) -> Figure | None:
        """The correlation of score and length among reports of a task that differ in padding alone."""
        tasks = [self._points(samples, self._reports.lengths) for samples in self._reports.by_task("padding").values()]
        return _figure([_correlated(points, spearman) or 0.0] for points in tasks if len(points) > 2)

    def _points(self, samples: Sequence[str], values: Mapping[str, float]) -> list[tuple[float, float]]:
        """Value and score of reports of a task and of their original; what rounding leaves of scores is a tie."""
        scored = ((sample, self.scored.mean(sample)) for sample in (self._reports.original(samples[0]), *samples))
        return [(values[sample], round(mean, 9)) for sample, mean in scored if mean is not None and sample in values]

    def _position_bias(self, identical: bool) -> Figure | None:
        """Half of first - swapped, where the judge was asked in both orders; else how far a report is above itself."""
        halves: dict[str, list[float]] = {}
        for sample, gaps in self.scored.gaps.items():
            halves.setdefault(self._reports.tasks[sample], []).extend(gap / 2 for gap in gaps)
        if any(halves.values()):
            return _figure(halves.values())
        parity = self.scored.metric.parity
        if not identical or parity is None:
            return None
        samples = [sample for task in self._reports.by_task(UNPERTURBED).values() for sample in task]
        return _figure([mean - parity] for sample in samples if (mean := self.scored.mean(sample)) is not None)


def _repeatability(scored: MetricScores) -> Repeatability | None:
    """How far repeated judgements of one report lie apart; None where nothing was judged twice."""
    repeated = [values for values in scored.scores.values() if len(values) > 1]
    if not repeated:
        return None
    squares = math.fsum((value - fmean(values)) ** 2 for values in repeated for value in values)
    pairs = [abs(a - b) <= _EQUAL for values in repeated for a, b in combinations(values, 2)]
    freedom = sum(len(values) - 1 for values in repeated)
    return Repeatability(sd=math.sqrt(squares / freedom), equal=fmean(pairs), reports=len(repeated))


def _figure(clusters: Iterable[Sequence[float]]) -> Figure | None:
    """The mean over all values, with the bootstrap's interval over clusters (tasks); None without any."""
    clusters = [cluster for cluster in clusters if cluster]
    if not clusters:
        return None
    sums = [[(math.fsum(cluster), len(cluster))] for cluster in clusters]
    values = [value for cluster in clusters for value in cluster]
    return Figure(value=fmean(values), ci95=bootstrap95(sums, _mean_of_sums), n=len(values))


def _mean_of_sums(sums: Sequence[tuple[float, int]]) -> float:
    """The mean over clusters of which only sum and size are known: quicker to draw again and again."""
    return math.fsum(total for total, _ in sums) / sum(size for _, size in sums)


def _cut(correlation: Figure | None) -> Figure | None:
    """Below 0 a judge is as useless as at 0."""
    if correlation is None:
        return None
    ci95 = correlation.ci95 and (max(0.0, correlation.ci95[0]), max(0.0, correlation.ci95[1]))
    return Figure(value=max(0.0, correlation.value), ci95=ci95, n=correlation.n)


def _between_judges(
    judged: Sequence[MetricCalibration], reports: ReportSet
) -> tuple[tuple[JudgeAgreement, ...], Figure | None]:
    """Every pair of judges, each by the metric that speaks for it, and Krippendorff's alpha of all their verdicts.

    The metric is the first that the judge declares, of those that it scored.
    """
    speakers: dict[str, MetricCalibration] = {}
    for one in sorted(judged, key=lambda one: reports.metrics.index(one.scored.metric.name)):
        speakers.setdefault(one.scored.judge_hash, one)
    ordered = [speakers[key] for key in dict.fromkeys(one.scored.judge_hash for one in judged)]
    verdicts = [(one.scored, one.verdicts()) for one in ordered]
    units = {sample: [of[sample] for _, of in verdicts if sample in of] for sample in reports.perturbed}
    alpha = _over_tasks(units, reports, alpha_nominal) if len(verdicts) > 1 else None
    return tuple(_agreement(*a, *b, reports) for a, b in combinations(verdicts, 2)), alpha


def _agreement(
    a: MetricScores, of_a: dict[str, bool], b: MetricScores, of_b: dict[str, bool], reports: ReportSet
) -> JudgeAgreement:
    shared = {sample: (str(of_a[sample]), str(of_b[sample])) for sample in of_a if sample in of_b}
    scores: dict[str, tuple[float, float]] = {}
    if a.metric == b.metric:
        means = {sample: (a.mean(sample), b.mean(sample)) for sample in a.scores}
        scores = {sample: (x, y) for sample, (x, y) in means.items() if x is not None and y is not None}
    return JudgeAgreement(
        first=a.name,
        second=b.name,
        reports=len(shared),
        equal=accuracy(list(shared.values())),
        kappa=_over_tasks(shared, reports, kappa),
        spearman=_over_tasks(scores, reports, lambda pairs: _correlated(pairs, spearman)),
        alpha=_over_tasks(scores, reports, alpha_interval),
    )


def _correlated(pairs: Sequence[tuple[float, float]], correlation: Correlation) -> float | None:
    return correlation([first for first, _ in pairs], [second for _, second in pairs])


def _over_tasks(
    values: Mapping[str, T], reports: ReportSet, measure: Callable[[Sequence[T]], float | None]
) -> Figure | None:
    """A measure over samples, its interval over tasks; None where there is none."""
    clusters: dict[str, list[T]] = {}
    for sample, value in values.items():
        clusters.setdefault(reports.tasks[sample], []).append(value)
    whole = measure(list(values.values()))
    if whole is None:
        return None
    return Figure(value=whole, ci95=bootstrap95(list(clusters.values()), measure), n=len(values))


def _against_labels(labels: Sequence[Label], reports: ReportSet) -> tuple[tuple[LabelAgreement, ...], int]:
    """Every metric that has labels, and how many labels fit no score. Raises UserError where none fits."""
    fitting: set[Label] = set()
    found = []
    for scored in reports.scored:
        names = ("", scored.metric.name, scored.judge)
        mine = [label for label in labels if label.metric in names and scored.scores.get(label.sample)]
        fitting |= set(mine)
        if mine:
            found.append(_label_agreement(scored, mine, reports))
    if not found:
        known = ", ".join(dict.fromkeys(scored.metric.name for scored in reports.scored))
        raise UserError(f"none of {len(labels)} labels is of a scored sample; check sample_id, and metric ({known})")
    return tuple(found), len(set(labels) - fitting)


def _label_agreement(scored: MetricScores, labels: Sequence[Label], reports: ReportSet) -> LabelAgreement:
    """Several labels of a sample are taken as their mean."""
    given: dict[str, list[float]] = {}
    for label in labels:
        given.setdefault(label.sample, []).append(label.value)
    pairs = {sample: (fmean(values), scored.mean(sample) or 0.0) for sample, values in given.items()}
    binary = all(value in (0.0, 1.0) for pair in pairs.values() for value in pair)
    words = {sample: (f"{label:g}", f"{score:g}") for sample, (label, score) in pairs.items()} if binary else {}
    return LabelAgreement(
        metric=scored.metric.name,
        judge_model=scored.judge_model,
        labels=len(labels),
        accuracy=_over_tasks(words, reports, accuracy),
        kappa=_over_tasks(words, reports, kappa),
        spearman=_over_tasks(pairs, reports, lambda both: _correlated(both, spearman)),
        kendall=_over_tasks(pairs, reports, lambda both: _correlated(both, kendall)),
    )
