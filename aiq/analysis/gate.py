"""A gate: is a run worse than its baseline by more than the settings allow?

Each metric is tested for non-inferiority, sample by sample: it fails if its fall is larger than its margin and
significant, by the one-sided test and by the one-sided bound, both corrected by Holm's method over the metrics of the
gate: the share of gates that fail without any difference is at most `level`. A metric holds if the 95 % bound excludes
a fall beyond the margin (all metrics must hold, so no correction is needed); otherwise the data cannot tell.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Annotated, Final, Literal

from pydantic import Field

from aiq.analysis.baselines import RunOrBaseline, differences, relevant_overrides
from aiq.analysis.compare import further_samples, moved_samples
from aiq.analysis.run_pairs import OTHER_JUDGE, RunPair, Scored, Side, absolute_effect
from aiq.core.base import Record
from aiq.core.errors import ConfigError
from aiq.core.plugins import did_you_mean
from aiq.core.reports import Metric
from aiq.core.settings import NotNegative, Settings, Share
from aiq.core.usage import SpendName
from aiq.runs.folder import natural
from aiq.runs.state import RunState
from aiq.runs.summary import difference
from aiq.runs.sweeps import COUNTED
from aiq.stats.estimates import Difference
from aiq.stats.significance import LEVEL, fall_p, holm_corrected, holm_levels

Standing = Literal["worse", "holds", "equal", "cannot tell"]
"""A metric's result. `equal`: no sample changed."""


class GateLimits(Settings):
    """Hard limits of the run, without statistics; null: no limit."""

    errors: Share | None = Field(
        description="share of failed attempts, or of reports that a judge failed on, unless the baseline had as many"
    )
    rise: Annotated[float, Field(ge=1)] | None = Field(
        description="cost, tokens and calls per sample, as a multiple of the baseline's"
    )
    cost_usd: NotNegative | None = Field(description="US dollars that the agent spends per sample")
    tokens: NotNegative | None = Field(description="tokens per sample, input and output")
    calls: NotNegative | None = Field(description="model calls per sample")
    metrics: Mapping[str, float] = Field(description="by metric, the worst mean allowed")


class GateSettings(Settings):
    """Group `gate`: how much worse than its baseline a run may be."""

    margin: Share | None = Field(
        description="how far a metric may fall, as a share of its range, or of the baseline's mean if it has none; "
        "null: only metrics in margins count"
    )
    margins: Mapping[str, NotNegative | None] = Field(description="the margin by metric; null: it does not count")
    level: Annotated[float, Field(gt=0, le=LEVEL)] = Field(
        description="share of gates that may fail, at most, if nothing got worse"
    )
    inconclusive: Literal["pass", "fail"] = Field(description="whether a metric that n cannot decide passes")
    limits: GateLimits = Field(description="hard limits")


class MetricGate(Record):
    """A metric of the run against the baseline, over the samples that both have scored.

    `bound`: the one-sided, corrected bound by which it got worse at least, as new - baseline, at the level of the
    gate; `worst`: the uncorrected 95 % bound by which it may have got worse at most. `p`: one-sided and corrected.
    `lost`: samples that only the baseline has scored. `more`: how many more samples would tell, if the standing is
    `cannot tell` and the variation of samples is known. `samples`: those that got worse.
    """

    metric: str
    baseline: float
    new: float
    change: float
    bound: float | None
    worst: float | None
    p: float | None
    margin: float
    n: int
    lost: int
    standing: Standing
    more: int | None
    samples: Mapping[str, float]


class LimitGate(Record):
    """A hard limit on `name`: the run's value and the allowed one. `baseline`, `value`: None if unknown."""

    name: str
    baseline: float | None
    value: float | None
    allowed: float
    broken: bool
    samples: tuple[str, ...] = ()


class GateResult(Record):
    """`causes`: what prevents the comparison, each of which fails the gate; `changed`: what else has changed."""

    schema_version: Literal[1] = 1
    passed: bool
    run: str
    baseline: str
    settings: GateSettings
    causes: tuple[str, ...]
    changed: tuple[str, ...]
    metrics: tuple[MetricGate, ...]
    limits: tuple[LimitGate, ...]


