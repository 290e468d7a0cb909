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
    of = {standing: [one for one in found.metrics if one.standing == standing] for standing in get_args(Standing)}
    untold = f"; {plural(len(of['cannot tell']), 'metric')} inconclusive" if of["cannot tell"] else ""
    yield f"gate {'passed' if found.passed else 'FAILED'}{untold}: {found.run} against {found.baseline}"
    yield from (f"cause: {why}" for why in found.causes)
    yield from (f"changed since the baseline: {what}" for what in found.changed)
    if worse := of["worse"]:
        rows = [(one.metric, one.baseline, one.new, plus(one.change), _bound(one), one.margin) for one in worse]
        bound = f"{100 * (1 - found.settings.level):g} % bound"
        yield Sheet(("metric", "baseline", "run", "change", bound, "margin"), rows, "got worse")
        yield from (_samples(one.metric, tuple(one.samples)) for one in worse)
    if broken := [limit for limit in found.limits if limit.broken]:
        limits = [
            (one.name, *(spent_cell(one.name, of) for of in (one.baseline, one.value, one.allowed))) for one in broken
        ]
        yield Sheet(("of a sample", "baseline", "run", "allowed"), limits, "beyond a limit")
        yield from (_samples(one.name, one.samples) for one in broken if one.samples)
        yield from (_unknown(one) for one in broken if one.value is None)
    if unknown := of["cannot tell"]:
        cells = [(one.metric, plus(one.change), _worst(one), one.margin, one.n, _more(one)) for one in unknown]
        headings = ("metric", "change", "may be", "margin", "n", "more samples")
        yield Sheet(headings, cells, f"cannot tell (gate.inconclusive={found.settings.inconclusive})")
    for standing, words in {"holds": "no worse, within the margin", "equal": "the same in every sample"}.items():
        if names := [one.metric for one in of[standing]]:
            yield f"{words}: {', '.join(names)}"
    for lost, names in grouped((one.lost, one.metric) for one in found.metrics if one.lost).items():
        yield f"{', '.join(names)}: {plural(lost, 'sample has', 'samples have')} a score only in the baseline"
    if not found.metrics and not found.causes:
        yield "no metric is compared with the baseline: it has no score, or none counts (gate.margin, gate.margins)"
    if kept := [limit.name for limit in found.limits if not limit.broken]:
        yield f"within limits: {', '.join(kept)}"


def gate_lines(found: GateResult) -> Iterator[str]:
    """What makes the gate fail, one line each."""
    yield from found.causes
    yield from (f"{what}: {why}" for what, why, passes in _cases(found)[1:] if why and not passes)


def _bound(one: MetricGate) -> str:
    """The bound on the change: it got worse by at least this much."""
    return "-" if one.bound is None else f"{'<' if one.bound < 0 else '>'} {plus(one.bound)}"


def _worst(one: MetricGate) -> str:
    return "-" if one.worst is None else plus(one.worst)


def _more(one: MetricGate) -> str:
    return "-" if one.more is None else f"{one.more:,}" if one.more else "too near"


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


def _cases(found: GateResult) -> list[tuple[str, str, bool]]:
    """The name of each case, what is wrong with it, and whether it passes anyway because it is inconclusive."""
    cases = [("dataset, samples and judges", "; ".join(found.causes), False)]
    cases += [_of_metric(one, found) for one in found.metrics]
    return cases + [(f"limit of {one.name}", _of_limit(one), False) for one in found.limits]


def _of_metric(one: MetricGate, found: GateResult) -> tuple[str, str, bool]:
    said = (
        f"{number(one.baseline)}, then {number(one.new)} ({plus(one.change)}, margin {number(one.margin)}, n = {one.n})"
    )
    if one.standing == "worse":
        return one.metric, f"{said}; {_samples(one.metric, tuple(one.samples))}", False
    if one.standing == "cannot tell":
        more = f"; {plural(one.more, 'more sample')} would tell" if one.more else ""
        return one.metric, f"cannot tell: {said}{more}", found.settings.inconclusive == "pass"
    return one.metric, "", False


def _unknown(one: LimitGate) -> str:
    remedy = "; llm.prices lacks a model of the run" if one.name == "cost" else ""
    return f"{one.name} of the run is unknown{remedy}"


def _of_limit(one: LimitGate) -> str:
    if not one.broken:
        return ""
    value = spent_cell(one.name, one.value) or _unknown(one)
    samples = f"; {_samples(one.name, one.samples)}" if one.samples else ""
    return f"{value}, allowed is {spent_cell(one.name, one.allowed)}{samples}"
