"""Whether judges notice what they claim to notice: each judge's claims compared with a calibration's measurements."""

from collections.abc import Sequence
from typing import Final, Literal

from aiq.analysis.reliability import CONTROLS, Claim, JudgeClaims, MetricReliability
from aiq.core.base import grouped
from aiq.stats.estimates import Difference
from aiq.stats.power import samples_needed
from aiq.stats.significance import LEVEL, holm_corrected

_VERDICTS: Final = ("blind spot", "cannot tell", "noticed")
MIN_TASKS: Final = 6
"""With fewer tasks no test can tell a judge from chance: the signs of five are all alike in 1 case of 16."""


def judge_claims(metrics: Sequence[MetricReliability]) -> tuple[JudgeClaims, ...]:
    """The claims of each judge, in the order of the metrics."""
    return tuple(map(_judge_claims, grouped((metric.judge_hash, metric) for metric in metrics).values()))


def _judge_claims(metrics: Sequence[MetricReliability]) -> JudgeClaims:
    """A judge claims what any of its metrics claims to notice; p is corrected for all these claims."""
    meant = [(m.metric, name, figures) for m in metrics for name, figures in m.perturbations.items() if figures.meant]
    differences = {(name, metric): figures.told for metric, name, figures in meant if figures.told is not None}
    p = holm_corrected({key: difference.p for key, difference in differences.items()})
    claims: dict[str, list[Claim]] = {}
    for (name, metric), difference in differences.items():
        verdict, tasks = _verdict(difference, p[name, metric]), None
        if verdict == "cannot tell" and difference.spread is not None and difference.mean > 0:
            tasks = samples_needed(difference.spread, difference.mean, LEVEL / len(differences))
        claim = Claim(verdict=verdict, metric=metric, told=difference, p=p[name, metric], tasks=tasks)
        claims.setdefault(name, []).append(claim)
    first, claimed = metrics[0], {*CONTROLS, *(name for _, name, _ in meant)}
    return JudgeClaims(
        judge=first.judge,
        judge_hash=first.judge_hash,
        judge_model=first.judge_model,
        claims={name: max(candidates, key=_standing) for name, candidates in claims.items()},
        unclaimed=tuple(name for name in first.perturbations if name not in claimed),
    )


def _verdict(difference: Difference, p: float | None) -> Literal["noticed", "cannot tell", "blind spot"]:
    if difference.mean > 0 and p is not None and p < LEVEL:
        return "noticed"
    clear = difference.ci95 is not None and difference.ci95[0] > 0
    return "cannot tell" if clear or difference.n < MIN_TASKS else "blind spot"


def _standing(claim: Claim) -> tuple[int, float]:
    return _VERDICTS.index(claim.verdict), claim.told.mean
