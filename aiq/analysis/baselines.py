"""A baseline: a run's scores and spend by sample, and what they depend on, in one file to be committed.

It holds nothing that differs between two runs with the same results (times, ids, versions), so it changes only when
results do. `aiq gate` compares new runs with it; `aiq compare` accepts one wherever it accepts a run.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import JsonValue, ValidationError, model_validator

from aiq.core.base import Record
from aiq.core.errors import UserError
from aiq.core.plugins import describe
from aiq.core.reports import Outcome
from aiq.core.run_settings import FailureSettings
from aiq.core.samples import SampleKey
from aiq.core.usage import Usage
from aiq.runs.folder import RunFolder, find_run, not_finished, write_atomic
from aiq.runs.manifest import DatasetIdentity, FailureRule, Hashes, JudgeSpec, Manifest, RunSpec
from aiq.runs.reader import read_samples, read_state
from aiq.runs.rows import AttemptStatus, RowError, SampleRow, ScoreRow, ScoreStatus, Timing
from aiq.runs.state import RunState, ScoreState
from aiq.runs.summary import Summary, summarise

_IRRELEVANT = ("name", "run_id", "shard", "output_dir", "runner", "cassette", "telemetry")
"""Settings that do not affect a run's results."""
_FROM_MANIFEST = ("experiment", "clock", "offline", "dataset", "hashes", "models", "judges")


class Attempt(Record):
    """One sample and epoch. `report`: its digest. `spend`: the agent's, over all roles.

    `scores`: by metric a value, numerator and denominator, or the status of a score without a number.
    """

    sample: str
    epoch: int = 1
    hash: str
    status: AttemptStatus = "completed"
    outcome: Outcome | None = "ok"
    report: str | None = None
    tags: Mapping[str, str] = {}
    spend: Usage = Usage()
    scores: Mapping[str, float | tuple[float, float] | ScoreStatus]

    @property
    def key(self) -> SampleKey:
        return SampleKey(self.sample, self.epoch)

    @property
    def facts(self) -> dict[str, object]:
        """All fields by name, with scores and spend on the same level."""
        fields = self.model_dump(mode="json", exclude={"scores", "spend"})
        return fields | asdict(self.spend) | dict(self.scores)

    def row(self) -> SampleRow:
        """The row as in a run. Seconds of 0 are unknown."""
        row = SampleRow(
            sample_id=self.sample,
            epoch=self.epoch,
            attempt=1,
            sample_hash=self.hash,
            status=self.status,
            outcome=self.outcome,
            question="",
            tags=self.tags,
            usage={"agent": self.spend},
            timing=Timing(started="", seconds=0.0),
        )
        error = RowError(type="AgentError", message="a failed attempt of the baseline")
        return row.model_copy(update={"error": error}) if row.failed else row

    def score(self, metric: str, judge: JudgeSpec) -> ScoreRow:
        value = self.scores[metric]
        fields: dict[str, object] = {"status": "agent_failed" if self.row().failed else "scored"}
        if isinstance(value, str):
            fields = {"status": value}
        elif isinstance(value, tuple):
            fields |= {"numerator": value[0], "denominator": value[1]}
        else:
            fields["value"] = value
        if value == "error":
            fields["error"] = RowError(type="JudgeError", message="the judge failed when the baseline was made")
        judge_fields = {"judge": judge.name, "judge_hash": judge.hash, "judge_version": judge.version}
        key = {"sample_id": self.sample, "epoch": self.epoch, "attempt": 1, "metric": metric}
        return ScoreRow.model_validate({**key, **judge_fields, "judge_model": None, "prompt_hash": None, **fields})


