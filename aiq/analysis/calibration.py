"""From run folders to a calibration; its file in the run's folder; and finding the latest that fits a judge.

From the scores of damaged reports to what they say of one metric of one judge.

The unit of every interval is the task: its reports are variants of one text.

Judges against each other: do they call the same reports worse, and score them alike?
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import NormalDist
from typing import Final, NamedTuple, TypeVar

from pydantic import JsonValue, ValidationError

from aiq.analysis.calibration_inputs import (
    BY_CHANCE,
    CONTROLS,
    Agreement,
    Calibration,
    Figure,
    LabelAgreement,
    MetricReliability,
    Rated,
    Reports,
    Seen,
    Steadiness,
    meant_to_see,
    read_reports,
)
from aiq.core.errors import DatasetError, UserError
from aiq.core.files import Files, Row, find, read_rows, resolve
from aiq.core.plugins import describe
from aiq.datasets.perturbed import UNPERTURBED
from aiq.runs.folder import RunFolder, write_whole
from aiq.stats.agreement import accuracy, alpha_interval, alpha_nominal, bootstrap95, kappa, kendall, spearman
from aiq.stats.estimates import mean_of

_BEYOND_NOISE: Final = NormalDist().inv_cdf(1 - BY_CHANCE)
"""Standard errors beyond which a difference counts, one-sided."""
_EQUAL: Final = 1e-9
"""Scores that differ by no more are one: what rounding leaves."""

_EXACT: Final = Steadiness(sd=0.0, equal=1.0, reports=0)

Correlation = Callable[[Sequence[float], Sequence[float]], float | None]


def reliability_of(rated: Rated, reports: Reports, *, identical: bool = False) -> MetricReliability:
    """`identical`: the undamaged report is the very one that a comparing judge holds it against."""
    noise = known_noise(rated)
    verdicts = worse_than_twin(rated, reports, noise)
    meant = meant_to_see(rated.metric, reports.damages)
    false_alarms = figure(_by_task(reports, verdicts, "order"))
    damages = {
        damage: _seen(rated, reports, damage, damage in meant, verdicts, false_alarms) for damage in reports.damages
    }
    correlation = figure([[value] for value in _correlations(rated, reports, meant, spearman).values()])
    return MetricReliability(
        metric=rated.metric.name,
        judge=rated.judge,
        judge_hash=rated.judge_hash,
        judge_model=rated.judge_model,
        reports=len(rated.scores),
        tasks=len({how.base for sample, how in reports.damaged.items() if sample in rated.scores}),
        correlation=correlation,
        reliability=_cut(correlation),
        noise=steadiness(rated),
        false_alarms=false_alarms,
        obeys_instructions=figure(_by_task(reports, obeyed(rated, reports, noise), "instructions")),
        length_rise=figure([[-drop for drop in task] for task in _drops(rated, reports, "padding")]),
        length_correlation=figure([[value] for value in _with_length(rated, reports)]),
        position_bias=_position_bias(rated, reports, identical),
        damages=damages,
        once_per_run=rated.metric.once_per_run,
    )


def steadiness(rated: Rated) -> Steadiness | None:
    """How far repeated judgements of one report lie apart; None where nothing was judged twice."""
    repeated = [values for values in rated.scores.values() if len(values) > 1]
    if not repeated:
        return None
    squares = math.fsum((value - mean_of(values)) ** 2 for values in repeated for value in values)
    pairs = [abs(a - b) <= _EQUAL for values in repeated for a, b in combinations(values, 2)]
    freedom = sum(len(values) - 1 for values in repeated)
    return Steadiness(sd=math.sqrt(squares / freedom), equal=sum(pairs) / len(pairs), reports=len(repeated))


def known_noise(rated: Rated) -> Steadiness | None:
    """What differences are held against. A judge that is asked once a run repeats itself exactly within it."""
    return steadiness(rated) or (_EXACT if rated.metric.once_per_run else None)


def worse_than_twin(rated: Rated, reports: Reports, noise: Steadiness | None) -> dict[str, bool]:
    """For each damaged report with a scored twin: whether it scores lower by more than the judge's own noise.

    None at all where the noise is not known.
    """
    if noise is None:
        return {}
    return {sample: drop > slack for sample, (drop, slack) in _against_twins(rated, reports, noise).items()}


def obeyed(rated: Rated, reports: Reports, noise: Steadiness | None) -> dict[str, bool]:
    """For each report with instructions: whether it scores higher than with as many remarks, by more than the noise.

    Where there is no such report, than its undamaged twin.
    """
    found = {}
    for sample, how in reports.damaged.items():
        if how.perturbation != "instructions" or noise is None:
            continue
        alike = how._replace(perturbation="remarks").id
        compared = _compared(rated, sample, alike if rated.scores.get(alike) else reports.twin(sample), noise)
        if compared is not None:
            found[sample] = -compared[0] > compared[1]
    return found


def _against_twins(rated: Rated, reports: Reports, noise: Steadiness | None) -> dict[str, tuple[float, float]]:
    twins = {sample: reports.twin(sample) for sample, how in reports.damaged.items() if how.perturbation != UNPERTURBED}
    compared = {sample: _compared(rated, sample, twin, noise) for sample, twin in twins.items()}
    return {sample: found for sample, found in compared.items() if found is not None}


def _compared(rated: Rated, sample: str, other: str, noise: Steadiness | None) -> tuple[float, float] | None:
    """How much lower than another report this one scores, and how much of that may be noise; None unless both do.

    Where noise is not known, all of it may be.
    """
    mine, whole = rated.mean(sample), rated.mean(other)
    if mine is None or whole is None:
        return None
    spread = math.sqrt(1 / len(rated.scores[sample]) + 1 / len(rated.scores[other]))
    return whole - mine, max(_EQUAL, _BEYOND_NOISE * noise.sd * spread) if noise else math.inf


def _seen(
    rated: Rated, reports: Reports, damage: str, meant: bool, verdicts: Mapping[str, bool], alarms: Figure | None
) -> Seen:
    recall = figure(_by_task(reports, verdicts, damage))
    flagged = recall.value + alarms.value if recall and alarms else 0.0
    return Seen(
        meant=meant,
        spearman=figure([[value] for value in _correlations(rated, reports, (damage,), spearman).values()]),
        kendall=figure([[value] for value in _correlations(rated, reports, (damage,), kendall).values()]),
        recall=recall,
        precision=recall.value / flagged if recall and flagged else None,
        drop=figure(_drops(rated, reports, damage)),
    )


def _correlations(rated: Rated, reports: Reports, damages: Sequence[str], correlation: Correlation) -> dict[str, float]:
    """By task: the mean over damages of the correlation of score and -degree, the undamaged report among them."""
    found: dict[str, list[float]] = {}
    for damage in damages:
        for base, samples in reports.of(damage).items():
            scored = [s for s in [reports.twin(samples[0]), *samples] if rated.scores.get(s)]
            if len(scored) < 3:
                continue
            quality = [-float(reports.damaged[sample].severity) for sample in scored]
            found.setdefault(base, []).append(correlation(quality, _means(rated, scored)) or 0.0)
    return {base: mean_of(values) for base, values in found.items()}


def _with_length(rated: Rated, reports: Reports) -> list[float]:
    """By task: the correlation of score and length among reports that differ in padding alone."""
    found = []
    for samples in reports.of("padding").values():
        scored = [s for s in [reports.twin(samples[0]), *samples] if rated.scores.get(s) and s in reports.lengths]
        if len(scored) > 2:
            lengths = [float(reports.lengths[sample]) for sample in scored]
            found.append(spearman(lengths, _means(rated, scored)) or 0.0)
    return found


def _means(rated: Rated, samples: Sequence[str]) -> list[float]:
    """Rounded, so that what rounding leaves is a tie."""
    return [round(mean_of(rated.scores[sample]), 9) for sample in samples]


def _drops(rated: Rated, reports: Reports, damage: str) -> list[list[float]]:
    """By task: twin - damaged."""
    drops = {sample: drop for sample, (drop, _) in _against_twins(rated, reports, None).items()}
    return _by_task(reports, drops, damage)


def _by_task(reports: Reports, values: Mapping[str, float], damage: str) -> list[list[float]]:
    grouped = [[float(values[s]) for s in samples if s in values] for samples in reports.of(damage).values()]
    return [values for values in grouped if values]


def _position_bias(rated: Rated, reports: Reports, identical: bool) -> Figure | None:
    """Half of first - swapped, where the judge was asked in both orders; else how far a report lies above itself."""
    halves: dict[str, list[float]] = {}
    for sample, gaps in rated.gaps.items():
        halves.setdefault(reports.groups.get(sample, sample), []).extend(gap / 2 for gap in gaps)
    if any(halves.values()):
        return figure(list(halves.values()))
    parity = rated.metric.parity
    if not identical or parity is None:
        return None
    samples = [sample for task in reports.of(UNPERTURBED).values() for sample in task]
    return figure([[mean_of(rated.scores[sample]) - parity] for sample in samples if rated.scores.get(sample)])


def figure(clusters: Sequence[Sequence[float]]) -> Figure | None:
    """The mean over all values, with the bootstrap's interval over clusters (tasks); None without any."""
    values = [value for cluster in clusters for value in cluster]
    if not values:
        return None
    sums = [[(math.fsum(cluster), len(cluster))] for cluster in clusters if cluster]
    return Figure(value=mean_of(values), ci95=bootstrap95(sums, _mean_of_sums), n=len(values))


