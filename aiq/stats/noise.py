"""Judge noise: how much judgements of one report differ, and how that affects a run's mean. Pure functions.

A judgement is made by a member of a panel, in an order of presentation, as one of several votes; every member
judges equally often in every order (a balanced design), so that plain means over cells are fair.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean, stdev, variance
from typing import NamedTuple

from aiq.core.base import Record

NOISE = "noise"
"""The key of a report's Noise in a score row's detail."""


class Judgement(NamedTuple):
    """The value of one judgement, and its origin. `order`: `first` or `swapped`, or empty if nothing is swapped."""

    member: str
    order: str
    value: float


class Noise(Record):
    """The spread of one report's judgements, in the metric's unit; None if there is nothing to compare.

    `sd`: of all judgements. `votes`: within a member and order (root of the mean variance). `orders`, `members`:
    of their means; they include part of the votes' noise. `order_gap`: the mean as first article minus
    the mean as second; above 0, being first is an advantage. All standard deviations are of samples (n - 1).
    """

    judgements: int
    sd: float
    votes: float | None = None
    orders: float | None = None
    members: float | None = None
    order_gap: float | None = None


class RunNoise(Noise):
    """The judge noise of a metric over a run's reports: roots of mean squares, and the gap as a plain mean.

    `reports`: those with several judgements. `standard_error`: the judge's part of that of the run's mean:
    sqrt(sum(sd^2 / judgements)) / reports. It treats order and member as chance, so it is rather too large.
    `share`: the judge's part of the variance of the run's mean; None if unknown.
    """

    reports: int
    standard_error: float
    share: float | None = None

    def with_variance(self, variance: float | None) -> "RunNoise":
        """The same with `share`, from the variance of the run's mean, which includes the judge's noise."""
        share = min(1.0, self.standard_error**2 / variance) if variance else None
        return self.model_copy(update={"share": share})


def noise_of(judgements: Sequence[Judgement]) -> Noise | None:
    """The spread of one report's judgements; None if there is only one."""
    if len(judgements) < 2:
        return None
    vote_variances = [variance(cell) for cell in _group_by(judgements, "member", "order").values() if len(cell) > 1]
    orders = {order: fmean(values) for (order,), values in _group_by(judgements, "order").items()}
    members = [fmean(values) for values in _group_by(judgements, "member").values()]
    return Noise(
        judgements=len(judgements),
        sd=stdev(judgement.value for judgement in judgements),
        votes=math.sqrt(fmean(vote_variances)) if vote_variances else None,
        orders=stdev(orders.values()) if len(orders) > 1 else None,
        members=stdev(members) if len(members) > 1 else None,
        order_gap=orders["first"] - orders["swapped"] if len(orders) == 2 else None,
    )


def pooled(noises: Sequence[Noise]) -> RunNoise | None:
    """The noise over a run's reports; None if no report was judged more than once."""
    if not noises:
        return None
    gaps = [noise.order_gap for noise in noises if noise.order_gap is not None]
    spreads = ("sd", "votes", "orders", "members")
    return RunNoise(
        reports=len(noises),
        judgements=sum(noise.judgements for noise in noises),
        **{name: _root_mean_square([getattr(noise, name) for noise in noises]) for name in spreads},
        order_gap=fmean(gaps) if gaps else None,
        standard_error=math.sqrt(sum(noise.sd**2 / noise.judgements for noise in noises)) / len(noises),
    )


def _group_by(judgements: Sequence[Judgement], *fields: str) -> dict[tuple[str, ...], list[float]]:
    """The values, grouped by these fields."""
    groups: defaultdict[tuple[str, ...], list[float]] = defaultdict(list)
    for judgement in judgements:
        groups[tuple(getattr(judgement, name) for name in fields)].append(judgement.value)
    return groups


def _root_mean_square(values: Sequence[float | None]) -> float | None:
    squares = [value**2 for value in values if value is not None]
    return math.sqrt(fmean(squares)) if squares else None
