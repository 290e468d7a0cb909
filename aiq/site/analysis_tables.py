"""Results of analysis/ as tables: compared runs, FreshEval's table, official figures."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from aiq.analysis.compare import Change, ComparedRun, Comparison, Moved, Pair
from aiq.analysis.fresheval import SPLITS, FreshEvalTable
from aiq.analysis.labels import Corrections
from aiq.analysis.official import OfficialScores, result_file
from aiq.core.base import grouped
from aiq.core.text import join_first, plural
from aiq.site.tables import METRIC_HEADINGS, Sheet, cell, metric_rows, money, number, p_value, percent, star
from aiq.stats.intervals import Interval
from aiq.stats.significance import LEVEL

Link = Callable[[ComparedRun, str], str]


def official_table(scores: OfficialScores) -> Group:
    """The figures as the official tools write them, and ours."""
    table = Sheet(METRIC_HEADINGS, metric_rows(scores.metrics))
    if scores.kind == "race":
        counts = f"{scores.reports} tasks, {scores.errors} of them left out because their judging failed"
    else:
        counts = (
            f"{plural(scores.reports, 'report')}, {scores.without_citations} without citations (left out of the "
            f"official figures); {plural(scores.errors, 'page')} could not be validated"
        )
    return Group(Text("official figures"), Text(result_file(scores.official)), table, Text(f"\n{counts}"))


def fresheval_table(found: FreshEvalTable) -> Sheet:
    """Percent with one decimal and the number of questions, by kind and split."""
    headings = ("accuracy, %", *(heading for split in SPLITS for heading in (split, "n")))
    rows = []
    for kind, accuracies in found.accuracies.items():
        cells = (accuracies.get(split) for split in SPLITS)
        pairs = ((f"{cell.percent:.1f}", cell.n) if cell else ("-", 0) for cell in cells)
        rows.append((kind, *(text for pair in pairs for text in pair)))
    return Sheet(headings, rows, found.metric)


def comparison_parts(found: Comparison, remarks: Sequence[str], link: Link | None = None) -> Iterator[Sheet | str]:
    """A comparison as tables and lines. `link`: how a sample of a run is written, by default as its plain id."""
    for run in found.runs:
        failures = "".join(f", {judge} failed on {n}" for judge, n in run.judge_errors.items())
        said = f"{run.label} = {run.experiment}/{run.run_id}: {plural(run.attempts, 'attempt')}, {run.failed} failed"
        yield f"{said}{failures}; {' '.join(run.overrides) or 'no settings'}"
        yield from (f"{run.label}: judge {judge}: {caveat}" for judge, caveat in run.caveats.items())
    for why in found.forced:
        yield f"compared anyway, over what they share: {why}"
    for pair in found.pairs:
        yield from _pair_sheets(pair)
        for name in found.leading:
            if changes := [one for one in pair.changes if one.metric == name]:
                yield _sentence(pair, changes, spend=name == found.leading[0])
        for moved in pair.moved:
            yield from _moved(moved, found, pair, link or (lambda _, sample: sample))
        yield from _losses(pair)
    each = f"; p is corrected by Holm's method for {plural(found.family, 'test')} (* p < {LEVEL})"
    yield (
        f"Each interval covers 95 % by itself{each if found.family else ''}. "
        f"With changes in fewer than 6 samples p cannot be below {LEVEL}; these are not tested."
    )
    yield from remarks


def _pair_sheets(pair: Pair) -> Iterator[Sheet]:
    equal = {one.metric for one in pair.changes if one.slice is None and one.verdict == "equal"}
    rows = [
        (
            f"  {'='.join(one.slice)}" if one.slice else one.metric,
            *(one.first, one.second, plus(one.difference.mean) + star(one.p), _span(one.difference.ci95, plus)),
            *(p_value(one.p), one.difference.n),
        )
        for one in pair.changes
        if one.slice is None or one.metric not in equal
    ]
    minus, over = f"{pair.second} - {pair.first}", f"{pair.second} / {pair.first}"
    title = f"{pair.second} against {pair.first}: {plural(pair.samples, 'common sample')}"
    yield Sheet(("metric", pair.first, pair.second, minus, "95 % interval", "p", "n"), rows, title)
    if pair.spend:
        spent = [
            (
                one.name,
                *(spent_cell(one.name, mean) for mean in (one.first, one.second)),
                one.ratio,
                _span(one.ci95, number),
            )
            for one in pair.spend
        ]
        yield Sheet(("", pair.first, pair.second, over, "95 % interval"), spent, "the agent, per sample")


def _sentence(pair: Pair, changes: Sequence[Change], *, spend: bool) -> str:
    """What a metric's numbers say: overall, at what cost, and on which slices something else or nothing."""
    whole, slices = changes[0], changes[1:]
    n, found = whole.difference.n, whole.difference
    between = f" ({_span(found.ci95, plus)})" if found.ci95 else ""
    p = "" if whole.p is None else f", p = {whole.p:.3f}"
    if whole.verdict == "equal":
        text = f"{pair.second} and {pair.first} score the same on {plural(n, 'sample')}"
    elif whole.verdict == "cannot tell":
        text = f"the data cannot tell {pair.second} from {pair.first}: {plus(found.mean)}{between}, n = {n}{p}"
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
        others = f" and {plural(len(open_ones) - 1, 'other slice')}" if open_ones[1:] else ""
        where = f"{'='.join(least.slice or ())} (n = {least.difference.n}){others}"
        parts.append(f"on {where} the data cannot tell: there {_remedy(least)}")
    return f"{whole.metric}: {'; '.join(parts)}."


