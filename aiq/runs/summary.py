"""`summary.json`: the numbers of a run, worked out from its manifest and its rows alone."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from statistics import fmean, median
from typing import Literal

from pydantic import Field

from aiq.core.base import Record
from aiq.core.reports import Caveat, Metric
from aiq.core.samples import SampleKey
from aiq.core.usage import Usage
from aiq.runs.manifest import FailureRule, Manifest, RunStatus
from aiq.runs.state import RunState
from aiq.stats.estimates import Estimate, Pairs, mean_estimate, ratio_estimate
from aiq.stats.noise import NOISE, Noise, RunNoise, pooled

MOST_SLICES = 20  # a tag with more values than this names samples rather than groups them; it is not sliced by
MOST_FAILURES = 5  # so many different errors are summed up; the rows have all


class AccountUsage(Record):
    """An account's spend: the sum, and by role."""

    total: Usage = Usage()
    roles: Mapping[str, Usage] = Field(default_factory=dict)


class RouteSummary(Record):
    """Attempts that took one route: how many, their metrics, cost and mean wall time."""

    n: int
    metrics: Mapping[str, Estimate]
    cost_usd: float | None
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
    """Reports that a judge failed on, with the message of the first."""

    n: int
    first: str


class Summary(Record):
    """`summary.json`: the numbers of a run. `n` of a metric counts samples, `n_errors` failed attempts.

    `failures`: attempts by the error that they ended in, the most frequent ones. `denied`: pages and search results
    that `web.deny` kept from agents. `ranges`: least and greatest value of metrics that have both. `judge_caveats`:
    what a judge's scores do without. `judge_noise`: of the metrics whose judge judged a report more than once.
    """

    schema_version: Literal[1] = 1
    run_id: str
    experiment: str
    status: RunStatus
    offline: bool
    n_samples: int
    n_attempts: int
    n_errors: int
    statuses: Mapping[str, int]
    metrics: Mapping[str, Estimate]
    ranges: Mapping[str, tuple[float, float]] = Field(default_factory=dict)
    unavailable: Mapping[str, str]
    agent_failures: FailurePolicy
    failures: Mapping[str, int] = Field(default_factory=dict)
    denied: int = 0
    judge_errors: Mapping[str, JudgeErrors]
    judge_caveats: Mapping[str, Caveat] = Field(default_factory=dict)
    judge_noise: Mapping[str, RunNoise] = Field(default_factory=dict)
    slices: Mapping[str, Mapping[str, Mapping[str, Estimate]]]
    routes: Mapping[str, RouteSummary]
    usage: Mapping[str, AccountUsage]
    cost_usd: float | None
    timing: TimingSummary


def summarise(manifest: Manifest, state: RunState, run_seconds: float) -> Summary:
    """The numbers of a run as manifest and rows (in `state`) have them. `run_seconds`: wall time over all starts."""
    figures = _Figures(state)
    rule = state.spec.runner.agent_failures
    other: FailureRule = "exclude" if rule == "worst" else "worst"
    declared = state.spec.metrics
    metrics = figures.metrics(figures.attempts, rule)
    attempts = list(figures.attempts.values())
    statuses = state.statuses()
    errors = Counter(str(attempt.error) for attempt in attempts if attempt.error)
    return Summary(
        run_id=manifest.run_id,
        experiment=manifest.experiment,
        status=manifest.status,
        offline=manifest.offline,
        n_samples=len({key.sample_id for key in figures.attempts}),
        n_attempts=len(attempts),
        n_errors=statuses.get("failed", 0),
        statuses=statuses,
        metrics=metrics,
        ranges={n: (m.low, m.high) for n, m in declared.items() if m.low is not None and m.high is not None},
        unavailable={name: figures.reason(name) for name in declared if name not in metrics},
        agent_failures=FailurePolicy(
            policy=rule,
            failed=sum(attempt.failed for attempt in attempts),
            alternative=other,
            metrics=figures.metrics(figures.attempts, other),
        ),
        failures=dict(errors.most_common(MOST_FAILURES)),
        denied=sum(attempt.denied for attempt in attempts),
        judge_errors={name: JudgeErrors(n=len(why), first=why[0]) for name, why in state.judge_errors().items()},
        judge_caveats=state.caveats(),
        judge_noise=figures.noise(),
        slices=figures.slices(rule),
        routes=figures.routes(rule),
        usage={
            account: AccountUsage(total=sum(roles.values(), Usage()), roles=dict(sorted(roles.items())))
            for account, roles in state.usage.items()
        },
        cost_usd=state.spent().cost_usd,
        timing=_timing(sorted(attempt.timing.seconds for attempt in attempts), run_seconds),
    )


