"""What a run has so far, in memory: the last attempt and the last scores of each key, without their texts.

Runner, progress, summary and exit code all ask it, so that they cannot disagree.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from statistics import fmean
from typing import Any, Final, TypeVar, get_args

from aiq.core.errors import OUTAGES
from aiq.core.reports import CAVEAT, Caveat, CitationStatus, Outcome
from aiq.core.samples import SampleKey
from aiq.core.text import counted
from aiq.core.tools import FETCH
from aiq.core.usage import SpendName, Usage
from aiq.runs.manifest import FailureRule, JudgeSpec, RunSpec, RunStatus
from aiq.runs.rows import AttemptStatus, SampleRow, ScoreRow, ScoreStatus
from aiq.stats.noise import NOISE

_COUNTED: dict[FailureRule, tuple[ScoreStatus, ...]] = {"worst": ("scored", "agent_failed"), "exclude": ("scored",)}

SPEND: Final[Mapping[SpendName, "Callable[[AttemptState], float | None]"]] = {
    "cost_usd": lambda attempt: attempt.usage.cost_usd,
    "tokens": lambda attempt: attempt.usage.total_tokens,
    "calls": lambda attempt: attempt.usage.calls,
    "seconds": lambda attempt: attempt.seconds or None,  # of a baseline they are not known
}

T = TypeVar("T")

_NO_DETAIL: Final[Mapping[str, Any]] = {}


@dataclass(frozen=True, slots=True)
class AttemptState:
    """What a run keeps in memory of an attempt; all else is in its row. `usage`: of all roles; `seconds`: wall time."""

    sample_hash: str
    attempt: int
    status: AttemptStatus
    outcome: Outcome | None
    answered: bool
    partial: bool
    failed: bool
    route: str | None
    citation_status: CitationStatus | None
    error: str | None
    started: str
    seconds: float
    usage: Usage
    denied: int
    tags: Mapping[str, str]
    tools: Mapping[str, Mapping[str, int]]
    outages: Mapping[str, str]

    @classmethod
    def of(cls, row: SampleRow, known: dict[str, Any]) -> "AttemptState":
        """`known`: what other attempts have, by its text; most have the same few."""

        def shared(value: T) -> T:
            found: T = known.setdefault(repr(value), value)
            return found

        return cls(
            sample_hash=row.sample_hash,
            attempt=row.attempt,
            status=row.status,
            outcome=row.outcome,
            answered=row.answered,
            partial=row.partial,
            failed=row.failed,
            route=row.route,
            citation_status=row.citation_status,
            error=shared(str(row.error)) if row.error else None,
            started=row.timing.started,
            seconds=row.timing.seconds,
            usage=shared(sum(row.usage.values(), Usage())),
            denied=row.denied,
            tags=shared(row.tags),
            tools=shared(row.tools),
            outages=shared(row.outages),
        )


@dataclass(frozen=True, slots=True)
class ScoreState:
    """What a run keeps in memory of a score. `parts`, `why` as of its row; `value`: whether the first part is one."""

    attempt: int
    status: ScoreStatus
    parts: tuple[float, float] | None
    is_value: bool
    why: str | None
    detail: Mapping[str, Any] = field(hash=False)

    @classmethod
    def of(cls, row: ScoreRow) -> "ScoreState":
        kept = {name: value for name, value in row.detail.items() if name in (NOISE, CAVEAT)}
        return cls(row.attempt, row.status, row.parts, row.value is not None, row.why, kept or _NO_DETAIL)


class RunState:
    """Attempts, scores and spend of one run."""

    def __init__(self, spec: RunSpec) -> None:
        self.spec = spec
        self.attempts: dict[SampleKey, AttemptState] = {}
        self._known: dict[str, Any] = {}
        self._known_scores: dict[ScoreState, ScoreState] = {}
        self.usage: dict[str, defaultdict[str, Usage]] = {"agent": defaultdict(Usage), "judge": defaultdict(Usage)}
        self.tool_calls = 0  # of superseded attempts too, as `spent`
        self._judge_hashes = {metric.name: judge.hash for judge in spec.judges for metric in judge.metrics}
        self._places = {name: place for place, name in enumerate(spec.metrics)}
        self._scores: dict[SampleKey, list[ScoreState | None]] = {}
        """By key, in the order of the metrics."""

    def add_attempt(self, row: SampleRow) -> None:
        self.attempts[row.key] = AttemptState.of(row, self._known)
        self._spend("agent", row.usage)
        self.tool_calls += row.tool_calls

    def add_scores(self, rows: Iterable[ScoreRow]) -> None:
        """Take the scores over; those of a judge that has changed since count as none, and only their spend stays."""
        for row in rows:
            self._spend("judge", row.usage or {})
            if (place := self._places.get(row.metric)) is not None:
                scores = self._scores.setdefault(row.key, [None] * len(self._places))
                holds = row.judge_hash == self._judge_hashes[row.metric]
                scores[place] = self._shared(ScoreState.of(row)) if holds else None

    def _shared(self, score: ScoreState) -> ScoreState:
        """The same score of another attempt, if there is one; details differ."""
        return score if score.detail else self._known_scores.setdefault(score, score)

    def _spend(self, account: str, usage: Mapping[str, Usage]) -> None:
        for role, used in usage.items():
            self.usage[account][role] += used

    def spent(self) -> Usage:
        """Agents and judges together, superseded attempts included: money spent is spent."""
        return sum((used for roles in self.usage.values() for used in roles.values()), Usage())

    def attempted(self, key: SampleKey) -> bool:
        """Whether nothing is left for the agent to do at this key."""
        attempt = self.attempts.get(key)
        if attempt is None or attempt.status == "cancelled":
            return False
        return attempt.status == "completed" or not self.spec.failures.retry_failed

    def score(self, key: SampleKey, metric: str) -> ScoreState | None:
        """The score of the key's last attempt; None where there is none."""
        scores = self._scores.get(key)
        found = scores[self._places[metric]] if scores else None
        attempt = self.attempts.get(key)
        return found if found and attempt and found.attempt == attempt.attempt else None

    def judged(self, key: SampleKey, judge: JudgeSpec) -> bool:
        """Whether each metric of the judge has a score or a reason; errors and missing parts are worth another try."""
        scores = self._scored(key, judge)
        if len(scores) < len(judge.metrics) or any(found.status == "error" for found in scores):
            return False
        caveat = self._caveat(key, judge)
        return caveat is None or not (caveat.retry and caveat.n)

    def _scored(self, key: SampleKey, judge: JudgeSpec) -> list[ScoreState]:
        """The judge's scores of the key's last attempt."""
        return [found for metric in judge.metrics if (found := self.score(key, metric.name)) is not None]

    def _caveat(self, key: SampleKey, judge: JudgeSpec) -> Caveat | None:
        """What the judge's scores of the key's last attempt do without."""
        details = (found.detail for found in self._scored(key, judge))
        return next((Caveat.model_validate(detail[CAVEAT]) for detail in details if CAVEAT in detail), None)

    def caveats(self) -> dict[str, Caveat]:
        """By judge: what its scores do without, over all keys; judges that miss nothing are absent."""
        found: dict[str, Caveat] = {}
        for judge, key in self._where(lambda score: CAVEAT in score.detail):
            if (caveat := self._caveat(key, judge)) is not None:
                found[judge.name] = found[judge.name] + caveat if judge.name in found else caveat
        return {name: caveat for name, caveat in found.items() if caveat.n}

    def done(self, key: SampleKey) -> bool:
        """Whether nothing at all is left to do at this key."""
        return self.attempted(key) and all(self.judged(key, judge) for judge in self.spec.judges)

    def left(self) -> list[SampleKey]:
        """The keys at which something is left to do."""
        return [key for key in self.spec.keys if not self.done(key)]

    def judge_error(self, key: SampleKey, judge: JudgeSpec) -> str | None:
        """The error of the judge on this key's last attempt, if it failed."""
        return next((found.why for found in self._scored(key, judge) if found.status == "error"), None)

    def judge_errors(self) -> dict[str, list[str]]:
        """By judge: what it failed on, in the order of the keys; judges without failures are absent."""
        found: dict[str, list[str]] = {}
        for judge, key in self._where(lambda score: score.status == "error"):
            if (why := self.judge_error(key, judge)) is not None:
                found.setdefault(judge.name, []).append(why)
        return found

    def _where(self, holds: Callable[[ScoreState], bool]) -> Iterator[tuple[JudgeSpec, SampleKey]]:
        """Judge by judge, the keys at which this holds of a score of anybody's."""
        keys = {key for key, scores in self._scores.items() if any(score and holds(score) for score in scores)}
        return product(self.spec.judges, [key for key in self.spec.keys if key in keys] if keys else ())

    def by_sample(
        self, metric: str, keys: Iterable[SampleKey] | None = None, rule: FailureRule | None = None
    ) -> dict[str, list[tuple[float, float]]]:
        """A metric's scores that count, by sample: `parts` of each epoch. All keys and the run's rule by default."""
        found: dict[str, list[tuple[float, float]]] = {}
        for sample, parts in self.counting(metric, self.spec.keys if keys is None else keys, rule):
            found.setdefault(sample, []).append(parts)
        return found

    def counting(
        self, metric: str, keys: Iterable[SampleKey], rule: FailureRule | None = None
    ) -> Iterator[tuple[str, tuple[float, float]]]:
        """A metric's scores that count, in the order of the keys: the sample, and `parts`."""
        counted = _COUNTED[rule or self.spec.failures.agent_failures]
        for key in keys:
            scored = self.score(key, metric)
            if scored is not None and scored.status in counted and scored.parts is not None:
                yield key.sample_id, scored.parts

    def spend_by_sample(self, name: SpendName, keys: Iterable[SampleKey] | None = None) -> dict[str, float]:
        """What the last attempts spent, by sample, the mean over its epochs; empty where one of them is not known."""
        found: dict[str, list[float]] = {}
        for key in self.attempts if keys is None else keys:
            if (value := SPEND[name](self.attempts[key])) is None:
                return {}
            found.setdefault(key.sample_id, []).append(value)
        return {sample: fmean(values) for sample, values in found.items()}

    def tools(self) -> dict[str, Counter[str]]:
        """Calls of the agents' tools by outcome (`ok` or the kind of error), tools in alphabetical order."""
        counts: dict[str, Counter[str]] = {}
        for attempt in self.attempts.values():
            for tool, outcomes in attempt.tools.items():
                counts.setdefault(tool, Counter()).update(outcomes)
        return dict(sorted(counts.items()))

    def outages(self) -> dict[str, str]:
        """By tool, in the order of the keys, the first error of the service behind it."""
        rows = [self.attempts[key] for key in self.spec.keys if key in self.attempts]
        return {tool: why for row in reversed(rows) for tool, why in row.outages.items()}

    def statuses(self) -> dict[str, int]:
        """How many keys ended how, in the order in which `AttemptStatus` has them."""
        counts = Counter(attempt.status for attempt in self.attempts.values())
        return {status: counts[status] for status in get_args(AttemptStatus) if counts[status]}

    def exit_code(self, status: RunStatus) -> int:
        """0; 3 when too many attempts or judgements failed; 2 when something stopped the run; 130 when interrupted."""
        if status in ("interrupted", "failed"):
            return 130 if status == "interrupted" else 2
        return 3 if self.excesses() else 0

    def excesses(self) -> list[str]:
        """What failed more often than `runner.max_error_rate` allows, in words; of tools, those that never served."""
        reports, failed = len(self.attempts), self.statuses().get("failed", 0)
        rates = [(failed, reports, f"{failed} of {counted(reports, 'attempt')} failed")]
        for name, why in self.judge_errors().items():
            rates.append((len(why), reports, f"judge {name} failed on {len(why)} of {counted(reports, 'report')}"))
        for name, lack in self.caveats().items():
            if lack.retry:
                rates.append((lack.n, lack.of, f"judge {name}: {lack.n} of {lack.of} {lack.what}"))
        for tool, outcomes in self.tools().items():
            out = sum(calls for kind, calls in outcomes.items() if kind in OUTAGES)
            if tool != FETCH and not outcomes["ok"]:
                calls = counted(out, "call")
                rates.append((out, out, f"{tool} served in none of {calls} (the first: {self.outages().get(tool)})"))
        return [words for n, of, words in rates if n > self.spec.failures.max_error_rate * of]
