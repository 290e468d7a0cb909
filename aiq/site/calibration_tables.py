"""What `aiq calibrate` prints: how far to trust judges, what they notice, and what they miss."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.text import Text

from aiq.analysis.calibration_claims import MIN_TASKS
from aiq.analysis.reliability import (
    BY_CHANCE,
    CONTROLS,
    Calibration,
    Claim,
    Figure,
    JudgeClaims,
    LabelAgreement,
    MetricReliability,
    PerturbationFigures,
)
from aiq.core.text import plural
from aiq.site.tables import OFFLINE_NOTE, Sheet, interval, number, percent

_VERDICTS = ("noticed", "cannot tell", "blind spot")
_NOT_CALIBRATED = ("fact.total_citations", "fact.total_valid_citations")
"""Official names of numbers that are calibrated under aiq's own names."""

_ONCE = "Each report was judged once, so the noise of the scores is unknown. Run it with epochs=2 or more."
_ONCE_A_RUN = (
    "within one run the same question is asked once, so its noise shows only between runs "
    "(aiq calibrate RUN OTHER_RUN, with another seed); until then every difference counts."
)
_HINT = (
    "How much more often, in percentage points, a damaged report scores below an undamaged one {} on the same "
    "task than a report with its paragraphs in another order does; in brackets the 95 % interval. A damage is "
    "noticed if this is above 0 at p < 0.05, by Holm's method over all that the judge claims."
)


def calibration_tables(calibration: Calibration) -> Group:
    """How far to trust the judges, what they notice, whom they agree with, and what a reader must know about it."""
    metrics = [m for m in calibration.metrics if m.metric not in _NOT_CALIBRATED]
    parts: list[RenderableType] = []
    if metrics:
        parts += [_reliability(metrics), *_biases(metrics), *_claims(calibration, metrics), *_perturbations(metrics)]
    parts += _agreement(calibration) if calibration.agreement else []
    parts += _labels(calibration) if calibration.labels else []
    spaced = [item for part in parts for item in (part, Text())]
    return Group(*spaced[:-1], *_remarks(calibration, metrics))


def _remarks(calibration: Calibration, metrics: Sequence[MetricReliability]) -> Iterator[Text]:
    if calibration.unmatched_labels:
        yield Text(f"{plural(calibration.unmatched_labels, 'label')} without a scored sample", style="yellow")
    unrepeated = [m for m in metrics if m.noise is None]
    if not all(m.once_per_run for m in unrepeated):
        yield Text(_ONCE, style="yellow")
    if prefixes := dict.fromkeys(f"{m.metric.partition('.')[0]}.*" for m in unrepeated if m.once_per_run):
        yield Text(f"{', '.join(prefixes)}: {_ONCE_A_RUN}", style="dim")
    if any(m.tasks < MIN_TASKS for m in metrics):
        yield Text(f"With fewer than {MIN_TASKS} tasks nothing can be shown to be noticed.", style="yellow")
    if calibration.offline:
        yield Text(OFFLINE_NOTE.replace("an agent", "a judge of yours"), style="yellow")


def _names(metrics: Sequence[MetricReliability] | Sequence[LabelAgreement]) -> list[str]:
    """A metric's name, with the judge's model if several judges yield it, and a number if they share the model."""
    names = [m.metric for m in metrics]
    models = [f"{m.metric} {m.judge_model or ''}".strip() for m in metrics]
    return [
        name if names.count(name) == 1 else model if models.count(model) == 1 else f"{model} {place}"
        for place, (name, model) in enumerate(zip(names, models, strict=True), start=1)
    ]


def _reliability(metrics: Sequence[MetricReliability]) -> Sheet:
    headings = ("metric", "reliability", "noise\n(sd)", "equal\nagain", "false\nalarms", "others'\nreports")
    rows = [
        (
            *(name, _text(m.reliability, 2)),
            *((m.noise.sd, percent(m.noise.equal)) if m.noise else (None, None)),
            *(percent(_value(m.false_alarms)), percent(_value(m.independent))),
        )
        for name, m in zip(_names(metrics), metrics, strict=True)
    ]
    tasks, reports = max(m.tasks for m in metrics), max(m.reports for m in metrics)
    basis = f"{plural(reports, 'report')} of {plural(tasks, 'task')}"
    return Sheet(headings, rows, f"how far to trust the judges, by {basis}")


def _biases(metrics: Sequence[MetricReliability]) -> Iterator[Sheet]:
    """What other than quality sways the metrics; metrics that nothing sways are left out."""
    pairs = list(zip(_names(metrics), metrics, strict=True))
    if rows := [
        (name, percent(_value(m.obeys_instructions)), _text(m.length_rise), _value(m.length_correlation))
        for name, m in pairs
        if any(map(_value, (m.obeys_instructions, m.length_rise, m.length_correlation)))
    ]:
        yield Sheet(("metric", "obeys", "rise by padding", "with length"), rows, "what sways them")
    if position_rows := [(name, _text(m.position_bias)) for name, m in pairs if m.position_bias is not None]:
        yield Sheet(("metric", "position bias"), position_rows)


def _claims(calibration: Calibration, metrics: Sequence[MetricReliability]) -> Iterator[Text]:
    """For each judge what it notices of what it claims to, and its blind spots; then those of all judges together."""
    others = any("independent" in m.perturbations for m in metrics)
    yield Text("what they notice").append("\n" + _HINT.format("of others" if others else "(its original)"), style="dim")
    for judge in calibration.judges:
        yield _judge(judge)
    noticed = {name for judge in calibration.judges for name, c in judge.claims.items() if c.verdict == "noticed"}
    missed = [name for m in metrics[:1] for name in m.perturbations if name not in (*noticed, *CONTROLS)]
    if missed:
        yield Text(f"None of these judges is shown to notice: {', '.join(missed)}.", style="yellow")


