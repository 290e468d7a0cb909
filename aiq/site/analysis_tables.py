"""What analysis/ computes, as tables: a calibration, a sweep, compared runs, FreshEval's table, official figures."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from aiq.analysis.compare import Change, ComparedRun, Comparison, Moved, Pair
from aiq.analysis.fresheval import SPLITS, FreshEvalTable
from aiq.analysis.labels import Corrections
from aiq.analysis.official import OfficialScores, result_file
from aiq.analysis.reliability import Calibration, Figure, MetricReliability, PerturbationFigures
from aiq.analysis.sweeps import JobEnd, differences
from aiq.core.text import counted
from aiq.site.tables import OFFLINE_NOTE, cell, dollars, interval, notes, number, plain_table, show, star
from aiq.stats.estimates import Difference
from aiq.stats.intervals import Interval
from aiq.stats.significance import LEVEL

_NOT_CALIBRATED = ("fact.total_citations", "fact.total_valid_citations")
"""Official names of numbers that are calibrated under ours."""

_ONCE = (
    "Each report was judged once: how much a score is worth against noise is not known. Run it with epochs=2 or more."
)
_ONCE_A_RUN = (
    "within one run the same question is asked once, so that its noise shows between runs only "
    "(aiq calibrate RUN OTHER_RUN, with another seed); until then every difference counts."
)
_MOST_SAMPLES = 8
"""So many samples that changed are named; --json has all."""

Link = Callable[[ComparedRun, str], str]


class Sheet(NamedTuple):
    """A table before it is drawn, its first column flush left."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[object]]


def official_table(scores: OfficialScores) -> Group:
    """The figures as the official tools write them, and ours."""
    rows = [(name, found.mean, interval(found), found.n, found.estimator) for name, found in scores.metrics.items()]
    table = plain_table(("metric", "mean", "95 % interval", "n", "estimator"), rows)
    if scores.kind == "race":
        counts = f"{scores.reports} tasks, {scores.errors} of them left out because their judging failed"
    else:
        counts = (
            f"{counted(scores.reports, 'report')}, {scores.without_citations} without citations (left out of the "
            f"official figures); {counted(scores.errors, 'page')} could not be validated"
        )
    return Group(Text("official figures"), Text(result_file(scores.official)), table, Text(f"\n{counts}"))


def fresheval_table(found: FreshEvalTable) -> Table:
    """Percent with one decimal and the number of questions, by kind and split."""
    headings = ("accuracy, %", *(heading for split in SPLITS for heading in (split, "n")))
    rows = []
    for kind, accuracies in found.accuracies.items():
        cells = (accuracies.get(split) for split in SPLITS)
        pairs = ((f"{cell.percent:.1f}", cell.n) if cell else ("-", 0) for cell in cells)
        rows.append((kind, *(text for pair in pairs for text in pair)))
    return plain_table(headings, rows, found.metric)


def print_sweep(ends: Sequence[JobEnd]) -> None:
    """Axes, metrics with intervals, differences from the first job that has numbers, cost, status."""
    known = [end for end in ends if end.summary is not None]
    metrics = list(dict.fromkeys(name for end in known if end.summary for name in end.summary.metrics))
    axes = [axis.rpartition(".")[2] for axis in ends[0].axes]
    changes = differences(ends)
    made = sum(p is not None for _, p in changes.values())
    rows = [
        (*end.axes.values(), *_job_cells(end, {name: changes.get((place, name)) for name in metrics}))
        for place, end in enumerate(ends)
    ]
    table = plain_table((*axes, *metrics, "cost", "status", "exit code"), rows, "sweep", left=0)
    table.caption = (
        "second line: difference from the first job, paired by sample, with its 95 % interval; "
        f"* p < {LEVEL}, corrected by Holm's method for the {counted(made, 'difference')} of this table"
    )
    table.caption_justify = "left"
    for column in table.columns[len(axes) : len(axes) + len(metrics)]:
        column.overflow = "fold"
    said = dict.fromkeys(note for end in known if end.summary for note in notes(end.summary))
    show(table, *(Text(note, style="yellow") for note in said))


def _job_cells(end: JobEnd, changes: Mapping[str, tuple[Difference, float | None] | None]) -> list[object]:
    if end.summary is None:
        return [*[""] * len(changes), "", "not started", end.exit_code]
    cells = []
    for name, change in changes.items():
        found = end.summary.metrics.get(name)
        value = f"{number(found.mean)} ({interval(found)})" if found else "-"
        cells.append(f"{value}\n{_signed(*change)}" if change else value)
    return [*cells, dollars(end.summary), end.summary.status, end.exit_code]


