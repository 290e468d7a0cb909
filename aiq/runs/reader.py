"""Reads the rows of runs, also as pandas frames: the last line of a key wins, whatever files they are in.

The key of an attempt is (sample, epoch), that of a score (sample, epoch, judge, metric), whatever the judge's hash.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from aiq.core.errors import UserError
from aiq.core.run_settings import RunnerSettings
from aiq.core.samples import SampleKey
from aiq.runs.folder import RunFolder, find_run, natural
from aiq.runs.journal import read_journal, torn_bytes
from aiq.runs.manifest import RunSpec
from aiq.runs.rows import SampleRow, ScoreRow, StoredPage
from aiq.runs.state import RunState
from aiq.runs.summary import Summary

if TYPE_CHECKING:
    from pandas import DataFrame

_SAMPLE_COLUMNS = {
    "sample_id",
    "epoch",
    "attempt",
    "status",
    "question",
    "report",
    "route",
    "outcome",
    "citation_status",
}
_SCORE_COLUMNS = ("judge", "metric", "status", "value", "numerator", "denominator", "reason", "judge_model")


def every_sample(folder: RunFolder) -> Iterator[SampleRow]:
    """The rows of all attempts, superseded ones too. Raises UserError for a line that is no such row."""
    for path in sorted(folder.path.glob("samples*.jsonl")):
        yield from read_journal(path, SampleRow)


def every_score(folder: RunFolder) -> Iterator[ScoreRow]:
    """The rows of all scores, superseded ones too. Raises UserError for a line that is no such row."""
    for path in sorted(folder.path.glob("scores*.jsonl")):
        yield from read_journal(path, ScoreRow)


def read_samples(
    folder: RunFolder, light: Callable[[SampleRow], SampleRow] | None = None
) -> dict[SampleKey, SampleRow]:
    """The last attempt of each key. `light` lightens each row as it is read, where not all texts are needed at once."""
    _say_torn(folder, "samples")
    return {row.key: light(row) if light else row for row in every_sample(folder)}


def read_scores(folder: RunFolder, samples: Mapping[SampleKey, SampleRow]) -> dict[SampleKey, list[ScoreRow]]:
    """The last scores of these attempts, in the order of the files; a key without any has an empty list."""
    _say_torn(folder, "scores")
    found: dict[SampleKey, dict[tuple[str, str], ScoreRow]] = {key: {} for key in samples}
    for row in every_score(folder):
        if row.key in samples and samples[row.key].attempt == row.attempt:
            found[row.key][row.judge, row.metric] = row
    return {key: list(scores.values()) for key, scores in found.items()}


def read_state(folder: RunFolder) -> RunState:
    """What a run has come to, by its rows alone: it knows the samples that were attempted, not the others.

    Raises UserError for a run of an older version, whose manifest does not say what its judges declare.
    """
    manifest = folder.read_manifest()
    if manifest.hashes.judges and not manifest.judges:
        raise UserError(
            f"{folder.path}: an older version made this run, and did not note what its judges declare; "
            f"aiq run resume={folder.path} adds it"
        )
    samples = read_samples(folder, SampleRow.light)
    keys = tuple(sorted(samples, key=lambda key: (natural(key.sample_id), key.epoch)))
    state = RunState(RunSpec(keys, manifest.judges, manifest.section("runner", RunnerSettings), manifest.intervals))
    for row in samples.values():
        state.add_attempt(row)
    state.add_scores(every_score(folder))
    return state


def _say_torn(folder: RunFolder, name: str) -> None:
    """On stderr, which files end in a line that was not written to its end, and is left out."""
    for path in sorted(folder.path.glob(f"{name}*.jsonl")):
        if torn := torn_bytes(path):
            remedy = f"its work is done again by aiq run resume={folder.path}"
            print(f"aiq: {path}: a torn last line ({torn} bytes) is left out; {remedy}", file=sys.stderr)


def read_pages(folder: RunFolder) -> dict[str, StoredPage]:
    """The pages that judges of the run have read, by the URL they are cited by; empty where none was fetched."""
    return {page.url: page for page in read_journal(folder.pages_path, StoredPage)}


class RunFrames(NamedTuple):
    """`samples`: a row for the last attempt of each (run, sample, epoch), its tags as columns `tag.NAME`.

    `scores`: a row for each (run, sample, epoch, judge, metric); a failed judge's has no number and an `error`. The
    `value` of a ratio is numerator by denominator; over several rows add each of these up first.
    """

    samples: "DataFrame"
    scores: "DataFrame"


@dataclass(frozen=True, repr=False)
class FinishedRun:
    """A run that came to its end: what `aiq.run` gives. `exit_code`: what `aiq run` would have ended with, 0 or 3."""

    folder: Path
    summary: Summary
    exit_code: int

    @cached_property
    def frames(self) -> RunFrames:
        """Its rows as pandas frames."""
        return load_runs(str(self.folder))

    def __repr__(self) -> str:
        statuses = ", ".join(f"{count} {status}" for status, count in self.summary.statuses.items())
        metrics = ", ".join(f"{name} {found.mean:.3f}" for name, found in self.summary.metrics.items())
        return f"<{self.folder}: {statuses}; {metrics or 'nothing scored'}>"


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
        "unreported_calls": sum(used.unreported_calls for used in row.usage.values()),
        "error": row.error and str(row.error),
        **{f"tag.{name}": value for name, value in row.tags.items()},
    }


def _score(row: ScoreRow) -> dict[str, Any]:
    shown = {name: getattr(row, name) for name in _SCORE_COLUMNS}
    if row.parts and row.parts[1]:
        shown["value"] = row.parts[0] / row.parts[1]
    return {"sample_id": row.sample_id, "epoch": row.epoch, **shown, "error": row.error and row.error.message}
