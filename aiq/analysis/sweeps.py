"""Sweeps: how each job ended, and a metric's difference between two jobs, paired by sample."""

from collections.abc import Mapping
from dataclasses import dataclass

from aiq.runs.state import RunState
from aiq.runs.summary import Summary
from aiq.stats.estimates import Difference, paired_means, paired_ratios


@dataclass(frozen=True)
class JobEnd:
    """How a job of a sweep ended; no summary and no state where it could not start."""

    axes: Mapping[str, str]
    exit_code: int
    summary: Summary | None = None
    state: RunState | None = None


def difference(first: JobEnd, second: JobEnd, metric: str) -> Difference | None:
    """The metric in the second run minus in the first, over the samples that both have scored.

    None where one of them has no such metric, or has it by another estimator.
    """
    if first.state is None or second.state is None:
        return None
    before, after = (state.spec.metrics.get(metric) for state in (first.state, second.state))
    if before is None or after is None or before.estimator != after.estimator:
        return None
    old, new = first.state.by_sample(metric), second.state.by_sample(metric)
    span = None if before.low is None or before.high is None else before.high - before.low
    if before.estimator == "ratio":
        return paired_ratios(old, new, span)
    return paired_means(_values(old), _values(new), span)


def _values(parts: Mapping[str, list[tuple[float, float]]]) -> dict[str, list[float]]:
    return {sample: [value for value, _ in epochs] for sample, epochs in parts.items()}