def gate(baseline: RunOrBaseline, run: RunOrBaseline, settings: GateSettings) -> GateResult:
    """Test the run against the baseline. Raises ConfigError for a metric that neither has."""
    test = _Gate(RunPair(Side("the baseline", baseline), Side("the run", run), (), False), settings)
    test.check()
    causes = tuple(dict.fromkeys(test.causes()))
    metrics, limits = tuple(test.metrics()), tuple(test.limits())
    failing = {"worse", *(["cannot tell"] if settings.inconclusive == "fail" else [])}
    broken = any(metric.standing in failing for metric in metrics) or any(limit.broken for limit in limits)
    return GateResult(
        passed=not causes and not broken,
        run=str(run.path),
        baseline=str(baseline.path),
        settings=settings,
        causes=causes,
        changed=tuple(test.changed()),
        metrics=metrics,
        limits=limits,
    )


@dataclass(frozen=True, eq=False)
class _Gate:
    pair: RunPair
    settings: GateSettings

    def check(self) -> None:
        known = self._all_metrics
        requested = {"margins": self.settings.margins, "limits.metrics": self.settings.limits.metrics}
        for setting, name in ((setting, name) for setting, names in requested.items() for name in names):
            if name not in known:
                hint = did_you_mean(name, known) or f"; there are {', '.join(known)}"
                raise ConfigError(f"gate.{setting}.{name}: the runs have no such metric{hint}")
        for name, bound in self.settings.limits.metrics.items():
            if not known[name].allows(bound):
                raise ConfigError(f"gate.limits.metrics.{name}={bound:g}: its range is {known[name].range_text}")

    @property
    def _all_metrics(self) -> dict[str, Metric]:
        return {**self.pair.first.state.spec.metrics, **self.pair.second.state.spec.metrics}

    def causes(self) -> Iterator[str]:
        a, b = self.pair.first, self.pair.second
        yield from self.pair.obstacles()
        if not self.pair.keys:
            yield f"{b.label} and {a.label} share no sample"
            return
        for name, why in self.pair.excluded.items():
            if name in a.summary.metrics and self._margin_share(name) is not None and why != OTHER_JUDGE:
                yield f"{name} is not compared: {why}"

    def changed(self) -> Iterator[str]:
        """What changed in the agents' make-up and clock; changes of judges and dataset are causes."""
        first, second = (
            {
                "settings": [*relevant_overrides(run)],
                "agent": run.hashes.agent,
                "prompt": {name: sha for name, sha in run.hashes.prompts.items() if name not in run.hashes.judges},
                "model": run.agent_models,
                "clock": run.clock,
            }
            for run in (side.manifest for side in self.pair.sides)
        )
        return differences(first, second)

    def _margin_share(self, metric: str) -> float | None:
        """The margin as a share; None if the metric does not count."""
        return self.settings.margins.get(metric, self.settings.margin)

    @cached_property
    def _scores(self) -> dict[str, tuple[Scored, Difference]]:
        """The metrics that count and can be compared, with their differences."""
        names = self.pair.metrics if self.pair.keys else []
        counted = {name: self.pair.scores[name, None] for name in names if self._margin_share(name) is not None}
        return {name: (scored, change) for name, scored in counted.items() if (change := difference(*scored))}

    def metrics(self) -> Iterator[MetricGate]:
        tests = {
            name: fall_p(change.p, change.mean if scored.metric.higher_is_better else -change.mean)
            for name, (scored, change) in self._scores.items()
        }
        levels, p_values = holm_levels(tests, self.settings.level), holm_corrected(tests)
        for name in self._scores:
            yield self._metric(name, p_values[name], levels[name])

    def _metric(self, name: str, p: float | None, level: float) -> MetricGate:
        scored, change = self._scores[name]
        higher = scored.metric.higher_is_better
        before, after = scored.means
        margin = absolute_effect(scored.metric, self._margin_share(name) or 0.0, before)

        def end(tail: float, *, upper: bool) -> float | None:
            result = difference(*scored, self.pair.intervals, 1 - 2 * tail)
            return None if result is None or result.ci95 is None else result.ci95[upper]

        bound, worst, sign = end(level, upper=higher), end(LEVEL, upper=not higher), 1 if higher else -1
        significant = p is not None and p < self.settings.level and bound is not None and sign * bound < 0
        standing: Standing = "cannot tell"
        if change.is_zero:
            standing = "equal"
        elif significant and sign * change.mean < -margin:
            standing = "worse"
        elif worst is not None and sign * worst >= -margin:
            standing = "holds"
        return MetricGate(
            metric=name,
            baseline=before,
            new=after,
            change=change.mean,
            bound=bound,
            worst=worst,
            p=p,
            margin=margin,
            n=change.n,
            lost=len(scored.first.keys() - scored.second.keys()),
            standing=standing,
            more=further_samples(change, margin, 2 * LEVEL) if standing == "cannot tell" else None,
            samples=moved_samples(scored).down,
        )

    def limits(self) -> Iterator[LimitGate]:
        yield from self._errors()
        limits = self.settings.limits
        for name in COUNTED:
            before, after = self._spends(name)
            old, new = (fmean(run.values()) if run else None for run in (before, after))
            rises = {sample: after[sample] - amount for sample, amount in before.items() if sample in after}
            samples = sorted(rises, key=lambda sample: (-rises[sample], natural(sample)))
            risen = tuple(sample for sample in samples if rises[sample] > 0)
            label = name.removesuffix("_usd")
            if (allowed := getattr(limits, name)) is not None:
                yield _limit(label, old, new, allowed, risen)
            if limits.rise is not None and old is not None and new != 0:
                yield _limit(f"{label} ({limits.rise:g} times)", old, new, limits.rise * old, risen)
        for metric, worst_mean in limits.metrics.items():
            yield self._floor(metric, worst_mean)

    def _spends(self, name: SpendName) -> list[dict[str, float]]:
        """The spend of the baseline and of the run, by common sample; empty if unknown, as when no call is known."""
        keys = self.pair.keys
        return [
            state.spend_by_sample(name, keys) if any(state.spend_by_sample("calls", keys).values()) else {}
            for state in self.pair.states
        ]

    def _errors(self) -> Iterator[LimitGate]:
        if (allowed := self.settings.limits.errors) is None:
            return
        rates = [_error_rates(run.state) for run in self.pair.sides]
        failures = [key.sample_id for key, row in self.pair.second.state.attempts.items() if row.failed]
        for name, rate in rates[1].items():
            baseline = rates[0].get(name, 0.0)
            samples = tuple(dict.fromkeys(failures)) if name == _FAILED else ()
            yield _limit(name, baseline, rate, max(allowed, baseline), samples)

    def _floor(self, name: str, allowed: float) -> LimitGate:
        old, new = (run.summary.metrics.get(name) for run in self.pair.sides)
        sign, scored = 1 if self._all_metrics[name].higher_is_better else -1, self._scores.get(name)
        return LimitGate(
            name=name,
            baseline=old.mean if old else None,
            value=new.mean if new else None,
            allowed=allowed,
            broken=new is None or sign * new.mean < sign * allowed,
            samples=tuple(moved_samples(scored[0]).down) if scored else (),
        )


_FAILED: Final = "failed attempts"


def _error_rates(state: RunState) -> dict[str, float]:
    counts = {f"reports that {judge} failed on": len(errors) for judge, errors in state.judge_errors().items()}
    counts[_FAILED] = sum(row.failed for row in state.attempts.values())
    return {name: count / max(1, len(state.attempts)) for name, count in counts.items()}


def _limit(
    name: str, baseline: float | None, value: float | None, allowed: float, samples: tuple[str, ...]
) -> LimitGate:
    broken = value is None or value > allowed * (1 + 1e-9)
    return LimitGate(name=name, baseline=baseline, value=value, allowed=allowed, broken=broken, samples=samples)
