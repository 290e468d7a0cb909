"""The state of a run, in memory: the last attempt and the last scores of each key, without their texts.

Runner, progress, summary and exit code all use it, so they cannot disagree.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from itertools import filterfalse
from math import isnan, nan
from operator import attrgetter
from statistics import fmean
from typing import Any, Final, NamedTuple, TypeVar, get_args

from aiq.core.base import grouped
from aiq.core.errors import OUTAGES
from aiq.core.reports import CAVEAT, Caveat, CitationStatus, Outcome
from aiq.core.samples import Keys, SampleKey
from aiq.core.text import plural
from aiq.core.tools import FETCH
from aiq.core.usage import SpendName, Usage
from aiq.runs.manifest import FailureRule, JudgeSpec, RunSpec, RunStatus
from aiq.runs.packed import Packed
from aiq.runs.rows import AttemptStatus, SampleRow, ScoreRow, ScoreStatus
from aiq.stats.noise import NOISE

T = TypeVar("T")

_COUNTED: dict[FailureRule, tuple[ScoreStatus, ...]] = {"worst": ("scored", "agent_failed"), "exclude": ("scored",)}

SPEND: Final[Mapping[SpendName, "Callable[[AttemptState], float | None]"]] = {
    "cost_usd": lambda attempt: attempt.usage.cost_usd,
    "tokens": lambda attempt: attempt.usage.total_tokens,
    "calls": lambda attempt: attempt.usage.calls,
    "seconds": lambda attempt: attempt.seconds or None,  # unknown in a baseline
}


_FIGURES: Final = attrgetter(*(field.name for field in fields(Usage)))


class AttemptState(NamedTuple):
    """What is kept of an attempt; all else is in its row. The first five fields are its own, others may be shared.

    `sample_hash`: 16 hex digits. `started`: seconds since 1970, and `seconds`: wall time; both 0 in a baseline.
    `usage`: of all roles.
    """

    attempt: int
    sample_hash: str
    started: float
    seconds: float
    usage: Usage
    status: AttemptStatus
    outcome: Outcome | None
    answered: bool
    partial: bool
    failed: bool
    route: str | None
    citation_status: CitationStatus | None
    error: str | None
    denied: int
    tags: Mapping[str, str]
    tools: Mapping[str, Mapping[str, int]]
    outages: Mapping[str, str]

    @classmethod
    def of(cls, row: SampleRow) -> "AttemptState":
        """The state of a row's attempt; its error becomes a string."""
        started = datetime.fromisoformat(row.timing.started).timestamp() if row.timing.started else 0.0
        own = (row.attempt, row.sample_hash, started, row.timing.seconds, row.spent)
        shared = {name: getattr(row, name) for name in cls._fields[len(own) :]}
        return cls(*own, **shared | {"error": row.error and str(row.error)})


class ScoreState(NamedTuple):
    """What is kept of a score. `parts`, `why`: those of its row; `is_value`: whether the first part is its value.

    The first two fields are its own, others may be shared.
    """

    attempt: int
    parts: tuple[float, float] | None
    status: ScoreStatus
    is_value: bool
    why: str | None
    detail: Mapping[str, Any]

    @classmethod
    def of(cls, row: ScoreRow) -> "ScoreState":
        detail = {name: value for name, value in row.detail.items() if name in (NOISE, CAVEAT)}
        return cls(row.attempt, row.parts, row.status, row.value is not None, row.why, detail)


