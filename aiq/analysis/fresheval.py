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
    for score in (score for found in read_scores(folder, samples).values() for score in found):
        if score.judge == "fresheval":
            of_sample = scores.setdefault(score.metric, {}).setdefault(score.sample_id, [])
            of_sample += [] if score.value is None else [score.value]
    if not scores:
        raise UserError(f"{folder.path} has no scores of judge fresheval; score it with judge=[fresheval]")
    tags = {key.sample_id: row.tags for key, row in samples.items()}
    return [_table(metric, values, tags) for metric, values in scores.items()]


def _table(metric: str, values: Mapping[str, list[float]], tags: Mapping[str, Mapping[str, str]]) -> FreshEvalTable:
    """`values`: by question, one per judged epoch."""
    judged = {sample: fmean(found) for sample, found in values.items() if found}
    cells = {
        kind: {split: cell for split, more in SPLITS.items() if (cell := _cell(judged, tags, {**wanted, **more}))}
        for kind, wanted in _KINDS.items()
    }
    return FreshEvalTable(metric=metric, unjudged=len(values) - len(judged), accuracies=cells)


def _cell(
    judged: Mapping[str, float], tags: Mapping[str, Mapping[str, str]], wanted: Mapping[str, str]
) -> Accuracy | None:
    found = [value for sample, value in sorted(judged.items()) if wanted.items() <= dict(tags[sample]).items()]
    return Accuracy(percent=100 * fmean(found), n=len(found)) if found else None
