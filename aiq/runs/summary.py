"""`summary.json`: the numbers of a run, computed from its manifest and rows alone."""

import math
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
from statistics import fmean, median, variance
from typing import Any, Literal, get_args

from pydantic import model_validator

from aiq.core.base import Record, grouped
from aiq.core.reports import Caveat, CitationStatus, Metric
from aiq.core.usage import Usage
from aiq.runs.manifest import FailureRule, Manifest, RunStatus
from aiq.runs.state import AttemptState, RunState, ScoreState
from aiq.stats.estimates import Difference, Estimate, Pairs, mean_estimate, paired_means, paired_ratios, ratio_estimate
from aiq.stats.intervals import LEVEL, Method
from aiq.stats.noise import NOISE, Noise, RunNoise, pooled

MOST_SLICES = 20  # a tag with more values than this identifies samples rather than grouping them; it gives no slices
MOST_FAILURES = 5  # the number of different errors listed; the rows have all
_PARTICULAR = re.compile(r"""(?<!HTTP )(?<!\S)\S*\d\S*|(?<= )(['"])\S* .*\1(?:\.\.\.)?$""")


class AccountUsage(Record):
    """An account's spend: the sum, and by role."""

    total: Usage = Usage()
    roles: Mapping[str, Usage] = {}


class RouteSummary(Record):
    """Attempts that took one route: how many, their metrics, cost (as the run's) and mean wall time."""

    n: int
    metrics: Mapping[str, Estimate]
    cost_usd: float | None
    unreported_calls: int = 0
    mean_seconds: float


class FailurePolicy(Record):
    """How failed attempts were counted (`policy`), and every metric under the other policy."""

    policy: FailureRule
    failed: int
    alternative: FailureRule
    metrics: Mapping[str, Estimate]


class TimingSummary(Record):
    """Seconds: wall time of the whole run over all its starts, and of the attempts."""

    run_seconds: float
    attempt_mean: float | None
    attempt_median: float | None
    attempt_p95: float | None


class JudgeErrors(Record):
    """The number of reports that a judge failed on, and by cause for the most frequent causes."""

    n: int
    causes: Mapping[str, int]

    @model_validator(mode="before")
    @classmethod
    def _older(cls, values: Any) -> Any:
        """Older summaries have only the first message."""
        if isinstance(values, Mapping) and "first" in values:
            return {"n": values["n"], "causes": {values["first"]: values["n"]}}
        return values


class LeftOut(Record):
    """Attempts without a judgement of a metric, by cause; only those of failed agents may count, by the policy.

    `bounds`: the metric's mean if everything unjudged had the lowest value, and if it had the highest; None if nothing
    is unjudged, and for ratios and metrics that lack a bound.
    """

    failed: int
    unjudged: int
    not_applicable: int
    bounds: tuple[float, float] | None = None


class Summary(Record):
    """`summary.json`: the numbers of a run. `n` of a metric counts samples, `n_errors` failed attempts.

    `offline`: whether the offline model answered, except in the roles `elsewhere`. `partial`: attempts whose report
    was cut off, and judged as far as it went. `citation_statuses`: of the reports, best first. `failures`: attempts by
    cause of failure, the most frequent causes only. `denied`: pages and search results that `web.deny` kept from
    agents. `tools`: calls by tool and outcome (`ok` or the kind of error); `outages`: by tool, the first error of the
    service behind it. `ranges`: least and greatest value of metrics that have both. `judge_caveats`: what a judge's
    scores lack. `judge_noise`: for metrics whose judge scored a report more than once. `left_out`: for metrics that
    not every attempt has. `cost_usd` is a lower bound if there are `unreported_calls`: calls whose usage the endpoint
    did not report.
    """

    schema_version: Literal[1] = 1
    intervals: Method = "score"
    run_id: str
    experiment: str
    status: RunStatus
    offline: bool
    elsewhere: tuple[str, ...] = ()
    n_samples: int
    n_attempts: int
    n_errors: int
    statuses: Mapping[str, int]
    partial: int = 0
    citation_statuses: Mapping[str, int] = {}
    metrics: Mapping[str, Estimate]
    ranges: Mapping[str, tuple[float, float]] = {}
    unavailable: Mapping[str, str]
    left_out: Mapping[str, LeftOut] = {}
    agent_failures: FailurePolicy
    failures: Mapping[str, int] = {}
    denied: int = 0
    tools: Mapping[str, Mapping[str, int]] = {}
    outages: Mapping[str, str] = {}
    judge_errors: Mapping[str, JudgeErrors]
    judge_caveats: Mapping[str, Caveat] = {}
    judge_noise: Mapping[str, RunNoise] = {}
    slices: Mapping[str, Mapping[str, Mapping[str, Estimate]]]
    routes: Mapping[str, RouteSummary]
    usage: Mapping[str, AccountUsage]
    cost_usd: float | None
    unreported_calls: int = 0
    timing: TimingSummary

    @property
    def spent(self) -> Usage:
        """The usage of all accounts together."""
        return sum((account.total for account in self.usage.values()), Usage())

    @property
    def unjudged(self) -> bool:
        """Whether a judge failed on a report, or on part of one, that resuming lets it judge again."""
        return bool(self.judge_errors) or any(caveat.retry for caveat in self.judge_caveats.values())