class Attempts(Mapping[SampleKey, AttemptState]):
    """The last attempt of each key, packed: in the order of `Keys`, or for other keys in order of arrival."""

    def __init__(self, keys: Sequence[SampleKey]) -> None:
        self._places = keys if isinstance(keys, Keys) else {key: place for place, key in enumerate(keys)}
        self._rows = Packed("I16s10d", len(keys))

    def place(self, key: SampleKey) -> int | None:
        """The place of a key, if it may have an attempt."""
        return self._places.place(key) if isinstance(self._places, Keys) else self._places.get(key)

    def add(self, key: SampleKey) -> int | None:
        """The place of a key, which is added if it is new; None for one that is not in `Keys`."""
        if isinstance(self._places, Keys):
            return self._places.place(key)
        return self._places.setdefault(key, len(self._places))

    def last(self, place: int) -> int:
        """The number of the last attempt at this place; 0 if there is none."""
        return self._rows.first(place)

    def at(self, place: int) -> AttemptState | None:
        if (row := self._rows.get(place)) is None:
            return None
        (number, digest, started, seconds, *counts, cost, guessed, dollars), shared = row
        figures: list[Any] = [*map(int, counts), None if isnan(cost) else cost, int(guessed), dollars]
        return AttemptState(number, digest.rstrip(b"\0").decode(), started, seconds, Usage(*figures), *shared)

    def set(self, place: int, attempt: AttemptState) -> None:
        number, digest, started, seconds, usage, *shared = attempt
        figures = (nan if value is None else value for value in _FIGURES(usage))
        self._rows.set(place, (number, digest.encode(), started, seconds, *figures), shared)

    def __getitem__(self, key: SampleKey) -> AttemptState:
        place = self.place(key)
        if place is None or (attempt := self.at(place)) is None:
            raise KeyError(key)
        return attempt

    def __iter__(self) -> Iterator[SampleKey]:
        return (key for place, key in enumerate(self._places) if self.last(place))

    def __len__(self) -> int:
        return sum(n for _, n in self._rows.groups())

    def counts(self, field: str, values: Sequence[T]) -> dict[T, int]:
        """How many attempts have each of these values of a field, without values that none has."""
        totals = Counter[Any]()
        for attempt, n in self.groups():
            totals[getattr(attempt, field)] += n
        return {value: totals[value] for value in values if totals[value]}

    def groups(self) -> Iterator[tuple[AttemptState, int]]:
        """For each group that shares all but its own figures: an attempt without figures, and the group's size."""
        return ((AttemptState(0, "", 0.0, 0.0, Usage(), *shared), n) for shared, n in self._rows.groups())


