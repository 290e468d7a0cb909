"""What analysis/ computes, as tables: the points of a sweep, FreshEval's table, official figures."""

from collections.abc import Sequence

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from aiq.analysis.fresheval import SPLITS, FreshEvalTable
from aiq.analysis.official import OfficialScores, result_file
from aiq.analysis.sweeps import JobEnd, difference
from aiq.site.tables import OFFLINE_NOTE, dollars, interval, number, plain_table, show
from aiq.stats.estimates import Difference


def official_table(scores: OfficialScores) -> Group:
    """The figures as the official tools write them, and ours."""
    table = plain_table(("metric", "mean", "95 % interval", "n", "estimator"))
    for name, found in scores.metrics.items():
        table.add_row(name, number(found.mean), interval(found), str(found.n), found.estimator)
    if scores.kind == "race":
        counts = f"{scores.reports} tasks, {scores.errors} of them left out because their judging failed"
    else:
        counts = (
            f"{scores.reports} reports, {scores.without_citations} without citations (left out of the official "
            f"figures); {scores.errors} pages could not be validated"
        )
    return Group(Text("official figures"), Text(result_file(scores.official)), table, Text(f"\n{counts}"))


def fresheval_table(found: FreshEvalTable) -> Table:
    """Percent with one decimal and the number of questions, by kind and split."""
    table = plain_table(("accuracy, %", *(heading for split in SPLITS for heading in (split, "n"))), found.metric)
    for kind, accuracies in found.accuracies.items():
        cells = [
            (f"{cell.percent:.1f}", str(cell.n)) if (cell := accuracies.get(split)) else ("-", "0") for split in SPLITS
        ]
        table.add_row(kind, *(text for pair in cells for text in pair))
    return table


def print_sweep(ends: Sequence[JobEnd], console: Console | None = None) -> None:
    """Axes, metrics with intervals, differences from the first job that has numbers, cost, status."""
    console = console or Console()
    summaries = [end.summary for end in ends if end.summary is not None]
    first = next((end for end in ends if end.summary is not None), None)
    metrics = list(dict.fromkeys(name for summary in summaries for name in summary.metrics))
    axes = [axis.rpartition(".")[2] for axis in ends[0].axes]
    table = plain_table((*axes, *metrics, "cost", "status", "exit code"), "sweep", left=0)
    table.caption = "second line: difference from the first job, paired by sample; * its interval leaves out zero"
    table.caption_justify = "left"
    for column in table.columns[len(axes) : len(axes) + len(metrics)]:
        column.overflow = "fold"
    for end in ends:
        table.add_row(*end.axes.values(), *_job_cells(end, metrics, first))
    show(table, console)
    if any(summary.offline for summary in summaries):
        show(Text(OFFLINE_NOTE, style="yellow"), console)


def _job_cells(end: JobEnd, metrics: Sequence[str], first: JobEnd | None) -> list[str]:
    if end.summary is None:
        return [*[""] * len(metrics), "", "not started", str(end.exit_code)]
    cells = []
    for name in metrics:
        found = end.summary.metrics.get(name)
        change = difference(first, end, name) if first and first is not end else None
        value = f"{number(found.mean)} ({interval(found)})" if found else "-"
        cells.append(f"{value}\n{_signed(change)}" if change else value)
    return [*cells, dollars(end.summary.cost_usd), end.summary.status, str(end.exit_code)]


def _signed(change: Difference) -> str:
    """With its interval, and a star where that leaves out zero."""
    if change.ci95 is None:
        return f"{change.mean:+.3f}"
    return f"{change.mean:+.3f} ({change.ci95[0]:+.3f} to {change.ci95[1]:+.3f}){'*' if change.significant else ''}"
