"""The plots of a run's page: scores with intervals, distributions, routes, spend, latency, slices."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from aiq.runs.summary import Summary
from aiq.site.markdown import Json
from aiq.site.plots import Dot, Plot, bar, ordinal, plot_of, quantity, readable, tooltips, value_of
from aiq.stats.estimates import Estimate

Rows = Iterable[Mapping[str, Any]]
"""Rows of the table of samples, iterated over several times."""

_BINS: Final = 20  # about so many, at least eight
_FEW: Final = 8  # up to so many distinct values get a bar each
_MOST_SLICES: Final = 12
_BAR: Final = {"type": "bar", "color": "var(--accent)", "opacity": 0.75}
_COUNT: Final = {"name": "value", "told": "samples", "between": "share"}
_BAD_ENDS: Final = ("wrong", "failed", "limit", "cancelled")
_CURVE: Final = 16  # points of a band's edge


def run_plots(summary: Summary, rows: Rows, headline: Sequence[str]) -> Iterator[tuple[str, Plot]]:
    """Each plot with its name; `headline`: the metrics that represent the others, the main one first."""
    for number, (title, estimates) in enumerate(_by_range(summary)):
        yield f"score-{number}", forest(title, estimates, summary.ranges.get(next(iter(estimates))))
    ways = _ways(rows, headline, summary)
    if len(ways) > 1:
        yield "flow", flow("From the question by route to the end", ways)
    for number, name in enumerate(summary.metrics):
        yield from _histogram(f"spread-{number}", name, (row["scores"].get(name) for row in rows))
    for number, name in enumerate(("seconds", "cost", "tokens")):
        yield from _histogram(f"each-{number}", f"{name} of an attempt", (row[name] for row in rows))
    yield from _spend(summary)
    yield from _slices(summary, headline[:1])


def _spend(summary: Summary) -> Iterator[tuple[str, Plot]]:
    roles = {role: usage for account in summary.usage.values() for role, usage in account.roles.items()}
    tokens = {role: float(usage.total_tokens) for role, usage in roles.items()}
    costs = {role: usage.cost_usd for role, usage in roles.items() if usage.cost_usd}
    for unit, amounts in (("tokens", tokens), ("dollars", costs)):
        if len(amounts) > 1:
            yield f"roles-{unit}", spend(f"{unit.capitalize()} by role", unit, amounts)


def _slices(summary: Summary, names: Sequence[str]) -> Iterator[tuple[str, Plot]]:
    for number, (tag, groups) in enumerate(summary.slices.items()):
        for name in names:
            estimates = {value: metrics[name] for value, metrics in groups.items() if name in metrics}
            if 1 < len(estimates) <= _MOST_SLICES:
                yield f"slice-{number}", forest(f"{name} by {tag}", estimates, summary.ranges.get(name))


def forest(title: str, estimates: Mapping[str, Estimate], ends: tuple[float, float] | None = None) -> Plot:
    """Means with their intervals, one below the other; `ends`: those of the range shown."""
    values = [value_of(Dot(name, "", estimate)) | {"row": name} for name, estimate in estimates.items()]
    x = quantity("mean", None) | {"scale": {"domain": ends} if ends else {"zero": True, "nice": True}}
    row = ordinal("row", None, [*estimates], domain=False, ticks=False, labelPadding=8)
    columns = {"name": "", "told": "mean", "between": "95 % interval", "n": "n"}
    point = {"type": "point", "filled": True, "opacity": 1, "size": 90, "color": "var(--accent)"}
    layers = [
        bar("x", x, "low", "high", y=row)
        | {"mark": {"type": "rule", "color": "var(--accent)", "strokeWidth": 3, "opacity": 0.4}},
        {"mark": point, "encoding": {"x": x, "y": row, "tooltip": tooltips(columns)}},
    ]
    return plot_of(title, values, layers, 40 + 30 * len(values), columns)


def _histogram(name: str, title: str, numbers: Iterable[float | None]) -> Iterator[tuple[str, Plot]]:
    """A histogram; none if there is nothing to see: one value only, or a few that are all different."""
    counts = Counter(number for number in numbers if number is not None)
    if len(counts) > 1 and (len(counts) < counts.total() or len(counts) > _FEW):
        yield name, histogram(title, counts)


def histogram(title: str, counts: Mapping[float, int]) -> Plot:
    """How often each value occurs, or each range of values, in bins of equal, round width. `counts`: by value."""
    if len(counts) <= _FEW:
        integral = all(value == int(value) for value in counts)
        bins = [(f"{value:,.0f}" if integral else readable(value), count) for value, count in sorted(counts.items())]
    else:
        width, sizes = _width((max(counts) - min(counts)) / _BINS), Counter[int]()
        last = math.ceil(max(counts) / width - 1e-9) - 1  # its end belongs to it
        for number, count in counts.items():
            sizes[min(math.floor(number / width + 1e-9), last)] += count
        bins = [
            (f"{_end(place * width)} to {_end((place + 1) * width)}", sizes[place])
            for place in range(min(sizes), last + 1)
        ]
    total = sum(counts.values())
    values = [
        {"name": name, "row": name.partition(" to ")[0], "place": place, "told": f"{count:,}", "count": count}
        | {"between": f"{100 * count / total:.1f} %"}
        for place, (name, count) in enumerate(bins)
    ]
    axis = {"labelExpr": f"{[value['row'] for value in values]}[datum.value]", "labelAngle": 0, "labelOverlap": True}
    x = {"field": "place", "type": "ordinal", "title": None, "axis": axis | {"ticks": False}}
    y = {"field": "count", "type": "quantitative", "title": None, "axis": {"tickMinStep": 1, "tickCount": 4}}
    return plot_of(
        title, values, [{"mark": _BAR, "encoding": {"x": x, "y": y, "tooltip": tooltips(_COUNT)}}], 150, _COUNT
    )


def _width(least: float) -> float:
    """The smallest of 1, 2, 5, 10 ... (or 0.1, 0.2, 0.5 ...) that is not below `least`, so that ends are round."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least)


