"""A metric against a user's own labels: rows of `sample_id`, `label`, and `metric` or `judge`."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from aiq.core.errors import DatasetError, UserError
from aiq.core.files import Files
from aiq.core.rows import Row, read_rows
from aiq.experiment.calibration.judges import over_tasks, rank_correlation
from aiq.experiment.calibration.records import LabelAgreement
from aiq.experiment.calibration.scored import Rated, Reports
from aiq.stats.agreement import accuracy, kappa
from aiq.stats.ranks import kendall

_WORDS = {
    **dict.fromkeys(("true", "yes", "correct", "supported", "good", "是", "对", "正确", "支持"), 1.0),
    **dict.fromkeys(("false", "no", "incorrect", "unsupported", "bad", "否", "错", "错误", "不支持"), 0.0),
}


class Label(NamedTuple):
    """`metric`: its name, a judge's, or empty for all."""

    sample: str
    metric: str
    value: float


def read_labels(path: Path) -> list[Label]:
    """Raises DatasetError that names the row."""
    return [_label(row) for row in read_rows(Files(), path, "--labels", ("sample_id", "label"))]


def _label(row: Row) -> Label:
    text = row.required("label").lower()
    value: JsonValue = _WORDS.get(text)
    if value is None:
        try:
            value = float(text)
        except ValueError:
            value = None
    if not isinstance(value, float) or abs(value) == float("inf") or value != value:
        raise DatasetError(f"{row.where}: label {text!r} is neither a number nor one of {', '.join(_WORDS)}")
    return Label(row.required("sample_id"), row.text("metric") or row.text("judge"), value)


def against_labels(labels: Sequence[Label], reports: Reports) -> tuple[tuple[LabelAgreement, ...], int]:
    """Every metric that has labels, and how many labels fit no score. Raises UserError where none fits."""
    fitting: set[Label] = set()
    found = []
    for rated in reports.rated:
        mine = [
            label
            for label in labels
            if label.metric in ("", rated.metric, rated.judge) and rated.scores.get(label.sample)
        ]
        fitting |= set(mine)
        if mine:
            found.append(_compared(rated, mine, reports))
    if not found:
        known = ", ".join(dict.fromkeys(rated.metric for rated in reports.rated))
        raise UserError(f"none of {len(labels)} labels is of a scored sample; check sample_id, and metric ({known})")
    return tuple(found), len(set(labels) - fitting)


def _compared(rated: Rated, labels: Sequence[Label], reports: Reports) -> LabelAgreement:
    """Several labels of a sample are taken as their mean."""
    given: dict[str, list[float]] = {}
    for label in labels:
        given.setdefault(label.sample, []).append(label.value)
    pairs = {s: (sum(values) / len(values), rated.mean(s) or 0.0) for s, values in given.items()}
    binary = all(value in (0.0, 1.0) for pair in pairs.values() for value in pair)
    words = {s: (f"{a:g}", f"{b:g}") for s, (a, b) in pairs.items()} if binary else {}
    return LabelAgreement(
        metric=rated.metric,
        judge_model=rated.judge_model,
        labels=len(labels),
        accuracy=over_tasks(words, reports, accuracy),
        kappa=over_tasks(words, reports, kappa),
        spearman=over_tasks(pairs, reports, rank_correlation),
        kendall=over_tasks(pairs, reports, _tau),
    )


def _tau(pairs: Sequence[tuple[float, float]]) -> float | None:
    return kendall([first for first, _ in pairs], [second for _, second in pairs])
