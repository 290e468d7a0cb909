"""Plots of a page: from numbers to Vega-Lite specifications, each with its data as a table, and what draws them.

Colours are the style sheet's variables, so that a plot is light, dark or printed as the page is. Fields have fixed
names; names from outside are values and titles, which Vega writes as text.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from aiq.runs.folder import write_whole
from aiq.site.tables import interval, number
from aiq.stats.estimates import Difference, Estimate

STATIC = Path(__file__).parent / "static"

Role = Literal["recommended", "best", "other"]
"""What a point is to the reader; a recommended point that is the best one too is `recommended`."""

Json: TypeAlias = dict[str, Any]

_LOOKS: Mapping[Role, tuple[str, str, int]] = {  # colour, shape, size
    "recommended": ("var(--good)", "diamond", 260),
    "best": ("var(--accent)", "square", 140),
    "other": ("var(--soft)", "circle", 90),
}
_LETTERS = {"labelColor": "var(--soft)", "titleColor": "var(--soft)", "labelFontSize": 12, "titleFontSize": 12}
_LINES = {"gridColor": "var(--line)", "domainColor": "var(--line)", "tickColor": "var(--line)"}
_CONFIG = {
    "font": "system-ui, sans-serif",
    "background": "var(--card)",
    "view": {"stroke": None},
    "axis": _LETTERS | _LINES | {"titleFontWeight": "normal"},
    "axisX": {"labelLimit": 120, "labelFlush": False, "tickCount": 6},
    "legend": _LETTERS | {"orient": "top", "symbolSize": 90},
    "text": {"color": "var(--ink)", "fontSize": 12},
    "title": {"color": "var(--ink)", "anchor": "start", "fontSize": 14},
}
_POINT = {"type": "point", "filled": True, "opacity": 1}
_NOTHING: Json = {"data": {"values": [{}]}}
_LADDER = (
    "Read from the top, the cheapest point: recommended is the first whose thick bar, one standard error of its paired "
    "difference, reaches the line of the best point. Thin bars are 95 % intervals."
)
_FRONT = "Points on the dashed line are not beaten in both at once; bars are 95 % intervals."
_MOST_TICKS = 12
_LONG_LABEL = 12


@dataclass(frozen=True)
class Plot:
    """`told`: what it shows, for those who cannot see it. `headings`, `rows`: the same data. `hint`: how to read it."""

    title: str
    told: str
    spec: Mapping[str, Any]
    headings: Sequence[str]
    rows: Sequence[Sequence[object]]
    hint: str = ""


@dataclass(frozen=True)
class Dot:
    """A value with its interval, at a value of an axis; in a trade-off at an estimate too."""

    name: str
    x: str | Estimate
    y: Estimate
    role: Role = "other"


@dataclass(frozen=True)
class Line:
    """A threshold, and what it is called in the plot, if anything."""

    at: float
    name: str = ""


@dataclass(frozen=True)
class Rung:
    """A point, what it spends, and its paired difference from the best point: none for the best itself."""

    name: str
    spend: str
    difference: Difference | None
    role: Role

    @property
    def mean(self) -> float:
        return self.difference.mean if self.difference else 0.0

    @property
    def error(self) -> float:
        """The standard error of the difference; 0 where nothing tells it."""
        spread = self.difference.spread if self.difference else None
        return spread / math.sqrt(self.difference.n) if self.difference and spread else 0.0


def ladder(title: str, rungs: Sequence[Rung]) -> Plot:
    """Differences from the best point, with a thick bar of one standard error and a thin one of the 95 % interval.

    `rungs`: from the cheapest to the dearest.
    """
    values = [
        _value(rung.mean, rung.difference.ci95 if rung.difference else None)
        | {"row": f"{rung.name}\n{rung.spend}", "error": f"{rung.error:.4g}", **_role(rung.role)}
        | {"left": rung.mean - rung.error, "right": rung.mean + rung.error}
        for rung in rungs
    ]
    two_lines = {"labelExpr": "split(datum.label, '\\n')", "domain": False, "ticks": False}
    row = _ordinal("row", None, [str(value["row"]) for value in values], **two_lines)
    x = _quantity("mean", "difference from the best") | {"scale": {"zero": True}}
    tips = _tips(row="point", told="difference", error="standard error", between="95 % interval")
    layers = [
        {"mark": {"type": "rule", "color": "var(--accent)", "strokeWidth": 2}, "encoding": {"x": {"datum": 0}}}
        | _NOTHING,
        _bar("x", x, "low", "high", y=row),
        _bar("x", x, "left", "right", y=row, color=_colour(rungs))
        | {"mark": {"type": "rule", "strokeWidth": 9, "opacity": 0.45}},
        {"mark": _POINT, "encoding": {"x": x, "y": row, **_looks(rungs), "tooltip": tips}},
    ]
    rows = [
        (
            rung.name,
            rung.spend,
            *((found.mean, rung.error, _between(found), found.n) if found else ("-",) * 4),
            rung.role,
        )
        for rung in rungs
        for found in (rung.difference,)
    ]
    told = ", ".join(f"{rung.name}: {rung.mean:+.3f} ± {rung.error:.3f}" for rung in rungs)
    headings = ("point", "spend", "difference", "standard error", "95 % interval", "n", "role")
    return Plot(title, f"{title}. {told}", _spec(values, layers, 40 + 42 * len(rungs)), headings, rows, _LADDER)


def trade_off(title: str, spend: str, dots: Sequence[Dot], front: Sequence[str], threshold: Line | None) -> Plot:
    """Quality over spend with both intervals; the dots named in `front`, cheapest first, are joined by a line.

    They are labelled by their names as far as a colon, those at one place together (`#4 +3`).
    """
    dots = sorted(dots, key=lambda dot: [*_LOOKS].index(dot.role))
    values = {dot.name: _value(dot.y.mean, dot.y.ci95, dot.y.n) | _spent(dot) for dot in dots}
    labels: dict[tuple[float, float], list[str]] = {}
    for name in values:
        if name in front or values[name]["role"] != "other":
            labels.setdefault((values[name]["x"], values[name]["mean"]), []).append(name.split(":")[0])
    named = [
        {"x": x, "mean": mean, "text": names[0] + (f" +{len(names) - 1}" if names[1:] else "")}
        for (x, mean), names in labels.items()
    ]
    x, y = _quantity("x", spend), _quantity("mean", None)
    dashed = {"type": "line", "color": "var(--accent)", "strokeDash": [5, 3], "interpolate": "step-after"}
    joined = {"data": {"values": [values[name] for name in front if name in values]}}
    tips = _tips(name="point", spend=spend, told="mean", between="95 % interval", n="n")
    number_of = {"type": "text", "align": "left", "dx": 8, "dy": -9}
    layers = [
        *_threshold(threshold),
        {"mark": dashed, "encoding": {"x": x, "y": y}} | joined,
        _bar("y", y, "low", "high", 0.35, x=x),
        _bar("x", x, "left", "right", 0.35, y=y),
        {"mark": _POINT, "encoding": {"x": x, "y": y, **_looks(dots, legend=True), "tooltip": tips}},
        {"data": {"values": named}, "mark": number_of, "encoding": {"x": x, "y": y, "text": {"field": "text"}}},
    ]
    rows = [(dot.name, *_cells(dot.x), *_cells(dot.y), dot.y.n, dot.role) for dot in dots]
    headings = ("point", spend, "95 % interval", "mean", "95 % interval", "n", "role")
    told = f"{title}. {_told(dots)}. Not beaten in both at once: {', '.join(front)}"
    return Plot(title, told, _spec([*reversed(values.values())], layers, 340), headings, rows, _FRONT)


def curve(
    title: str, axis: str, dots: Sequence[Dot], threshold: Line | None = None, within: Sequence[float] | None = None
) -> Plot:
    """Means with intervals along an axis whose values come in order; numbers are drawn to scale.

    `within`: the least and the greatest value shown, for plots side by side.
    """
    places = [str(dot.x) for dot in dots]
    numbers = _numbers(places)
    values = [
        _value(dot.y.mean, dot.y.ci95, dot.y.n) | {"name": dot.name, "x": place, **_role(dot.role)}
        for dot, place in zip(dots, numbers or places, strict=True)
    ]
    x = _ordinal("x", axis, places)
    if numbers:
        ticks = {"values": numbers} if len(numbers) <= _MOST_TICKS else {}
        x = _quantity("x", axis) | {
            "axis": {"title": axis, "grid": False, "labelOverlap": True, "format": "~g", **ticks}
        }
    y = _quantity("mean", None)
    if within:
        y["scale"] = {"domain": within, "nice": True, "zero": False}
    tips = _tips(name="point", told="mean", between="95 % interval", n="n")
    layers = [
        *_threshold(threshold),
        {"mark": {"type": "line", "color": "var(--soft)", "opacity": 0.6}, "encoding": {"x": x, "y": y}},
        _bar("y", y, "low", "high", x=x),
        {"mark": _POINT, "encoding": {"x": x, "y": y, **_looks(dots), "tooltip": tips}},
    ]
    rows = [(dot.x, *_cells(dot.y), dot.y.n, dot.role) for dot in dots]
    headings = (axis, "mean", "95 % interval", "n", "role")
    return Plot(title, f"{title}. {_told(dots)}", _spec(values, layers, 220), headings, rows)


def heat_map(title: str, axes: tuple[str, str], cells: Mapping[tuple[str, str], Dot]) -> Plot:
    """Means by the values of two axes (across, down), each in the order of `cells`; what is not there stays empty."""
    values = [
        _value(dot.y.mean, dot.y.ci95, dot.y.n)
        | {"name": dot.name, "x": across, "row": down}
        | {"text": readable(dot.y.mean), **_role(dot.role)}
        for (across, down), dot in cells.items()
    ]
    x = _ordinal("x", axes[0], [across for across, _ in cells], orient="top", domain=False, ticks=False)
    row = _ordinal("row", axes[1], [down for _, down in cells], domain=False, ticks=False)
    shade = _quantity("mean", None) | {"legend": None, "scale": {"zero": False, "range": [0.06, 0.5]}}
    tips = _tips(name="point", told="mean", between="95 % interval", n="n")
    place = {"x": x, "y": row, "tooltip": tips}
    marked = [value for value in values if value["role"] != "other"]
    layers = [
        {
            "mark": {"type": "rect", "color": "var(--accent)", "cornerRadius": 4},
            "encoding": place | {"opacity": shade},
        },
        {"mark": {"type": "text", "dy": -3}, "encoding": place | {"text": {"field": "text"}}},
        {
            "data": {"values": marked},
            "mark": _POINT | {"yOffset": 14},
            "encoding": place | _looks([*cells.values()], legend=True, others=False),
        },
    ]
    rows = [(*key, *_cells(dot.y), dot.y.n, dot.role) for key, dot in cells.items()]
    headings = (*axes, "mean", "95 % interval", "n", "role")
    return Plot(
        title,
        f"{title}. {_told([*cells.values()])}",
        _spec(values, layers, 70 + 52 * len({down for _, down in cells})),
        headings,
        rows,
    )


def write_plots(folder: Path, plots: Mapping[str, Plot]) -> None:
    """Put the data of a page's plots, and the scripts that draw them, into the folder `static` beside the page.

    Each page that is handed on by itself has its own copy (830 kB): it comes along when the folder is moved or sent,
    and is of the version that wrote the page.
    """
    folder.mkdir(exist_ok=True)
    for file in sorted(STATIC.iterdir()):
        copy, text = folder / file.name, file.read_text(encoding="utf-8")
        if not copy.exists() or copy.read_text(encoding="utf-8") != text:
            write_whole(copy, text)
    specs = json.dumps({name: plot.spec for name, plot in plots.items()}, allow_nan=False)
    write_whole(folder / "data.js", f"const AIQ_PLOTS = {specs};\n")


def readable(value: float) -> str:
    """Rounded for reading: whole numbers with commas from 1,000 on, two digits below 0.01."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.2g}" if 0 < abs(value) < 0.01 else number(value)