def _end(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def spend(title: str, unit: str, roles: Mapping[str, float]) -> Plot:
    """A bar for each role, the most expensive first."""
    total = sum(roles.values()) or 1
    ordered = sorted(roles.items(), key=lambda item: -item[1])
    values = [
        {
            "name": role,
            "row": role,
            "amount": amount,
            "told": readable(amount),
            "between": f"{100 * amount / total:.1f} %",
        }
        for role, amount in ordered
    ]
    columns = {"name": "role", "told": unit, "between": "share"}
    row = ordinal("row", None, [role for role, _ in ordered], domain=False, ticks=False, labelPadding=8)
    x = {"field": "amount", "type": "quantitative", "title": None}
    layer = {"mark": _BAR, "encoding": {"x": x, "y": row, "tooltip": tooltips(columns)}}
    return plot_of(title, values, [layer], 40 + 26 * len(values), columns)


def flow(title: str, ways: Counter[tuple[str, str]]) -> Plot:
    """Bands from all attempts to their routes and on to how they ended, as wide as the number of attempts."""
    total, by_route = ways.total(), Counter[str]()
    for (route, _), number in ways.items():
        by_route[route] += number
    routes = [route for route, _ in by_route.most_common()]
    ends = sorted({end for _, end in ways}, key=lambda end: (end in _BAD_ENDS, end))
    gap = 0.06 * total
    middle, last = (
        _stacked(by_route.most_common(), gap),
        _stacked([(e, sum(n for (_, end), n in ways.items() if end == e)) for e in ends], gap),
    )
    bands: list[Json] = []
    left = {route: middle[route][0] for route in routes}
    right = {end: last[end][0] for end in ends}
    start = (max(middle[routes[-1]][1], last[ends[-1]][1]) - total) / 2
    for route in routes:
        size = middle[route][1] - middle[route][0]
        bands += _band(f"all to {route}", "other", (0.0, 1.0), start, middle[route][0], size)
        start += size
        for end in ends:
            if number := ways[route, end]:
                bands += _band(f"{route} to {end}", end, (1.0, 2.0), left[route], right[end], number)
                left[route] += number
                right[end] += number
    names = [{"x": 1, "y": sum(middle[route]) / 2, "text": f"{route} {_size(middle[route])}"} for route in routes]
    names += [{"x": 2, "y": sum(last[end]) / 2, "text": f"{end} {_size(last[end])}"} for end in ends]
    values = [
        {"name": f"{route}: {end}", "told": f"{number:,}", "between": f"{100 * number / total:.1f} %"}
        for (route, end), number in ways.most_common()
    ]
    x = {"field": "x", "type": "quantitative", "axis": None, "scale": {"domain": [0, 2.5]}}
    y = {"field": "y", "type": "quantitative", "axis": None, "scale": {"reverse": True, "nice": False}}
    shades = {end: "var(--bad)" if end in _BAD_ENDS else "var(--good)" for end in ends} | {"other": "var(--accent)"}
    colour = {
        "field": "kind",
        "type": "nominal",
        "legend": None,
        "scale": {"domain": [*shades], "range": [*shades.values()]},
    }
    encoding = {"x": x, "y": y, "y2": {"field": "y2"}, "detail": {"field": "band"}, "color": colour}
    text = {"type": "text", "align": "left", "dx": 6, "color": "var(--ink)"}
    layers: list[Json] = [
        {"data": {"values": bands}, "mark": {"type": "area", "opacity": 0.35}, "encoding": encoding},
        {"data": {"values": names}, "mark": text, "encoding": {"x": x, "y": y, "text": {"field": "text"}}},
    ]
    columns = {"name": "route and end", "told": "attempts", "between": "share"}
    return plot_of(title, values, layers, 60 + 40 * max(len(routes), len(ends)), columns)


def _size(ends: tuple[float, float]) -> str:
    return f"{ends[1] - ends[0]:,.0f}"


def _stacked(sizes: Sequence[tuple[str, int]], gap: float) -> dict[str, tuple[float, float]]:
    """Where each item begins and ends, stacked with gaps between them."""
    offset, spans = 0.0, {}
    for name, size in sizes:
        spans[name] = offset, offset + size
        offset += size + gap
    return spans


def _band(name: str, kind: str, xs: tuple[float, float], start: float, end: float, size: float) -> Iterator[Json]:
    for step in range(_CURVE + 1):
        share = step / _CURVE
        y = start + (end - start) * share * share * (3 - 2 * share)
        x = xs[0] + (xs[1] - xs[0]) * share
        yield {"band": name, "kind": kind, "x": round(x, 4), "y": round(y, 4), "y2": round(y + size, 4)}


def _ways(rows: Rows, headline: Sequence[str], summary: Summary) -> Counter[tuple[str, str]]:
    """How many attempts took each route to each end: right or wrong if the first metric is binary, else the status."""
    metric = next(iter(headline), "")
    values = {row["scores"].get(metric) for row in rows} - {None}
    binary = values and values <= {0.0, 1.0} and summary.ranges.get(metric) == (0.0, 1.0)
    ways = Counter[tuple[str, str]]()
    for row in rows:
        status, score = row["status"], row["scores"].get(metric)
        judged = binary and status == "completed" and score is not None
        ways[row["route"] or "no route", ("right" if score else "wrong") if judged else status] += 1
    return ways


def _by_range(summary: Summary) -> Iterator[tuple[str, dict[str, Estimate]]]:
    """Metrics grouped by range; those without one each alone."""
    groups: dict[object, dict[str, Estimate]] = {}
    for name, estimate in summary.metrics.items():
        groups.setdefault(summary.ranges.get(name, name), {})[name] = estimate
    for key, estimates in groups.items():
        if isinstance(key, tuple):
            yield f"{'Scores' if len(estimates) > 1 else next(iter(estimates))}, {key[0]:g} to {key[1]:g}", estimates
        else:
            yield str(key), estimates
