"""A gate: is a run no worse than its baseline, by more than what the settings allow?

Each metric is tested for non-inferiority, sample by sample: it fails where its fall is larger than its margin and
significant, by the one-sided test and by the one-sided bound, both corrected by Holm's method over the metrics of the
gate: the share of gates that fail without any difference is at most `level`. A metric holds where the 95 % bound
excludes a fall beyond the margin (each metric must hold, so nothing is to be corrected); else the data cannot tell.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Annotated, Literal

from pydantic import Field

from aiq.analysis.baselines import Recorded, telling
from aiq.analysis.compare import moved_samples, spend_by_sample
from aiq.analysis.run_pairs import RunPair, Scored, Side
from aiq.core.base import Record
from aiq.core.errors import ConfigError
from aiq.core.plugins import near
from aiq.core.settings import NotNegative, Settings, Share
from aiq.runs.summary import difference, estimate
from aiq.stats.estimates import Difference
from aiq.stats.power import samples_needed
from aiq.stats.significance import LEVEL, corrected, fall_p, holm_levels

Standing = Literal["worse", "holds", "equal", "cannot tell"]
"""Of a metric. `equal`: no sample changed."""


class GateLimits(Settings):
    """Hard limits of the run, without statistics; null: no limit."""

    errors: Share | None = Field(
        description="share of failed attempts, or of reports that a judge failed on, unless the baseline had as many"
    )
    rise: Annotated[float, Field(ge=1)] | None = Field(
        description="cost, tokens and calls of a sample: so many times the baseline's"
    )
    cost_usd: NotNegative | None = Field(description="US dollars that the agent spends on a sample")
    tokens: NotNegative | None = Field(description="tokens of a sample, input and output")
    calls: NotNegative | None = Field(description="model calls of a sample")
    metrics: Mapping[str, float] = Field(description="by metric, the worst mean it may have")


class GateSettings(Settings):
    """Group `gate`: how much worse than its baseline a run may be."""

    margin: Share | None = Field(
        description="how far a metric may fall, as a share of its range, or of the baseline's mean where it has none; "
        "null: only those in margins count"
    )
    margins: Mapping[str, NotNegative | None] = Field(description="the same by metric; null: it does not count")
    level: Annotated[float, Field(gt=0, le=LEVEL)] = Field(
        description="share of gates that may fail, at most, where nothing became worse"
    )
    inconclusive: Literal["pass", "fail"] = Field(description="what becomes of a metric that n cannot tell of")
    limits: GateLimits = Field(description="hard limits")


class MetricGate(Record):
    """A metric of the run against the baseline, over the samples that both have scored.

    `bound`: the one-sided, corrected bound of how little it became worse at least, as new - baseline, at the level of
    the gate; `worst`: the uncorrected 95 % one of how much it may have become worse. `p`: one-sided and
    corrected. `more`: further samples that would tell, where the standing is `cannot tell` and how samples vary is
    known. `samples`: those that became worse.
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
    standing: Standing
    more: int | None
    samples: Mapping[str, float]


class LimitGate(Record):
    """A hard limit: of `name`, the run's value and what it may be. `baseline`, `value`: None where not known."""

    name: str
    baseline: float | None
    value: float | None
    allowed: float
    broken: bool
    samples: tuple[str, ...] = ()


class GateResult(Record):
    """`causes`: what forbids the comparison, each of which fails the gate; `changed`: what else is not as it was."""

    schema_version: Literal[1] = 1
    passed: bool
    run: str
    baseline: str
    settings: GateSettings
    causes: tuple[str, ...]
    changed: tuple[str, ...]
    metrics: tuple[MetricGate, ...]
    limits: tuple[LimitGate, ...]