def _signed(change: Difference, p: float | None) -> str:
    """With its interval, and a star where it is significant."""
    between = f" ({change.ci95[0]:+.3f} to {change.ci95[1]:+.3f})" if change.ci95 else ""
    return f"{change.mean:+.3f}{between}{star(p)}"


def comparison_parts(found: Comparison, remarks: Sequence[str], link: Link | None = None) -> Iterator[Sheet | str]:
    """A comparison as tables and lines. `link`: how a sample of a run is written, its plain id where none is given."""
    for run in found.runs:
        failures = "".join(f", {judge} failed on {n}" for judge, n in run.judge_errors.items())
        said = f"{run.label} = {run.experiment}/{run.run_id}: {counted(run.attempts, 'attempt')}, {run.failed} failed"
        yield f"{said}{failures}; {' '.join(run.overrides) or 'no settings'}"
    for why in found.forced:
        yield f"compared all the same, over what they share: {why}"
    for pair in found.pairs:
        yield from _pair_sheets(pair)
        for name in found.leading:
            if changes := [one for one in pair.changes if one.metric == name]:
                yield _sentence(pair, changes, spend=name == found.leading[0])
        for moved in pair.moved:
            yield from _moved(moved, found, pair, link or (lambda _, sample: sample))
        yield from _losses(pair)
    each = f"Each interval is of 95 % by itself; p is corrected by Holm's method for all {found.family} tests shown"
    yield f"{each} (* p < {LEVEL}). What changed in fewer than 6 samples cannot be below {LEVEL} and is not tested."
    yield from remarks


def _pair_sheets(pair: Pair) -> Iterator[Sheet]:
    equal = {one.metric for one in pair.changes if one.slice is None and one.verdict == "equal"}
    rows = [
        (
            f"  {'='.join(one.slice)}" if one.slice else one.metric,
            *(one.first, one.second, _plus(one.difference.mean) + star(one.p), _span(one.difference.ci95, _plus)),
            *("-" if one.p is None else f"{one.p:.3f}" if one.p >= 0.001 else "<0.001", one.difference.n),
        )
        for one in pair.changes
        if one.slice is None or one.metric not in equal
    ]
    minus, over = f"{pair.second} - {pair.first}", f"{pair.second} / {pair.first}"
    title = f"{pair.second} against {pair.first}: {counted(pair.samples, 'common sample')}"
    yield Sheet(title, ("metric", pair.first, pair.second, minus, "95 % interval", "p", "n"), rows)
    if pair.spend:
        spent = [(one.name, one.first, one.second, one.ratio, _span(one.ci95, number)) for one in pair.spend]
        yield Sheet("the agent, per sample", ("", pair.first, pair.second, over, "95 % interval"), spent)


def _sentence(pair: Pair, changes: Sequence[Change], *, spend: bool) -> str:
    """What the numbers of a metric say: overall, at what cost, and on which slices otherwise or nothing."""
    whole, slices = changes[0], changes[1:]
    n, found = whole.difference.n, whole.difference
    between = f" ({_span(found.ci95, _plus)})" if found.ci95 else ""
    p = "" if whole.p is None else f", p = {whole.p:.3f}"
    if whole.verdict == "equal":
        text = f"{pair.second} and {pair.first} score the same on {counted(n, 'sample')}"
    elif whole.verdict == "cannot tell":
        text = f"the data cannot tell {pair.second} from {pair.first}: {_plus(found.mean)}{between}, n = {n}{p}"
    else:
        scores = "scores" if whole.verdict in ("higher", "lower") else "is"
        size = sorted(math.copysign(1, found.mean) * end for end in found.ci95 or ())
        between = f" ({number(size[0])} to {number(size[1])})" if size else ""
        text = f"{pair.second} {scores} {whole.verdict} by {number(abs(found.mean))}{between}"
    if spend and (spent := next((one for one in pair.spend if one.ratio), None)) is not None:
        text += f", at {spent.ratio:.2f} times the {spent.name}"
    parts = [text, *([_remedy(whole)] if whole.verdict == "cannot tell" else [])]
    clear = [one for one in slices if one.verdict not in ("cannot tell", "equal", whole.verdict)]
    parts += [f"{one.verdict} on {'='.join(one.slice or ())} by {number(abs(one.difference.mean))}" for one in clear]
    open_ones = [one for one in slices if one.verdict == "cannot tell" != whole.verdict != "equal"]
    open_ones.sort(key=lambda one: math.inf if one.more is None else one.more)
    if open_ones:
        least = open_ones[0]
        others = f" and {counted(len(open_ones) - 1, 'other slice')}" if open_ones[1:] else ""
        where = f"{'='.join(least.slice or ())} (n = {least.difference.n}){others}"
        parts.append(f"on {where} the data cannot tell: there {_remedy(least)}")
    return f"{whole.metric}: {'; '.join(parts)}."


