"""The tables of a calibration: how far to trust the judges, what they see, and whom they agree with."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from aiq.analysis.reliability import Calibration, Figure, MetricReliability, PerturbationFigures
from aiq.site.tables import OFFLINE_NOTE, interval, number, plain_table

T = TypeVar("T")

_NOT_CALIBRATED = ("fact.total_citations", "fact.total_valid_citations")
"""Official names of numbers that are calibrated under ours."""

_ONCE = (
    "Each report was judged once: how much a score is worth against noise is not known. Run it with epochs=2 or more."
)
_ONCE_A_RUN = (
    "within one run the same question is asked once, so that its noise shows between runs only "
    "(aiq calibrate RUN OTHER_RUN, with another seed); until then every difference counts."
)


def tables(calibration: Calibration) -> Group:
    """What was measured, and what a reader must know of it."""
    parts: list[RenderableType] = []
    shown = [one for one in calibration.metrics if one.metric not in _NOT_CALIBRATED]
    if shown:
        parts += [_reliability(shown), Text(), _perturbations(shown)]
    if calibration.agreement:
        parts += [Text(), _agreement(calibration)]
    if calibration.labels:
        parts += [Text(), _labels(calibration)]
    if calibration.unmatched_labels:
        parts.append(Text(f"{calibration.unmatched_labels} labels fit no score", style="yellow"))
    if any(one.noise is None and not one.once_per_run for one in shown):
        parts.append(Text(_ONCE, style="yellow"))
    copied = [one.metric for one in shown if one.noise is None and one.once_per_run]
    if copied:
        owners = dict.fromkeys(f"{name.partition('.')[0]}.*" for name in copied)
        parts.append(Text(f"{', '.join(owners)}: {_ONCE_A_RUN}", style="dim"))
    if calibration.offline:
        parts.append(Text(OFFLINE_NOTE.replace("an agent", "a judge of yours"), style="yellow"))
    return Group(*parts)


def _reliability(metrics: Sequence[MetricReliability]) -> Table:
    return _table(
        "how far to trust the judges",
        metrics,
        {
            "metric": lambda one: one.metric,
            "model": lambda one: one.judge_model or "-",
            "reliability": lambda one: _value(one.reliability),
            "95 % interval": lambda one: interval(one.reliability) if one.reliability else "-",
            "noise (sd)": lambda one: number(one.noise.sd) if one.noise else "-",
            "equal again": lambda one: _percent(one.noise.equal if one.noise else None),
            "false alarms": lambda one: _share(one.false_alarms),
            "obeys": lambda one: _share(one.obeys_instructions),
            "rise by padding": lambda one: _full(one.length_rise),
            "with length": lambda one: _value(one.length_correlation),
            "position bias": lambda one: _full(one.position_bias),
        },
    )


def _perturbations(metrics: Sequence[MetricReliability]) -> Table:
    """A row a metric, a column a perturbation; in brackets what the metric is not meant to see."""
    names = dict.fromkeys(name for one in metrics for name in one.perturbations)
    title = "what they see: rank correlation with the planted quality, and share of reports found worse"
    table = plain_table(("metric", "model", *names), title, left=2)
    for one in metrics:
        table.add_row(one.metric, one.judge_model or "-", *(_seen(one.perturbations.get(name)) for name in names))
    return table


def _seen(seen: PerturbationFigures | None) -> str:
    if seen is None or seen.spearman is None:
        return "-"
    cell = f"{seen.spearman.value:.2f} {_share(seen.recall)}"
    return cell if seen.meant else f"({cell})"


def _agreement(calibration: Calibration) -> Table:
    alpha = _full(calibration.alpha)
    return _table(
        f"do they call the same reports worse than their twins? Krippendorff's alpha of all: {alpha}",
        calibration.agreement,
        {
            "judge": lambda two: two.first,
            "other judge": lambda two: two.second,
            "reports": lambda two: str(two.reports),
            "equal verdicts": lambda two: _percent(two.equal),
            "kappa": lambda two: _full(two.kappa),
            "spearman": lambda two: _full(two.spearman),
            "alpha": lambda two: _full(two.alpha),
        },
    )


def _labels(calibration: Calibration) -> Table:
    return _table(
        "against your labels",
        calibration.labels,
        {
            "metric": lambda one: one.metric,
            "model": lambda one: one.judge_model or "-",
            "labels": lambda one: str(one.labels),
            "accuracy": lambda one: _full(one.accuracy),
            "kappa": lambda one: _full(one.kappa),
            "spearman": lambda one: _full(one.spearman),
            "kendall": lambda one: _full(one.kendall),
        },
    )


def _table(title: str, rows: Sequence[T], columns: Mapping[str, Callable[[T], str]]) -> Table:
    table = plain_table(tuple(columns), title, left=2)
    for row in rows:
        table.add_row(*(cell(row) for cell in columns.values()))
    return table


def _value(figure: Figure | None) -> str:
    return "-" if figure is None else number(figure.value)


def _full(figure: Figure | None) -> str:
    return _value(figure) + (f" ({interval(figure)})" if figure and figure.ci95 else "")


def _share(figure: Figure | None) -> str:
    return _percent(figure.value if figure else None)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f} %"
