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
    shown = [one for one in calibration.metrics if one.metric not in _NOT_CALIBRATED]
    parts: list[RenderableType] = []
    if shown:
        parts += [_reliability(shown), *_biases(shown), *_claims(calibration, shown), *_perturbations(shown)]
    parts += _agreement(calibration) if calibration.agreement else []
    parts += _labels(calibration) if calibration.labels else []
    spaced = [item for part in parts for item in (part, Text())]
    return Group(*spaced[:-1], *_remarks(calibration, shown))


def _remarks(calibration: Calibration, shown: Sequence[MetricReliability]) -> Iterator[Text]:
    if calibration.unmatched_labels:
        yield Text(f"{plural(calibration.unmatched_labels, 'label')} without a scored sample", style="yellow")
    silent = [one for one in shown if one.noise is None]
    if not all(one.once_per_run for one in silent):
        yield Text(_ONCE, style="yellow")
    if copied := dict.fromkeys(f"{one.metric.partition('.')[0]}.*" for one in silent if one.once_per_run):
        yield Text(f"{', '.join(copied)}: {_ONCE_A_RUN}", style="dim")
    if any(one.tasks < MIN_TASKS for one in shown):
        yield Text(f"With fewer than {MIN_TASKS} tasks nothing can be shown to be noticed.", style="yellow")
    if calibration.offline:
        yield Text(OFFLINE_NOTE.replace("an agent", "a judge of yours"), style="yellow")


def _names(metrics: Sequence[MetricReliability] | Sequence[LabelAgreement]) -> list[str]:
    """A metric's name, with the judge's model if several judges yield it, and a number if they share the model."""
    names = [one.metric for one in metrics]
    models = [f"{one.metric} {one.judge_model or ''}".strip() for one in metrics]
    return [
        name if names.count(name) == 1 else model if models.count(model) == 1 else f"{model} {place}"
        for place, (name, model) in enumerate(zip(names, models, strict=True), start=1)
    ]


def _reliability(metrics: Sequence[MetricReliability]) -> Sheet:
    headings = ("metric", "reliability", "noise\n(sd)", "equal\nagain", "false\nalarms", "others'\nreports")
    rows = [
        (
            *(name, _full(one.reliability, 2)),
            *((one.noise.sd, percent(one.noise.equal)) if one.noise else (None, None)),
            *(percent(_value(one.false_alarms)), percent(_value(one.independent))),
        )
        for name, one in zip(_names(metrics), metrics, strict=True)
    ]
    tasks, reports = max(one.tasks for one in metrics), max(one.reports for one in metrics)
    of = f"{plural(reports, 'report')} of {plural(tasks, 'task')}"
    return Sheet(headings, rows, f"how far to trust the judges, by {of}")


def _biases(metrics: Sequence[MetricReliability]) -> Iterator[Sheet]:
    """What other than quality sways the metrics; metrics that nothing sways are left out."""
    named = list(zip(_names(metrics), metrics, strict=True))
    if rows := [
        (name, percent(_value(one.obeys_instructions)), _full(one.length_rise), _value(one.length_correlation))
        for name, one in named
        if any(map(_value, (one.obeys_instructions, one.length_rise, one.length_correlation)))
    ]:
        yield Sheet(("metric", "obeys", "rise by padding", "with length"), rows, "what sways them")
    if placed := [(name, _full(one.position_bias)) for name, one in named if one.position_bias is not None]:
        yield Sheet(("metric", "position bias"), placed)


def _claims(calibration: Calibration, shown: Sequence[MetricReliability]) -> Iterator[Text]:
    """For each judge what it notices of what it claims to, and its blind spots; then those of all judges together."""
    others = any("independent" in one.perturbations for one in shown)
    yield Text("what they notice").append("\n" + _HINT.format("of others" if others else "(its original)"), style="dim")
    for judge in calibration.judges:
        yield _judge(judge)
    noticed = {name for judge in calibration.judges for name, one in judge.claims.items() if one.verdict == "noticed"}
    lost = [name for one in shown[:1] for name in one.perturbations if name not in (*noticed, *CONTROLS)]
    if lost:
        yield Text(f"None of these judges is shown to notice: {', '.join(lost)}.", style="yellow")


def _judge(judge: JudgeClaims) -> Text:
    noticed = [one for one in judge.claims.values() if one.verdict == "noticed"]
    told = (
        f"notices {len(noticed)} of {len(judge.claims)} that it claims to" if judge.claims else "claims none of these"
    )
    text = Text(f"{judge.judge} ({judge.judge_model or 'no model'}): {told}")
    for verdict in _VERDICTS:
        if found := [f"{name} {_claim(claim)}" for name, claim in judge.claims.items() if claim.verdict == verdict]:
            text.append(f"\n  {verdict}: {', '.join(found)}")
    if judge.unclaimed:
        text.append(f"\n  blind spot, never claimed: {', '.join(judge.unclaimed)}")
    return text


