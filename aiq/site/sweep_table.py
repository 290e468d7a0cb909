"""The table at the end of a sweep: a row a job, with each metric's difference from the first job, paired by sample."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from aiq.analysis.sweeps import JobEnd, difference
from aiq.site.tables import OFFLINE_NOTE, dollars, interval, number, show
from aiq.stats.estimates import Difference


def print_sweep(ends: Sequence[JobEnd], console: Console | None = None) -> None:
    """Axes, metrics with intervals, differences from the first job that has numbers, cost, status."""
    console = console or Console()
    ran = [end for end in ends if end.summary is not None]
    summaries = [end.summary for end in ends if end.summary is not None]
    metrics = list(dict.fromkeys(name for summary in summaries for name in summary.metrics))
    caption = "second line: difference from the first job, paired by sample; * its interval leaves out zero"
    table = Table(
        title="sweep", caption=caption, title_justify="left", caption_justify="left", box=None, pad_edge=False
    )
    for axis in ends[0].axes:
        table.add_column(axis.rpartition(".")[2], justify="right")
    for metric in metrics:
        table.add_column(metric, justify="right", overflow="fold")
    for heading in ("cost", "status", "exit code"):
        table.add_column(heading, justify="right")
    for end in ends:
        table.add_row(*end.axes.values(), *_cells(end, metrics, ran))
    show(table, console)
    if any(summary.offline for summary in summaries):
        show(Text(OFFLINE_NOTE, style="yellow"), console)


def _cells(end: JobEnd, metrics: Sequence[str], ran: Sequence[JobEnd]) -> list[str]:
    if end.summary is None:
        return [*[""] * len(metrics), "", "not started", str(end.exit_code)]
    cells = []
    for name in metrics:
        found = end.summary.metrics.get(name)
        change = difference(ran[0], end, name) if end is not ran[0] else None
        value = f"{number(found.mean)} ({interval(found)})" if found else "-"
        cells.append(f"{value}\n{_shown(change)}" if change else value)
    return [*cells, dollars(end.summary.cost_usd), end.summary.status, str(end.exit_code)]


def _shown(change: Difference) -> str:
    """Signed, with its interval, and a star where that leaves out zero."""
    if change.ci95 is None:
        return f"{change.mean:+.3f}"
    return f"{change.mean:+.3f} ({change.ci95[0]:+.3f} to {change.ci95[1]:+.3f}){'*' if change.significant else ''}"