def summarise(manifest: Manifest, state: RunState, run_seconds: float) -> Summary:
    """The summary of a run from its manifest and its rows (in `state`). `run_seconds`: wall time over all starts."""
    figures = _Figures(state)
    rule = state.spec.failures.agent_failures
    alternative: FailureRule = "exclude" if rule == "worst" else "worst"
    declared = state.spec.metrics
    metrics = figures.metrics(figures.places, rule)
    statuses = state.statuses()
    return Summary(
        intervals=state.spec.intervals,
        run_id=manifest.run_id,
        experiment=manifest.experiment,
        status=manifest.status,
        offline=manifest.offline,
        elsewhere=manifest.elsewhere,
        n_samples=sum(1 for _ in groupby(state.spec.keys[place].sample_id for place in figures.places)),
        n_attempts=len(figures.places),
        n_errors=statuses.get("failed", 0),
        statuses=statuses,
        partial=sum(n * attempt.partial for attempt, n in state.attempts.groups()),
        citation_statuses=state.attempts.counts("citation_status", get_args(CitationStatus)),
        metrics=metrics,
        ranges={n: (m.low, m.high) for n, m in declared.items() if m.low is not None and m.high is not None},
        unavailable={name: figures.reason(name) for name in declared if name not in metrics},
        left_out={name: left_out for name in metrics if (left_out := figures.left_out(name, rule)) is not None},
        agent_failures=FailurePolicy(
            policy=rule,
            failed=sum(n * attempt.failed for attempt, n in state.attempts.groups()),
            alternative=alternative,
            metrics=figures.metrics(figures.places, alternative),
        ),
        failures=causes(figures.errors),
        denied=sum(n * attempt.denied for attempt, n in state.attempts.groups()),
        tools=state.tools(),
        outages=state.outages(),
        judge_errors={name: JudgeErrors(n=len(why), causes=causes(why)) for name, why in state.judge_errors().items()},
        judge_caveats=state.caveats(),
        judge_noise=figures.noise(),
        slices=figures.slices(rule),
        routes=figures.routes(rule),
        usage={
            account: AccountUsage(total=sum(roles.values(), Usage()), roles=dict(sorted(roles.items())))
            for account, roles in state.usage.items()
        },
        cost_usd=state.spent().cost_usd,
        unreported_calls=state.spent().unreported_calls,
        timing=_timing(figures.seconds(), run_seconds),
    )