def _claim(claim: Claim) -> str:
    found = claim.told
    between = f"{100 * found.ci95[0]:.0f} to {100 * found.ci95[1]:.0f}" if found.ci95 else "no interval"
    needed = f"; {claim.tasks} tasks would tell" if claim.tasks else ""
    return f"{100 * found.mean:+.0f} ({between}{needed})"


def _perturbations(metrics: Sequence[MetricReliability]) -> Iterator[Sheet]:
    """One table per judge: a row per perturbation, a column per metric; in brackets what the metric does not claim.

    Perturbations that no metric of the judge claims, and that none finds more often than by chance, are left out.
    """
    title = "rank correlation with the planted quality, and share found worse (in brackets: not claimed)"
    for _, group in groupby(metrics, key=lambda one: one.judge_hash):
        of_judge = list(group)
        prefix = f"{of_judge[0].metric.partition('.')[0]}."
        judge = f"{prefix}*\n{of_judge[0].judge_model or ''}"
        headings = [one.metric.removeprefix(prefix) for one in of_judge]
        names = dict.fromkeys(name for one in of_judge for name in one.perturbations)
        seen = {name: [one.perturbations.get(name) for one in of_judge] for name in names}
        if rows := [(name, *map(_seen, found)) for name, found in seen.items() if any(map(_is_shown, found))]:
            yield Sheet((judge.strip(), *headings), rows, title)
            title = ""


def _is_shown(seen: PerturbationFigures | None) -> bool:
    return seen is not None and (seen.meant or (_value(seen.recall) or 0.0) > BY_CHANCE)


def _seen(seen: PerturbationFigures | None) -> str:
    if seen is None or (seen.spearman is None and seen.recall is None):
        return "-"
    share = percent(_value(seen.recall))
    if seen.meant and seen.spearman is not None:
        return f"{seen.spearman.value:z.2f}{f' {share}' if share else ''}"
    return f"({share})" if share else "-"


def _agreement(calibration: Calibration) -> Iterator[RenderableType]:
    """Agreement of pairs of judges; columns without a figure and pairs without a common report are left out."""
    pairs = [two for two in calibration.agreement if two.reports]
    names = list(dict.fromkeys(name for two in pairs for name in (two.first, two.second)))
    metrics = [name.partition(" ")[0] for name in names]
    called = {name: metric if metrics.count(metric) == 1 else name for name, metric in zip(names, metrics, strict=True)}
    headings = ("judge", "other judge", "reports", "equal", "kappa", "spearman", "alpha")
    rows = [
        (
            *(called[two.first], called[two.second], two.reports, percent(two.equal)),
            *(_full(figure, 2) for figure in (two.kappa, two.spearman, two.alpha)),
        )
        for two in pairs
    ]
    kept = [place for place in range(len(headings)) if any(row[place] is not None for row in rows)]
    title = "do they call the same reports worse than their originals?"
    if rows:
        yield Sheet([headings[p] for p in kept], [[row[p] for p in kept] for row in rows], title, left=2)
    if calibration.alpha is not None:
        yield Text(f"Krippendorff's alpha of all: {_full(calibration.alpha, 2)}")


def _labels(calibration: Calibration) -> Iterator[Sheet]:
    """Correlations, and if there are verdicts, how well they agree."""
    named = list(zip(_names(calibration.labels), calibration.labels, strict=True))
    rows = [(name, one.labels, _full(one.spearman, 2), _full(one.kendall, 2)) for name, one in named]
    yield Sheet(("metric", "labels", "spearman", "kendall"), rows, "against your labels")
    if rows := [(name, one.labels, _full(one.accuracy, 2), _full(one.kappa, 2)) for name, one in named if one.accuracy]:
        yield Sheet(("metric", "labels", "accuracy", "kappa"), rows)


def _value(figure: Figure | None) -> float | None:
    return figure.value if figure else None


def _full(figure: Figure | None, decimals: int | None = None) -> str | None:
    if figure is None:
        return None
    if decimals is None:
        return number(figure.value) + (f" ({interval(figure)})" if figure.ci95 else "")
    between = f" ({figure.ci95[0]:z.{decimals}f} to {figure.ci95[1]:z.{decimals}f})" if figure.ci95 else ""
    return f"{figure.value:z.{decimals}f}{between}"