def _remedy(change: Change) -> str:
    if change.more is None or change.effect is None:
        return "nothing shows how samples vary, take more"
    if change.more == 0:
        return f"a difference of {change.effect:.3g} would probably have been found"
    return f"{counted(change.more, 'more sample')} would resolve {change.effect:.3g}"


def _moved(moved: Moved, found: Comparison, pair: Pair, link: Link) -> Iterator[str]:
    run = next(run for run in found.runs if run.label == pair.second)
    words = ("higher", "lower") if found.judges else ("better", "worse")
    for word, samples in zip(words, (moved.up, moved.down), strict=True):
        if samples:
            shown = ", ".join(link(run, sample) for sample in [*samples][:_MOST_SAMPLES])
            more = ", ..." if len(samples) > _MOST_SAMPLES else ""
            yield f"{moved.metric} is {word} in {counted(len(samples), 'sample')} of {pair.second}: {shown}{more}"


def _losses(pair: Pair) -> Iterator[str]:
    for one in pair.changes:
        if any(one.lost) and one.slice is None:
            lost = " and ".join(
                f"{n} in {run}" for n, run in zip(one.lost, (pair.first, pair.second), strict=True) if n
            )
            yield f"{one.metric}: samples without a score, left out: {lost}"
    reasons: dict[str, list[str]] = {}
    for name, why in pair.left_out.items():
        reasons.setdefault(why, []).append(name)
    yield from (f"{', '.join(names)}: not compared, {why}" for why, names in reasons.items())


def comparison_text(parts: Iterable[Sheet | str]) -> list[RenderableType]:
    """For a terminal."""
    shown: list[RenderableType] = []
    for part in parts:
        if isinstance(part, str):
            shown += [Text()] if shown and isinstance(shown[-1], Table) else []
            shown.append(Text(part))
        else:
            shown += [Text(), plain_table(part.headings, part.rows, part.title)]
    return shown


def comparison_markdown(parts: Iterable[Sheet | str]) -> str:
    blocks = []
    for part in parts:
        if isinstance(part, str):
            blocks.append(part)
            continue
        lines = [part.headings, ["---", *["---:"] * (len(part.headings) - 1)], *part.rows]
        blocks += [f"## {part.title}", "\n".join(f"| {' | '.join(map(cell, line))} |" for line in lines)]
    return "\n\n".join(blocks) + "\n"


def _plus(value: float) -> str:
    return f"{'+' if value >= 0 else ''}{number(value)}"


def _span(between: Interval | None, shown: Callable[[float], str]) -> str:
    return f"{shown(between[0])} to {shown(between[1])}" if between else "-"


def calibration_tables(calibration: Calibration) -> Group:
    """How far to trust the judges, what they see, whom they agree with, and what a reader must know of it."""
    shown = [one for one in calibration.metrics if one.metric not in _NOT_CALIBRATED]
    tables = [_reliability(shown), _perturbations(shown)] if shown else []
    tables += [_agreement(calibration)] if calibration.agreement else []
    tables += [_labels(calibration)] if calibration.labels else []
    parts: list[RenderableType] = []
    for table in tables:
        parts += [table, Text()] if table is not tables[-1] else [table]
    if calibration.unmatched_labels:
        parts.append(Text(f"{calibration.unmatched_labels} labels fit no score", style="yellow"))
    silent = [one for one in shown if one.noise is None]
    if not all(one.once_per_run for one in silent):
        parts.append(Text(_ONCE, style="yellow"))
    if copied := dict.fromkeys(f"{one.metric.partition('.')[0]}.*" for one in silent if one.once_per_run):
        parts.append(Text(f"{', '.join(copied)}: {_ONCE_A_RUN}", style="dim"))
    if calibration.offline:
        parts.append(Text(OFFLINE_NOTE.replace("an agent", "a judge of yours"), style="yellow"))
    return Group(*parts)


