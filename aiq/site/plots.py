"""Plots of a page: from numbers to Vega-Lite specifications, each with its data as a table.

Colours are variables of the style sheet, so a plot is light, dark or printed like its page. Fields have fixed names;
names from outside appear only as values and titles, which Vega writes as text.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from aiq.core.base import grouped
from aiq.site.markdown import Json
from aiq.site.tables import number
from aiq.stats.estimates import Difference, Estimate

Role = Literal["recommended", "best", "other"]
"""What a point is to the reader; a recommended point that is also the best is `recommended`."""


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
_NO_DATA: Json = {"data": {"values": [{}]}}
_REST = {"between": "95 % interval", "n": "n", "role": "role"}
_MEAN = {"name": "point", "told": "mean"} | _REST
_LADDER = (
    "Read from the top, the cheapest point: recommended is the first whose thick bar, one standard error of its paired "
    "difference, reaches the line of the best point. Thin bars are 95 % intervals."
)
_FRONT = "Points on the dashed line are not beaten in both at once; bars are 95 % intervals."
_MOST_TICKS = 12
_LONG_LABEL = 12


@dataclass(frozen=True)
class Plot:
    """`values`: what is drawn, point by point; `columns`: the heading of each of their fields that readers see.

    `hint`: how to read the plot.
    """

    title: str
    spec: Mapping[str, Any]
    columns: Mapping[str, str]
    values: Sequence[Mapping[str, Any]]
    hint: str = ""

    @property
    def description(self) -> str:
        """The plot in words, for those who cannot see it."""
        return f"{self.title}. " + "; ".join(f"{v['name']}: {v['told']} ({v['between']})" for v in self.values)

    @property
    def record(self) -> Json:
        """The record that a page's scripts expect."""
        texts = {"title": self.title, "hint": self.hint, "told": self.description}
        return texts | {"spec": self.spec, "columns": self.columns, "values": self.values}


@dataclass(frozen=True)
class Dot:
    """A value with its interval, at a value of an axis or of spend; `y=None`: no difference at all."""

    name: str
    x: str | Estimate
    y: Estimate | Difference | None
    role: Role = "other"


class Line(NamedTuple):
    """A threshold, and its label in the plot, if any."""

    at: float
    name: str = ""


def ladder(title: str, rungs: Sequence[Dot]) -> Plot:
    """Differences from the best point, with a thick bar of one standard error and a thin one of the 95 % interval.

    `rungs`: from the cheapest to the most expensive, `x` being their spend as text.
    """
    values = [value_of(rung) | {"spend": rung.x, "row": f"{rung.name}\n{rung.x}"} for rung in rungs]
    for value, rung in zip(values, rungs, strict=True):
        spread = rung.y.spread if isinstance(rung.y, Difference) else None
        error = spread / math.sqrt(value["n"]) if spread else 0.0
        value |= {"error": f"{error:.4g}", "left": value["mean"] - error, "right": value["mean"] + error}
    two_lines = {"labelExpr": "split(datum.label, '\\n')", "domain": False, "ticks": False}
    row = ordinal("row", None, [value["row"] for value in values], **two_lines)
    x = quantity("mean", "difference from the best") | {"scale": {"zero": True}}
    columns = {"name": "point", "spend": "spend", "told": "difference", "error": "standard error"} | _REST
    layers = [
        {"mark": {"type": "rule", "color": "var(--accent)", "strokeWidth": 2}, "encoding": {"x": {"datum": 0}}}
        | _NO_DATA,
        bar("x", x, "low", "high", y=row),
        bar("x", x, "left", "right", y=row, color=_colour(values))
        | {"mark": {"type": "rule", "strokeWidth": 9, "opacity": 0.45}},
        {"mark": _POINT, "encoding": {"x": x, "y": row, **_looks(values), "tooltip": tooltips(columns)}},
    ]
    return plot_of(title, values, layers, 40 + 42 * len(rungs), columns, _LADDER)


