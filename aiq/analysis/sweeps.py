"""Sweeps: how each job ended, and how the metrics of the jobs differ, paired by sample."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aiq.runs.state import RunState
from aiq.runs.summary import Summary, difference
from aiq.stats.estimates import Difference
from aiq.stats.significance import corrected


@dataclass(frozen=True)
class JobEnd:
    """How a job of a sweep ended; no summary and no state where it could not start."""

    axes: Mapping[str, str]
    exit_code: int
    summary: Summary | None = None
    state: RunState | None = None


def differences(ends: Sequence[JobEnd]) -> dict[tuple[int, str], tuple[Difference, float | None]]:
    """By job and metric: the difference from the first job that has numbers, over the samples that both have scored.

    With each its p-value, corrected over all of them; None where too few samples changed for a test. A metric that one
    of the jobs lacks, or has by another estimator, is absent.
    """
    known = [(place, end.state) for place, end in enumerate(ends) if end.state is not None]
    found: dict[tuple[int, str], Difference] = {}
    for place, state in known[1:]:
        first = known[0][1]
        for name, metric in first.spec.metrics.items():
            other = state.spec.metrics.get(name)
            if other is not None and other.estimator == metric.estimator:
                change = difference(metric, first.by_sample(name), state.by_sample(name))
                found |= {(place, name): change} if change else {}
    return {key: (found[key], p) for key, p in corrected({key: one.p for key, one in found.items()}).items()}