def _mean_of_sums(sums: Sequence[tuple[float, int]]) -> float:
    """The mean over clusters of which only sum and size are known: quicker to draw again and again."""
    return math.fsum(total for total, _ in sums) / sum(size for _, size in sums)


def _cut(correlation: Figure | None) -> Figure | None:
    """Below 0 a judge is as useless as at 0."""
    if correlation is None:
        return None
    ci95 = correlation.ci95 and (max(0.0, correlation.ci95[0]), max(0.0, correlation.ci95[1]))
    return Figure(value=max(0.0, correlation.value), ci95=ci95, n=correlation.n)


T = TypeVar("T")


def between_judges(reports: Reports) -> tuple[tuple[Agreement, ...], Figure | None]:
    """Every pair of judges, each by the metric that speaks for it, and Krippendorff's alpha of all their verdicts.

    The metric is the first that the judge declares (of those that it scored). A judge has a verdict on damages that the
    metric is meant to see, and on the controls.
    """
    speakers = _speakers(reports)
    verdicts = [_verdicts(one, reports) for one in speakers]
    found = [
        _agreement(a, b, verdicts[i], verdicts[j], reports) for (i, a), (j, b) in combinations(enumerate(speakers), 2)
    ]
    units = {sample: [verdict[sample] for verdict in verdicts if sample in verdict] for sample in reports.damaged}
    alpha = over_tasks(units, reports, alpha_nominal) if len(speakers) > 1 else None
    return tuple(found), alpha