def _remedy(change: Change) -> str:
    if change.more is None or change.effect is None:
        return "how much samples vary is unknown, take more"
    if change.more == 0:
        return f"a difference of {change.effect:.3g} would probably have been found"
    return f"{plural(change.more, 'more sample')} would resolve {change.effect:.3g}"


def _moved(moved: Moved, found: Comparison, pair: Pair, link: Link) -> Iterator[str]:
    run = next(run for run in found.runs if run.label == pair.second)
    words = ("higher", "lower") if found.judges else ("better", "worse")
    for word, samples in zip(words, (moved.up, moved.down), strict=True):
        if samples:
            named = join_first([link(run, sample) for sample in samples])  # --json has all
            yield f"{moved.metric} is {word} in {plural(len(samples), 'sample')} of {pair.second}: {named}"


def _losses(pair: Pair) -> Iterator[str]:
    def each(counts: tuple[int, int]) -> str:
        return " and ".join(f"{n} in {run}" for n, run in zip(counts, (pair.first, pair.second), strict=True) if n)

    for one in pair.changes:
        if any(one.lost) and one.slice is None:
            yield f"{one.metric}: samples without a score, left out: {each(one.lost)}"
    for lack in pair.unjudged:
        between = f"; with the lowest or highest scores for them, {pair.second} - {pair.first} could be anything from "
        between = f"{between}{_span(lack.bounds, plus)}" if lack.bounds else ""
        yield f"{lack.metric}: reports that the judge failed on: {each(lack.reports)}{between}"
    reasons = grouped((why, name) for name, why in pair.left_out.items())
    yield from (f"{', '.join(names)}: not compared, {why}" for why, names in reasons.items())


def comparison_text(parts: Iterable[Sheet | str]) -> Iterator[RenderableType]:
    """For a terminal: tables between blank lines."""
    after: Sheet | str = ""
    for part in parts:
        if Sheet in (type(part), type(after)):
            yield Text()
        yield Text(part) if isinstance(part, str) else part
        after = part


def comparison_markdown(parts: Iterable[Sheet | str]) -> str:
    blocks = []
    for part in parts:
        if isinstance(part, str):
            blocks.append(part)
            continue
        flush = ["---" if place < part.left else "---:" for place in range(len(part.headings))]
        lines = [part.headings, flush, *part.rows]
        cells = ([cell(value).replace("|", r"\|").replace("\n", " ") for value in line] for line in lines)
        blocks += [f"## {part.title}", "\n".join(f"| {' | '.join(line)} |" for line in cells)]
    return "\n\n".join(blocks) + "\n"


def spent_cell(name: str, mean: float | None) -> str | None:
    """What a sample spends, or None if unknown; `name` may be `cost` followed by other words."""
    return mean if mean is None else f"${money(mean)}" if name.partition(" ")[0] == "cost" else number(mean)


def plus(value: float) -> str:
    return f"{'+' if value >= 0 else ''}{number(value)}"


def _span(between: Interval | None, shown: Callable[[float], str]) -> str:
    return f"{shown(between[0])} to {shown(between[1])}" if between else "-"


def corrected_table(found: Corrections) -> Iterator[RenderableType]:
    """The corrected means beside those of the judge and of the labels alone, and what each is based on."""
    rows = [
        (one.metric, one.judge, one.labels_alone, _span(one.labels_ci95, number), one.labels, one.mean,
         _span(one.ci95, number), one.n)
        for one in found.metrics
    ]  # fmt: skip
    headings = ("metric", "judge", "labels", "95 %\ninterval", "labels\nn", "corrected", "95 %\ninterval", "n")
    if rows:
        yield Sheet(headings, rows, f"{found.run_id}: corrected by labels")
    for one in found.metrics:
        if one.weight is not None:
            said = f"the judge's scores count with a weight of {number(one.weight)} (PPI++)"
        else:
            said = f"by labels of {', '.join(found.labelled_in)} the judge accepts {percent(one.sensitivity)} of "
            said += f"what is right and rejects {percent(one.specificity)} of what is wrong (Lee et al.)"
        failed = f"; {plural(one.failed, 'failed sample')} need no label" if one.failed else ""
        yield Text(f"{one.metric}: {said}{failed}", style="dim")
    for metric, why in found.left_out.items():
        yield Text(f"no {metric}: {why}", style="yellow")
    if found.unmatched:
        yield Text(f"{plural(found.unmatched, 'label')} without a judged sample or metric left out", style="yellow")
