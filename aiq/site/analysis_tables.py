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
        head = f"{run.label} = {run.experiment}/{run.run_id}: {plural(run.attempts, 'attempt')}, {run.failed} failed"
        yield f"{head}{failures}; {' '.join(run.overrides) or 'no settings'}"
        yield from (f"{run.label}: judge {judge}: {caveat}" for judge, caveat in run.caveats.items())
    for why in found.forced:
        yield f"compared anyway, over what they share: {why}"
    for pair in found.pairs:
        yield from _pair_sheets(pair)
        for name in found.leading:
            if changes := [change for change in pair.changes if change.metric == name]:
                yield _sentence(pair, changes, spend=name == found.leading[0])
        for moved in pair.moved:
            yield from _moved_lines(moved, found, pair, link or (lambda _, sample: sample))
        yield from _losses(pair)
    correction = f"; p is corrected by Holm's method for {plural(found.family, 'test')} (* p < {LEVEL})"
    yield (
        f"Each interval covers 95 % by itself{correction if found.family else ''}. "
        f"With changes in fewer than 6 samples p cannot be below {LEVEL}; these are not tested."
    )
    yield from remarks


def _pair_sheets(pair: Pair) -> Iterator[Sheet]:
    equal = {c.metric for c in pair.changes if c.slice is None and c.verdict == "equal"}
    rows = [
        (
            f"  {'='.join(c.slice)}" if c.slice else c.metric,
            *(c.first, c.second, plus(c.difference.mean) + star(c.p), _span(c.difference.ci95, plus)),
            *(p_value(c.p), c.difference.n),
        )
        for c in pair.changes
        if c.slice is None or c.metric not in equal
    ]
    difference, ratio = f"{pair.second} - {pair.first}", f"{pair.second} / {pair.first}"
    title = f"{pair.second} against {pair.first}: {plural(pair.samples, 'common sample')}"
    yield Sheet(("metric", pair.first, pair.second, difference, "95 % interval", "p", "n"), rows, title)
    if pair.spend:
        spent = [
            (
                spend.name,
                *(spent_cell(spend.name, mean) for mean in (spend.first, spend.second)),
                spend.ratio,
                _span(spend.ci95, number),
            )
            for spend in pair.spend
        ]
        yield Sheet(("", pair.first, pair.second, ratio, "95 % interval"), spent, "the agent, per sample")


def _sentence(pair: Pair, changes: Sequence[Change], *, spend: bool) -> str:
    """What a metric's numbers say: overall, at what cost, and on which slices something else or nothing."""
    overall, slices = changes[0], changes[1:]
    n, difference = overall.difference.n, overall.difference
    bounds = f" ({_span(difference.ci95, plus)})" if difference.ci95 else ""
    p = "" if overall.p is None else f", p = {overall.p:.3f}"
    if overall.verdict == "equal":
        text = f"{pair.second} and {pair.first} score the same on {plural(n, 'sample')}"
    elif overall.verdict == "cannot tell":
        text = f"the data cannot tell {pair.second} from {pair.first}: {plus(difference.mean)}{bounds}, n = {n}{p}"
    else:
        scores = "scores" if overall.verdict in ("higher", "lower") else "is"
        size = sorted(math.copysign(1, difference.mean) * end for end in difference.ci95 or ())
        bounds = f" ({number(size[0])} to {number(size[1])})" if size else ""
        text = f"{pair.second} {scores} {overall.verdict} by {number(abs(difference.mean))}{bounds}"
    if spend and (ratio := next((r for r in pair.spend if r.ratio), None)) is not None:
        text += f", at {ratio.ratio:.2f} times the {ratio.name}"
    parts = [text, *([_remedy(overall)] if overall.verdict == "cannot tell" else [])]
    distinct = [c for c in slices if c.verdict not in ("cannot tell", "equal", overall.verdict)]
    parts += [f"{c.verdict} on {'='.join(c.slice or ())} by {number(abs(c.difference.mean))}" for c in distinct]
    undecided = [c for c in slices if c.verdict == "cannot tell" != overall.verdict != "equal"]
    undecided.sort(key=lambda c: math.inf if c.more is None else c.more)
    if undecided:
        first = undecided[0]
        others = f" and {plural(len(undecided) - 1, 'other slice')}" if undecided[1:] else ""
        where = f"{'='.join(first.slice or ())} (n = {first.difference.n}){others}"
        parts.append(f"on {where} the data cannot tell: there {_remedy(first)}")
    return f"{overall.metric}: {'; '.join(parts)}."