def gate(baseline: Recorded, run: Recorded, settings: GateSettings) -> GateResult:
    """The run against the baseline. Raises ConfigError for a metric that neither has."""
    sides = Side("the baseline", baseline), Side("the run", run)
    held = _Gate(RunPair(*sides, (), False), settings)
    causes = tuple(dict.fromkeys(held.causes()))
    metrics, limits = tuple(held.metrics()), tuple(held.limits())
    undecided = any(one.standing == "cannot tell" for one in metrics) and settings.inconclusive == "fail"
    worse = any(one.standing == "worse" for one in metrics)
    return GateResult(
        passed=not (causes or worse or undecided or any(limit.broken for limit in limits)),
        run=str(run.path),
        baseline=str(baseline.path),
        settings=settings,
        causes=causes,
        changed=tuple(held.changed()),
        metrics=metrics,
        limits=limits,
    )


@dataclass(frozen=True, eq=False)
class _Gate:
    pair: RunPair
    settings: GateSettings

    def causes(self) -> Iterator[str]:
        a, b = self.pair.first, self.pair.second
        yield from self.pair.obstacles()
        if not self.pair.keys[0]:
            yield f"{b.label} and {a.label} share no sample"
            return
        epochs = [max((key.epoch for key in keys), default=0) for keys in self.pair.keys]
        if epochs[0] != epochs[1]:
            yield f"{b.label} has epochs={epochs[1]}, {a.label} {epochs[0]}"
        for name, why in self.pair.left_out.items():
            if name in a.summary.metrics and self._allowed(name) is not None and why != "its judges differ":
                yield f"{name} is not compared: {why}"

    def changed(self) -> Iterator[str]:
        """What the agents were made of, and when; judges and dataset are causes."""
        a, b = self.pair.first.manifest, self.pair.second.manifest
        parts = [
            {
                "the agent's class, settings and prompts": run.hashes.agent,
                **{
                    f"prompt {name}": found
                    for name, found in run.hashes.prompts.items()
                    if name not in run.hashes.judges
                },
                **{f"model {role}": found for role, found in run.models.items() if not role.startswith("judge.")},
                "clock": run.clock,
            }
            for run in (a, b)
        ]
        if a.hashes.config != b.hashes.config:
            settings = [telling(run) for run in (a, b)]
            for run, other, owner in ((0, 1, "baseline"), (1, 0, "run")):
                if only := [text for text in settings[run] if text not in settings[other]]:
                    yield f"settings of the {owner} alone: {' '.join(only)}"
        for name in {**parts[0], **parts[1]}:
            before, after = (run.get(name) for run in parts)
            if before != after:
                yield f"{name}: {before}, then {after}"

    def _allowed(self, metric: str) -> float | None:
        """The margin as a share; None where the metric does not count."""
        return self.settings.margins.get(metric, self.settings.margin)

    @cached_property
    def _scores(self) -> dict[str, tuple[Scored, Difference]]:
        """Of the metrics that count, those that are compared."""
        if not self.pair.keys[0]:
            return {}
        known = {**self.pair.first.judges, **self.pair.second.judges}
        for setting, names in {
            "margins": self.settings.margins,
            "limits.metrics": self.settings.limits.metrics,
        }.items():
            if unknown := [name for name in names if name not in known]:
                hint = near(unknown[0], known) or f"; there are {', '.join(known)}"
                raise ConfigError(f"gate.{setting}.{unknown[0]}: the runs have no such metric{hint}")
        counted = {name: self.pair.scores[name, None] for name in self.pair.metrics if self._allowed(name) is not None}
        return {name: (scored, found) for name, scored in counted.items() if (found := difference(*scored))}

    def metrics(self) -> Iterator[MetricGate]:
        tests = {
            name: fall_p(found.p, found.mean if scored.metric.higher_is_better else -found.mean)
            for name, (scored, found) in self._scores.items()
        }
        levels, p_values = holm_levels(tests, self.settings.level), corrected(tests)
        for name in self._scores:
            yield self._metric(name, p_values[name], levels[name])

    def _metric(self, name: str, p: float | None, level: float) -> MetricGate:
        (metric, old, new), found = self._scores[name]
        common = sorted(old.keys() & new.keys())
        means = [one.mean for run in (old, new) if (one := estimate(metric, {key: run[key] for key in common}))]
        span = None if metric.low is None or metric.high is None else metric.high - metric.low
        margin = (self._allowed(name) or 0.0) * (abs(means[0]) if span is None else span)
        corrected_one, plain = (
            difference(metric, old, new, self.pair.intervals, 1 - 2 * tail) for tail in (level, LEVEL)
        )
        best, worst = 1, 0  # of an interval's ends
        if not metric.higher_is_better:
            best, worst = worst, best
        bound = corrected_one.ci95[best] if corrected_one and corrected_one.ci95 else None
        lowest = plain.ci95[worst] if plain and plain.ci95 else None
        sign = 1 if metric.higher_is_better else -1
        standing: Standing = "cannot tell"
        if found.none:
            standing = "equal"
        elif self._significant(p, bound, sign) and sign * found.mean < -margin:
            standing = "worse"
        elif lowest is not None and sign * lowest >= -margin:
            standing = "holds"
        needed = None
        if standing == "cannot tell" and found.spread and margin:
            needed = samples_needed(found.spread, margin, 2 * LEVEL, found.step)
        return MetricGate(
            metric=name,
            baseline=means[0],
            new=means[1],
            change=found.mean,
            bound=bound,
            worst=lowest,
            p=p,
            margin=margin,
            n=found.n,
            standing=standing,
            more=max(0, needed - found.n) if needed else None,
            samples=moved_samples(self._scores[name][0]).down,
        )

    def _significant(self, p: float | None, bound: float | None, sign: int) -> bool:
        return p is not None and p < self.settings.level and bound is not None and sign * bound < 0

    def limits(self) -> Iterator[LimitGate]:
        yield from self._errors()
        limits = self.settings.limits
        spent = {name: (before, after) for name, before, after in spend_by_sample(self.pair)}
        for name, allowed in {"cost": limits.cost_usd, "tokens": limits.tokens, "calls": limits.calls}.items():
            before, after = spent.get(name, ({}, {}))
            old, new = (fmean(run.values()) if run else None for run in (before, after))
            rises = {sample: after[sample] - before[sample] for sample in before if after[sample] > before[sample]}
            worst = tuple(sorted(rises, key=lambda sample: -rises[sample]))
            if allowed is not None:
                broken = new is None or new > allowed
                yield LimitGate(name=name, baseline=old, value=new, allowed=allowed, broken=broken, samples=worst)
            if limits.rise is not None and old is not None and new is not None:
                most = limits.rise * old
                broken = new > most * (1 + 1e-9)
                times = f"{name} ({limits.rise:g} times)"
                yield LimitGate(name=times, baseline=old, value=new, allowed=most, broken=broken, samples=worst)
        for name, allowed in limits.metrics.items():
            yield self._floor(name, allowed)

    def _errors(self) -> Iterator[LimitGate]:
        if (allowed := self.settings.limits.errors) is None:
            return
        rates: list[dict[str, float]] = []
        for run in (self.pair.first, self.pair.second):
            attempts = run.state.attempts
            failed = {"failed attempts": sum(row.failed for row in attempts.values())}
            failed |= {f"reports that {judge} failed on": len(why) for judge, why in run.state.judge_errors().items()}
            rates.append({name: count / max(1, len(attempts)) for name, count in failed.items()})
        failures = tuple(key.sample_id for key, row in self.pair.second.state.attempts.items() if row.failed)
        for name, value in rates[1].items():
            before = rates[0].get(name, 0.0)
            yield LimitGate(
                name=name,
                baseline=before,
                value=value,
                allowed=max(allowed, before),
                broken=value > max(allowed, before),
                samples=tuple(dict.fromkeys(failures)) if name == "failed attempts" else (),
            )

    def _floor(self, name: str, allowed: float) -> LimitGate:
        old, new = (run.summary.metrics.get(name) for run in (self.pair.first, self.pair.second))
        metrics = {**self.pair.first.state.spec.metrics, **self.pair.second.state.spec.metrics}
        sign, scored = 1 if metrics[name].higher_is_better else -1, self._scores.get(name)
        return LimitGate(
            name=name,
            baseline=old.mean if old else None,
            value=new.mean if new else None,
            allowed=allowed,
            broken=new is None or sign * new.mean < sign * allowed,
            samples=tuple(moved_samples(scored[0]).down) if scored else (),
        )
