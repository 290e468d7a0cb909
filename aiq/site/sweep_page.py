"""The page of a sweep, `index.html` beside `sweep.json`: what was swept, the recommendation and the plots to check it.

It opens from disk and makes no request; the drawing code is in `results/site/`, its data in `site/` beside it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from aiq import __version__
from aiq.core.text import plural
from aiq.core.usage import SpendName
from aiq.runs.sweeps import Axis, Point, Sweep, SweepFolder
from aiq.site.markdown import environment
from aiq.site.pages import SITE, data_line, place, replace, stamp, update_index
from aiq.site.plots import Dot, Line, Plot, Role, curve, heat_map, ladder, readable, trade_off
from aiq.site.records import sweep_record
from aiq.site.sweep_tables import recommendation_lines, sweep_notes
from aiq.site.tables import interval, p_value, star
from aiq.stats.estimates import Estimate


@dataclass(frozen=True)
class Section:
    """Plots under a heading, with a sentence on how to read them; `small`: several side by side."""

    heading: str
    text: str
    plots: Sequence[Plot]
    small: bool = False


def write_sweep_page(folder: SweepFolder, sweep: Sweep) -> Path:
    """Write the page of a sweep, finished or not, and what it needs beside it. Returns the page's path."""
    view = _View(sweep)
    sections = [section for section in view.sections() if section.plots]
    plots = [plot for section in sections for plot in section.plots]
    names = {id(plot): f"plot-{place}" for place, plot in enumerate(plots, 1)}
    templates = environment()
    filters = (interval, p_value, star, readable, _between)
    templates.filters |= {function.__name__.lstrip("_"): function for function in filters}
    page = templates.get_template("sweep.html.j2").render(
        sweep=sweep,
        view=view,
        sections=sections,
        names=names,
        id=id,
        verdict=list(recommendation_lines(sweep)),
        linked={point.number for point in sweep.points if folder.point(point.number).page_path.is_file()},
        notes=[*sweep_notes(folder, sweep), *_unfinished(sweep)],
        statuses=Counter(point.status for point in sweep.points),
        title=f"{sweep.experiment} · sweep {sweep.sweep_id}",
        kind="sweep",
        path=place(folder.path),
        root="../../",
        version=__version__,
    )
    specs = "".join(data_line({"name": names[id(plot)], "spec": plot.spec}) for plot in plots)
    replace(folder.path / SITE / "plots.js", specs)
    replace(folder.page_path, page)
    results = folder.path.absolute().parent.parent
    update_index(results, {place(folder.path): {"stamp": stamp(folder.path), **sweep_record(sweep)}})
    return folder.page_path


