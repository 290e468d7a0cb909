"""From a tally to `summary.json`: metrics with intervals, slices, routes, failures both ways, spend and time."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from statistics import fmean, median
from typing import Literal

from aiq.core.reports import Metric
from aiq.core.samples import SampleKey
from aiq.core.usage import Usage
from aiq.experiment.plan import JudgePlan, Plan
from aiq.runs.rows import (
    AccountUsage,
    FailurePolicy,
    JudgeErrors,
    RouteSummary,
    RunStatus,
    Summary,
    TimingSummary,
)
from aiq.runs.state import Scored, Tally
from aiq.stats.estimates import Estimate, mean_estimate, ratio_estimate
from aiq.stats.noise import RunNoise, pooled

Policy = Literal["worst", "exclude"]

MOST_SLICES = 20
"""A tag with more values than this names samples rather than groups them; it is not sliced by."""

MOST_FAILURES = 5
"""So many different errors are summed up; `samples.jsonl` has all."""

_COUNTED: dict[Policy, tuple[str, ...]] = {"worst": ("scored", "agent_failed"), "exclude": ("scored",)}


class Summariser:
    """Works out the numbers of one run."""

    def __init__(self, plan: Plan, tally: Tally) -> None:
        self._plan = plan
        self._tally = tally
        self._policy: Policy = plan.settings.runner.agent_failures
        self._keys = [key for key in plan.keys if key in tally.attempts]
        self._impossible = {metric.name for planned, metric in self._declared() if self._never_applied(planned, metric)}

    def summary(self, *, run_id: str, status: RunStatus, offline: bool, run_seconds: float) -> Summary:
        tally, other = self._tally, _other(self._policy)
        metrics = self._metrics(self._keys, self._policy)
        statuses = tally.statuses()
        return Summary(
            run_id=run_id,
            experiment=self._plan.settings.name,
            status=status,
            offline=offline,
            n_samples=len({key.sample_id for key in self._keys}),
            n_attempts=len(self._keys),
            n_errors=statuses.get("failed", 0),
            statuses=statuses,
            metrics=metrics,
            ranges={
                metric.name: (metric.low, metric.high)
                for _, metric in self._declared()
                if metric.low is not None and metric.high is not None
            },
            unavailable=self._unavailable(metrics),
            agent_failures=FailurePolicy(
                policy=self._policy,
                failed=sum(tally.attempts[key].failed for key in self._keys),
                alternative=other,
                metrics=self._metrics(self._keys, other),
            ),
            failures=self._failures(),
            judge_errors=self._judge_errors(),
            judge_noise=self._judge_noise(),
            slices=self._slices(),
            routes=self._routes(),
            usage={account: _account(roles) for account, roles in tally.usage.items()},
            cost_usd=tally.spent().cost_usd,
            timing=self._timing(run_seconds),
        )

    def _metrics(self, keys: Iterable[SampleKey], policy: Policy) -> dict[str, Estimate]:
        """Every metric that these keys have, in the order in which the judges declare them."""
        keys = list(keys)
        found = {metric.name: self._estimate(planned, metric, keys, policy) for planned, metric in self._declared()}
        return {name: estimate for name, estimate in found.items() if estimate is not None}

    def _never_applied(self, planned: JudgePlan, metric: Metric) -> bool:
        """Whether no report of the run could have this metric: then a failure's worst value cannot stand for it."""
        found = [score.status for key in self._keys if (score := self._tally.score(key, planned, metric))]
        return "not_applicable" in found and "scored" not in found

    def _declared(self) -> list[tuple[JudgePlan, Metric]]:
        return [(planned, metric) for planned in self._plan.judges for metric in planned.metrics]

    def _estimate(
        self, planned: JudgePlan, metric: Metric, keys: Iterable[SampleKey], policy: Policy
    ) -> Estimate | None:
        if metric.name in self._impossible:
            return None
        return estimate(scores_by_sample(self._tally, planned, metric, keys, policy), metric)

    def _unavailable(self, metrics: Mapping[str, Estimate]) -> dict[str, str]:
        """Why a declared metric has no number."""
        return {
            metric.name: self._reason(planned, metric)
            for planned, metric in self._declared()
            if metric.name not in metrics
        }

    def _reason(self, planned: JudgePlan, metric: Metric) -> str:
        found = [score for key in self._keys if (score := self._tally.score(key, planned, metric))]
        for status in ("not_applicable", "error", "agent_failed"):
            reasons = [score.why for score in found if score.status == status and score.why]
            if reasons:
                prefix = "the judge failed: " if status == "error" else ""
                return f"{prefix}{reasons[0]}"
        return "its denominators sum to 0" if found else "nothing was scored"

    def _failures(self) -> dict[str, int]:
        """The errors that attempts ended in, the most frequent first."""
        attempts = (self._tally.attempts[key] for key in self._keys)
        return dict(Counter(attempt.error for attempt in attempts if attempt.error).most_common(MOST_FAILURES))

    def _judge_errors(self) -> dict[str, JudgeErrors]:
        errors = {}
        for planned in self._plan.judges:
            messages = [why for key in self._keys if (why := self._tally.judge_failed(key, planned)) is not None]
            if messages:
                errors[planned.name] = JudgeErrors(n=len(messages), first=messages[0])
        return errors

    def _judge_noise(self) -> dict[str, RunNoise]:
        """How far judgements of one report lie apart, for the metrics that were judged more than once."""
        found = {}
        for planned, metric in self._declared():
            scores = (self._tally.score(key, planned, metric) for key in self._keys)
            noise = pooled([score.noise for score in scores if score is not None and score.noise is not None])
            if noise is not None:
                found[metric.name] = noise
        return found

    def _slices(self) -> dict[str, dict[str, dict[str, Estimate]]]:
        """Metrics by tag and value, both in alphabetical order; a tag with one value alone says nothing."""
        groups = _grouped(self._keys, lambda key: self._tally.attempts[key].tags.items())
        values = Counter(tag for tag, _ in groups)
        slices: dict[str, dict[str, dict[str, Estimate]]] = {}
        for (tag, value), keys in sorted(groups.items()):
            if 1 < values[tag] <= MOST_SLICES:
                slices.setdefault(tag, {})[value] = self._metrics(keys, self._policy)
        return slices

    def _routes(self) -> dict[str, RouteSummary]:
        attempts = self._tally.attempts
        groups = _grouped(self._keys, lambda key: [(attempts[key].route or attempts[key].status, "")])
        return {route: self._route(keys) for (route, _), keys in sorted(groups.items())}

    def _route(self, keys: list[SampleKey]) -> RouteSummary:
        attempts = [self._tally.attempts[key] for key in keys]
        return RouteSummary(
            n=len(keys),
            metrics=self._metrics(keys, self._policy),
            cost_usd=sum((Usage(cost_usd=attempt.cost_usd) for attempt in attempts), Usage()).cost_usd,
            mean_seconds=fmean([attempt.seconds for attempt in attempts]),
        )

    def _timing(self, run_seconds: float) -> TimingSummary:
        seconds = sorted(self._tally.attempts[key].seconds for key in self._keys)
        return TimingSummary(
            run_seconds=round(run_seconds, 3),
            attempt_mean=fmean(seconds) if seconds else None,
            attempt_median=median(seconds) if seconds else None,
            attempt_p95=_nearest_rank(seconds, 95) if seconds else None,
        )