def _spec(values: Sequence[Json], layers: Sequence[Json], height: int) -> Json:
    size = {"width": "container", "height": height, "autosize": {"type": "fit-x", "contains": "padding"}}
    return {"config": _CONFIG, **size, "data": {"values": values}, "layer": layers}


def _value(mean: float, ci95: tuple[float, float] | None, n: int | None = None) -> Json:
    """The fields of a value with an interval; texts have six digits, for the tooltip."""
    low, high = ci95 or (mean, mean)
    between = f"{low:.6g} to {high:.6g}" if ci95 else "-"
    return {"mean": mean, "low": low, "high": high, "told": f"{mean:.6g}", "between": between, "n": n}


def _spent(dot: Dot) -> Json:
    """The fields of a dot whose place is an estimate."""
    assert isinstance(dot.x, Estimate)
    at = _value(dot.x.mean, dot.x.ci95)
    fields = {"x": at["mean"], "left": at["low"], "right": at["high"], "spend": at["told"]}
    return fields | {"name": dot.name, **_role(dot.role)}


def _cells(value: object) -> tuple[object, object]:
    return (value.mean, interval(value)) if isinstance(value, Estimate) else (value, "-")


def _between(found: Difference) -> str:
    return f"{found.ci95[0]:+.3f} to {found.ci95[1]:+.3f}" if found.ci95 else "-"


