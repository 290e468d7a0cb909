"""A calibration on the terminal."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from aiq.analysis.reliability import Calibration, Figure, MetricReliability, PerturbationFigures
from aiq.site.tables import OFFLINE_NOTE, number

_NOT_CALIBRATED = ("fact.total_citations", "fact.total_valid_citations")
"""Official names of numbers that stand there under ours."""

_ONCE = (
    "Each report was judged once: how much a score is worth against noise is not known. Run it with epochs=2 or more."
)
_ONCE_A_RUN = (
    "within one run the same question is asked once, so that its noise shows between runs only "
    "(aiq calibrate RUN OTHER_RUN, with another seed); until then every difference counts."
)


def tables(calibration: Calibration) -> Group:
    """Reliability by metric, detection by damage, judges against each other, and against labels."""
    parts: list[RenderableType] = []
    shown = [one for one in calibration.metrics if one.metric not in _NOT_CALIBRATED]
    if shown:
        parts += [_reliability(shown), Text(), _damages(shown)]
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


def _reliability(metrics: list[MetricReliability]) -> Table:
    headings = ("metric", "model", "reliability", "95 % interval", "noise (sd)", "equal again", "false alarms",
                "obeys", "rise by padding", "with length", "position bias")  # fmt: skip
    table = _table("how far to trust the judges", headings)
    for one in metrics:
        table.add_row(
            one.metric,
            one.judge_model or "-",
            _value(one.reliability),
            _interval(one.reliability),
            number(one.noise.sd) if one.noise else "-",
            _percent(one.noise.equal) if one.noise else "-",
            _share(one.false_alarms),
            _share(one.obeys_instructions),
            _full(one.length_rise),
            _value(one.length_correlation),
            _full(one.position_bias),
        )
    return table


def _damages(metrics: list[MetricReliability]) -> Table:
    """A row a metric, a column a damage; in brackets what the metric is not meant to see."""
    names = tuple(dict.fromkeys(name for one in metrics for name in one.perturbations))
    table = _table("what they see: rank correlation with the planted quality, and share of reports found worse",
                   ("metric", "model", *names))  # fmt: skip
    for one in metrics:
        table.add_row(one.metric, one.judge_model or "-", *(_seen(one.perturbations.get(name)) for name in names))
    return table


def _seen(seen: PerturbationFigures | None) -> str:
    if seen is None or seen.spearman is None:
        return "-"
    cell = f"{seen.spearman.value:.2f} {_share(seen.recall)}"
    return cell if seen.meant else f"({cell})"


def _agreement(calibration: Calibration) -> Table:
    headings = ("judge", "other judge", "reports", "equal verdicts", "kappa", "spearman", "alpha")
    title = (
        f"do they call the same reports worse than their twins? Krippendorff's alpha of all: {_full(calibration.alpha)}"
    )
    table = _table(title, headings)
    for two in calibration.agreement:
        equal = "-" if two.equal is None else _percent(two.equal)
        table.add_row(
            two.first, two.second, str(two.reports), equal, _full(two.kappa), _full(two.spearman), _full(two.alpha)
        )
    return table


def _labels(calibration: Calibration) -> Table:
    table = _table("against your labels", ("metric", "model", "labels", "accuracy", "kappa", "spearman", "kendall"))
    for one in calibration.labels:
        cells = (_full(one.accuracy), _full(one.kappa), _full(one.spearman), _full(one.kendall))
        table.add_row(one.metric, one.judge_model or "-", str(one.labels), *cells)
    return table


def _table(title: str, headings: tuple[str, ...]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="left" if place < 2 else "right")
    return table


def _value(figure: Figure | None) -> str:
    return "-" if figure is None else number(figure.value)


def _interval(figure: Figure | None) -> str:
    if figure is None or figure.ci95 is None:
        return "-"
    return f"{number(figure.ci95[0])} to {number(figure.ci95[1])}"


def _full(figure: Figure | None) -> str:
    inside = "" if figure is None or figure.ci95 is None else f" ({_interval(figure)})"
    return _value(figure) + inside


def _share(figure: Figure | None) -> str:
    return "-" if figure is None else _percent(figure.value)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