class _Figures:
    """The estimates of a run, over all its attempts or some of them, given by the places of their keys."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self.places, self.errors = array("L"), list[str]()
        self._tags: dict[str, dict[str, array[int]]] = {}
        self._routes: defaultdict[str, _Route] = defaultdict(_Route)
        for place in range(len(state.spec.keys)):
            if (attempt := state.attempts.at(place)) is None:
                continue
            self.places.append(place)
            self._routes[attempt.route or attempt.status].add(place, attempt)
            self.errors += [attempt.error] if attempt.error else []
            for tag, value in attempt.tags.items():
                values = self._tags.setdefault(tag, {})
                if value in values or len(values) <= MOST_SLICES:
                    values.setdefault(value, array("L")).append(place)
        self._scores = {name: _MetricScores(self.scores(name)) for name in state.spec.metrics}
        self._any_failed = any(scores.statuses["agent_failed"] for scores in self._scores.values())
        self._overall: dict[FailureRule, Mapping[str, Estimate]] = {}

    def scores(self, metric: str) -> Iterator[tuple[int, ScoreState | None]]:
        return ((place, self._state.score_at(place, metric)) for place in self.places)

    def seconds(self) -> list[float]:
        """The wall times of all attempts, sorted."""
        return sorted(chain.from_iterable(route.seconds for route in self._routes.values()))

    def metrics(self, places: Sequence[int], rule: FailureRule) -> Mapping[str, Estimate]:
        """Every metric that the keys at these places have, in the order in which the judges declare them."""
        if len(places) < len(self.places):
            return self._estimates(places, rule)
        rule = rule if self._any_failed else "exclude"  # without failures the rules agree
        if rule not in self._overall:
            self._overall[rule] = self._estimates(self.places, rule)
        return self._overall[rule]

    def _estimates(self, places: Iterable[int], rule: FailureRule) -> Mapping[str, Estimate]:
        estimates = {
            name: estimate(metric, self._clusters(name, places, rule), self._state.spec.intervals)
            for name, metric in self._state.spec.metrics.items()
            if self._applies(name)
        }
        return {name: value for name, value in estimates.items() if value is not None}

    def _clusters(self, name: str, places: Iterable[int], rule: FailureRule | None = None) -> Iterator[Pairs]:
        """A metric's scores that count, one sample in memory at a time, since keys are ordered by sample."""
        for _, group in groupby(self._state.counted_scores(name, places, rule), itemgetter(0)):
            yield [parts for _, parts in group]

    def _applies(self, metric: str) -> bool:
        """Whether any report of the run could have this metric; if not, a failure's worst value means nothing."""
        statuses = self._scores[metric].statuses
        return "scored" in statuses or "not_applicable" not in statuses

    def reason(self, metric: str) -> str:
        """Why a declared metric has no number."""
        for status in ("not_applicable", "error", "agent_failed"):
            scores = (score for _, score in self.scores(metric) if score and score.status == status)
            if reason := next((score.why for score in scores if score.why), None):
                return "the judge failed" if status == "error" else reason  # why: `judge_errors`
        return "its denominators sum to 0" if self._scores[metric].statuses else "nothing was scored"

    def left_out(self, name: str, rule: FailureRule) -> LeftOut | None:
        """The attempts without the metric; None if every attempt has it."""
        metric, statuses = self._state.spec.metrics[name], self._scores[name].statuses
        keys = [self._state.spec.keys[place] for place in self._scores[name].unscored]
        unjudged = [key for key in keys if self._state.attempts[key].status != "cancelled"]
        failed, not_applicable = statuses["agent_failed"], statuses["not_applicable"]
        if not (failed or unjudged or not_applicable):
            return None
        counts = LeftOut(failed=failed, unjudged=len(unjudged), not_applicable=not_applicable)
        if not unjudged or metric.estimator == "ratio" or metric.low is None or metric.high is None:
            return counts
        scores = self._state.by_sample(name, rule=rule)
        bounds = []
        for value in (metric.low, metric.high):
            filled = {sample: list(epochs) for sample, epochs in scores.items()}
            for key in unjudged:
                filled.setdefault(key.sample_id, []).append((value, 1.0))
            bounds.append(fmean(fmean(score for score, _ in epochs) for epochs in filled.values()))
        return counts.model_copy(update={"bounds": (bounds[0], bounds[1])})

    def noise(self) -> dict[str, RunNoise]:
        """How much repeated judgements of one report differ, for metrics that were judged more than once."""
        by_metric = {}
        for name, scores in self._scores.items():
            if (noise := pooled(scores.noise)) is not None:
                by_metric[name] = noise.with_variance(self._variance(name))
        return by_metric

    def _variance(self, name: str) -> float | None:
        """The variance of the metric's mean, from all causes; None for ratios, and for fewer than two samples."""
        values = [fmean(value for value, _ in cluster) for cluster in self._clusters(name, self.places)]
        is_mean = self._state.spec.metrics[name].estimator == "mean"
        return variance(values) / len(values) if is_mean and len(values) > 1 else None

    def slices(self, rule: FailureRule) -> dict[str, dict[str, Mapping[str, Estimate]]]:
        """Metrics by tag and value, both in alphabetical order; a tag with only one value gives no slices."""
        return {
            tag: {value: self.metrics(places, rule) for value, places in sorted(values.items())}
            for tag, values in sorted(self._tags.items())
            if 1 < len(values) <= MOST_SLICES
        }

    def routes(self, rule: FailureRule) -> dict[str, RouteSummary]:
        """By route, in alphabetical order; attempts without a route are grouped by status."""
        return {
            name: RouteSummary(
                n=len(route.places),
                metrics=self.metrics(route.places, rule),
                cost_usd=route.usage.cost_usd,
                unreported_calls=route.usage.unreported_calls,
                mean_seconds=fmean(route.seconds),
            )
            for name, route in sorted(self._routes.items())
        }


