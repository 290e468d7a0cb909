"""What analysis/ computes, as tables: a sweep, compared runs, FreshEval's table, official figures."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from aiq.analysis.compare import Change, ComparedRun, Comparison, Moved, Pair
from aiq.analysis.fresheval import SPLITS, FreshEvalTable
from aiq.analysis.official import OfficialScores, result_file
from aiq.analysis.sweeps import JobEnd, differences
from aiq.core.text import counted
from aiq.site.tables import cell, dollars, interval, notes, number, plain_table, show, star
from aiq.stats.estimates import Difference
from aiq.stats.intervals import Interval
from aiq.stats.significance import LEVEL

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