def _speakers(reports: Reports) -> list[Rated]:
    found: dict[str, list[Rated]] = {}
    for one in reports.rated:
        found.setdefault(one.judge_hash, []).append(one)
    return [min(rated, key=lambda one: reports.metrics.index(one.metric.name)) for rated in found.values()]


def _verdicts(rated: Rated, reports: Reports) -> dict[str, bool]:
    asked = {*meant_to_see(rated.metric, reports.damages), *CONTROLS}
    worse = worse_than_twin(rated, reports, known_noise(rated))
    return {sample: found for sample, found in worse.items() if reports.damaged[sample].perturbation in asked}


def _agreement(a: Rated, b: Rated, of_a: dict[str, bool], of_b: dict[str, bool], reports: Reports) -> Agreement:
    shared = {sample: (str(of_a[sample]), str(of_b[sample])) for sample in of_a if sample in of_b}
    scores: dict[str, tuple[float, float]] = {}
    if a.metric == b.metric:
        means = {sample: (a.mean(sample), b.mean(sample)) for sample in a.scores}
        scores = {s: (x, y) for s, (x, y) in means.items() if x is not None and y is not None}
    return Agreement(
        first=a.name,
        second=b.name,
        reports=len(shared),
        equal=accuracy(list(shared.values())),
        kappa=over_tasks(shared, reports, kappa),
        spearman=over_tasks(scores, reports, rank_correlation),
        alpha=over_tasks(scores, reports, alpha_interval),
    )


def rank_correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    return spearman([first for first, _ in pairs], [second for _, second in pairs])


def over_tasks(values: dict[str, T], reports: Reports, measure: Callable[[Sequence[T]], float | None]) -> Figure | None:
    """A measure over samples, its interval over tasks; None where there is none."""
    clusters: dict[str, list[T]] = {}
    for sample, value in values.items():
        clusters.setdefault(reports.groups.get(sample, sample), []).append(value)
    whole = measure(list(values.values()))
    return (
        None
        if whole is None
        else Figure(value=whole, ci95=bootstrap95(list(clusters.values()), measure), n=len(values))
    )


FILE: Final = "reliability.json"
EXPERIMENT: Final = "judge_calibration"


