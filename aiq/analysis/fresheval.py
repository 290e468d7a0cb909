"""FreshEval's official table: accuracy in percent by kind of question, for all questions and each split."""

from collections.abc import Mapping
from statistics import fmean
from typing import Final

from aiq.core.base import Record
from aiq.core.errors import UserError
from aiq.runs.folder import RunFolder
from aiq.runs.reader import read_samples, read_scores
from aiq.runs.rows import SampleRow

_VALID: Final = {"false_premise": "FALSE"}
_FALSE: Final = {"false_premise": "TRUE"}
_KINDS: Final[Mapping[str, Mapping[str, str]]] = {
    "overall": {},
    **{kind: {**_VALID, "fact_type": kind} for kind in ("fast-changing", "slow-changing", "never-changing")},
    **{
        ", ".join([f"{premise} premise", *part.values()]): {**tags, **part}
        for premise, tags in (("valid", _VALID), ("false", _FALSE))
        for part in ({}, {"num_hops": "one-hop"}, {"num_hops": "multi-hop"}, {"age": "old"}, {"age": "new"})
    },
}
"""The official kinds in their order, as tags; kinds by change of facts hold only questions with a valid premise."""

SPLITS: Final[Mapping[str, Mapping[str, str]]] = {"all": {}, "test": {"split": "TEST"}, "dev": {"split": "DEV"}}


class Accuracy(Record):
    """`percent` of `n` questions answered correctly; a question's epochs are averaged first."""

    percent: float
    n: int


class FreshEvalTable(Record):
    """Accuracies by kind and split (`all`, `test`, `dev`); a cell without questions is absent.

    Failed attempts count as wrong. `unjudged`: questions left out because the judge failed on all their epochs.
    """

    metric: str
    unjudged: int
    accuracies: Mapping[str, Mapping[str, Accuracy]]


def fresheval_tables(folder: RunFolder) -> list[FreshEvalTable]:
    """A table for each mode in which the run was judged. Raises UserError if there is none."""
    samples = read_samples(folder, SampleRow.compact)
    scores: dict[str, dict[str, list[float]]] = {}
    for score in (score for rows in read_scores(folder, samples).values() for score in rows):
        if score.judge == "fresheval":
            values = scores.setdefault(score.metric, {}).setdefault(score.sample_id, [])
            values += [] if score.value is None else [score.value]
    if not scores:
        raise UserError(f"{folder.path} has no scores of judge fresheval; score it with judge=[fresheval]")
    tags = {key.sample_id: row.tags for key, row in samples.items()}
    return [_table(metric, values, tags) for metric, values in scores.items()]


def _table(metric: str, values: Mapping[str, list[float]], tags: Mapping[str, Mapping[str, str]]) -> FreshEvalTable:
    """`values`: by question, one per judged epoch."""
    means = {sample: fmean(epochs) for sample, epochs in values.items() if epochs}
    cells = {
        kind: {split: cell for split, extra in SPLITS.items() if (cell := _cell(means, tags, {**filters, **extra}))}
        for kind, filters in _KINDS.items()
    }
    return FreshEvalTable(metric=metric, unjudged=len(values) - len(means), accuracies=cells)


def _cell(
    means: Mapping[str, float], tags: Mapping[str, Mapping[str, str]], filters: Mapping[str, str]
) -> Accuracy | None:
    values = [value for sample, value in sorted(means.items()) if filters.items() <= dict(tags[sample]).items()]
    return Accuracy(percent=100 * fmean(values), n=len(values)) if values else None
