"""The page of a sweep, `index.html` beside `sweep.json`: what was swept, the recommendation and the plots to check it.

It opens from disk and makes no request; the scripts that draw, and their data, lie beside it in `static/`.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from aiq import __version__
from aiq.core.text import counted
from aiq.core.usage import SpendName
from aiq.runs.folder import write_whole
from aiq.runs.sweeps import Axis, Point, PointDifference, Sweep, SweepFolder
from aiq.site.markdown import environment, style
from aiq.site.plots import Dot, Line, Plot, Role, Rung, curve, heat_map, ladder, readable, trade_off, write_plots
from aiq.site.tables import interval, notes, star
from aiq.stats.estimates import Estimate

_THRESHOLD = "best less one standard error"
_DOTTED = f"The dotted line: the {_THRESHOLD} of the recommended point's difference."
_RARE = 0.005  # up to it, a share of the bootstrap is rounded to 0 %


@dataclass(frozen=True)
class Section:
    """Plots under a heading, with a sentence on how to read them; `small`: several side by side."""

    heading: str
    text: str
    plots: Sequence[Plot]
    small: bool = False


def write_sweep_page(folder: SweepFolder, sweep: Sweep) -> Path:
    """Write the page of a sweep, finished or not, and what it needs beside it. Returns the page's path."""
    shown = _Shown(sweep)
    sections = [section for section in shown.sections() if section.plots]
    plots = [plot for section in sections for plot in section.plots]
    names = {id(plot): f"plot-{place}" for place, plot in enumerate(plots, 1)}
    templates = environment()
    cells = (interval, star, readable, _exact, _cell, _between)
    templates.filters |= {cell.__name__.lstrip("_"): cell for cell in cells}
    page = templates.get_template("sweep.html.j2").render(
        sweep=sweep,
        shown=shown,
        sections=sections,
        names=names,
        id=id,
        linked={point.number for point in sweep.points if folder.point(point.number).page_path.is_file()},
        notes=_notes(folder, sweep),
        statuses=Counter(point.status for point in sweep.points),
        style=style("style.css", "plots.css"),
        version=__version__,
    )
    write_plots(folder.path / "static", {names[id(plot)]: plot for plot in plots})
    write_whole(folder.page_path, page)
    return folder.page_path


