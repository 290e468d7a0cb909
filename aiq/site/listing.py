"""Lists on the terminal: runs and sweeps, and the samples of a run."""

from collections.abc import Iterable, Mapping, Sequence
from textwrap import shorten

from rich.text import Text

from aiq.core.samples import SampleKey
from aiq.runs.folder import natural
from aiq.runs.listing import ListedRun
from aiq.runs.manifest import Manifest
from aiq.runs.rows import SampleRow, ScoreRow
from aiq.site.tables import Sheet, dollars, interval, number, score_value

_MAX_CHARS = 120  # characters of a report in a list
_STYLES = {"running": "cyan", "failed": "red", "interrupted": "yellow", "cut off": "yellow", "limit": "yellow"}


def runs_sheet(runs: Iterable[ListedRun]) -> Sheet:
    """The columns people look for first come first, because only those fit in 80 columns."""
    headings = ("run", "experiment", "status", "score", "metric", "cost", "when (UTC)", "agent", "model", "dataset")
    return Sheet(headings, [_row(run) for run in runs], left=len(headings))


def _row(run: ListedRun) -> tuple[object, ...]:
    status = Text(f"sweep, {run.status}" if run.kind == "sweep" else run.status, _STYLES.get(run.status, ""))
    bounds = f" ({interval(run.score)})" if run.score and run.score.ci95 else ""
    score = f"{number(run.score.mean)}{bounds}" if run.score else None
    cost = dollars(run).removeprefix("cost ") if run.summarised else None
    started = run.started and run.started[:16].replace("T", " ")
    origin = (name or None for name in (run.agent, run.model, run.dataset))
    return (run.id, run.experiment, status, score, run.metric, cost, started, *origin)


def samples_sheet(
    manifest: Manifest, rows: Mapping[SampleKey, SampleRow], scores: Mapping[SampleKey, Sequence[ScoreRow]]
) -> Sheet:
    """The last attempts with the first metric of each judge; the worst, by the first of these metrics, on top."""
    metrics = [judge.metrics[0] for judge in manifest.judges if judge.metrics]
    epochs = any(key.epoch > 1 for key in rows)
    by_metric = {key: {score.metric: score for score in scores[key]} for key in rows}

    def rank(row: SampleRow) -> tuple[object, ...]:
        value = next((score.number for metric in metrics[:1] if (score := by_metric[row.key].get(metric.name))), None)
        if value is None:
            return row.answered, float("-inf"), natural(row.sample_id), row.epoch
        return row.answered, value if metrics[0].higher_is_better else -value, natural(row.sample_id), row.epoch

    table = [
        (
            f"{row.sample_id}.{row.epoch}" if epochs else row.sample_id,
            Text(row.status, _STYLES.get(row.status, "")),
            *((score := by_metric[row.key].get(metric.name)) and score_value(score) for metric in metrics),
            dollars(row.spent).removeprefix("cost "),
            shorten(str(row.error or row.report or ""), _MAX_CHARS, placeholder=" ..."),
        )
        for row in sorted(rows.values(), key=rank)
    ]
    headings = ("sample", "status", *(metric.name.replace(".", ".\n") for metric in metrics), "cost", "report or error")
    return Sheet(headings, table, left=len(headings))
