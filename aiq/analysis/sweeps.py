"""The table at the end of a sweep: a row a job, with each metric's difference from the first job, paired by sample."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rich.console import Console
from rich.table import Table
from rich.text import Text

from aiq.experiment.runner import Outcome
from aiq.runs.state import Scored
from aiq.runs.summary import SampleScores, mean_parts, ratio_parts, scores_by_sample
from aiq.site.tables import OFFLINE_NOTE, dollars, interval, number, show
from aiq.stats.estimates import Difference, paired_means, paired_ratios

T = TypeVar("T")


@dataclass(frozen=True)
class JobEnd:
    """How a job of a sweep ended; no outcome where it could not start."""

    axes: Mapping[str, str]
    exit_code: int
    outcome: Outcome | None


def print_sweep(ends: Sequence[JobEnd], console: Console | None = None) -> None:
    """Axes, metrics with intervals, differences from the first job that has numbers, cost, status."""
    console = console or Console()
    outcomes = [end.outcome for end in ends if end.outcome is not None]
    metrics = list(dict.fromkeys(name for outcome in outcomes for name in outcome.summary.metrics))
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
        table.add_row(*end.axes.values(), *_cells(end, metrics, outcomes))
    show(table, console)
    if any(outcome.summary.offline for outcome in outcomes):
        show(Text(OFFLINE_NOTE, style="yellow"), console)


def _cells(end: JobEnd, metrics: Sequence[str], outcomes: Sequence[Outcome]) -> list[str]:
    outcome = end.outcome
    if outcome is None:
        return [*[""] * len(metrics), "", "not started", str(end.exit_code)]
    cells = []
    for name in metrics:
        found = outcome.summary.metrics.get(name)
        change = difference(outcomes[0], outcome, name) if outcome is not outcomes[0] else None
        value = f"{number(found.mean)} ({interval(found)})" if found else "-"
        cells.append(f"{value}\n{_shown(change)}" if change else value)
    return [*cells, dollars(outcome.summary.cost_usd), outcome.summary.status, str(end.exit_code)]


def difference(first: Outcome, second: Outcome, metric_name: str) -> Difference | None:
    """The metric in the second run minus in the first, over the samples that both have scored."""
    before, after = _scores(first, metric_name), _scores(second, metric_name)
    if before is None or after is None or before[0] != after[0]:
        return None
    if before[0] == "ratio":
        return paired_ratios(_each(before[1], ratio_parts), _each(after[1], ratio_parts))
    return paired_means(_each(before[1], mean_parts), _each(after[1], mean_parts))


def _scores(outcome: Outcome, metric_name: str) -> tuple[str, SampleScores] | None:
    """The metric's estimator and the scores that count; None where the run has no such metric."""
    plan = outcome.plan
    for planned in plan.judges:
        for metric in planned.metrics:
            if metric.name == metric_name:
                policy = plan.settings.runner.agent_failures
                return metric.estimator, scores_by_sample(outcome.tally, planned, metric, plan.keys, policy)
    return None


def _each(scores: SampleScores, parts: Callable[[Iterable[Scored]], list[T]]) -> dict[str, list[T]]:
    return {sample: parts(of_sample) for sample, of_sample in scores.items()}


def _shown(change: Difference) -> str:
    """Signed, with its interval, and a star where that leaves out zero."""
    if change.ci95 is None:
        return f"{change.mean:+.3f}"
    return f"{change.mean:+.3f} ({change.ci95[0]:+.3f} to {change.ci95[1]:+.3f}){'*' if change.significant else ''}"
