"""Judge noise: how far judgements of one report lie apart, and what that does to a run's mean. Pure functions.

A judgement is made by a member of a panel, in an order of presentation, as one of several votes; every member
judges in every order as often (a balanced design), so that plain means over cells are fair.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean, stdev, variance
from typing import NamedTuple

from aiq.core.base import Record

NOISE = "noise"
"""Where a score row's detail holds a report's Noise."""


class Judgement(NamedTuple):
    """One value of one judgement, and where it comes from. `order`: `first` or `swapped`, or nothing to swap."""

    member: str
    order: str
    value: float


class Noise(Record):
    """The spread of one report's judgements, all in the metric's unit; None where there is nothing to compare.

    `sd`: of all judgements. `votes`: within a member and order (root of the mean variance). `orders`, `members`:
    of the means of either; they hold a share of the votes' noise. `order_gap`: the mean as first article
    minus the mean as second, so that above 0 the place in front is an advantage. All sd are of samples (n - 1).
    """

    judgements: int
    sd: float
    votes: float | None = None
    orders: float | None = None
    members: float | None = None
    order_gap: float | None = None


class RunNoise(Noise):
    """The judge noise of a metric over a run's reports: roots of mean squares, the gap as plain mean.

    `reports`: those with several judgements. `standard_error`: of the run's mean, for the judge's part alone:
    sqrt(sum(sd^2 / judgements)) / reports. It takes order and member for chance and so is rather too large.
    `share`: of the variance of the run's mean, what the judge adds to that of the samples; None where not known.
    """

    reports: int
    standard_error: float
    share: float | None = None

    def within(self, variance: float | None) -> "RunNoise":
        """Beside the variance of the run's mean, which holds the noise of its judge."""
        share = min(1.0, self.standard_error**2 / variance) if variance else None
        return self.model_copy(update={"share": share})


def noise_of(judgements: Sequence[Judgement]) -> Noise | None:
    """The spread of one report's judgements; None where there is only one."""
    if len(judgements) < 2:
        return None
    within = [variance(cell) for cell in _by(judgements, "member", "order").values() if len(cell) > 1]
    orders = {order: fmean(values) for (order,), values in _by(judgements, "order").items()}
    members = [fmean(values) for values in _by(judgements, "member").values()]
    return Noise(
        judgements=len(judgements),
        sd=stdev(one.value for one in judgements),
        votes=math.sqrt(fmean(within)) if within else None,
        orders=stdev(orders.values()) if len(orders) > 1 else None,
        members=stdev(members) if len(members) > 1 else None,
        order_gap=orders["first"] - orders["swapped"] if len(orders) == 2 else None,
    )


def pooled(noises: Sequence[Noise]) -> RunNoise | None:
    """The noise over a run's reports; None where no report was judged more than once."""
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


def _by(judgements: Sequence[Judgement], *fields: str) -> dict[tuple[str, ...], list[float]]:
    """The values by these fields."""
    groups: defaultdict[tuple[str, ...], list[float]] = defaultdict(list)
    for one in judgements:
        groups[tuple(getattr(one, name) for name in fields)].append(one.value)
    return groups


def _root_mean_square(values: Sequence[float | None]) -> float | None:
    squares = [value**2 for value in values if value is not None]
    return math.sqrt(fmean(squares)) if squares else None
