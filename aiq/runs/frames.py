"""Runs as pandas frames, for whoever analyses them further."""

from typing import TYPE_CHECKING, Any, NamedTuple

from aiq.runs.folder import find_run
from aiq.runs.reader import read_samples, read_scores
from aiq.runs.rows import SampleRow, ScoreRow

if TYPE_CHECKING:
    from pandas import DataFrame

_SAMPLE_COLUMNS = {"sample_id", "epoch", "attempt", "status", "question", "report", "route", "outcome"}
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
        manifest = folder.read_manifest()
        axes = manifest.sweep.axes if manifest.sweep else {}
        place = {"run_id": manifest.run_id, "experiment": manifest.experiment}
        place |= {f"axis.{name}": value for name, value in axes.items()}
        rows = read_samples(folder, SampleRow.light)
        samples += [place | _sample(row) for row in rows.values()]
        scores += [place | _score(row) for found in read_scores(folder, rows).values() for row in found]
    return RunFrames(DataFrame(samples), DataFrame(scores))


def _sample(row: SampleRow) -> dict[str, Any]:
    return {
        **row.model_dump(include=_SAMPLE_COLUMNS),
        "seconds": row.timing.seconds,
        "model_calls": sum(used.calls for used in row.usage.values()),
        "tokens": sum(used.total_tokens for used in row.usage.values()),
        "error": row.error and f"{row.error.type}: {row.error.message}",
        **{f"tag.{name}": value for name, value in row.tags.items()},
    }


def _score(row: ScoreRow) -> dict[str, Any]:
    shown = {name: getattr(row, name) for name in _SCORE_COLUMNS}
    return {"sample_id": row.sample_id, "epoch": row.epoch, **shown, "error": row.error and row.error.message}
