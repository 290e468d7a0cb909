"""Runs as pandas frames, for whoever analyses them further."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from aiq.runs.folder import find_run
from aiq.runs.manifest import Manifest
from aiq.runs.reader import read_samples, read_scores
from aiq.runs.rows import SampleRow, ScoreRow

if TYPE_CHECKING:
    from pandas import DataFrame

_SCORE_COLUMNS = ("judge", "metric", "status", "value", "numerator", "denominator", "reason", "judge_model")


class RunFrames(NamedTuple):
    """`samples`: a row for the last attempt of each (run, sample, epoch), its tags as columns `tag.NAME`.

    `scores`: a row for each (run, sample, epoch, judge, metric); a failed judge's has no number and an `error`.
    """

    samples: "DataFrame"
    scores: "DataFrame"


def load_runs(*runs: str, results: str = "results") -> RunFrames:
    """The finished rows of some runs, each a folder, a run id below `results`, or `latest`.

    Raises UserError for what is none. Both frames name the run in `run_id` and `experiment`, and, where the run
    belongs to a sweep, its value on each axis in `axis.NAME`.
    """
    from pandas import DataFrame

    samples: list[dict[str, Any]] = []
    scores: list[dict[str, Any]] = []
    for folder in [find_run(name, results) for name in runs]:
        place = _place(folder.read_manifest())
        rows = read_samples(folder, SampleRow.light)
        samples += [{**place, **_sample(row)} for row in rows.values()]
        scores += [{**place, **score} for score in _scores(read_scores(folder, rows))]
    return RunFrames(DataFrame(samples), DataFrame(scores))


def _place(manifest: Manifest) -> dict[str, str]:
    axes = manifest.sweep.axes if manifest.sweep else {}
    named = {"run_id": manifest.run_id, "experiment": manifest.experiment}
    return named | {f"axis.{name}": value for name, value in axes.items()}


def _sample(row: SampleRow) -> dict[str, Any]:
    kept = {"sample_id", "epoch", "attempt", "status", "question", "report", "route", "outcome"}
    usage = list(row.usage.values())
    return {
        **row.model_dump(include=kept),
        "seconds": row.timing.seconds,
        "model_calls": sum(used.calls for used in usage),
        "tokens": sum(used.total_tokens for used in usage),
        "error": row.error and f"{row.error.type}: {row.error.message}",
        **{f"tag.{name}": value for name, value in row.tags.items()},
    }


def _scores(found: Mapping[Any, list[ScoreRow]]) -> Iterator[dict[str, Any]]:
    for row in (row for rows in found.values() for row in rows):
        shown = {name: getattr(row, name) for name in _SCORE_COLUMNS}
        yield {"sample_id": row.sample_id, "epoch": row.epoch, **shown, "error": row.error and row.error.message}
