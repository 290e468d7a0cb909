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
    return tuple(map(_of_judge, grouped((metric.judge_hash, metric) for metric in metrics).values()))


def _of_judge(metrics: Sequence[MetricReliability]) -> JudgeClaims:
    """A judge claims what any of its metrics claims to notice; p is corrected for all these claims."""
    meant = [(metric.metric, name, of) for metric in metrics for name, of in metric.perturbations.items() if of.meant]
    seen = {(name, metric): of.told for metric, name, of in meant if of.told is not None}
    p = holm_corrected({key: told.p for key, told in seen.items()})
    claims: dict[str, list[Claim]] = {}
    for (name, metric), told in seen.items():
        verdict, tasks = _verdict(told, p[name, metric]), None
        if verdict == "cannot tell" and told.spread is not None and told.mean > 0:
            tasks = samples_needed(told.spread, told.mean, LEVEL / len(seen))
        found = Claim(verdict=verdict, metric=metric, told=told, p=p[name, metric], tasks=tasks)
        claims.setdefault(name, []).append(found)
    first, claimed = metrics[0], {*CONTROLS, *(name for _, name, _ in meant)}
    return JudgeClaims(
        judge=first.judge,
        judge_hash=first.judge_hash,
        judge_model=first.judge_model,
        claims={name: max(of, key=_standing) for name, of in claims.items()},
        unclaimed=tuple(name for name in first.perturbations if name not in claimed),
    )


def _verdict(told: Difference, p: float | None) -> Literal["noticed", "cannot tell", "blind spot"]:
    if told.mean > 0 and p is not None and p < LEVEL:
        return "noticed"
    clear = told.ci95 is not None and told.ci95[0] > 0
    return "cannot tell" if clear or told.n < MIN_TASKS else "blind spot"


def _standing(claim: Claim) -> tuple[int, float]:
    return _VERDICTS.index(claim.verdict), claim.told.mean