def _told(dots: Sequence[Dot]) -> str:
    return "; ".join(f"{dot.name}: {number(dot.y.mean)} ({interval(dot.y)})" for dot in dots)


def _numbers(texts: Sequence[str]) -> list[float]:
    """The texts as numbers; none where one of them is no finite number."""
    try:
        numbers = [float(text) for text in texts]
    except ValueError:
        return []
    return numbers if all(map(math.isfinite, numbers)) else []


def _quantity(field: str, title: str | None) -> Json:
    return {"field": field, "type": "quantitative", "title": title, "scale": {"zero": False, "padding": 14}}


def _ordinal(field: str, title: str | None, values: Sequence[str], **axis: Any) -> Json:
    angle = {"labelAngle": -25 if field == "x" and max(map(len, values), default=0) > _LONG_LABEL else 0}
    scale = {"domain": [*dict.fromkeys(values)]}
    return {
        "field": field,
        "type": "ordinal",
        "scale": scale,
        "axis": {"title": title} | angle | axis,
    }


def _bar(along: str, place: Json, low: str, high: str, opacity: float = 0.7, **other: Json) -> Json:
    """A rule between two fields along x or y."""
    mark = {"type": "rule", "color": "var(--soft)", "strokeWidth": 1.5, "opacity": opacity}
    return {"mark": mark, "encoding": {along: place | {"field": low}, f"{along}2": {"field": high}, **other}}