class _Shown:
    """What the page says of a sweep, worked out once. `points`: those that the plots show, finished and scored."""

    def __init__(self, sweep: Sweep) -> None:
        self.sweep = sweep
        self.points = [p for p in sweep.points if p.status == "finished" and sweep.metric in p.metrics]
        against = [one.against for one in sweep.differences if one.kind == "best" and one.metric == sweep.metric]
        self.best = sweep.recommendation.best if sweep.recommendation else next(iter(against), None)
        self.metrics = [*dict.fromkeys(name for point in sweep.points for name in point.metrics)]
        self.spends = [*dict.fromkeys(name for p in sweep.points for name, found in p.spend.items() if found.mean)]

    @property
    def others(self) -> list[tuple[int, float]]:
        """The other points that the bootstrap takes, and how often; the most frequent first, rare ones left out."""
        found = self.sweep.recommendation
        others = [item for item in found.chosen.items() if item[0] != found.point] if found else []
        return sorted((item for item in others if item[1] > _RARE), key=lambda item: (-item[1], item[0]))

    @property
    def recommended(self) -> Point | None:
        found = self.sweep.recommendation
        return next((point for point in self.sweep.points if found and point.number == found.point), None)

    def against_best(self, point: Point) -> PointDifference | None:
        return next(
            (
                one
                for one in self.sweep.differences
                if (one.point, one.against, one.metric) == (point.number, self.best, self.sweep.metric)
            ),
            None,
        )

    def name(self, point: Point) -> str:
        """`#3: max_loops=2, planner_queries=5`."""
        return f"#{point.number}: {self.sweep.label(point)}"

    def role(self, point: Point) -> Role:
        found = self.sweep.recommendation
        if found and point.number == found.point:
            return "recommended"
        return "best" if point.number == self.best else "other"

    def sections(self) -> Iterator[Section]:
        sweep = self.sweep
        if not sweep.metric or not sweep.spend:
            return
        yield Section(
            "From the plots",
            "",
            [*self._ladder(sweep.metric, sweep.spend), *self._trade_off(sweep.metric, sweep.spend)],
        )
        several = len(sweep.axes) > 1
        if several and self._is_grid():
            yield Section("Two axes together", "", [*self._heat_maps(sweep.axes[0], sweep.axes[1])], small=True)
            across = "One plot for each value of the second axis, all to the same scale."
            yield Section(
                "With intervals",
                f"{across} {_DOTTED if self._line() else ''}",
                [*self._slices(sweep.metric, *sweep.axes[:2])],
                small=True,
            )
        if several:
            each = "Each value of an axis over all points that have it, the same number of points for each in a grid."
            yield Section("Main effects", each, [*self._main_effects(sweep.metric)], small=True)
        else:
            yield Section("Along the axis", _DOTTED if self._line() else "", [*self._curves(sweep.axes[0])], small=True)

    def _is_grid(self) -> bool:
        """Whether two axes span a table that is at least half full."""
        first, *others = self.sweep.axes
        return len(others) == 1 and 2 * len(self.points) >= len(first.values) * len(others[0].values)

    def _ladder(self, metric: str, spend: SpendName) -> Iterator[Plot]:
        rungs = []
        known = [point for point in self.points if spend in point.spend]
        for point in sorted(known, key=lambda point: point.spend[spend].mean):
            found = self.against_best(point)
            if found or point.number == self.best:
                spent = f"{readable(point.spend[spend].mean)} {_unit(spend)}"
                name = f"#{point.number}: {' × '.join(point.axes.values())}"
                rungs.append(Rung(name, spent, found.difference if found else None, self.role(point)))
        if len(rungs) > 1:
            yield ladder(f"{metric}: each point against the best", rungs)

    def _trade_off(self, metric: str, spend: SpendName) -> Iterator[Plot]:
        points = [point for point in self.points if spend in point.spend]
        dots = {p.number: Dot(self.name(p), p.spend[spend], p.metrics[metric], self.role(p)) for p in points}
        front = [dots[one].name for one in self.sweep.front if one in dots]
        line = self._line()
        threshold = Line(line.at, _THRESHOLD) if line else None
        if dots:
            yield trade_off(f"{metric} over {spend}", f"{_unit(spend)} a sample", [*dots.values()], front, threshold)

    def _line(self) -> Line | None:
        found = self.sweep.recommendation
        return Line(found.threshold) if found else None

    def _curves(self, axis: Axis) -> Iterator[Plot]:
        """The sweep's metric, what is spent, then the other metrics."""
        points = _in_order(self.points, axis)
        for metric in sorted(self.metrics, key=lambda name: name != self.sweep.metric):
            dots = [self._dot(point, axis, point.metrics[metric]) for point in points if metric in point.metrics]
            own = metric == self.sweep.metric
            yield curve(metric, self.sweep.short(axis.name), dots, self._line() if own else None)
        for spend in self.spends:
            dots = [self._dot(point, axis, point.spend[spend]) for point in points if spend in point.spend]
            yield curve(f"{_unit(spend)} a sample", self.sweep.short(axis.name), dots)

    def _dot(self, point: Point, axis: Axis, estimate: Estimate) -> Dot:
        return Dot(self.name(point), point.axes[axis.name], estimate, self.role(point))

    def _heat_maps(self, across: Axis, down: Axis) -> Iterator[Plot]:
        axes = self.sweep.short(across.name), self.sweep.short(down.name)
        points = _in_order(_in_order(self.points, across), down)

        def plot(title: str, estimates: dict[int, Estimate]) -> Plot:
            held = [point for point in points if point.number in estimates]
            cells = {
                (point.axes[across.name], point.axes[down.name]): self._dot(point, across, estimates[point.number])
                for point in held
            }
            return heat_map(title, axes, cells)

        for metric in sorted(self.metrics, key=lambda name: name != self.sweep.metric):
            yield plot(metric, {p.number: p.metrics[metric] for p in points if metric in p.metrics})
        for spend in self.spends:
            yield plot(f"{_unit(spend)} a sample", {p.number: p.spend[spend] for p in points if spend in p.spend})

    def _slices(self, metric: str, along: Axis, each: Axis) -> Iterator[Plot]:
        within = _within([point.metrics[metric] for point in self.points])
        for value in each.values:
            points = [point for point in _in_order(self.points, along) if point.axes[each.name] == value]
            dots = [self._dot(point, along, point.metrics[metric]) for point in points]
            if dots:
                title = f"{metric}, {self.sweep.short(each.name)}={value}"
                yield curve(title, self.sweep.short(along.name), dots, self._line(), within)

    def _main_effects(self, metric: str) -> Iterator[Plot]:
        effects = [effect for effect in self.sweep.main_effects if effect.metric == metric]
        within = _within([effect.estimate for effect in effects])
        for axis in self.sweep.axes:
            found = {effect.value: effect.estimate for effect in effects if effect.axis == axis.name}
            short = self.sweep.short(axis.name)
            dots = [Dot(f"{short}={value}", value, found[value]) for value in axis.values if value in found]
            if dots:
                yield curve(f"{metric} by {short}", short, dots, within=within)


def _in_order(points: Sequence[Point], axis: Axis) -> list[Point]:
    """By their value on an axis, as the axis has them."""
    places = {value: place for place, value in enumerate(axis.values)}
    return sorted(points, key=lambda point: places.get(point.axes[axis.name], len(places)))


def _within(estimates: Sequence[Estimate]) -> tuple[float, float]:
    ends = [end for found in estimates for end in (found.ci95 or (found.mean, found.mean))]
    return min(ends, default=0.0), max(ends, default=1.0)


def _unit(spend: str) -> str:
    return "US dollars" if spend == "cost_usd" else spend


def _exact(value: float) -> str:
    return f"{value!r}"


def _cell(value: object) -> object:
    return readable(value) if isinstance(value, float) else value


def _between(found: Estimate) -> str:
    return f"{readable(found.ci95[0])} to {readable(found.ci95[1])}" if found.ci95 else "-"


def _notes(folder: SweepFolder, sweep: Sweep) -> list[str]:
    """What the runs' own pages say of whose models made the numbers, once; and what is not finished."""
    runs = (folder.point(point.number) for point in sweep.points)
    said = dict.fromkeys(note for run in runs if run.summary_path.is_file() for note in notes(run.read_summary()))
    left = sweep.unfinished
    return [*said, *([f"{counted(left, 'point')} of {len(sweep.points)} not finished"] if left else [])]