class RunState:
    """Attempts, scores and spend of one run."""

    def __init__(self, spec: RunSpec) -> None:
        self.spec = spec
        self.attempts = Attempts(spec.keys)
        self.usage: dict[str, defaultdict[str, Usage]] = {"agent": defaultdict(Usage), "judge": defaultdict(Usage)}
        self.tool_calls = 0  # of superseded attempts too, as `spent`
        self._judge_hashes = {metric.name: judge.hash for judge in spec.judges for metric in judge.metrics}
        self._scores = {name: Packed("I2d", len(spec.keys)) for name in spec.metrics}

    def add_attempt(self, row: SampleRow) -> None:
        """Add an attempt, unless its key is not in the run."""
        if (place := self.attempts.add(row.key)) is not None:
            self.attempts.set(place, AttemptState.of(row))
            self._spend("agent", row.usage)
            self.tool_calls += row.tool_calls

    def add_scores(self, rows: Iterable[ScoreRow]) -> None:
        """Add the scores of the run's keys; if their judge has changed since, only their spend counts."""
        for row in rows:
            if (place := self.attempts.add(row.key)) is None:
                continue
            self._spend("judge", row.usage or {})
            if (scores := self._scores.get(row.metric)) is not None:
                is_current = row.judge_hash == self._judge_hashes[row.metric]
                attempt, parts, *shared = ScoreState.of(row)
                scores.set(place, (attempt if is_current else 0, *(parts or (nan, nan))), shared)  # no attempt is 0

    def _spend(self, account: str, usage: Mapping[str, Usage]) -> None:
        for role, role_usage in usage.items():
            self.usage[account][role] += role_usage

    def spent(self) -> Usage:
        """The usage of agents and judges together, including superseded attempts: money spent is spent."""
        return sum((usage for roles in self.usage.values() for usage in roles.values()), Usage())

    def attempted(self, key: SampleKey) -> bool:
        """Whether the agent has nothing left to do for this key."""
        attempt = self.attempts.get(key)
        if attempt is None or attempt.status == "cancelled":
            return False
        return attempt.status == "completed" or not self.spec.failures.retry_failed

    def score(self, key: SampleKey, metric: str) -> ScoreState | None:
        """The score of the key's last attempt; None if there is none."""
        place = self.attempts.place(key)
        return None if place is None else self.score_at(place, metric)

    def score_at(self, place: int, metric: str) -> ScoreState | None:
        """As `score`, by the key's place."""
        if (row := self._scores[metric].get(place)) is None:
            return None
        (attempt, numerator, denominator), shared = row
        if not attempt or attempt != self.attempts.last(place):
            return None
        return ScoreState(attempt, None if isnan(numerator) else (numerator, denominator), *shared)

    def judged(self, key: SampleKey, judge: JudgeSpec) -> bool:
        """Whether each metric of the judge has a score or a reason; errors and missing parts can be retried."""
        scores = self._judge_scores(key, judge)
        if len(scores) < len(judge.metrics) or any(score.status == "error" for score in scores):
            return False
        caveat = _caveat(scores)
        return caveat is None or not (caveat.retry and caveat.n)

    def _judge_scores(self, key: SampleKey, judge: JudgeSpec) -> list[ScoreState]:
        """The judge's scores of the key's last attempt."""
        return [score for metric in judge.metrics if (score := self.score(key, metric.name)) is not None]

    def caveats(self) -> dict[str, Caveat]:
        """By judge: what its scores lack, over all keys; judges that lack nothing are absent."""
        caveats: dict[str, Caveat] = {}
        for judge, key in self._where(lambda score: CAVEAT in score.detail):
            if (caveat := _caveat(self._judge_scores(key, judge))) is not None:
                caveats[judge.name] = caveats[judge.name] + caveat if judge.name in caveats else caveat
        return {name: caveat for name, caveat in caveats.items() if caveat.n}

    def done(self, key: SampleKey) -> bool:
        """Whether neither agent nor judges have anything left to do for this key."""
        return self.attempted(key) and all(self.judged(key, judge) for judge in self.spec.judges)

    def remaining(self) -> Sequence[SampleKey]:
        """The keys that are not done."""
        keys = self.spec.keys
        return keys.where(lambda key: not self.done(key)) if isinstance(keys, Keys) else [*filterfalse(self.done, keys)]

    def judge_error(self, key: SampleKey, judge: JudgeSpec) -> str | None:
        """The error of the judge on this key's last attempt, if it failed."""
        return next((score.why for score in self._judge_scores(key, judge) if score.status == "error"), None)

    def judge_errors(self) -> dict[str, list[str]]:
        """By judge: its errors, in the order of the keys; judges without errors are absent."""
        errors = (
            (judge.name, self.judge_error(key, judge))
            for judge, key in self._where(lambda score: score.status == "error")
        )
        return grouped((judge, message) for judge, message in errors if message is not None)

    def _where(self, predicate: Callable[[ScoreState], bool]) -> Iterator[tuple[JudgeSpec, SampleKey]]:
        """All keys, judge by judge, or nothing if this holds for no score."""
        states = (ScoreState(0, None, *shared) for scores in self._scores.values() for shared, _ in scores.groups())
        keys = self.spec.keys if any(map(predicate, states)) else ()
        return ((judge, key) for judge in self.spec.judges for key in keys)

    def by_sample(
        self, metric: str, keys: Iterable[SampleKey] | None = None, rule: FailureRule | None = None
    ) -> dict[str, list[tuple[float, float]]]:
        """A metric's scores that count, by sample: the `parts` of each epoch. Default: all keys, and the run's rule."""
        places = map(self.attempts.place, self.spec.keys if keys is None else keys)
        return grouped(self.counted_scores(metric, (place for place in places if place is not None), rule))

    def counted_scores(
        self, metric: str, places: Iterable[int], rule: FailureRule | None = None
    ) -> Iterator[tuple[str, tuple[float, float]]]:
        """A metric's scores that count, for the keys at these places: the sample id, and `parts`."""
        statuses = _COUNTED[rule or self.spec.failures.agent_failures]
        for place in places:
            score = self.score_at(place, metric)
            if score is not None and score.status in statuses and score.parts is not None:
                yield self.spec.keys[place].sample_id, score.parts

    def spend_by_sample(self, name: SpendName, keys: Iterable[SampleKey] | None = None) -> dict[str, float]:
        """By sample: what its last attempts spent, as the mean over epochs; empty if any of them is unknown."""
        spend: dict[str, list[float]] = {}
        for key in self.attempts if keys is None else keys:
            if (value := SPEND[name](self.attempts[key])) is None:
                return {}
            spend.setdefault(key.sample_id, []).append(value)
        return {sample: fmean(values) for sample, values in spend.items()}

    def tools(self) -> dict[str, Counter[str]]:
        """By tool, in alphabetical order: the number of calls by outcome (`ok` or the kind of error)."""
        counts: dict[str, Counter[str]] = {}
        for attempt, n in self.attempts.groups():
            for tool, outcomes in attempt.tools.items():
                counts.setdefault(tool, Counter()).update({kind: n * calls for kind, calls in outcomes.items()})
        return dict(sorted(counts.items()))

    def outages(self) -> dict[str, str]:
        """By tool: the first error of the service behind it, in the order of the keys."""
        outages: dict[str, str] = {}
        if any(attempt.outages for attempt, _ in self.attempts.groups()):
            for key in self.spec.keys:
                attempt = self.attempts.get(key)
                outages = {**attempt.outages, **outages} if attempt and attempt.outages else outages
        return outages

    def statuses(self) -> dict[str, int]:
        """The number of keys by the status of their attempt, in the order of `AttemptStatus`."""
        return self.attempts.counts("status", get_args(AttemptStatus))

    def exit_code(self, status: RunStatus) -> int:
        """0; 3 if too many attempts or judgements failed; 2 if an error stopped the run; 130 if it was interrupted."""
        if status in ("interrupted", "failed"):
            return 130 if status == "interrupted" else 2
        return 3 if self.excess_failures() else 0

    def excess_failures(self) -> list[str]:
        """Messages about what failed more often than `runner.max_error_rate` allows, and tools that never worked."""
        reports, failed = len(self.attempts), self.statuses().get("failed", 0)
        rates = [(failed, reports, f"{failed} of {plural(reports, 'attempt')} failed")]
        for name, errors in self.judge_errors().items():
            rates.append((len(errors), reports, f"judge {name} failed on {len(errors)} of {plural(reports, 'report')}"))
        for name, caveat in self.caveats().items():
            if caveat.retry:
                rates.append((caveat.n, caveat.of, f"judge {name}: {caveat.n} of {caveat.of} {caveat.what}"))
        for tool, outcomes in self.tools().items():
            out = sum(calls for kind, calls in outcomes.items() if kind in OUTAGES)
            if tool != FETCH and not outcomes["ok"]:
                calls = plural(out, "call")
                rates.append((out, out, f"{tool}: none of {calls} succeeded (first error: {self.outages().get(tool)})"))
        return [message for n, total, message in rates if n > self.spec.failures.max_error_rate * total]


def _caveat(scores: Iterable[ScoreState]) -> Caveat | None:
    """What a judge's scores of an attempt lack."""
    return next((Caveat.model_validate(score.detail[CAVEAT]) for score in scores if CAVEAT in score.detail), None)
