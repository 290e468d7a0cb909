"""Finished runs compared sample by sample: quality, overall and by slice, with p-values of one family, and spend.

The other runs are compared with the first one. For two runs that judged the same reports differently, the result is
the offset between their judges.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Literal

from aiq.analysis.baselines import RunOrBaseline
from aiq.analysis.run_pairs import RunPair, Scored, Side, Slice, absolute_effect, pair_runs
from aiq.core.base import Record, grouped
from aiq.core.reports import Caveat
from aiq.runs.folder import natural
from aiq.runs.state import SPEND
from aiq.runs.summary import by_sample, difference
from aiq.stats.estimates import Difference, ratio_estimate
from aiq.stats.intervals import Interval
from aiq.stats.power import samples_needed
from aiq.stats.significance import LEVEL, holm_corrected

Verdict = Literal["better", "worse", "higher", "lower", "cannot tell", "equal"]
"""About the second run; `higher` and `lower` for judges, `equal` if no sample changed."""


class ComparedRun(Record):
    """A run and its letter. `judge_errors`: by judge, the reports that it failed on; `caveats`: parts of reports.

    `unreported_calls`: calls of the agent whose tokens and cost are in no figure.
    """

    label: str
    run_id: str
    experiment: str
    folder: str
    overrides: tuple[str, ...]
    attempts: int
    failed: int
    unreported_calls: int
    judge_errors: Mapping[str, int]
    caveats: Mapping[str, Caveat]


class Change(Record):
    """A metric in the second run against the first, over the samples that both have scored, or a slice of them.

    `first`, `second`: the metric in each run. `p`: that of `difference`, corrected over the whole comparison. `lost`:
    samples without a score, in each run. `more`: how many more samples would find a difference of `effect` with a
    power of 0.8 at the level of this comparison; both None if nothing varied.
    """

    metric: str
    slice: Slice
    first: float
    second: float
    difference: Difference
    p: float | None
    verdict: Verdict
    lost: tuple[int, int]
    effect: float | None
    more: int | None


class SpendRatio(Record):
    """What the agent spent per sample (the mean over samples in both runs), and second / first with its interval."""

    name: str
    first: float
    second: float
    ratio: float | None
    ci95: Interval | None


class Moved(Record):
    """The samples whose score of a metric became better or worse (for judges: higher or lower), and by how much.

    Over all epochs; the largest change first.
    """

    metric: str
    up: Mapping[str, float]
    down: Mapping[str, float]


class Unjudged(Record):
    """How many reports of each run have no verdict on a metric because its judge failed.

    `bounds`: second - first over all samples if these reports had the metric's lowest or highest value, whichever
    favours the first run, and vice versa; None if the metric has no such values or is a ratio.
    """

    metric: str
    reports: tuple[int, int]
    bounds: Interval | None


class Pair(Record):
    """The second run against the first over `samples` in common. `left_out`: by metric, why it is not compared."""

    first: str
    second: str
    samples: int
    changes: tuple[Change, ...]
    spend: tuple[SpendRatio, ...]
    moved: tuple[Moved, ...]
    unjudged: tuple[Unjudged, ...]
    left_out: Mapping[str, str]


class Comparison(Record):
    """`family`: how many p-values were corrected together. `forced`: what the runs differ in but should not."""

    schema_version: Literal[1] = 1
    judges: bool
    runs: tuple[ComparedRun, ...]
    leading: tuple[str, ...]
    family: int
    forced: tuple[str, ...]
    pairs: tuple[Pair, ...]


def compare(
    folders: Sequence[RunOrBaseline],
    *,
    metrics: Sequence[str] = (),
    effect: float = 0.02,
    judges: bool = False,
    force: bool = False,
) -> Comparison:
    """Compare each further run with the first one.

    `metrics`: compare only these, each also by slice; by default all, and by slice the first of each judge.
    `effect`: what is worth finding, as a share of a metric's range, or of the first run's mean if it has none.
    `judges`: compare how the judges scored the same reports. Raises UserError for runs that cannot be compared, unless
    `force` compares them over the samples and metrics that they share, and if nothing is left to compare.
    """
    pairs, obstacles = pair_runs(folders, metrics, judges=judges, force=force)
    runs = [pairs[0].first, *(pair.second for pair in pairs)]
    differences = [
        (pair, key, change)
        for pair in pairs
        for key, scored in pair.scores.items()
        if (change := difference(*scored, pair.intervals)) is not None
    ]
    p_values = holm_corrected({(pair.second.label, *key): change.p for pair, key, change in differences})
    family = sum(p is not None for p in p_values.values())
    level = LEVEL / max(1, family)  # at which the next comparison of this size tests its smallest p-value
    changes = grouped(
        (label := pair.second.label, _change(pair, key, change, p_values[label, *key], effect, level))
        for pair, key, change in differences
    )
    return Comparison(
        judges=judges,
        runs=tuple(_run(run) for run in runs),
        leading=tuple(dict.fromkeys(name for pair in pairs for name in pair.leading)),
        family=family,
        forced=obstacles,
        pairs=tuple(_pair(pair, changes.get(pair.second.label, ())) for pair in pairs),
    )


def _run(run: Side) -> ComparedRun:
    return ComparedRun(
        label=run.label,
        run_id=run.manifest.run_id,
        experiment=run.manifest.experiment,
        folder=str(run.folder.path),
        overrides=run.manifest.overrides,
        attempts=len(run.state.attempts),
        failed=sum(row.failed for row in run.state.attempts.values()),
        unreported_calls=sum(row.usage.unreported_calls for row in run.state.attempts.values()),
        judge_errors={judge: len(errors) for judge, errors in run.state.judge_errors().items()},
        caveats=run.state.caveats(),
    )


def _pair(pair: RunPair, changes: Sequence[Change]) -> Pair:
    return Pair(
        first=pair.first.label,
        second=pair.second.label,
        samples=len({key.sample_id for key in pair.keys}),
        changes=tuple(changes),
        spend=() if pair.judging else tuple(_spend(pair)),
        moved=tuple(moved_samples(pair.scores[name, None], judging=pair.judging) for name in pair.leading),
        unjudged=tuple(_unjudged(pair, name) for name in pair.metrics if any(pair.unjudged(name))),
        left_out=pair.excluded,
    )


def _unjudged(pair: RunPair, name: str) -> Unjudged:
    metric = pair.scores[name, None].metric
    first, second = (len(keys) for keys in pair.unjudged(name))
    bounds = None
    if metric.low is not None and metric.high is not None and metric.estimator == "mean":
        ends = (metric.high, metric.low), (metric.low, metric.high)
        least, most = (difference(*pair.imputed(name, values)) for values in ends)
        bounds = (least.mean, most.mean) if least and most else None
    return Unjudged(metric=name, reports=(first, second), bounds=bounds)


def _change(
    pair: RunPair, key: tuple[str, Slice], change: Difference, p: float | None, effect: float, level: float
) -> Change:
    scored, tag = pair.scores[key], key[1]
    metric, old, new = scored
    samples = pair.slices[tag] if tag else {key.sample_id for key in pair.keys}
    first, second = scored.means
    target_effect = absolute_effect(metric, effect, first)
    further = further_samples(change, target_effect, level)
    return Change(
        metric=metric.name,
        slice=tag,
        first=first,
        second=second,
        difference=change,
        p=p,
        verdict=_verdict(change, p, judging=pair.judging, higher_is_better=metric.higher_is_better),
        lost=(len(samples) - len(old), len(samples) - len(new)),
        effect=None if further is None else target_effect,
        more=further,
    )


def further_samples(found: Difference, effect: float, level: float) -> int | None:
    """How many more samples would find an effect at the level; None if nothing varied."""
    if not found.spread or not effect:
        return None
    return max(0, samples_needed(found.spread, effect, level, found.step) - found.n)


def _verdict(change: Difference, p: float | None, *, judging: bool, higher_is_better: bool) -> Verdict:
    if p is None or p >= LEVEL:
        return "equal" if change.is_zero else "cannot tell"
    if judging:
        return "higher" if change.mean > 0 else "lower"
    return "better" if (change.mean > 0) is higher_is_better else "worse"


def moved_samples(scored: Scored, *, judging: bool = False) -> Moved:
    """The samples whose score of a metric changed."""
    old, new = map(by_sample, (scored.first, scored.second))
    shifts = {sample: new[sample] - old[sample] for sample in old if sample in new}
    shifts = dict(sorted(shifts.items(), key=lambda item: (-abs(item[1]), natural(item[0]))))
    rises, falls = ({sample: shift for sample, shift in shifts.items() if shift * sign > 1e-9} for sign in (1, -1))
    if scored.metric.higher_is_better or judging:
        return Moved(metric=scored.metric.name, up=rises, down=falls)
    return Moved(metric=scored.metric.name, up=falls, down=rises)


def _spend(pair: RunPair) -> Iterator[SpendRatio]:
    """Spend by kind, without what is unknown (such as a cost without a price) or zero in both runs."""
    for name in SPEND:
        before, after = (state.spend_by_sample(name, pair.keys) for state in pair.states)
        if before.keys() == after.keys() and any((*before.values(), *after.values())):
            yield _ratio(name.removesuffix("_usd"), before, after)


def _ratio(name: str, before: Mapping[str, float], after: Mapping[str, float]) -> SpendRatio:
    """The interval is Student's on a log scale: a ratio is as likely to be half its true value as twice."""
    first, second = fmean(before.values()), fmean(after.values())
    estimate = ratio_estimate([[(after[sample], before[sample])] for sample in before])
    ratio, interval = (estimate.mean, estimate.ci95) if estimate else (None, None)
    if ratio and interval:
        half = (interval[1] - interval[0]) / 2 / ratio
        interval = ratio * math.exp(-half), ratio * math.exp(half)
    return SpendRatio(name=name, first=first, second=second, ratio=ratio, ci95=interval)