def _judge(judge: JudgeClaims) -> Text:
    noticed = [claim for claim in judge.claims.values() if claim.verdict == "noticed"]
    summary = (
        f"notices {len(noticed)} of {len(judge.claims)} that it claims to" if judge.claims else "claims none of these"
    )
    text = Text(f"{judge.judge} ({judge.judge_model or 'no model'}): {summary}")
    for verdict in _VERDICTS:
        if items := [f"{name} {_claim(claim)}" for name, claim in judge.claims.items() if claim.verdict == verdict]:
            text.append(f"\n  {verdict}: {', '.join(items)}")
    if judge.unclaimed:
        text.append(f"\n  blind spot, never claimed: {', '.join(judge.unclaimed)}")
    return text


def _claim(claim: Claim) -> str:
    difference = claim.told
    bounds = f"{100 * difference.ci95[0]:.0f} to {100 * difference.ci95[1]:.0f}" if difference.ci95 else "no interval"
    hint = f"; {claim.tasks} tasks would tell" if claim.tasks else ""
    return f"{100 * difference.mean:+.0f} ({bounds}{hint})"


def _perturbations(metrics: Sequence[MetricReliability]) -> Iterator[Sheet]:
    """One table per judge: a row per perturbation, a column per metric; in brackets what the metric does not claim.

    Perturbations that no metric of the judge claims, and that none finds more often than by chance, are left out.
    """
    title = "rank correlation with the planted quality, and share found worse (in brackets: not claimed)"
    for _, group in groupby(metrics, key=lambda m: m.judge_hash):
        judge_metrics = list(group)
        prefix = f"{judge_metrics[0].metric.partition('.')[0]}."
        judge = f"{prefix}*\n{judge_metrics[0].judge_model or ''}"
        headings = [m.metric.removeprefix(prefix) for m in judge_metrics]
        names = dict.fromkeys(name for m in judge_metrics for name in m.perturbations)
        figures = {name: [m.perturbations.get(name) for m in judge_metrics] for name in names}
        if rows := [(name, *map(_figures_cell, row)) for name, row in figures.items() if any(map(_is_shown, row))]:
            yield Sheet((judge.strip(), *headings), rows, title)
            title = ""


def _is_shown(figures: PerturbationFigures | None) -> bool:
    return figures is not None and (figures.meant or (_value(figures.recall) or 0.0) > BY_CHANCE)


def _figures_cell(figures: PerturbationFigures | None) -> str:
    if figures is None or (figures.spearman is None and figures.recall is None):
        return "-"
    share = percent(_value(figures.recall))
    if figures.meant and figures.spearman is not None:
        return f"{figures.spearman.value:z.2f}{f' {share}' if share else ''}"
    return f"({share})" if share else "-"


def _agreement(calibration: Calibration) -> Iterator[RenderableType]:
    """Agreement of pairs of judges; columns without a figure and pairs without a common report are left out."""
    pairs = [pair for pair in calibration.agreement if pair.reports]
    names = list(dict.fromkeys(name for pair in pairs for name in (pair.first, pair.second)))
    metrics = [name.partition(" ")[0] for name in names]
    labels = {name: metric if metrics.count(metric) == 1 else name for name, metric in zip(names, metrics, strict=True)}
    headings = ("judge", "other judge", "reports", "equal", "kappa", "spearman", "alpha")
    rows = [
        (
            *(labels[pair.first], labels[pair.second], pair.reports, percent(pair.equal)),
            *(_text(figure, 2) for figure in (pair.kappa, pair.spearman, pair.alpha)),
        )
        for pair in pairs
    ]
    kept = [place for place in range(len(headings)) if any(row[place] is not None for row in rows)]
    title = "do they call the same reports worse than their originals?"
    if rows:
        yield Sheet([headings[p] for p in kept], [[row[p] for p in kept] for row in rows], title, left=2)
    if calibration.alpha is not None:
        yield Text(f"Krippendorff's alpha of all: {_text(calibration.alpha, 2)}")


def _labels(calibration: Calibration) -> Iterator[Sheet]:
    """Correlations, and if there are verdicts, how well they agree."""
    pairs = list(zip(_names(calibration.labels), calibration.labels, strict=True))
    rows = [(name, a.labels, _text(a.spearman, 2), _text(a.kendall, 2)) for name, a in pairs]
    yield Sheet(("metric", "labels", "spearman", "kendall"), rows, "against your labels")
    if rows := [(name, a.labels, _text(a.accuracy, 2), _text(a.kappa, 2)) for name, a in pairs if a.accuracy]:
        yield Sheet(("metric", "labels", "accuracy", "kappa"), rows)


def _value(figure: Figure | None) -> float | None:
    return figure.value if figure else None


def _text(figure: Figure | None, decimals: int | None = None) -> str | None:
    if figure is None:
        return None
    if decimals is None:
        return number(figure.value) + (f" ({interval(figure)})" if figure.ci95 else "")
    bounds = f" ({figure.ci95[0]:z.{decimals}f} to {figure.ci95[1]:z.{decimals}f})" if figure.ci95 else ""
    return f"{figure.value:z.{decimals}f}{bounds}"
