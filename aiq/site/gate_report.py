"""A gate's result as tables, Markdown and JUnit's XML."""

from collections.abc import Iterator, Sequence
from typing import get_args
from xml.etree import ElementTree as Xml

from aiq.analysis.gate import GateResult, LimitGate, MetricGate, Standing
from aiq.core.base import grouped
from aiq.core.text import join_first, plural
from aiq.site.analysis_tables import plus, spent_cell
from aiq.site.tables import Sheet, number


def gate_parts(found: GateResult) -> Iterator[Sheet | str]:
    """Causes first, then what got worse and in which samples, then what is undecided."""
    groups = {standing: [m for m in found.metrics if m.standing == standing] for standing in get_args(Standing)}
    undecided = f"; {plural(len(groups['cannot tell']), 'metric')} inconclusive" if groups["cannot tell"] else ""
    yield f"gate {'passed' if found.passed else 'FAILED'}{undecided}: {found.run} against {found.baseline}"
    yield from (f"cause: {why}" for why in found.causes)
    yield from (f"changed since the baseline: {line}" for line in found.changed)
    if worse := groups["worse"]:
        rows = [(m.metric, m.baseline, m.new, plus(m.change), _bound(m), m.margin) for m in worse]
        bound = f"{100 * (1 - found.settings.level):g} % bound"
        yield Sheet(("metric", "baseline", "run", "change", bound, "margin"), rows, "got worse")
        yield from (_samples(m.metric, tuple(m.samples)) for m in worse)
    if broken := [limit for limit in found.limits if limit.broken]:
        limits = [
            (limit.name, *(spent_cell(limit.name, amount) for amount in (limit.baseline, limit.value, limit.allowed)))
            for limit in broken
        ]
        yield Sheet(("of a sample", "baseline", "run", "allowed"), limits, "beyond a limit")
        yield from (_samples(limit.name, limit.samples) for limit in broken if limit.samples)
        yield from (_unknown(limit) for limit in broken if limit.value is None)
    if unknown := groups["cannot tell"]:
        cells = [(m.metric, plus(m.change), _worst(m), m.margin, m.n, _more_samples(m)) for m in unknown]
        headings = ("metric", "change", "may be", "margin", "n", "more samples")
        yield Sheet(headings, cells, f"cannot tell (gate.inconclusive={found.settings.inconclusive})")
    for standing, words in {"holds": "no worse, within the margin", "equal": "the same in every sample"}.items():
        if names := [m.metric for m in groups[standing]]:
            yield f"{words}: {', '.join(names)}"
    for lost, names in grouped((m.lost, m.metric) for m in found.metrics if m.lost).items():
        yield f"{', '.join(names)}: {plural(lost, 'sample has', 'samples have')} a score only in the baseline"
    if not found.metrics and not found.causes:
        yield "no metric is compared with the baseline: it has no score, or none counts (gate.margin, gate.margins)"
    if kept := [limit.name for limit in found.limits if not limit.broken]:
        yield f"within limits: {', '.join(kept)}"


def gate_lines(found: GateResult) -> Iterator[str]:
    """What makes the gate fail, one line each."""
    yield from found.causes
    yield from (f"{name}: {why}" for name, why, passes in _cases(found)[1:] if why and not passes)


def _bound(metric: MetricGate) -> str:
    """The bound on the change: it got worse by at least this much."""
    return "-" if metric.bound is None else f"{'<' if metric.bound < 0 else '>'} {plus(metric.bound)}"


def _worst(metric: MetricGate) -> str:
    return "-" if metric.worst is None else plus(metric.worst)


def _more_samples(metric: MetricGate) -> str:
    return "-" if metric.more is None else f"{metric.more:,}" if metric.more else "too near"


def _samples(name: str, samples: Sequence[str]) -> str:
    return f"{name} is worse in {plural(len(samples), 'sample')}: {join_first(samples)}"


def junit(found: GateResult) -> str:
    """A test case for the comparison itself, each metric and each limit."""
    cases = _cases(found)
    failures = sum(bool(why) and not skipped for _, why, skipped in cases)
    skips = sum(skipped for *_, skipped in cases)
    counts = {"tests": str(len(cases)), "failures": str(failures), "skipped": str(skips), "errors": "0"}
    suite = Xml.Element("testsuite", {"name": f"gate {found.baseline}", **counts})
    for name, why, skipped in cases:
        case = Xml.SubElement(suite, "testcase", {"classname": "aiq.gate", "name": name})
        if why:
            Xml.SubElement(case, "skipped" if skipped else "failure", {"message": why})
    Xml.indent(suite)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{Xml.tostring(suite, encoding="unicode")}\n'


def _cases(result: GateResult) -> list[tuple[str, str, bool]]:
    """The name of each case, what is wrong with it, and whether it passes anyway because it is inconclusive."""
    cases = [("dataset, samples and judges", "; ".join(result.causes), False)]
    cases += [_metric_case(metric, result) for metric in result.metrics]
    return cases + [(f"limit of {limit.name}", _limit_problem(limit), False) for limit in result.limits]


def _metric_case(m: MetricGate, result: GateResult) -> tuple[str, str, bool]:
    figures = f"{number(m.baseline)}, then {number(m.new)} ({plus(m.change)}, margin {number(m.margin)}, n = {m.n})"
    if m.standing == "worse":
        return m.metric, f"{figures}; {_samples(m.metric, tuple(m.samples))}", False
    if m.standing == "cannot tell":
        hint = f"; {plural(m.more, 'more sample')} would tell" if m.more else ""
        return m.metric, f"cannot tell: {figures}{hint}", result.settings.inconclusive == "pass"
    return m.metric, "", False


def _unknown(limit: LimitGate) -> str:
    remedy = "; llm.prices lacks a model of the run" if limit.name == "cost" else ""
    return f"{limit.name} of the run is unknown{remedy}"


def _limit_problem(limit: LimitGate) -> str:
    if not limit.broken:
        return ""
    value = spent_cell(limit.name, limit.value) or _unknown(limit)
    samples = f"; {_samples(limit.name, limit.samples)}" if limit.samples else ""
    return f"{value}, allowed is {spent_cell(limit.name, limit.allowed)}{samples}"
