"""What a run has so far, in memory: the last attempt and the last scores of each key, without any text.

Filled from the journals when a run is resumed and row by row while it goes on; progress, resume and
summary all read it, so that they can never disagree.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aiq.core.reports import Metric
from aiq.core.samples import SampleKey
from aiq.core.usage import Usage
from aiq.experiment.plan import JudgePlan, Plan
from aiq.runs.rows import AttemptStatus, SampleRow, ScoreRow, ScoreStatus
from aiq.stats.noise import NOISE, Noise


@dataclass(frozen=True, slots=True)
class Attempt:
    """The last attempt at a key."""

    number: int
    status: AttemptStatus
    answered: bool
    error: str | None
    route: str | None
    seconds: float
    cost_usd: float | None
    sample_hash: str
    tags: Mapping[str, str]

    @property
    def failed(self) -> bool:
        """Whether it counts as a failure of the agent; a cancelled attempt is only not done yet."""
        return not self.answered and self.status != "cancelled"


@dataclass(frozen=True, slots=True)
class Scored:
    """The last score of a key by one metric. `why`: the error, or the reason for having none.

    `noise`: the spread of its judgements, where there were several.
    """

    attempt: int
    judge_hash: str
    status: ScoreStatus
    value: float | None
    numerator: float | None
    denominator: float | None
    why: str | None
    noise: Noise | None = None


class Tally:
    """Attempts, scores and spend of one run."""

    def __init__(self) -> None:
        self.attempts: dict[SampleKey, Attempt] = {}
        self.scores: defaultdict[str, dict[SampleKey, Scored]] = defaultdict(dict)
        self.usage: dict[str, defaultdict[str, Usage]] = {"agent": defaultdict(Usage), "judge": defaultdict(Usage)}

    def add_attempt(self, row: SampleRow) -> None:
        self.attempts[row.key] = Attempt(
            number=row.attempt,
            status=row.status,
            answered=row.answered,
            error=f"{row.error.type}: {row.error.message}" if row.error else None,
            route=row.route,
            seconds=row.timing.seconds,
            cost_usd=sum(row.usage.values(), Usage()).cost_usd,
            sample_hash=row.sample_hash,
            tags=row.tags,
        )
        self._spend("agent", row.usage)

    def add_scores(self, rows: Iterable[ScoreRow]) -> None:
        for row in rows:
            why = row.error.message if row.error else row.reason
            noise = Noise.model_validate(row.detail[NOISE]) if NOISE in row.detail else None
            self.scores[row.metric][row.key] = Scored(
                row.attempt, row.judge_hash, row.status, row.value, row.numerator, row.denominator, why, noise
            )
            self._spend("judge", row.usage or {})

    def _spend(self, account: str, usage: Mapping[str, Usage]) -> None:
        for role, used in usage.items():
            self.usage[account][role] += used

    def spent(self) -> Usage:
        """Agents and judges together, superseded attempts included: money spent is spent."""
        return sum((used for roles in self.usage.values() for used in roles.values()), Usage())

    def finished(self, key: SampleKey, *, retry_failed: bool) -> bool:
        """Whether nothing is left for the agent to do at this key."""
        attempt = self.attempts.get(key)
        if attempt is None or attempt.status == "cancelled":
            return False
        return attempt.status == "completed" or not retry_failed

    def score(self, key: SampleKey, planned: JudgePlan, metric: Metric) -> Scored | None:
        """The score of the key's last attempt by this very judge; None where there is none."""
        found = self.scores[metric.name].get(key)
        attempt = self.attempts.get(key)
        if found is None or attempt is None or found.attempt != attempt.number or found.judge_hash != planned.hash:
            return None
        return found

    def judged(self, key: SampleKey, planned: JudgePlan) -> bool:
        """Whether each metric of the judge has a score (or a reason); errors are worth another try."""
        scores = [self.score(key, planned, metric) for metric in planned.metrics]
        return all(found is not None and found.status != "error" for found in scores)

    def through(self, key: SampleKey, plan: Plan) -> bool:
        """Whether nothing at all is left to do at this key."""
        finished = self.finished(key, retry_failed=plan.settings.runner.retry_failed)
        return finished and all(self.judged(key, planned) for planned in plan.judges)

    def judge_failed(self, key: SampleKey, planned: JudgePlan) -> str | None:
        """The error of the judge on this key's last attempt, if it failed."""
        for metric in planned.metrics:
            found = self.score(key, planned, metric)
            if found is not None and found.status == "error":
                return found.why
        return None

    def statuses(self) -> dict[str, int]:
        """How many keys ended how, in the order of the design."""
        counts = Counter(attempt.status for attempt in self.attempts.values())
        return {status: counts[status] for status in ("completed", "failed", "limit", "cancelled") if counts[status]}