def _threshold(line: Line | None) -> list[Json]:
    if line is None:
        return []
    y = {"datum": line.at, "type": "quantitative"}
    rule = {"type": "rule", "strokeDash": [3, 3], "color": "var(--good)"}
    text = {"type": "text", "align": "left", "dx": 4, "dy": -7, "text": line.name, "color": "var(--good)"}
    named = [{"mark": text, "encoding": {"x": {"value": 0}, "y": y}} | _NOTHING] if line.name else []
    return [{"mark": rule, "encoding": {"y": y}} | _NOTHING, *named]


def _role(role: Role) -> Json:
    return {"role": role, "size": _LOOKS[role][2]}


def _colour(of: Sequence[Dot] | Sequence[Rung], legend: bool = False, others: bool = True) -> Json:
    present = [role for role in _LOOKS if role in {one.role for one in of} and (others or role != "other")]
    scale = {"domain": present, "range": [_LOOKS[role][0] for role in present]}
    return {"field": "role", "type": "nominal", "scale": scale, "legend": {"title": None} if legend else None}


def _looks(of: Sequence[Dot] | Sequence[Rung], legend: bool = False, others: bool = True) -> Json:
    """Colour, shape and size by role, because not everybody tells colours apart; `others`: of the role `other` too."""
    colour = _colour(of, legend, others)
    present = colour["scale"]["domain"]
    shapes = {"domain": present, "range": [_LOOKS[role][1] for role in present]}
    size = {"field": "size", "type": "quantitative", "scale": None, "legend": None}
    return {"color": colour, "shape": colour | {"scale": shapes}, "size": size}


def _tips(**titles: str) -> list[Json]:
    return [{"field": field, "title": title} for field, title in titles.items()]