def trade_off(title: str, spend: str, dots: Sequence[Dot], front: Sequence[str], threshold: Line | None) -> Plot:
    """Quality over spend with both intervals; the dots named in `front`, cheapest first, are joined by a line.

    They are labelled with their names up to a colon, those in the same place together (`#4 +3`).
    """
    values = [value_of(dot) | _spent(dot) for dot in dots]
    values.sort(key=lambda value: [*_LOOKS].index(value["role"]))
    marked = (value for value in values if value["name"] in front or value["role"] != "other")
    labels = grouped(((value["x"], value["mean"]), value["name"].split(":")[0]) for value in marked)
    texts = [
        {"x": x, "mean": mean, "text": names[0] + (f" +{len(names) - 1}" if names[1:] else "")}
        for (x, mean), names in labels.items()
    ]
    x, y = quantity("x", spend), quantity("mean", None)
    dashed = {"type": "line", "color": "var(--accent)", "strokeDash": [5, 3], "interpolate": "step-after"}
    front_data = {"data": {"values": [value for name in front for value in values if value["name"] == name]}}
    columns = {"name": "point", "spend": spend, "reach": "95 % interval of it", "told": "mean"} | _REST
    text_mark = {"type": "text", "align": "left", "dx": 8, "dy": -9}
    layers = [
        *_threshold(threshold),
        {"mark": dashed, "encoding": {"x": x, "y": y}} | front_data,
        bar("y", y, "low", "high", 0.35, x=x),
        bar("x", x, "left", "right", 0.35, y=y),
        {"mark": _POINT, "encoding": {"x": x, "y": y, **_looks(values, legend=True), "tooltip": tooltips(columns)}},
        {"data": {"values": texts}, "mark": text_mark, "encoding": {"x": x, "y": y, "text": {"field": "text"}}},
    ]
    return plot_of(title, values, layers, 340, columns, _FRONT)


def curve(
    title: str, axis: str, dots: Sequence[Dot], threshold: Line | None = None, within: Sequence[float] | None = None
) -> Plot:
    """Means with intervals along an axis with ordered values; numbers are drawn to scale.

    `within`: the lowest and the highest value shown, for plots side by side.
    """
    labels = [str(dot.x) for dot in dots]
    numbers = _numbers(labels)
    values = [value_of(dot) | {"x": label} for dot, label in zip(dots, numbers or labels, strict=True)]
    x = ordinal("x", axis, labels)
    if numbers:
        ticks = {"values": numbers} if len(numbers) <= _MOST_TICKS else {}
        x = quantity("x", axis) | {
            "axis": {"title": axis, "grid": False, "labelOverlap": True, "format": ".6~g", **ticks}
        }
    y = quantity("mean", None)
    if within:
        y["scale"] = {"domain": within, "nice": True, "zero": False}
    layers = [
        *_threshold(threshold),
        {"mark": {"type": "line", "color": "var(--soft)", "opacity": 0.6}, "encoding": {"x": x, "y": y}},
        bar("y", y, "low", "high", x=x),
        {"mark": _POINT, "encoding": {"x": x, "y": y, **_looks(values), "tooltip": tooltips(_MEAN)}},
    ]
    return plot_of(title, values, layers, 220)


def heat_map(title: str, axes: tuple[str, str], cells: Mapping[tuple[str, str], Dot]) -> Plot:
    """Means by the values of two axes (across, down), each in the order of `cells`; missing cells are left empty."""
    values = [value_of(dot) | {"x": across, "row": down} for (across, down), dot in cells.items()]
    for value in values:
        value["text"] = readable(value["mean"])
    x = ordinal("x", axes[0], [across for across, _ in cells], orient="top", domain=False, ticks=False)
    row = ordinal("row", axes[1], [down for _, down in cells], domain=False, ticks=False)
    shade = quantity("mean", None) | {"legend": None, "scale": {"zero": False, "range": [0.06, 0.5]}}
    encoding = {"x": x, "y": row, "tooltip": tooltips(_MEAN)}
    marked = [value for value in values if value["role"] != "other"]
    cell = {"type": "rect", "color": "var(--accent)", "cornerRadius": 4}
    layers = [
        {"mark": cell, "encoding": encoding | {"opacity": shade}},
        {"mark": {"type": "text", "dy": -3}, "encoding": encoding | {"text": {"field": "text"}}},
        {"mark": _POINT | {"yOffset": 14}, "encoding": encoding | _looks(marked, legend=True)}
        | {"data": {"values": marked}},
    ]
    return plot_of(title, values, layers, 70 + 52 * len({down for _, down in cells}))


