"""Which of several points to choose: those that no other point beats, and the cheapest that is as good as the best."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aiq.stats.bootstrap import resampled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESAMPLES: Final = 2_000  # enough to know a share to about 0.01


def pareto_front(merits: Sequence[float], spends: Sequence[float]) -> list[int]:
    """The places of the points that no other point dominates (at least equal in both, better in one), cheapest first.

    `merits`: higher is better; `spends`: lower is better.
    """
    front: list[int] = []
    for place in sorted(range(len(merits)), key=lambda place: (spends[place], -merits[place])):
        equal = bool(front) and (merits[place], spends[place]) == (merits[front[-1]], spends[front[-1]])
        if not front or merits[place] > merits[front[-1]] or equal:
            front.append(place)
    return front


@dataclass(frozen=True)
class Choice:
    """The places of the chosen and of the best point, and the metric that was good enough.

    `means`, `spends`: of all points, over the samples compared. `shares`: by place, how often the same rule chooses a
    point in resamples; points that it never chooses are absent.
    """

    place: int
    best: int
    threshold: float
    means: Sequence[float]
    spends: Sequence[float]
    shares: Mapping[int, float]


def one_standard_error(
    over: "NDArray[np.float64]",
    under: "NDArray[np.float64]",
    spends: "NDArray[np.float64]",
    *,
    higher_is_better: bool = True,
    resamples: int = RESAMPLES,
) -> Choice:
    """The cheapest point whose metric is within one standard error of the best point's.

    All arrays have shape (samples, points): a sample's numerators, denominators (1 for a mean) and spend at each
    point. The rule is that of Breiman et al. (1984), "Classification and Regression Trees", section 3.4.3, with the
    standard error of the point's paired difference from the best one: all points have the same samples, so that
    variation in difficulty cancels out. Resamples use the samples' standard errors, and the same draws for metric
    and spend. Of equally cheap points the better one is chosen, then the first.
    """
    import numpy as np

    sign = 1.0 if higher_is_better else -1.0
    n, points = over.shape
    merits = sign * over.sum(axis=0) / under.sum(axis=0)
    residuals = (sign * over - merits * under) / under.mean(axis=0)
    errors = np.array([(residuals - residuals[:, [best]]).std(axis=0, ddof=1) / np.sqrt(n) for best in range(points)])
    draws = resampled(
        np.concatenate((sign * over, spends), axis=1),
        np.concatenate((under, np.ones_like(spends)), axis=1),
        resamples=resamples,
    )
    merit_draws, spend_draws = np.split(draws[~np.isnan(draws).any(axis=1)], 2, axis=1)
    picks = Counter(_choose(merit_draws, spend_draws, errors).tolist())
    mean_spends = spends.mean(axis=0)
    place = int(_choose(merits[None], mean_spends[None], errors)[0])
    best = int(merits.argmax())
    return Choice(
        place=place,
        best=best,
        threshold=sign * float(merits[best] - errors[best, place]),
        means=(sign * merits).tolist(),
        spends=mean_spends.tolist(),
        shares={point: picks[point] / len(merit_draws) for point in range(points) if picks[point]},
    )


def _choose(
    merits: "NDArray[np.float64]", spends: "NDArray[np.float64]", errors: "NDArray[np.float64]"
) -> "NDArray[np.intp]":
    """For each row of merits and spends, the place that the rule chooses; `errors[best, place]`: of the difference."""
    import numpy as np

    best = merits.argmax(axis=1)
    acceptable = merits >= np.take_along_axis(merits, best[:, None], axis=1) - errors[best] - 1e-12
    cost = np.where(acceptable, spends, np.inf)
    cheapest = cost <= cost.min(axis=1, keepdims=True)
    choices: NDArray[np.intp] = np.where(cheapest, merits, -np.inf).argmax(axis=1)
    return choices
