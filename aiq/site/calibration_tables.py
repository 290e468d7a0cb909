"""The tables of a calibration: how far to trust the judges, what they see, and whom they agree with."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from aiq.analysis.reliability import Calibration, Figure, MetricReliability, PerturbationFigures
from aiq.site.tables import OFFLINE_NOTE, interval, number, plain_table

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
    headings = ("metric", "model", "reliability", "95 % interval", "noise (sd)", "equal again", "false alarms",
                "obeys", "rise by padding", "with length", "position bias")  # fmt: skip
    table = plain_table(headings, "how far to trust the judges", left=2)
    for one in metrics:
        table.add_row(
            one.metric,
            one.judge_model or "-",
            _value(one.reliability),
            interval(one.reliability) if one.reliability else "-",
            number(one.noise.sd) if one.noise else "-",
            _percent(one.noise.equal if one.noise else None),
            _share(one.false_alarms),
            _share(one.obeys_instructions),
            _full(one.length_rise),
            _value(one.length_correlation),
            _full(one.position_bias),
        )
    return table


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
    title = f"do they call the same reports worse than their originals? Krippendorff's alpha of all: {alpha}"
    headings = ("judge", "other judge", "reports", "equal verdicts", "kappa", "spearman", "alpha")
    table = plain_table(headings, title, left=2)
    for two in calibration.agreement:
        figures = map(_full, (two.kappa, two.spearman, two.alpha))
        table.add_row(two.first, two.second, str(two.reports), _percent(two.equal), *figures)
    return table


def _labels(calibration: Calibration) -> Table:
    headings = ("metric", "model", "labels", "accuracy", "kappa", "spearman", "kendall")
    table = plain_table(headings, "against your labels", left=2)
    for one in calibration.labels:
        figures = map(_full, (one.accuracy, one.kappa, one.spearman, one.kendall))
        table.add_row(one.metric, one.judge_model or "-", str(one.labels), *figures)
    return table


def _value(figure: Figure | None) -> str:
    return "-" if figure is None else number(figure.value)


def _full(figure: Figure | None) -> str:
    return _value(figure) + (f" ({interval(figure)})" if figure and figure.ci95 else "")


def _share(figure: Figure | None) -> str:
    return _percent(figure.value if figure else None)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f} %"