class Baseline(Record):
    """The content of the file. `settings`: overrides of the run. `config`: settings of its judges and intervals.

    `elsewhere`: whether a model other than the offline one answered the agent in an otherwise offline run.
    """

    schema_version: Literal[1] = 1
    experiment: str
    settings: tuple[str, ...]
    clock: str
    offline: bool
    elsewhere: bool = False
    dataset: DatasetIdentity
    hashes: Hashes
    models: Mapping[str, str]
    agent_failures: FailureRule
    config: Mapping[str, JsonValue]
    judges: tuple[JudgeSpec, ...]
    attempts: tuple[Attempt, ...]

    @model_validator(mode="after")
    def _check_scores(self) -> "Baseline":
        metrics = {metric.name for judge in self.judges for metric in judge.metrics}
        if unknown := [name for attempt in self.attempts for name in attempt.scores if name not in metrics]:
            raise ValueError(f"attempts have scores of {unknown[0]}, which no judge declares")
        return self

    @classmethod
    def of(cls, run: RunFolder) -> "Baseline":
        """The baseline of a run. Raises UserError if the run is not finished."""
        manifest, state = run.read_manifest(), read_state(run)
        if manifest.status != "finished":
            raise UserError(f"{run.path} {not_finished(run.path, manifest.status)}")
        roles = state.usage["agent"].keys()
        digests = report_digests(run)
        return cls(
            **{name: getattr(manifest, name) for name in _FROM_MANIFEST},
            settings=relevant_overrides(manifest),
            elsewhere=bool(roles) and roles <= {*manifest.elsewhere},
            agent_failures=state.spec.failures.agent_failures,
            config={name: manifest.config.get(name) for name in ("intervals", "judge")},
            attempts=tuple(_attempt(key, state, digests[key]) for key in state.spec.keys),
        )

    def text(self) -> str:
        """JSON, one line per attempt."""
        head = self.model_dump(mode="json", exclude={"attempts"}, exclude_defaults=True)
        head = {"schema_version": self.schema_version, **head}
        lines = (json.dumps(a.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False, sort_keys=True)
                 for a in self.attempts)  # fmt: skip
        rows = ",\n  ".join(lines)
        return f'{json.dumps(head, indent=1, ensure_ascii=False)[:-2]},\n "attempts": [\n  {rows}\n ]\n}}\n'

    def write(self, path: Path) -> None:
        """Write the file. Raises UserError if that is impossible."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, self.text())
        except OSError as error:
            raise UserError(f"{path}: {error.strerror}; choose another place") from None

    def changes(self, new: "Baseline") -> Iterator[str]:
        """A line for each part in which the other baseline differs, attempts last."""
        before, after = (run.model_dump(mode="json", exclude={"attempts"}) for run in (self, new))
        yield from differences(before, after)
        old, current = ({attempt.key: attempt.facts for attempt in run.attempts} for run in (self, new))
        for key in {**old, **current}:
            facts, now = old.get(key), current.get(key)
            if facts != now:
                change = "new" if facts is None else "gone" if now is None else ", ".join(differences(facts, now))
                yield f"{key.sample_id}, epoch {key.epoch}: {change}"


def relevant_overrides(manifest: Manifest) -> tuple[str, ...]:
    """The settings that a run was started with and that affect its results."""
    return tuple(text for text in manifest.overrides if not text.lstrip("+~").startswith(_IRRELEVANT))


def differences(before: Mapping[str, object], after: Mapping[str, object], prefix: str = "") -> Iterator[str]:
    """What differs, by dotted name, with both values; for lists, the items that only one has."""
    for name in {**before, **after}:
        old, new = before.get(name), after.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from differences(old, new, f"{prefix}{name}.")
        elif old != new:
            if isinstance(old, list) and isinstance(new, list):
                old, new = [item for item in old if item not in new], [item for item in new if item not in old]
            yield f"{prefix}{name} {'none' if old is None else old} -> {'none' if new is None else new}"


def _attempt(key: SampleKey, state: RunState, report: str | None) -> Attempt:
    row = state.attempts[key]
    scores = {name: score for name in state.spec.metrics if (score := state.score(key, name)) is not None}
    return Attempt(
        sample=key.sample_id,
        epoch=key.epoch,
        hash=row.sample_hash,
        status=row.status,
        outcome=row.outcome,
        report=report,
        tags=row.tags,
        spend=row.usage,
        scores={name: _number(score) for name, score in sorted(scores.items())},
    )


def _number(score: ScoreState) -> float | tuple[float, float] | ScoreStatus:
    """A score's number to 12 digits, because the last ones may differ between machines; or its status."""
    if score.parts is None:
        return score.status
    numerator, denominator = (float(f"{part:.12g}") for part in score.parts)
    return numerator if score.is_value else (numerator, denominator)


@dataclass(frozen=True)
class BaselineFile:
    """A baseline on disk, read like a run's folder."""

    path: Path

    @cached_property
    def content(self) -> Baseline:
        """The baseline. Raises UserError if the file does not exist or is not a baseline."""
        try:
            return Baseline.model_validate_json(self.path.read_bytes())
        except OSError as error:
            remedy = f"create it with aiq gate RUN --baseline {self.path} --update"
            why = f"{self.path} cannot be read ({error.strerror}); {remedy}"
            raise UserError(why) from None
        except ValidationError as error:
            why = f"{self.path} is not a baseline of this version: {describe(error)}; delete it, then run --update"
            raise UserError(why) from None

    def read_manifest(self) -> Manifest:
        """The manifest as of a run, without its times."""
        baseline = self.content
        return Manifest(
            **{name: getattr(baseline, name) for name in _FROM_MANIFEST},
            run_id=self.path.stem,
            status="finished",
            started="",
            config=baseline.config,
            overrides=baseline.settings,
            elsewhere=("agent",) if baseline.elsewhere else (),
            versions={},
            git_revision=None,
        )

    @cached_property
    def state(self) -> RunState:
        baseline = self.content
        failures = FailureSettings(max_error_rate=1, agent_failures=baseline.agent_failures, retry_failed=False)
        keys = tuple(attempt.key for attempt in baseline.attempts)
        state = RunState(RunSpec(keys, baseline.judges, failures, self.read_manifest().intervals))
        judges = {metric.name: judge for judge in baseline.judges for metric in judge.metrics}
        for attempt in baseline.attempts:
            state.add_attempt(attempt.row())
            state.add_scores(attempt.score(name, judges[name]) for name in attempt.scores)
        return state

    def read_summary(self) -> Summary:
        return summarise(self.read_manifest(), self.state, 0.0)


RunOrBaseline = RunFolder | BaselineFile
"""What can be compared: a run, or a baseline."""


def find_run_or_baseline(name: str, results: str) -> RunOrBaseline:
    """A baseline if `name` is a JSON file, else a run (`find_run`). Raises UserError if there is neither."""
    if name.endswith(".json"):
        return BaselineFile(Path(name))
    return find_run(name, results)


def report_digests(run: RunOrBaseline) -> dict[SampleKey, str | None]:
    """First 16 hex digits of the SHA-256 of each report."""
    if isinstance(run, BaselineFile):
        return {attempt.key: attempt.report for attempt in run.content.attempts}
    reports = {key: row.report for key, row in read_samples(run, SampleRow.compact).items()}
    return {key: text and hashlib.sha256(text.encode()).hexdigest()[:16] for key, text in reports.items()}