def _remedy(change: Change) -> str:
    if change.more is None or change.effect is None:
        return "how much samples vary is unknown, take more"
    if change.more == 0:
        return f"a difference of {change.effect:.3g} would probably have been found"
    return f"{plural(change.more, 'more sample')} would resolve {change.effect:.3g}"


def _moved_lines(moved: Moved, comparison: Comparison, pair: Pair, link: Link) -> Iterator[str]:
    run = next(run for run in comparison.runs if run.label == pair.second)
    words = ("higher", "lower") if comparison.judges else ("better", "worse")
    for word, samples in zip(words, (moved.up, moved.down), strict=True):
        if samples:
            links = join_first([link(run, sample) for sample in samples])  # --json has all
            yield f"{moved.metric} is {word} in {plural(len(samples), 'sample')} of {pair.second}: {links}"


def _losses(pair: Pair) -> Iterator[str]:
    def per_run(counts: tuple[int, int]) -> str:
        return " and ".join(f"{n} in {run}" for n, run in zip(counts, (pair.first, pair.second), strict=True) if n)

    for change in pair.changes:
        if any(change.lost) and change.slice is None:
            yield f"{change.metric}: samples without a score, left out: {per_run(change.lost)}"
    for unjudged in pair.unjudged:
        note = f"; with the lowest or highest scores for them, {pair.second} - {pair.first} could be anything from "
        note = f"{note}{_span(unjudged.bounds, plus)}" if unjudged.bounds else ""
        yield f"{unjudged.metric}: reports that the judge failed on: {per_run(unjudged.reports)}{note}"
    reasons = grouped((why, name) for name, why in pair.left_out.items())
    yield from (f"{', '.join(names)}: not compared, {why}" for why, names in reasons.items())


def comparison_text(parts: Iterable[Sheet | str]) -> Iterator[RenderableType]:
    """For a terminal: tables between blank lines."""
    previous: Sheet | str = ""
    for part in parts:
        if Sheet in (type(part), type(previous)):
            yield Text()
        yield Text(part) if isinstance(part, str) else part
        previous = part


def comparison_markdown(parts: Iterable[Sheet | str]) -> str:
    blocks = []
    for part in parts:
        if isinstance(part, str):
            blocks.append(part)
            continue
        alignments = ["---" if place < part.left else "---:" for place in range(len(part.headings))]
        lines = [part.headings, alignments, *part.rows]
        cells = ([cell(value).replace("|", r"\|").replace("\n", " ") for value in line] for line in lines)
        blocks += [f"## {part.title}", "\n".join(f"| {' | '.join(line)} |" for line in cells)]
    return "\n\n".join(blocks) + "\n"


def spent_cell(name: str, mean: float | None) -> str | None:
    """What a sample spends, or None if unknown; `name` may be `cost` followed by other words."""
    return mean if mean is None else f"${money(mean)}" if name.partition(" ")[0] == "cost" else number(mean)


def plus(value: float) -> str:
    return f"{'+' if value >= 0 else ''}{number(value)}"


def _span(ends: Interval | None, form: Callable[[float], str]) -> str:
    return f"{form(ends[0])} to {form(ends[1])}" if ends else "-"


def corrected_table(found: Corrections) -> Iterator[RenderableType]:
    """The corrected means beside those of the judge and of the labels alone, and what each is based on."""
    rows = [
        (m.metric, m.judge, m.labels_alone, _span(m.labels_ci95, number), m.labels, m.mean,
         _span(m.ci95, number), m.n)
        for m in found.metrics
    ]  # fmt: skip
    headings = ("metric", "judge", "labels", "95 %\ninterval", "labels\nn", "corrected", "95 %\ninterval", "n")
    if rows:
        yield Sheet(headings, rows, f"{found.run_id}: corrected by labels")
    for corrected in found.metrics:
        if corrected.weight is not None:
            note = f"the judge's scores count with a weight of {number(corrected.weight)} (PPI++)"
        else:
            note = f"by labels of {', '.join(found.labelled_in)} the judge accepts {percent(corrected.sensitivity)} of "
            note += f"what is right and rejects {percent(corrected.specificity)} of what is wrong (Lee et al.)"
        failed = f"; {plural(corrected.failed, 'failed sample')} need no label" if corrected.failed else ""
        yield Text(f"{corrected.metric}: {note}{failed}", style="dim")
    for metric, why in found.left_out.items():
        yield Text(f"no {metric}: {why}", style="yellow")
    if found.unmatched:
        yield Text(f"{plural(found.unmatched, 'label')} without a judged sample or metric left out", style="yellow")