class _View:
    """What the page says about a sweep, computed once. `points`: those that the plots show, finished and scored."""

    def __init__(self, sweep: Sweep) -> None:
        self.sweep = sweep
        self.points = [p for p in sweep.points if p.status == "finished" and sweep.metric in p.metrics]
        best = [d.against for d in sweep.differences if d.kind == "best" and d.metric == sweep.metric]
        self.best = sweep.recommendation.best if sweep.recommendation else next(iter(best), None)
        pairs = [d for d in sweep.differences if (d.against, d.metric) == (self.best, sweep.metric)]
        self.against_best = {d.point: d.difference for d in pairs}
        names = dict.fromkeys(name for point in sweep.points for name in point.metrics)
        self.metrics = sorted(names, key=lambda name: name != sweep.metric)
        self.spends = [*dict.fromkeys(name for p in sweep.points for name, amount in p.spend.items() if amount.mean)]

    def name(self, point: Point) -> str:
        """`#3: max_loops=2, planner_queries=5`."""
        return f"#{point.number}: {self.sweep.label(point)}"

    def role(self, point: Point) -> Role:
        recommendation = self.sweep.recommendation
        if recommendation and point.number == recommendation.point:
            return "recommended"
        return "best" if point.number == self.best else "other"

    def sections(self) -> Iterator[Section]:
        metric, spend, axes = self.sweep.metric, self.sweep.spend, self.sweep.axes
        if not metric or not spend:
            return
        yield Section("Quality and spend", "", [*self._ladder(metric, spend), *self._trade_off(metric, spend)])
        line_note = f"The dotted line: the {line.name}, of the paired difference." if (line := self._line()) else ""
        if len(axes) == 1:
            yield Section("Along the axis", line_note, [*self._curves(axes[0])], small=True)
            return
        if self._is_grid():
            yield Section("Two axes together", "", [*self._heat_maps(axes[0], axes[1])], small=True)
            slices_note = f"One plot for each value of the second axis, all to the same scale. {line_note}"
            yield Section("With intervals", slices_note, [*self._slices(metric, axes[0], axes[1])], small=True)
        averages = "Each value of an axis, averaged over all points that have it; identical points share their numbers."
        yield Section("Main effects", averages, [*self._main_effects(metric)], small=True)

    def _is_grid(self) -> bool:
        """Whether two axes span a table that is at least half full."""
        first, *others = self.sweep.axes
        return len(others) == 1 and 2 * len(self.points) >= len(first.values) * len(others[0].values)

    def _ladder(self, metric: str, spend: SpendName) -> Iterator[Plot]:
        rungs = []
        points = [point for point in self.points if spend in point.spend]
        for point in sorted(points, key=lambda point: point.spend[spend].mean):
            diff = self.against_best.get(point.number)
            if diff or point.number == self.best:
                amount = f"{readable(point.spend[spend].mean)} {spend}"
                rungs.append(Dot(f"#{point.number}: {' × '.join(point.axes.values())}", amount, diff, self.role(point)))
        if len(rungs) > 1:
            yield ladder(f"{metric}: each point against the best", rungs)

    def _trade_off(self, metric: str, spend: SpendName) -> Iterator[Plot]:
        points = [point for point in self.points if spend in point.spend]
        dots = {p.number: Dot(self.name(p), p.spend[spend], p.metrics[metric], self.role(p)) for p in points}
        front = [dots[number].name for number in self.sweep.front if number in dots]
        if dots:
            yield trade_off(f"{metric} over {spend}", f"{spend} a sample", [*dots.values()], front, self._line())

    def _line(self) -> Line | None:
        """The threshold for being as good as the best, if the recommended point is not the best."""
        recommendation = self.sweep.recommendation
        if recommendation is None or recommendation.point == recommendation.best:
            return None
        side = "less" if self.sweep.higher_is_better.get(recommendation.metric, True) else "plus"
        return Line(recommendation.threshold, f"best {side} one standard error")

    def _numbers(self) -> Iterator[tuple[str, dict[int, Estimate]]]:
        """Everything measured, by point: the sweep's metric, the other metrics, what was spent."""
        for name in self.metrics:
            yield name, {point.number: point.metrics[name] for point in self.points if name in point.metrics}
        for spend in self.spends:
            estimates = {point.number: point.spend[spend] for point in self.points if spend in point.spend}
            yield f"{spend} a sample", estimates

    def _curves(self, axis: Axis) -> Iterator[Plot]:
        points, line = _in_order(self.points, axis), self._line()
        for title, estimates in self._numbers():
            dots = [self._dot(point, axis, estimates[point.number]) for point in points if point.number in estimates]
            main = title == self.sweep.metric
            yield curve(title, self.sweep.short_name(axis.name), dots, Line(line.at) if main and line else None)

    def _dot(self, point: Point, axis: Axis, estimate: Estimate) -> Dot:
        return Dot(self.name(point), point.axes[axis.name], estimate, self.role(point))

    def _heat_maps(self, across: Axis, down: Axis) -> Iterator[Plot]:
        points = _in_order(_in_order(self.points, across), down)
        for title, estimates in self._numbers():
            cells = {
                (point.axes[across.name], point.axes[down.name]): self._dot(point, across, estimates[point.number])
                for point in points
                if point.number in estimates
            }
            yield heat_map(title, (self.sweep.short_name(across.name), self.sweep.short_name(down.name)), cells)

    def _slices(self, metric: str, along: Axis, split: Axis) -> Iterator[Plot]:
        bounds, line = _bounds([point.metrics[metric] for point in self.points]), self._line()
        for value in split.values:
            points = [point for point in _in_order(self.points, along) if point.axes[split.name] == value]
            dots = [self._dot(point, along, point.metrics[metric]) for point in points]
            if dots:
                title = f"{metric}, {self.sweep.short_name(split.name)}={value}"
                yield curve(title, self.sweep.short_name(along.name), dots, line and Line(line.at), bounds)

    def _main_effects(self, metric: str) -> Iterator[Plot]:
        effects = [effect for effect in self.sweep.main_effects if effect.metric == metric]
        bounds = _bounds([effect.estimate for effect in effects])
        for axis in self.sweep.axes:
            estimates = {effect.value: effect.estimate for effect in effects if effect.axis == axis.name}
            short = self.sweep.short_name(axis.name)
            dots = [Dot(f"{short}={value}", value, estimates[value]) for value in axis.values if value in estimates]
            if dots:
                yield curve(f"{metric} by {short}", short, dots, within=bounds)


def _in_order(points: Sequence[Point], axis: Axis) -> list[Point]:
    """The points sorted by their value on an axis, in the axis's own order."""
    places = {value: place for place, value in enumerate(axis.values)}
    return sorted(points, key=lambda point: places.get(point.axes[axis.name], len(places)))


def _bounds(estimates: Sequence[Estimate]) -> tuple[float, float]:
    ends = [end for estimate in estimates for end in (estimate.ci95 or (estimate.mean, estimate.mean))]
    return min(ends, default=0.0), max(ends, default=1.0)


def _between(estimate: Estimate) -> str:
    return f"{readable(estimate.ci95[0])} to {readable(estimate.ci95[1])}" if estimate.ci95 else ""


def _unfinished(sweep: Sweep) -> Iterator[str]:
    if unfinished := sweep.unfinished:
        yield f"{plural(unfinished, 'point')} of {len(sweep.points)} not finished"
