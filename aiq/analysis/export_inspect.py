"""A run as a log of Inspect AI (`.eval`), which `inspect view` opens: samples, scores, and what happened in each.

Written with Inspect's own API (the extra `inspect`), which validates what it writes: the format is a zip of condensed
JSON whose version changes with the package. A sample's transcript is that of its last attempt, then of its judges.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalError,
    EvalLog,
    EvalMetric,
    EvalResults,
    EvalSample,
    EvalSampleLimit,
    EvalScore,
    EvalSpec,
    EvalStats,
    condense_sample,
    write_eval_log,
)
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput
from inspect_ai.scorer import Score

from aiq.analysis.export_inspect_events import transcript, usage_of
from aiq.core.samples import Sample
from aiq.core.usage import Usage
from aiq.datasets import Samples
from aiq.runs.events import EventReader
from aiq.runs.folder import RunFolder, natural
from aiq.runs.manifest import Manifest, RunStatus
from aiq.runs.reader import read_dataset, read_samples, read_scores, summary_of
from aiq.runs.rows import SampleRow, ScoreRow
from aiq.runs.summary import Summary
from aiq.stats.estimates import Estimate

_STATUS: Final[Mapping[RunStatus, str]] = {
    "running": "started",
    "finished": "success",
    "interrupted": "cancelled",
    "failed": "error",
}
_LIMITS: Final = {
    "sample_seconds": "time",
    "sample_tokens": "token",
    "sample_usd": "cost",
    "sample_model_calls": "turn",
    "sample_tool_calls": "custom",
}
"""Inspect's name for each of our limits; a report that the token limit cut off counts as a `token` limit there."""


def export(folder: RunFolder, out: Path) -> tuple[Path, str | None]:
    """Write the log below `out`; returns its path, and why it has no targets, if so.

    The whole log is built in memory.
    """
    manifest = folder.read_manifest()
    targets, problem = read_dataset(manifest)
    log = _log(folder, manifest, targets)
    started = datetime.fromisoformat(manifest.started)
    name = f"{started:%Y-%m-%dT%H-%M-%S}_{manifest.experiment}_{manifest.run_id}.eval"
    path = out / name.replace("/", "_")  # the id of a sweep's point is SWEEP_ID/3
    out.mkdir(parents=True, exist_ok=True)
    write_eval_log(log, path)
    return path, problem


def _log(folder: RunFolder, manifest: Manifest, targets: Samples) -> EvalLog:
    summary = summary_of(folder, manifest)
    rows = read_samples(folder)
    scores = read_scores(folder, rows)
    samples = []
    with closing(EventReader(folder)) as events:
        for key in sorted(rows, key=lambda key: (natural(key.sample_id), key.epoch)):
            sample = _sample(manifest, rows[key], scores[key], targets.get(key.sample_id), events)
            samples.append(condense_sample(sample))
    return EvalLog(
        status=_STATUS[manifest.status],
        eval=_spec(manifest, summary),
        results=EvalResults(
            total_samples=manifest.counts.get("attempts_planned", summary.n_attempts),
            completed_samples=sum(sample.error is None for sample in samples),
            scores=[_metric(name, estimate, summary.n_samples) for name, estimate in summary.metrics.items()],
        ),
        stats=EvalStats(
            started_at=manifest.started,
            completed_at=manifest.finished or "",
            **_usages(manifest, *(account.roles for account in summary.usage.values())),
        ),
        samples=samples,
    )


def _spec(manifest: Manifest, summary: Summary) -> EvalSpec:
    config, limits = manifest.config, manifest.raw_section("limits")
    models = {manifest.models.get(role, "unknown") for role in summary.usage["agent"].roles}
    return EvalSpec(
        eval_id=manifest.run_id,
        run_id=manifest.sweep.id if manifest.sweep else manifest.run_id,
        task_id=manifest.run_id,
        created=manifest.started,
        task=manifest.experiment,
        task_args=dict(manifest.axes),
        solver=str(manifest.options.get("agent") or manifest.raw_section("agent").get("target")),
        model=", ".join(sorted(models)) or "none",
        dataset=EvalDataset(name=manifest.dataset.name, samples=manifest.dataset.samples, shuffled=False),
        config=EvalConfig(
            epochs=config.get("epochs"),
            limit=config.get("limit"),
            time_limit=limits.get("sample_seconds") and round(limits["sample_seconds"]),
            token_limit=limits.get("sample_tokens"),
            turn_limit=limits.get("sample_model_calls"),
            cost_limit=limits.get("sample_usd"),
            fail_on_error=False,
        ),
        metadata={"aiq": manifest.model_dump(mode="json")},
    )


