"""A sweep on the terminal: what it can resolve, its points, how they differ, and which one to choose."""

from collections.abc import Iterator, Sequence
from textwrap import shorten
from typing import Final

from rich.console import RenderableType
from rich.text import Text

from aiq.analysis.sweeps import SPEND_WORDS
from aiq.core.base import grouped
from aiq.core.text import plural
from aiq.runs.sweeps import Axis, Point, PointDifference, Sweep, SweepFolder
from aiq.site.tables import Sheet, cell, interval, money, notes_of, number, p_value, show, star
from aiq.stats.estimates import Estimate
from aiq.stats.significance import LEVEL

_MAX_CHARS: Final = 24  # characters of a value in a table of points
_SPEND_HEADINGS: Final = ("calls", "tokens", "seconds", "cost")


def print_begin(sweep: Sweep) -> None:
    """Before the first point: what varies, and what this number of samples should resolve."""
    points, samples = plural(len(sweep.points), "point"), plural(sweep.samples, "sample")
    rows = [(sweep.short_name(axis.name), _all_values(axis)) for axis in sweep.axes]
    title = Text(f"sweep {sweep.experiment}/{sweep.sweep_id}: {points} of {samples}")
    show(title, Sheet(("axis", "values"), rows, left=2), *map(Text, _resolves(sweep, "should")))


def _all_values(axis: Axis) -> str:
    """All values in full; long ones on a line each, with the number that represents them in other tables."""
    if max(map(len, axis.values)) <= _MAX_CHARS:
        return ", ".join(axis.values)
    return "\n".join(f"{place}: {value}" for place, value in enumerate(axis.values, 1))


def _value(axis: Axis, value: str) -> str:
    """A value as tables show it: on an axis with long values, cut, with its number in front."""
    if max(map(len, axis.values)) <= _MAX_CHARS:
        return value
    return shorten(f"{axis.values.index(value) + 1}: {value}", _MAX_CHARS, placeholder="...")


def print_resolves(sweep: Sweep) -> None:
    """After the first point, whose numbers give a better forecast."""
    show(*map(Text, _resolves(sweep, "should, by the first point,")))


def _resolves(sweep: Sweep, verb: str) -> Iterator[str]:
    """What this number of samples resolves; `verb`: they can, or should."""
    samples = plural(sweep.samples, "sample")
    resolved = ", ".join(f"{name} {effect:.3g}" for name, effect in sweep.resolves.items() if effect is not None)
    if resolved:
        yield f"{samples} {verb} resolve differences between points of: {resolved}"
        yield "(found in 8 of 10 sweeps, corrected for all pairs of points)"
    if unresolved := ", ".join(name for name, effect in sweep.resolves.items() if effect is None):
        yield f"{samples} are too few to resolve any difference between points of: {unresolved}"
    if not sweep.resolves:
        yield f"what {samples} can resolve is unknown until there are numbers"


def print_sweep(sweep: Sweep, folder: SweepFolder) -> None:
    """All points with all numbers, the differences, and the recommendation."""
    parts: list[RenderableType] = [_points(sweep), Text()]
    if sweep.metric is not None and sweep.differences:
        parts += [*_differences(sweep, sweep.metric), Text()]
    if effects := [effect for effect in sweep.main_effects if effect.metric == sweep.metric]:
        axes = {axis.name: axis for axis in sweep.axes}
        rows = [
            (
                sweep.short_name(effect.axis),
                _value(axes[effect.axis], effect.value),
                *(effect.estimate.mean, interval(effect.estimate), effect.estimate.n),
            )
            for effect in effects
        ]
        table = Sheet(("axis", "value", "mean", "95 % interval", "n"), rows, left=2)
        parts += [Text(f"main effects: {sweep.metric}, averaged over the other axes"), table, Text()]
    parts += map(Text, _point_notes(sweep))
    parts += map(Text, _resolves(sweep, "can")) if sweep.resolves else []
    if sweep.metric and sweep.spend and sweep.front:
        front = f"points on the Pareto front of {sweep.metric} and {SPEND_WORDS[sweep.spend]}: "
        parts.append(Text(front + ", ".join(map(str, sweep.front))))
    parts += map(Text, recommendation_lines(sweep)) if sweep.metric else []
    show(
        *parts,
        *(Text(note, style="yellow") for note in sweep_notes(folder, sweep)),
        f"written to {folder.sweep_path}\n           {folder.page_path}",
    )


def sweep_notes(folder: SweepFolder, sweep: Sweep) -> Iterator[str]:
    """What the runs of the points say about the models behind their numbers."""
    runs = {f"point {point.number}": folder.point(point.number) for point in sweep.points}
    return notes_of({label: run.read_summary() for label, run in runs.items() if run.summary_path.is_file()})


def _point_notes(sweep: Sweep) -> Iterator[str]:
    """What is special about points: why they were stopped, whose numbers they share, what theirs lack."""
    notes = ((point.note, str(point.number)) for point in sweep.points if point.note is not None)
    for note, numbers in grouped(notes).items():
        yield f"point{'s' if numbers[1:] else ''} {', '.join(numbers)}: {note}"