def _reliability(metrics: Sequence[MetricReliability]) -> Table:
    headings = ("metric", "model", "reliability", "95 % interval", "noise (sd)", "equal again", "false alarms",
                "obeys", "rise by padding", "with length", "position bias")  # fmt: skip
    rows = [
        (
            *(one.metric, one.judge_model, _value(one.reliability), interval(one.reliability)),
            *((one.noise.sd, _percent(one.noise.equal)) if one.noise else (None, None)),
            _percent(_value(one.false_alarms)),
            *(_percent(_value(one.obeys_instructions)), _full(one.length_rise)),
            *(_value(one.length_correlation), _full(one.position_bias)),
        )
        for one in metrics
    ]
    return plain_table(headings, rows, "how far to trust the judges", left=2)


def _perturbations(metrics: Sequence[MetricReliability]) -> Table:
    """A row a metric, a column a perturbation; in brackets what the metric is not meant to see."""
    names = dict.fromkeys(name for one in metrics for name in one.perturbations)
    title = "what they see: rank correlation with the planted quality, and share of reports found worse"
    rows = [(one.metric, one.judge_model, *(_seen(one.perturbations.get(name)) for name in names)) for one in metrics]
    return plain_table(("metric", "model", *names), rows, title, left=2)


def _seen(seen: PerturbationFigures | None) -> str:
    if seen is None or seen.spearman is None:
        return "-"
    cell = f"{seen.spearman.value:.2f} {_percent(_value(seen.recall))}"
    return cell if seen.meant else f"({cell})"


def _agreement(calibration: Calibration) -> Table:
    alpha = _full(calibration.alpha)
    title = f"do they call the same reports worse than their originals? Krippendorff's alpha of all: {alpha}"
    headings = ("judge", "other judge", "reports", "equal verdicts", "kappa", "spearman", "alpha")
    rows = [
        (two.first, two.second, two.reports, _percent(two.equal), *map(_full, (two.kappa, two.spearman, two.alpha)))
        for two in calibration.agreement
    ]
    return plain_table(headings, rows, title, left=2)


def _labels(calibration: Calibration) -> Table:
    headings = ("metric", "model", "labels", "accuracy", "kappa", "spearman", "kendall")
    rows = [
        (one.metric, one.judge_model, one.labels, *map(_full, (one.accuracy, one.kappa, one.spearman, one.kendall)))
        for one in calibration.labels
    ]
    return plain_table(headings, rows, "against your labels", left=2)


def corrected_table(found: Corrections) -> Iterator[RenderableType]:
    """The corrected means beside those of the judge and of the labels alone, and what each rests on."""
    rows = [
        (one.metric, one.judge, one.labels_alone, _span(one.labels_ci95, number), one.labels, one.mean,
         _span(one.ci95, number), one.n)
        for one in found.metrics
    ]  # fmt: skip
    headings = ("metric", "judge", "labels", "95 %\ninterval", "labels\nn", "corrected", "95 %\ninterval", "n")
    yield plain_table(headings, rows, f"{found.run_id}: corrected by labels")
    for one in found.metrics:
        if one.weight is not None:
            said = f"the judge's scores count with a weight of {number(one.weight)} (PPI++)"
        else:
            said = f"by labels of {', '.join(found.labelled_in)} the judge calls right {_percent(one.sensitivity)} of "
            said += f"what is right, and wrong {_percent(one.specificity)} of what is wrong (Lee et al.)"
        failed = f"; {counted(one.failed, 'failed sample')} need no label" if one.failed else ""
        yield Text(f"{one.metric}: {said}{failed}", style="dim")
    for metric, why in found.left_out.items():
        yield Text(f"no {metric}: {why}", style="yellow")
    if found.unmatched:
        yield Text(f"{counted(found.unmatched, 'label')} of no judged sample or metric left out", style="yellow")


def _value(figure: Figure | None) -> float | None:
    return figure.value if figure else None


def _full(figure: Figure | None) -> str | None:
    if figure is None:
        return None
    return number(figure.value) + (f" ({interval(figure)})" if figure.ci95 else "")


def _percent(share: float | None) -> str | None:
    return None if share is None else f"{100 * share:.0f} %"