SampleScores = dict[str, list[Scored]]
"""A sample's scores by one metric, one an epoch."""


def scores_by_sample(
    tally: Tally, planned: JudgePlan, metric: Metric, keys: Iterable[SampleKey], policy: Policy
) -> SampleScores:
    """The scores that count under the policy, by sample, epochs in order."""
    found: SampleScores = {}
    for key in keys:
        scored = tally.score(key, planned, metric)
        if scored is None or scored.status not in _COUNTED[policy]:
            continue
        if scored.value is not None or scored.numerator is not None:
            found.setdefault(key.sample_id, []).append(scored)
    return found


def estimate(scores: SampleScores, metric: Metric) -> Estimate | None:
    """The metric's estimate by its declared estimator, within its bounds; None without any score."""
    if metric.estimator == "ratio":
        found = ratio_estimate([ratio_parts(scored) for scored in scores.values()])
    else:
        found = mean_estimate([mean_parts(scored) for scored in scores.values()])
    return found and found.within(metric.low, metric.high)


def mean_parts(scores: Iterable[Scored]) -> list[float]:
    return [scored.value for scored in scores if scored.value is not None]


def ratio_parts(scores: Iterable[Scored]) -> list[tuple[float, float]]:
    return [(s.numerator, s.denominator) for s in scores if s.numerator is not None and s.denominator is not None]


def _other(policy: Policy) -> Policy:
    return "exclude" if policy == "worst" else "worst"


def _account(roles: Mapping[str, Usage]) -> AccountUsage:
    return AccountUsage(total=sum(roles.values(), Usage()), roles=dict(sorted(roles.items())))


def _grouped(
    keys: Iterable[SampleKey], groups_of: Callable[[SampleKey], Iterable[tuple[str, str]]]
) -> dict[tuple[str, str], list[SampleKey]]:
    grouped: dict[tuple[str, str], list[SampleKey]] = {}
    for key in keys:
        for group in groups_of(key):
            grouped.setdefault(group, []).append(key)
    return grouped


def _nearest_rank(ordered: list[float], percent: int) -> float:
    """The smallest of ordered values that at least `percent` of 100 of them do not exceed."""
    return ordered[max(0, math.ceil(percent * len(ordered) / 100) - 1)]
