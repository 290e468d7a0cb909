"""What analysis/ computes, as tables: a calibration, the points of a sweep, FreshEval's table, official figures."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from aiq.analysis.fresheval import SPLITS, FreshEvalTable
from aiq.analysis.official import OfficialScores, result_file
from aiq.analysis.reliability import Calibration, Figure, MetricReliability, PerturbationFigures
from aiq.analysis.sweeps import JobEnd, difference
from aiq.core.text import counted
from aiq.site.tables import OFFLINE_NOTE, dollars, interval, notes, number, plain_table, show
from aiq.stats.estimates import Difference

_NOT_CALIBRATED = ("fact.total_citations", "fact.total_valid_citations")
"""Official names of numbers that are calibrated under ours."""

_ONCE = (
    "Each report was judged once: how much a score is worth against noise is not known. Run it with epochs=2 or more."
)
_ONCE_A_RUN = (
    "within one run the same question is asked once, so that its noise shows between runs only "
    "(aiq calibrate RUN OTHER_RUN, with another seed); until then every difference counts."
)


def official_table(scores: OfficialScores) -> Group:
    """The figures as the official tools write them, and ours."""
    rows = [(name, found.mean, interval(found), found.n, found.estimator) for name, found in scores.metrics.items()]
    table = plain_table(("metric", "mean", "95 % interval", "n", "estimator"), rows)
    if scores.kind == "race":
        counts = f"{scores.reports} tasks, {scores.errors} of them left out because their judging failed"
    else:
        counts = (
            f"{counted(scores.reports, 'report')}, {scores.without_citations} without citations (left out of the "
            f"official figures); {counted(scores.errors, 'page')} could not be validated"
        )
    return Group(Text("official figures"), Text(result_file(scores.official)), table, Text(f"\n{counts}"))


def fresheval_table(found: FreshEvalTable) -> Table:
    """Percent with one decimal and the number of questions, by kind and split."""
    headings = ("accuracy, %", *(heading for split in SPLITS for heading in (split, "n")))
    rows = []
    for kind, accuracies in found.accuracies.items():
        cells = (accuracies.get(split) for split in SPLITS)
        pairs = ((f"{cell.percent:.1f}", cell.n) if cell else ("-", 0) for cell in cells)
        rows.append((kind, *(text for pair in pairs for text in pair)))
    return plain_table(headings, rows, found.metric)


def print_sweep(ends: Sequence[JobEnd]) -> None:
    """Axes, metrics with intervals, differences from the first job that has numbers, cost, status."""
    known = [end for end in ends if end.summary is not None]
    metrics = list(dict.fromkeys(name for end in known if end.summary for name in end.summary.metrics))
    axes = [axis.rpartition(".")[2] for axis in ends[0].axes]
    rows = [(*end.axes.values(), *_job_cells(end, metrics, next(iter(known), None))) for end in ends]
    table = plain_table((*axes, *metrics, "cost", "status", "exit code"), rows, "sweep", left=0)
    table.caption = "second line: difference from the first job, paired by sample; * its interval leaves out zero"
    table.caption_justify = "left"
    for column in table.columns[len(axes) : len(axes) + len(metrics)]:
        column.overflow = "fold"
    said = dict.fromkeys(note for end in known if end.summary for note in notes(end.summary))
    show(table, *(Text(note, style="yellow") for note in said))


def _job_cells(end: JobEnd, metrics: Sequence[str], first: JobEnd | None) -> list[object]:
    if end.summary is None:
        return [*[""] * len(metrics), "", "not started", end.exit_code]
    cells = []
    for name in metrics:
        found = end.summary.metrics.get(name)
        change = difference(first, end, name) if first and first is not end else None
        value = f"{number(found.mean)} ({interval(found)})" if found else "-"
        cells.append(f"{value}\n{_signed(change)}" if change else value)
    return [*cells, dollars(end.summary), end.summary.status, end.exit_code]


def _signed(change: Difference) -> str:
    """With its interval, and a star where that leaves out zero."""
    if change.ci95 is None:
        return f"{change.mean:+.3f}"
    return f"{change.mean:+.3f} ({change.ci95[0]:+.3f} to {change.ci95[1]:+.3f}){'*' if change.significant else ''}"


def calibration_tables(calibration: Calibration) -> Group:
    """How far to trust the judges, what they see, whom they agree with, and what a reader must know of it."""
    shown = [one for one in calibration.metrics if one.metric not in _NOT_CALIBRATED]
    tables = [_reliability(shown), _perturbations(shown)] if shown else []
    tables += [_agreement(calibration)] if calibration.agreement else []
    tables += [_labels(calibration)] if calibration.labels else []
    parts: list[RenderableType] = []
    for table in tables:
        parts += [table, Text()] if table is not tables[-1] else [table]
    if calibration.unmatched_labels:
        parts.append(Text(f"{calibration.unmatched_labels} labels fit no score", style="yellow"))
    silent = [one for one in shown if one.noise is None]
    if not all(one.once_per_run for one in silent):
        parts.append(Text(_ONCE, style="yellow"))
    if copied := dict.fromkeys(f"{one.metric.partition('.')[0]}.*" for one in silent if one.once_per_run):
        parts.append(Text(f"{', '.join(copied)}: {_ONCE_A_RUN}", style="dim"))
    if calibration.offline:
        parts.append(Text(OFFLINE_NOTE.replace("an agent", "a judge of yours"), style="yellow"))
    return Group(*parts)


def _reliability(metrics: Sequence[MetricReliability]) -> Table:
    headings = ("metric", "model", "reliability", "95 % interval", "noise (sd)", "equal again", "false alarms",
                "obeys", "rise by padding", "with length", "position bias")  # fmt: skip
    rows = [
        (
            *(one.metric, one.judge_model, _value(one.reliability), interval(one.reliability)),
            *((one.noise.sd, _percent(one.noise.equal)) if one.noise else (None, None)),
            _percent(_value(one.false_alarms)),
            *(_percent(_value(one.obeys_instructions)), _full(one.length_rise)),
            *(_value(one.length_correlation), _full(one.position_bias)),
        )
        for one in metrics
    ]
    return plain_table(headings, rows, "how far to trust the judges", left=2)


def _perturbations(metrics: Sequence[MetricReliability]) -> Table:
    """A row a metric, a column a perturbation; in brackets what the metric is not meant to see."""
    names = dict.fromkeys(name for one in metrics for name in one.perturbations)
    title = "what they see: rank correlation with the planted quality, and share of reports found worse"
    rows = [(one.metric, one.judge_model, *(_seen(one.perturbations.get(name)) for name in names)) for one in metrics]
    return plain_table(("metric", "model", *names), rows, title, left=2)


def _seen(seen: PerturbationFigures | None) -> str:
    if seen is None or seen.spearman is None:
        return "-"
    cell = f"{seen.spearman.value:.2f} {_percent(_value(seen.recall))}"
    return cell if seen.meant else f"({cell})"


def _agreement(calibration: Calibration) -> Table:
    alpha = _full(calibration.alpha)
    title = f"do they call the same reports worse than their originals? Krippendorff's alpha of all: {alpha}"
    headings = ("judge", "other judge", "reports", "equal verdicts", "kappa", "spearman", "alpha")
    rows = [
        (two.first, two.second, two.reports, _percent(two.equal), *map(_full, (two.kappa, two.spearman, two.alpha)))
        for two in calibration.agreement
    ]
    return plain_table(headings, rows, title, left=2)


def _labels(calibration: Calibration) -> Table:
    headings = ("metric", "model", "labels", "accuracy", "kappa", "spearman", "kendall")
    rows = [
        (one.metric, one.judge_model, one.labels, *map(_full, (one.accuracy, one.kappa, one.spearman, one.kendall)))
        for one in calibration.labels
    ]
    return plain_table(headings, rows, "against your labels", left=2)


def _value(figure: Figure | None) -> float | None:
    return figure.value if figure else None


def _full(figure: Figure | None) -> str | None:
    if figure is None:
        return None
    return number(figure.value) + (f" ({interval(figure)})" if figure.ci95 else "")


def _percent(share: float | None) -> str | None:
    return None if share is None else f"{100 * share:.0f} %"