class _Route:
    """The attempts that took one route."""

    def __init__(self) -> None:
        self.places, self.seconds, self.usage = array("L"), array("d"), Usage()

    def add(self, place: int, attempt: AttemptState) -> None:
        self.places.append(place)
        self.seconds.append(attempt.seconds)
        self.usage += attempt.usage


class _MetricScores:
    """What is known about a metric: scores by status, the places without a judgement, the judges' noise."""

    def __init__(self, scores: Iterable[tuple[int, ScoreState | None]]) -> None:
        self.statuses, self.unscored, self.noise = Counter[str](), array("L"), list[Noise]()
        for place, score in scores:
            if score is None or score.status == "error":
                self.unscored.append(place)
            if score is not None:
                self.statuses[score.status] += 1
                self.noise += [Noise.model_validate(score.detail[NOISE])] if NOISE in score.detail else []


def causes(messages: Iterable[str]) -> dict[str, int]:
    """The counts of the MOST_FAILURES most frequent causes, each named by its first message.

    Messages have the same cause if they differ only in words with digits (times, ids, addresses) or in several words
    quoted at the end (a model's answer); different HTTP statuses are different causes.
    """
    groups = grouped((_PARTICULAR.sub("#", message), message) for message in messages)
    frequent = sorted(groups.values(), key=len, reverse=True)[:MOST_FAILURES]
    return {group[0]: len(group) for group in frequent}


def by_sample(scores: Mapping[str, Pairs]) -> dict[str, float]:
    """A metric over all epochs of each sample, from `RunState.by_sample`, unless the sample's denominators sum to 0."""
    sums = {sample: [sum(part) for part in zip(*epochs, strict=True)] for sample, epochs in scores.items()}
    return {sample: numerator / denominator for sample, (numerator, denominator) in sums.items() if denominator}


def estimate(metric: Metric, clusters: Iterable[Pairs], method: Method = "score") -> Estimate | None:
    """A metric's estimate from the `parts` of each sample; None if there are no scores."""
    if metric.estimator == "ratio":
        return ratio_estimate(clusters, metric.low, metric.high, method)
    values = ([value for value, _ in cluster] for cluster in clusters)
    return mean_estimate(values, metric.low, metric.high, method)


def difference(
    metric: Metric,
    first: Mapping[str, Pairs],
    second: Mapping[str, Pairs],
    method: Method = "score",
    level: float = LEVEL,
) -> Difference | None:
    """The metric of the second run minus that of the first, both from `RunState.by_sample`, over their common samples.

    `level`: the level of `ci95` if not 95 %; its ends are one-sided bounds at (1 + level) / 2, and there is no `p`.
    """
    if metric.estimator == "ratio":
        return paired_ratios(first, second, metric.span, method, level)
    before, after = ({sample: [x for x, _ in epochs] for sample, epochs in run.items()} for run in (first, second))
    return paired_means(before, after, metric.span, method, level)


def _timing(seconds: list[float], run_seconds: float) -> TimingSummary:
    """`seconds`: of the attempts, sorted. The 95th percentile is by nearest rank: always an observed value."""
    return TimingSummary(
        run_seconds=round(run_seconds, 3),
        attempt_mean=fmean(seconds) if seconds else None,
        attempt_median=median(seconds) if seconds else None,
        attempt_p95=seconds[math.ceil(95 * len(seconds) / 100) - 1] if seconds else None,
    )