class _Figures:
    """The estimates of a run, over all its attempts or some of them."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self.attempts = {key: state.attempts[key] for key in state.spec.keys if key in state.attempts}
        self._scores = {
            name: [score for key in self.attempts if (score := state.score(key, name))] for name in state.spec.metrics
        }

    def metrics(self, keys: Iterable[SampleKey], rule: FailureRule) -> dict[str, Estimate]:
        """Every metric that these keys have, in the order in which the judges declare them."""
        keys = list(keys)
        estimates = {
            name: estimate(metric, self._state.by_sample(name, keys, rule))
            for name, metric in self._state.spec.metrics.items()
            if self._applies(name)
        }
        return {name: found for name, found in estimates.items() if found is not None}

    def _applies(self, metric: str) -> bool:
        """Whether any report of the run could have this metric; if none, a failure's worst value says nothing."""
        found = {score.status for score in self._scores[metric]}
        return "scored" in found or "not_applicable" not in found

    def reason(self, metric: str) -> str:
        """Why a declared metric has no number."""
        for status in ("not_applicable", "error", "agent_failed"):
            reasons = [score.why for score in self._scores[metric] if score.status == status and score.why]
            if reasons:
                return f"the judge failed: {reasons[0]}" if status == "error" else reasons[0]
        return "its denominators sum to 0" if self._scores[metric] else "nothing was scored"

    def noise(self) -> dict[str, RunNoise]:
        """How far judgements of one report lie apart, for the metrics that were judged more than once."""
        found = {}
        for name, scores in self._scores.items():
            noise = pooled([Noise.model_validate(score.detail[NOISE]) for score in scores if NOISE in score.detail])
            if noise is not None:
                found[name] = noise
        return found

    def slices(self, rule: FailureRule) -> dict[str, dict[str, dict[str, Estimate]]]:
        """Metrics by tag and value, both in alphabetical order; a tag with one value alone says nothing."""
        groups: dict[str, dict[str, list[SampleKey]]] = {}
        for key, attempt in self.attempts.items():
            for tag, value in attempt.tags.items():
                groups.setdefault(tag, {}).setdefault(value, []).append(key)
        return {
            tag: {value: self.metrics(keys, rule) for value, keys in sorted(values.items())}
            for tag, values in sorted(groups.items())
            if 1 < len(values) <= MOST_SLICES
        }

    def routes(self, rule: FailureRule) -> dict[str, RouteSummary]:
        """By route, in alphabetical order; attempts without one by their status."""
        groups: dict[str, list[SampleKey]] = {}
        for key, attempt in self.attempts.items():
            groups.setdefault(attempt.route or attempt.status, []).append(key)
        found = {}
        for route, keys in sorted(groups.items()):
            attempts = [self.attempts[key] for key in keys]
            found[route] = RouteSummary(
                n=len(keys),
                metrics=self.metrics(keys, rule),
                cost_usd=sum((sum(attempt.usage.values(), Usage()) for attempt in attempts), Usage()).cost_usd,
                mean_seconds=fmean(attempt.timing.seconds for attempt in attempts),
            )
        return found


def estimate(metric: Metric, clusters: Mapping[str, Pairs]) -> Estimate | None:
    """A metric's estimate from `RunState.by_sample`, its interval cut at the declared bounds; None without scores."""
    if metric.estimator == "ratio":
        found = ratio_estimate(list(clusters.values()))
    else:
        found = mean_estimate([[value for value, _ in cluster] for cluster in clusters.values()])
    return found and found.within(metric.low, metric.high)


def _timing(seconds: list[float], run_seconds: float) -> TimingSummary:
    """`seconds`: of the attempts, in order. The 95th percentile is the nearest rank: no value lies in between."""
    return TimingSummary(
        run_seconds=round(run_seconds, 3),
        attempt_mean=fmean(seconds) if seconds else None,
        attempt_median=median(seconds) if seconds else None,
        attempt_p95=seconds[math.ceil(95 * len(seconds) / 100) - 1] if seconds else None,
    )
