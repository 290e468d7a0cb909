"""Runs as pandas frames: one each for the runs, their metrics, the attempts and the scores.

Each frame has the columns listed below, in that order, even without rows; `run_id` joins the frames, and `sample_id`
and `epoch` join attempts and scores. If there are any, a run's values on its sweep's axes follow as `axis.NAME`, and
a sample's tags as `tag.NAME`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from aiq.core.usage import Usage
from aiq.runs.folder import RunFolder, find_runs
from aiq.runs.manifest import Manifest
from aiq.runs.reader import read_samples, read_scores, summary_of
from aiq.runs.rows import SampleRow, ScoreRow
from aiq.runs.summary import LeftOut, Summary
from aiq.stats.estimates import Estimate

if TYPE_CHECKING:
    from pandas import DataFrame

Row = Mapping[str, Any]

_ALL_JUDGED: Final = LeftOut(failed=0, unjudged=0, not_applicable=0)
_RUN_COLUMNS: Final = ("run_id", "experiment")
_USAGE_COLUMNS: Final = ("model_calls", "input_tokens", "output_tokens", "tokens", "cost_usd", "unreported_calls")
_SUMMARY_FIELDS: Final = ("n_samples", "n_attempts", "n_errors")
_MANIFEST_FIELDS: Final = ("status", "started", "finished", "git_revision", "offline", "clock")

COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    "runs": (
        *(*_RUN_COLUMNS, "folder", *_MANIFEST_FIELDS),
        *("sweep", "dataset", "dataset_fingerprint", "config_hash", "agent_hash"),
        *(*_SUMMARY_FIELDS, "n_partial"),
        *("run_seconds", "attempt_seconds"),
        *(f"{account}_{name}" for account in ("agent", "judge") for name in _USAGE_COLUMNS),
    ),
    "metrics": (
        *(*_RUN_COLUMNS, "metric", "judge", "tag", "tag_value"),
        *("mean", "ci_low", "ci_high", "n", "estimator", "least", "greatest", "higher_is_better"),
        *("failed", "unjudged", "not_applicable", "bound_low", "bound_high"),
    ),
    "samples": (
        *(*_RUN_COLUMNS, "sample_id", "epoch", "attempt", "status", "question", "report"),
        *("route", "outcome", "citation_status", "seconds", *_USAGE_COLUMNS, "error"),
    ),
    "scores": (
        *(*_RUN_COLUMNS, "sample_id", "epoch", "judge", "metric", "status"),
        *("value", "numerator", "denominator", "reason", "error", "judge_model"),
    ),
}
"""The columns that each frame always has. `docs/reference/frames.md` explains them."""

_NULLABLE: Final = {
    *("run_seconds", "attempt_seconds", "agent_cost_usd", "judge_cost_usd", "cost_usd"),
    *("mean", "ci_low", "ci_high", "least", "greatest", "bound_low", "bound_high"),
    *("failed", "unjudged", "not_applicable", "value", "numerator", "denominator"),
}
"""Numbers that a row may lack, as NaN; the column is of type float even if every row lacks them."""


@dataclass(frozen=True)
class RunFrames:
    """Runs as frames, each read on first use; you may change a frame.

    `runs`: a row for each run. `metrics`: one for each metric of a run, over all samples and over each slice, with its
    95 % interval. `samples`: one for the last attempt of each (sample, epoch). `scores`: one for each (sample, epoch,
    judge, metric); the value of a ratio is numerator / denominator, and over several rows the sum of the numerators /
    the sum of the denominators. The score of a failed judge has an `error` and no number.
    """

    folders: tuple[RunFolder, ...]

    @cached_property
    def runs(self) -> "DataFrame":
        return self._frame("runs", self._runs())

    @cached_property
    def metrics(self) -> "DataFrame":
        return self._frame("metrics", self._metrics())

    @cached_property
    def samples(self) -> "DataFrame":
        return self._frame("samples", self._samples())

    @cached_property
    def scores(self) -> "DataFrame":
        return self._frame("scores", self._scores())

    @cached_property
    def manifests(self) -> tuple[Manifest, ...]:
        return tuple(folder.read_manifest() for folder in self.folders)

    @cached_property
    def summaries(self) -> tuple[Summary, ...]:
        """The summary of each run: as the run wrote it or, if it was cut off, computed from its rows."""
        return tuple(map(summary_of, self.folders, self.manifests))

    def _frame(self, name: str, rows: Iterable[Row]) -> "DataFrame":
        from pandas import DataFrame

        records = list(rows)
        axes = {f"axis.{axis}": None for manifest in self.manifests for axis in manifest.axes}
        tags = sorted({column for row in records for column in row if column.startswith("tag.")})
        frame = DataFrame(records, columns=[*COLUMNS[name], *axes, *tags])
        return frame.astype(dict.fromkeys(_NULLABLE & set(COLUMNS[name]), float))

    def _runs(self) -> Iterator[Row]:
        for folder, manifest, summary in zip(self.folders, self.manifests, self.summaries, strict=True):
            row: dict[str, Any] = {
                **_run_columns(manifest),
                "folder": str(folder.path),
                **{name: getattr(manifest, name) for name in _MANIFEST_FIELDS},
                "sweep": manifest.sweep.id if manifest.sweep else None,
                "dataset": manifest.dataset.name,
                "dataset_fingerprint": manifest.dataset.fingerprint,
                "config_hash": manifest.hashes.config,
                "agent_hash": manifest.hashes.agent,
                **{name: getattr(summary, name) for name in _SUMMARY_FIELDS},
                "n_partial": summary.partial,
                "run_seconds": summary.timing.run_seconds or None,  # unknown if it was cut off
                "attempt_seconds": summary.timing.attempt_mean,
            }
            for account, usage in summary.usage.items():
                row |= {f"{account}_{name}": value for name, value in _usage_columns(usage.total).items()}
            yield row

    def _metrics(self) -> Iterator[Row]:
        for manifest, summary in zip(self.manifests, self.summaries, strict=True):
            judges = {metric.name: (judge.name, metric) for judge in manifest.judges for metric in judge.metrics}
            for tag, value, name, estimate in _estimates(summary):
                judge, metric = judges.get(name, (name.partition(".")[0], None))
                least, greatest = summary.ranges.get(name, (metric and metric.low, metric and metric.high))
                row: dict[str, Any] = {
                    **_run_columns(manifest),
                    "metric": name,
                    "judge": judge,
                    "tag": tag,
                    "tag_value": value,
                    **estimate.model_dump(include={"mean", "n", "estimator"}),
                    "least": least,
                    "greatest": greatest,
                    "higher_is_better": metric and metric.higher_is_better,
                }
                row["ci_low"], row["ci_high"] = estimate.ci95 or (None, None)
                if tag is None and "left_out" in summary.model_fields_set:  # older summaries do not say
                    left_out = summary.left_out.get(name, _ALL_JUDGED)
                    row |= left_out.model_dump(exclude={"bounds"})
                    row["bound_low"], row["bound_high"] = left_out.bounds or (None, None)
                yield row

    def _samples(self) -> Iterator[Row]:
        for folder, manifest in zip(self.folders, self.manifests, strict=True):
            for row in read_samples(folder, SampleRow.compact).values():
                yield _run_columns(manifest) | {
                    **row.model_dump(include=set(COLUMNS["samples"]) - {"error"}),
                    "seconds": row.timing.seconds,
                    **_usage_columns(row.spent),
                    "error": row.error and str(row.error),
                    **{f"tag.{name}": value for name, value in row.tags.items()},
                }

    def _scores(self) -> Iterator[Row]:
        for folder, manifest in zip(self.folders, self.manifests, strict=True):
            scores = read_scores(folder, read_samples(folder, SampleRow.compact))
            for score in (score for rows in scores.values() for score in rows):
                yield _run_columns(manifest) | _score_columns(score)


@dataclass(frozen=True, repr=False)
class FinishedRun:
    """A run that has finished, as `aiq.run` returns it. `exit_code`: that of `aiq run`, 0 or 3."""

    folder: Path
    summary: Summary
    exit_code: int

    @cached_property
    def frames(self) -> RunFrames:
        """Its rows as pandas frames."""
        return RunFrames((RunFolder(self.folder),))

    def __repr__(self) -> str:
        statuses = ", ".join(f"{count} {status}" for status, count in self.summary.statuses.items())
        metrics = ", ".join(f"{name} {estimate.mean:.3f}" for name, estimate in self.summary.metrics.items())
        return f"<{self.folder}: {statuses}; {metrics or 'nothing scored'}>"


def load_runs(*runs: str | Path, results: str | Path = "results") -> RunFrames:
    """Runs as pandas frames; without names, all runs below `results`.

    A name is a run (a folder, a run id below `results`, `latest`, or an experiment's name for its latest run), a sweep
    (a folder or an id) for its points, any folder for all runs below it, or a pattern of these (`shallow_freshqa/*`).
    A run that several names match is included once. Raises UserError for a name that matches no run.
    """
    return RunFrames(tuple(find_runs([str(name) for name in runs], str(results))))


def _run_columns(manifest: Manifest) -> dict[str, Any]:
    axes = {f"axis.{name}": value for name, value in manifest.axes.items()}
    return {"run_id": manifest.run_id, "experiment": manifest.experiment, **axes}


def _estimates(summary: Summary) -> Iterator[tuple[str | None, str | None, str, Estimate]]:
    """Tag, tag value, metric and estimate: over all samples first, then by slice."""
    yield from ((None, None, *pair) for pair in summary.metrics.items())
    for tag, values in summary.slices.items():
        for value, metrics in values.items():
            yield from ((tag, value, *pair) for pair in metrics.items())


def _usage_columns(usage: Usage) -> dict[str, Any]:
    tokens = (usage.input_tokens, usage.output_tokens, usage.total_tokens)
    return dict(zip(_USAGE_COLUMNS, (usage.calls, *tokens, usage.cost_usd, usage.unreported_calls), strict=True))


def _score_columns(row: ScoreRow) -> dict[str, Any]:
    fields = {name: getattr(row, name) for name in COLUMNS["scores"] if name in ScoreRow.model_fields}
    return {**fields, "value": row.number, "error": row.error and row.error.message}