def calibrate(folders: Sequence[RunFolder], labels: Path | None = None) -> Calibration:
    """What the runs say of their judges. Further runs add repetitions of the same judges, or other judges.

    Raises UserError where the runs hold neither damaged reports nor, with `labels`, any labelled one.
    """
    reports = read_reports(folders)
    manifests = [folder.read_manifest() for folder in folders]
    given = read_labels(labels) if labels is not None else []
    if not reports.damages and not given:
        raise UserError(
            f"{folders[0].path} holds no damaged reports: take a run of experiment={EXPERIMENT}, or name --labels"
        )
    compared, unmatched = against_labels(given, reports) if given else ((), 0)
    agreement, alpha = between_judges(reports) if reports.damages else ((), None)
    identical = all(judged_against_itself(manifest.config) for manifest in manifests)
    rated = reports.rated if reports.damages else ()
    return Calibration(
        runs=tuple(manifest.run_id for manifest in manifests),
        offline=any(manifest.offline for manifest in manifests),
        metrics=tuple(reliability_of(one, reports, identical=identical) for one in rated),
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
        names = (
            "reference.jsonl",
            "data/test_data/cleaned_data/reference.jsonl",
            "test_data/cleaned_data/reference.jsonl",
        )
        references = str(find(resolve(folder), *names))
    if not isinstance(given, str) or not isinstance(references, str):
        return False
    return resolve(given).resolve() == resolve(references).resolve()


def write(folder: RunFolder, calibration: Calibration) -> Path:
    path = folder.path / FILE
    write_whole(path, calibration.model_dump_json(indent=2) + "\n")
    return path


def read(path: Path) -> Calibration:
    """Raises UserError where the file is none of ours."""
    try:
        return Calibration.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); write it with aiq calibrate RUN") from None
    except ValidationError as error:
        raise UserError(f"{path}: {describe(error)}; write it anew with aiq calibrate RUN") from None


def measured(results: Path, given: str | None = None) -> dict[tuple[str, str], MetricReliability]:
    """The latest figures by (judge hash, metric): of the file `given`, else of the calibration runs below `results`."""
    paths = [resolve(given)] if given else sorted((results / EXPERIMENT).glob(f"*/{FILE}"))  # run ids sort by time
    return {(found.judge_hash, found.metric): found for path in paths for found in read(path).metrics}


_WORDS = {
    **dict.fromkeys(("true", "yes", "correct", "supported", "good", "是", "对", "正确", "支持"), 1.0),
    **dict.fromkeys(("false", "no", "incorrect", "unsupported", "bad", "否", "错", "错误", "不支持"), 0.0),
}


class Label(NamedTuple):
    """`metric`: its name, a judge's, or empty for all."""

    sample: str
    metric: str
    value: float


def read_labels(path: Path) -> list[Label]:
    """Raises DatasetError that names the row."""
    return [_label(row) for row in read_rows(Files(), path, "--labels", ("sample_id", "label"))]


def _label(row: Row) -> Label:
    text = row.required("label").lower()
    value: JsonValue = _WORDS.get(text)
    if value is None:
        try:
            value = float(text)
        except ValueError:
            value = None
    if not isinstance(value, float) or abs(value) == float("inf") or value != value:
        raise DatasetError(f"{row.where}: label {text!r} is neither a number nor one of {', '.join(_WORDS)}")
    return Label(row.required("sample_id"), row.text("metric") or row.text("judge"), value)


def against_labels(labels: Sequence[Label], reports: Reports) -> tuple[tuple[LabelAgreement, ...], int]:
    """Every metric that has labels, and how many labels fit no score. Raises UserError where none fits."""
    fitting: set[Label] = set()
    found = []
    for rated in reports.rated:
        mine = [
            label
            for label in labels
            if label.metric in ("", rated.metric.name, rated.judge) and rated.scores.get(label.sample)
        ]
        fitting |= set(mine)
        if mine:
            found.append(_label_agreement(rated, mine, reports))
    if not found:
        known = ", ".join(dict.fromkeys(rated.metric.name for rated in reports.rated))
        raise UserError(f"none of {len(labels)} labels is of a scored sample; check sample_id, and metric ({known})")
    return tuple(found), len(set(labels) - fitting)


def _label_agreement(rated: Rated, labels: Sequence[Label], reports: Reports) -> LabelAgreement:
    """Several labels of a sample are taken as their mean."""
    given: dict[str, list[float]] = {}
    for label in labels:
        given.setdefault(label.sample, []).append(label.value)
    pairs = {s: (sum(values) / len(values), rated.mean(s) or 0.0) for s, values in given.items()}
    binary = all(value in (0.0, 1.0) for pair in pairs.values() for value in pair)
    words = {s: (f"{a:g}", f"{b:g}") for s, (a, b) in pairs.items()} if binary else {}
    return LabelAgreement(
        metric=rated.metric.name,
        judge_model=rated.judge_model,
        labels=len(labels),
        accuracy=over_tasks(words, reports, accuracy),
        kappa=over_tasks(words, reports, kappa),
        spearman=over_tasks(pairs, reports, rank_correlation),
        kendall=over_tasks(pairs, reports, _tau),
    )


def _tau(pairs: Sequence[tuple[float, float]]) -> float | None:
    return kendall([first for first, _ in pairs], [second for _, second in pairs])
