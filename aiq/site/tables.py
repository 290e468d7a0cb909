"""The table at the end of a run, on the terminal."""

from collections.abc import Mapping

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from aiq.analysis.reliability import reliabilities
from aiq.core.usage import Usage
from aiq.runs.folder import RunFolder
from aiq.runs.rows import ScoreRow
from aiq.runs.summary import Summary
from aiq.stats.estimates import Estimate
from aiq.stats.noise import RunNoise

OFFLINE_NOTE = "Made with the offline model: these numbers test the harness, they do not measure an agent."

NOISE_HEADINGS = ("sd", "votes", "orders", "members", "first - swapped", "se of the mean", "judgements")

NOTHING_SCORED = "nothing was scored: judge=[] names no judge"

_WIDEST = 1000


def print_summary(summary: Summary, folder: RunFolder, console: Console | None = None) -> None:
    """Metrics, failures, spend, and where everything is."""
    console = console or Console()
    reliability, problem = reliabilities(folder, summary.metrics)
    parts: list[Table | Text] = [_metrics(summary, reliability)]
    if not folder.read_manifest().hashes.judges:
        parts.append(Text(NOTHING_SCORED, style="yellow"))
    if problem is not None:
        parts.append(Text(f"the judges' reliability is not known: {problem}", style="red"))
    if summary.unavailable:
        parts.append(Text("\n".join(f"no {name}: {why}" for name, why in summary.unavailable.items()), style="dim"))
    if summary.judge_noise:
        parts.append(_noise(summary))
    parts += [_attempts(summary), _spend(summary)]
    if summary.offline:
        parts.append(Text(OFFLINE_NOTE, style="yellow"))
    parts.append(Text(f"written to {folder.path}\n           {folder.page_path}"))
    show(Group(*parts), console)


def show(content: RenderableType, console: Console) -> None:
    """Print within a terminal's width; into a file or a pipe as wide as the content is."""
    if not console.is_terminal:
        console.width = _WIDEST
    console.print(content)


def _metrics(summary: Summary, reliability: Mapping[str, str]) -> Table:
    table = Table(title=f"{summary.experiment}  {summary.run_id}", title_justify="left", box=None, pad_edge=False)
    table.add_column("metric")
    counted = f"failures {summary.agent_failures.alternative}d"
    for heading in ("mean", "95 % interval", "n", "estimator", "judge reliability", counted):
        table.add_column(heading, justify="right")
    other = summary.agent_failures.metrics
    for name, found in summary.metrics.items():
        shown = number(other[name].mean) if summary.agent_failures.failed and name in other else ""
        cells = (number(found.mean), interval(found), str(found.n), found.estimator, reliability[name])
        table.add_row(name, *cells, shown)
    if not summary.agent_failures.failed:
        table.columns.pop()
    return table


def _noise(summary: Summary) -> Table:
    """How far judgements of one report lie apart, by where they differ; beside the sampling interval above."""
    table = Table(box=None, pad_edge=False)
    table.add_column("judge noise")
    for heading in NOISE_HEADINGS:
        table.add_column(heading, justify="right")
    for name, noise in summary.judge_noise.items():
        table.add_row(name, *noise_cells(noise))
    return table


def noise_cells(noise: RunNoise) -> list[str]:
    """What stands under NOISE_HEADINGS."""
    figures = (noise.sd, noise.votes, noise.orders, noise.members, noise.order_gap, noise.standard_error)
    return [*("-" if figure is None else number(figure) for figure in figures), str(noise.judgements)]


def _attempts(summary: Summary) -> Text:
    """How the attempts ended, and what the judges failed on."""
    statuses = ", ".join(f"{count} {status}" for status, count in summary.statuses.items()) or "none"
    line = f"{summary.n_samples} samples, {summary.n_attempts} attempts: {statuses}"
    text = Text(line, style="" if set(summary.statuses) <= {"completed"} else "red")
    if len(summary.routes) > 1:
        text.append("\nroutes: " + ", ".join(f"{found.n} {route}" for route, found in summary.routes.items()), style="")
    for message, count in summary.failures.items():
        text.append(f"\n{count} times: {message}", style="red")
    for judge, errors in summary.judge_errors.items():
        text.append(f"\njudge {judge} failed on {errors.n}: {errors.first}", style="red")
    return text


def _spend(summary: Summary) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("account")
    for heading in ("model calls", "input tokens", "output tokens", "cost"):
        table.add_column(heading, justify="right")
    total = Usage()
    for account, usage in summary.usage.items():
        table.add_row(account, *_usage_cells(usage.total))
        total += usage.total
    table.add_row("total", *_usage_cells(total))
    return table


def _usage_cells(usage: Usage) -> list[str]:
    return [f"{usage.calls:,}", f"{usage.input_tokens:,}", f"{usage.output_tokens:,}", dollars(usage.cost_usd)]


def number(value: float) -> str:
    """Three decimals below 100, one above."""
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.1f}"


def interval(estimate: Estimate) -> str:
    return "-" if estimate.ci95 is None else f"{number(estimate.ci95[0])} to {number(estimate.ci95[1])}"


def score_value(score: ScoreRow) -> str:
    """A score, or its status where it has no value."""
    if score.numerator is not None and score.denominator is not None:
        return f"{score.numerator:g} of {score.denominator:g}"
    return f"{score.value:.3g}" if score.value is not None else score.status


def score_note(score: ScoreRow) -> str:
    """Why the score has no value, where it has none."""
    return score.error.message if score.error else score.reason or ""


def dollars(cost: float | None) -> str:
    return "unknown (no price)" if cost is None else f"${cost:.4f}" if 0 < cost < 0.1 else f"${cost:.2f}"
