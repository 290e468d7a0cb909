"""The rows and files of a run folder, as frozen models. Each carries the version of its layout."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, JsonValue

from aiq.core.base import Record
from aiq.core.reports import Audit, Report
from aiq.core.samples import SampleKey
from aiq.core.sources import Source
from aiq.core.usage import Usage
from aiq.stats.estimates import Estimate
from aiq.stats.noise import RunNoise

AttemptStatus = Literal["completed", "failed", "limit", "cancelled"]
RunStatus = Literal["running", "finished", "interrupted", "failed"]
ScoreStatus = Literal["scored", "agent_failed", "not_applicable", "error"]


class RowError(Record):
    """What ended an attempt or a score: the error's class and one line."""

    type: str
    message: str


class Timing(Record):
    """`started`: UTC, ISO 8601. `seconds`: wall time."""

    started: str
    seconds: float


class SampleRow(Record):
    """One attempt at one (sample, epoch): a line of `samples*.jsonl`; the last line of a key wins.

    `report` is verified, and None unless the attempt completed; `raw_report` is as the model wrote
    it, also in an attempt that failed after it was written.
    `sources` are those retrieved, and of the URLs that were only mentioned or echoed those that the
    raw report names. `usage` is by role and holds the agent's calls only.
    """

    schema_version: Literal[1] = 1
    sample_id: str
    sample_hash: str
    epoch: int
    attempt: int
    status: AttemptStatus
    question: str
    tags: Mapping[str, str] = Field(default_factory=dict)
    report: str | None = None
    raw_report: str | None = None
    route: str | None = None
    outcome: Literal["ok", "partial", "rejected"] | None = None
    extras: Mapping[str, JsonValue] = Field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    audit: Audit | None = None
    usage: Mapping[str, Usage] = Field(default_factory=dict)
    timing: Timing
    error: RowError | None = None

    @property
    def key(self) -> SampleKey:
        return SampleKey(self.sample_id, self.epoch)

    @property
    def retrieved(self) -> tuple[Source, ...]:
        """What the attempt's tools returned."""
        return tuple(source for source in self.sources if source.kind == "retrieved")

    @property
    def answered(self) -> bool:
        """Whether there is a report to judge: completed, and not ended by a rejection."""
        return self.status == "completed" and self.outcome != "rejected"

    def as_report(self) -> Report:
        """The report as the agent gave it, for judges. Only of an answered row."""
        return Report(
            text=self.report or "",
            raw_text=self.raw_report or "",
            route=self.route or "",
            outcome=self.outcome or "ok",
            audit=self.audit,
            extras=self.extras,
        )


class ScoreRow(Record):
    """One metric of one (sample, epoch) by one judge: a line of `scores*.jsonl`; the last line of a key wins.

    `attempt` is the attempt that was scored. `usage`, by role, is that of the judge's whole work on
    the report and stands in the first of its rows only, so that sums over rows are right.
    """

    schema_version: Literal[1] = 1
    sample_id: str
    epoch: int
    attempt: int
    judge: str
    judge_hash: str
    judge_version: str
    judge_model: str | None
    prompt_hash: str | None
    metric: str
    status: ScoreStatus
    value: float | None = None
    numerator: float | None = None
    denominator: float | None = None
    detail: Mapping[str, JsonValue] = Field(default_factory=dict)
    reason: str | None = None  # why the metric is not applicable
    usage: Mapping[str, Usage] | None = None
    error: RowError | None = None

    @property
    def key(self) -> SampleKey:
        return SampleKey(self.sample_id, self.epoch)


class SweepPlace(Record):
    """Where a run stands in a sweep: the sweep's id, the job's number from 0, and its value on each axis."""

    id: str
    job: int
    axes: Mapping[str, str]


class DatasetIdentity(Record):
    """`size`: samples in the dataset; `samples`: those that this run takes."""

    name: str
    fingerprint: str
    size: int
    samples: int


class Hashes(Record):
    """First 16 hex digits of SHA-256 each. `config` leaves out output, runner and cassette settings."""

    config: str
    agent: str
    judges: Mapping[str, str]
    prompts: Mapping[str, str]


class Resumption(Record):
    """One later start of the same run."""

    time: str
    overrides: tuple[str, ...]


class Rescored(Record):
    """Where the reports of a run come from whose judges alone have worked: the other run, and its agents' models."""

    run: str
    models: Mapping[str, str]


class Manifest(Record):
    """`manifest.json`: what was run, on what, with which code, and how far it came."""

    schema_version: Literal[1] = 1
    run_id: str
    experiment: str
    status: RunStatus
    started: str
    finished: str | None = None
    resumed: tuple[Resumption, ...] = ()
    config: Mapping[str, JsonValue]
    overrides: tuple[str, ...]
    hashes: Hashes
    models: Mapping[str, str]
    dataset: DatasetIdentity
    clock: str
    offline: bool
    versions: Mapping[str, str]
    git_revision: str | None
    sweep: SweepPlace | None = None
    shard: str | None = None
    rescored: Rescored | None = None
    counts: Mapping[str, int] = Field(default_factory=dict)


class AccountUsage(Record):
    """An account's spend: the sum, and by role."""

    total: Usage = Usage()
    roles: Mapping[str, Usage] = Field(default_factory=dict)


class RouteSummary(Record):
    """Attempts that took one route: how many, their metrics, cost and mean wall time."""

    n: int
    metrics: Mapping[str, Estimate]
    cost_usd: float | None
    mean_seconds: float


class FailurePolicy(Record):
    """How failed attempts were counted (`policy`), and every metric under the other policy."""

    policy: Literal["worst", "exclude"]
    failed: int
    alternative: Literal["worst", "exclude"]
    metrics: Mapping[str, Estimate]


class TimingSummary(Record):
    """Seconds: wall time of the whole run over all its starts, and of the attempts."""

    run_seconds: float
    attempt_mean: float | None
    attempt_median: float | None
    attempt_p95: float | None


class JudgeErrors(Record):
    """Reports that a judge failed on, with the message of the first."""

    n: int
    first: str


class Summary(Record):
    """`summary.json`: the numbers of a run. `n` of a metric counts samples, `n_errors` failed attempts.

    `failures` counts attempts by the error that they ended in, the most frequent ones only.
    `ranges`: the least and the greatest value of those metrics that have both.
    `judge_noise`: of the metrics whose judge judged a report more than once.
    """

    schema_version: Literal[1] = 1
    run_id: str
    experiment: str
    status: RunStatus
    offline: bool
    n_samples: int
    n_attempts: int
    n_errors: int
    statuses: Mapping[str, int]
    metrics: Mapping[str, Estimate]
    ranges: Mapping[str, tuple[float, float]] = Field(default_factory=dict)
    unavailable: Mapping[str, str]
    agent_failures: FailurePolicy
    failures: Mapping[str, int] = Field(default_factory=dict)
    judge_errors: Mapping[str, JudgeErrors]
    judge_noise: Mapping[str, RunNoise] = Field(default_factory=dict)
    slices: Mapping[str, Mapping[str, Mapping[str, Estimate]]]
    routes: Mapping[str, RouteSummary]
    usage: Mapping[str, AccountUsage]
    cost_usd: float | None
    timing: TimingSummary