def readable(value: float) -> str:
    """Rounded for reading: whole numbers with commas from 1,000 on, two digits below 0.01."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.2g}" if 0 < abs(value) < 0.01 else number(value)


def plot_of(
    title: str,
    values: Sequence[Json],
    layers: Sequence[Json],
    height: int,
    columns: Mapping[str, str] = _MEAN,
    hint: str = "",
) -> Plot:
    """A plot of these values and layers; the first values are drawn on top."""
    size = {"width": "container", "height": height, "autosize": {"type": "fit-x", "contains": "padding"}}
    spec = {"config": _CONFIG, **size, "data": {"values": values[::-1]}, "layer": layers}
    return Plot(title, spec, columns, values, hint)


def value_of(dot: Dot) -> Json:
    """The fields of a point; texts have six digits."""
    mean, ci95 = (dot.y.mean, dot.y.ci95) if dot.y else (0.0, None)
    low, high = ci95 or (mean, mean)
    texts = {"told": f"{mean:.6g}", "between": f"{low:.6g} to {high:.6g}" if ci95 else "-"}
    numbers = {"mean": mean, "low": low, "high": high, "n": dot.y.n if dot.y else None}
    return {"name": dot.name, **numbers, **texts, "role": dot.role, "size": _LOOKS[dot.role][2]}


def _spent(dot: Dot) -> Json:
    """The fields of a dot whose `x` is an estimate."""
    assert isinstance(dot.x, Estimate)
    x = value_of(Dot(dot.name, "", dot.x))
    return {"x": x["mean"], "left": x["low"], "right": x["high"], "spend": x["told"], "reach": x["between"]}


def _numbers(texts: Sequence[str]) -> list[float]:
    """The texts as numbers; empty if one of them is not a finite number."""
    try:
        numbers = [float(text) for text in texts]
    except ValueError:
        return []
    return numbers if all(map(math.isfinite, numbers)) else []


def quantity(field: str, title: str | None) -> Json:
    return {"field": field, "type": "quantitative", "title": title, "scale": {"zero": False, "padding": 14}}


def ordinal(field: str, title: str | None, values: Sequence[str], **axis: Any) -> Json:
    angle = {"labelAngle": -25 if field == "x" and max(map(len, values), default=0) > _LONG_LABEL else 0}
    scale = {"domain": [*dict.fromkeys(values)]}
    return {"field": field, "type": "ordinal", "scale": scale, "axis": {"title": title} | angle | axis}


def bar(along: str, place: Json, low: str, high: str, opacity: float = 0.7, **other: Json) -> Json:
    """A rule between two fields along x or y."""
    mark = {"type": "rule", "color": "var(--soft)", "strokeWidth": 1.5, "opacity": opacity}
    return {"mark": mark, "encoding": {along: place | {"field": low}, f"{along}2": {"field": high}, **other}}


def _threshold(line: Line | None) -> list[Json]:
    if line is None:
        return []
    y = {"datum": line.at, "type": "quantitative"}
    rule = {"type": "rule", "strokeDash": [3, 3], "color": "var(--good)"}
    text = {"type": "text", "align": "right", "dx": -4, "dy": -7, "text": line.name, "color": "var(--good)"}
    label = [{"mark": text, "encoding": {"x": {"value": "width"}, "y": y}} | _NO_DATA] if line.name else []
    return [{"mark": rule, "encoding": {"y": y}} | _NO_DATA, *label]


def _colour(values: Sequence[Json], legend: bool = False) -> Json:
    roles = [role for role in _LOOKS if role in {value["role"] for value in values}]
    scale = {"domain": roles, "range": [_LOOKS[role][0] for role in roles]}
    return {"field": "role", "type": "nominal", "scale": scale, "legend": {"title": None} if legend else None}


def _looks(values: Sequence[Json], legend: bool = False) -> Json:
    """Colour, shape and size by role, because not everybody can tell colours apart."""
    colour = _colour(values, legend)
    roles = colour["scale"]["domain"]
    shapes = {"domain": roles, "range": [_LOOKS[role][1] for role in roles]}
    size = {"field": "size", "type": "quantitative", "scale": None, "legend": None}
    return {"color": colour, "shape": colour | {"scale": shapes}, "size": size}


def tooltips(columns: Mapping[str, str]) -> list[Json]:
    return [{"field": field, "title": heading} for field, heading in columns.items()]