def _metric(name: str, estimate: Estimate, samples: int) -> EvalScore:
    figures: dict[str, float] = {estimate.estimator: estimate.mean}
    figures |= dict(zip(("ci95_low", "ci95_high"), estimate.ci95 or (), strict=False))
    return EvalScore(
        name=name,
        scorer=name,
        scored_samples=estimate.n,
        unscored_samples=samples - estimate.n,
        metrics={key: EvalMetric(name=key, value=value) for key, value in figures.items()},
    )


def _sample(
    manifest: Manifest, row: SampleRow, scores: Sequence[ScoreRow], sample: Sample | None, events: EventReader
) -> EvalSample:
    started, seconds = datetime.fromisoformat(row.timing.started), row.timing.seconds
    agent = list(transcript("agent", events.read(row.key, row.attempt), started))
    judges = transcript("judges", events.read(row.key, row.attempt, "judge"), started, after=seconds)
    failed = row.error is not None and row.status != "limit"
    model = next((manifest.models[role] for role in row.usage if role in manifest.models), "none")
    answer = ChatMessageAssistant(content=row.report or "")
    calls = [event for event in agent if event.event == "model" and event.output.choices]
    chat = [*calls[-1].input, calls[-1].output.message] if calls else [ChatMessageUser(content=row.question), answer]
    return EvalSample(
        id=row.sample_id,
        epoch=row.epoch,
        input=row.question,
        target=list(sample.answers) or sample.reference or "" if sample else "",
        messages=chat,
        output=ModelOutput.from_message(answer).model_copy(update={"model": model}),
        scores={score.metric: _score(score) for score in scores},
        metadata={
            **{f"tag.{name}": value for name, value in row.tags.items()},
            **{name: getattr(row, name) for name in ("attempt", "status", "route", "outcome", "citation_status")},
            "sources": [source.url or source.citation_key for source in row.retrieved],
        },
        events=[*agent, *judges],
        **_usages(manifest, row.usage, *(score.usage or {} for score in scores)),
        started_at=row.timing.started,
        completed_at=(started + timedelta(seconds=seconds)).isoformat(),
        total_time=seconds,
        uuid=f"{manifest.run_id}.{row.sample_id}.{row.epoch}",
        error=EvalError(message=str(row.error), traceback="", traceback_ansi="") if failed else None,
        limit=_limit(manifest, row) if row.status == "limit" else None,
    )


def _score(score: ScoreRow) -> Score:
    """A score without a number (a failed judge, a metric that does not apply) becomes Inspect's `unscored`."""
    detail = {"judge": score.judge, "judge_model": score.judge_model, "status": score.status, **score.detail}
    if score.number is None:
        return Score.unscored(reason=score.status, explanation=score.why, metadata=detail)
    if score.denominator is not None:
        detail |= {"numerator": score.numerator, "denominator": score.denominator}
    why = "the attempt failed: the metric's worst value" if score.status == "agent_failed" else None
    return Score(value=score.number, explanation=score.why or why, metadata=detail)


def _limit(manifest: Manifest, row: SampleRow) -> EvalSampleLimit:
    reason = str(row.error) if row.error else "the report was cut off"
    for name, kind in _LIMITS.items():
        if f"limits.{name}" in reason and (bound := manifest.raw_section("limits").get(name)) is not None:
            return EvalSampleLimit(type=kind, limit=bound, reason=reason)
    return EvalSampleLimit(type="token", limit=manifest.raw_section("llm").get("max_tokens") or 0, reason=reason)


def _usages(manifest: Manifest, *accounts: Mapping[str, Usage]) -> dict[str, Any]:
    """Inspect's `model_usage` and `role_usage`, agents and judges together: their roles tell them apart."""
    roles: dict[str, Usage] = {}
    models: dict[str, Usage] = {}
    for role, usage in (pair for account in accounts for pair in account.items()):
        model = manifest.models.get(role, "unknown")
        roles[role] = roles.get(role, Usage()) + usage
        models[model] = models.get(model, Usage()) + usage
    usages = {"model_usage": models, "role_usage": roles}
    return {name: {key: usage_of(usage) for key, usage in group.items()} for name, group in usages.items()}