def recommendation_lines(sweep: Sweep) -> Iterator[str]:
    """Which point to choose, why, and how certain that is."""
    choice = sweep.recommendation
    if choice is None:
        yield f"no recommendation: {sweep.undecided}"
        return
    by_number = {point.number: point for point in sweep.points}
    yield f"recommended: {sweep.label(by_number[choice.point])} (point {choice.point}): {choice.reason}"
    others = {n: share for n, share in choice.chosen.items() if n != choice.point}
    if others:
        shares = sorted(others.items(), key=lambda item: (-item[1], item[0]))
        yield "others: " + "; ".join(
            f"{100 * share:.1f} % point {n} ({sweep.label(by_number[n])})" for n, share in shares[:3]
        )
    missing = sweep.samples - choice.n
    note = f"; {plural(missing, 'sample')} that not all of them have scored left out" if missing else ""
    yield f"over {plural(choice.n, 'sample')} that all points have scored{note}"


def _points(sweep: Sweep) -> Sheet:
    points = [point for point in sweep.points if point.same_as is None]
    names = dict.fromkeys(name for point in points for name in point.metrics)
    from_best = {d.point: d for d in sweep.differences if d.kind == "best"}
    columns: dict[str, Sequence[str]] = {"point": [str(point.number) for point in points]}
    columns |= {sweep.short_name(axis.name): [_value(axis, p.axes[axis.name]) for p in points] for axis in sweep.axes}
    left = len(columns)
    for name in sorted(names, key=lambda name: name != sweep.metric):
        columns[name] = [_metric(point.metrics.get(name)) for point in points]
        if name == sweep.metric and from_best:
            columns["from the best"] = [_change(from_best[p.number]) if p.number in from_best else "-" for p in points]
    columns |= zip(_SPEND_HEADINGS, zip(*map(_spend, points), strict=True), strict=True)
    columns["n"] = [str(point.n_samples) for point in points]
    columns["failed"] = [str(point.failed) for point in points]
    columns |= {"unjudged": [str(point.unjudged) for point in points]} if any(p.unjudged for p in points) else {}
    columns["status"] = [_status(point) for point in points]
    return Sheet([*columns], [*zip(*columns.values(), strict=True)], "points", left)


def _metric(estimate: Estimate | None) -> str:
    if estimate is None or estimate.ci95 is None:
        return cell(estimate and estimate.mean)
    return f"{number(estimate.mean)} ({interval(estimate)})"


def _change(change: PointDifference) -> str:
    return f"{change.difference.mean:+.3f}{star(change.p)}"


def _spend(point: Point) -> tuple[str, ...]:
    """The cells below _SPEND_HEADINGS: means per sample."""
    means = {name: estimate.mean for name, estimate in point.spend.items()}
    cost = means.get("cost_usd")
    cells = [cell(means.get("calls")), f"{means['tokens']:,.0f}" if "tokens" in means else "-"]
    return (*cells, cell(means.get("seconds")), "-" if cost is None else f"${money(cost)}")


def _status(point: Point) -> str:
    return point.status if not point.exit_code else f"{point.status} (exit code {point.exit_code})"


def _differences(sweep: Sweep, metric: str) -> Iterator[RenderableType]:
    """Neighbours on an axis: those between which the sweep's metric changed, and significant changes in others."""
    neighbours = [d for d in sweep.differences if d.kind == "neighbour"]
    equal = sum(d.metric == metric and d.difference.is_zero for d in neighbours)
    points = {point.number: point for point in sweep.points}
    changes = [d for d in neighbours if star(d.p) or (d.metric == metric and not d.difference.is_zero)]
    changes.sort(key=lambda d: d.metric != metric)
    several = any(d.metric != metric for d in changes)
    rows = [
        (
            f"{d.against} to {d.point}",
            _step(sweep, points[d.against], points[d.point]),
            *((d.metric,) if several else ()),
            _change(d),
            "-" if d.difference.ci95 is None else "{:+.3f} to {:+.3f}".format(*d.difference.ci95),
            *(p_value(d.p), d.difference.n),
        )
        for d in changes
    ]
    columns = ("points", "from one value to the next", *(("metric",) if several else ()))
    yield Text(f"neighbours: {'' if several else f'{metric}, '}paired by sample")
    if rows:
        yield Sheet((*columns, "difference", "95 % interval", "p", "n"), rows, left=len(columns))
    if equal:
        yield Text(f"{plural(equal, 'more pair')} of neighbours: no sample changed in {metric}")
    yield Text(
        f"* p < {LEVEL}, by Holm's method over all pairs of points, because the best is chosen after looking at all; "
        "- if fewer than 6 samples changed. Each interval covers 95 % by itself. More in sweep.json."
    )


def _step(sweep: Sweep, before: Point, after: Point) -> str:
    """What changes between neighbours, and the values of all other axes."""

    def changed(axis: Axis) -> bool:
        return before.axes[axis.name] != after.axes[axis.name]

    varied = next(axis for axis in sweep.axes if changed(axis))
    fixed = [axis for axis in sweep.axes if axis.name != varied.name]
    fixed_values = ", ".join(f"{sweep.short_name(axis.name)}={_value(axis, after.axes[axis.name])}" for axis in fixed)
    from_value, to_value = (_value(varied, point.axes[varied.name]) for point in (before, after))
    step = f"{sweep.short_name(varied.name)} {from_value} to {to_value}"
    return f"{step}; {fixed_values}" if fixed_values else step
