"""What the results site shows of a run, as plain JSON: from rows, manifest, summary and dataset to records.

Texts from outside are plain values; HTML is only what `aiq.site.markdown` has made safe.
"""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from aiq.core.samples import Sample
from aiq.runs.manifest import Manifest
from aiq.runs.rows import SampleRow, ScoreRow
from aiq.runs.summary import RouteSummary, Summary
from aiq.runs.sweeps import Sweep
from aiq.site.markdown import Json
from aiq.site.marked_report import marked_report, safe_html
from aiq.site.tables import (
    LEFT_OUT_HEADINGS,
    NOISE_HEADINGS,
    NOTHING_SCORED,
    attempts_line,
    citations,
    dollars,
    judge_failures,
    left_out_rows,
    missing_metrics,
    noise_cells,
    notes,
    replay_note,
    rounded,
    spend_line,
)
from aiq.stats.estimates import Estimate

QUESTION: Final = 160
"""Characters of a question in the table of samples."""
TEXT_OF_SOURCE: Final = 4000
"""Characters of a source on a sample's page; the call that returned it shows all."""
_WHICH_SAMPLES: Final = ("limit=", "dataset.ids=", "dataset.sample=", "output_dir=", "resume=")
_PLAIN_ID: Final = re.compile(r"[\w-]+")
_AS_IT_IS: Final = {
    *("epoch", "attempt", "status", "outcome", "route", "tags", "citation_status", "denied", "question"),
}
"""Fields of a row that a sample's page takes unchanged."""


def run_record(manifest: Manifest, summary: Summary) -> Json:
    """The line of a run in the index."""
    return {
        "kind": "run",
        "run_id": summary.run_id,
        "experiment": manifest.experiment,
        "agent": _agent(manifest),
        "model": manifest.models.get("default", ""),
        "dataset": manifest.dataset.name,
        "status": "failed" if _all_failed(summary) else manifest.status,
        "started": manifest.started[:19],
        "seconds": summary.timing.run_seconds,
        "samples": summary.n_samples,
        "of": manifest.dataset.samples,
        "failed": summary.n_errors,
        "attempts": summary.n_attempts,
        "cost": summary.cost_usd,
        "spent": dollars(summary.spent),
        "tokens": summary.spent.total_tokens,
        "sweep": manifest.sweep and {"id": manifest.sweep.id, "job": manifest.sweep.job},
        "metrics": _metrics(manifest, summary),
        "headline": headline(manifest, summary),
    }


def sweep_record(sweep: Sweep) -> Json:
    """The line of a sweep in the index."""
    choice = sweep.recommendation
    recommended = next((point for point in sweep.points if choice and point.number == choice.point), None)
    return {
        "kind": "sweep",
        "run_id": sweep.sweep_id,
        "experiment": sweep.experiment,
        "status": sweep.status,
        "points": len(sweep.points),
        "recommended": recommended and sweep.label(recommended),
    }


def summary_record(manifest: Manifest, summary: Summary, reliability: Mapping[str, str], gold: str | None) -> Json:
    """Everything about a run except its samples. `gold`: why no accepted answers can be shown, if so."""
    failures, run = summary.agent_failures, run_record(manifest, summary)
    for metric in run["metrics"]:
        metric["reliability"] = reliability.get(metric["name"])
        excluded = failures.metrics.get(metric["name"]) if failures.failed else None
        metric["other"] = excluded and excluded.mean
    return run | {
        "epochs": manifest.config.get("epochs", 1),
        "models": manifest.models,
        "size": manifest.dataset.size,
        "clock": manifest.clock,
        "rescored": manifest.rescored and manifest.rescored.run,
        "axes": manifest.sweep and dict(manifest.sweep.axes),
        "notes": [*notes(summary), *replay_note(manifest)],
        "nothing": None if manifest.hashes.judges else NOTHING_SCORED,
        "gold": gold,
        "all_failed": _all_failed(summary),
        "errors": [[count, message] for message, count in summary.failures.items()],
        "judge_errors": list(judge_failures(summary)),
        "caveats": [f"judge {judge}: {caveat}" for judge, caveat in summary.judge_caveats.items()],
        "policy": failures.policy,
        "alternative": failures.alternative,
        "missing": list(missing_metrics(summary)),
        "left_out": _table(LEFT_OUT_HEADINGS, left_out_rows(summary)),
        "noise": _table(
            ("judge noise", *NOISE_HEADINGS), [(name, *noise_cells(n)) for name, n in summary.judge_noise.items()]
        ),
        "attempts_line": attempts_line(summary),
        "statuses": dict(summary.statuses),
        "partial": summary.partial,
        "citations": citations(summary.citation_statuses),
        "routes": [_route(name, route) for name, route in summary.routes.items()],
        "slices": {
            tag: [[value, _estimates(metrics)] for value, metrics in groups.items()]
            for tag, groups in summary.slices.items()
        },
        "spend": [
            [account, role, used.calls, used.input_tokens, used.output_tokens, used.cost_usd, used.unreported_calls]
            for account, usage in summary.usage.items()
            for role, used in (*usage.roles.items(), ("", usage.total))
        ],
        "overrides": list(manifest.overrides),
        "config": rounded(dict(manifest.config)),
        "hashes": manifest.hashes.model_dump(mode="json"),
        "versions": dict(manifest.versions),
        "revision": manifest.git_revision,
    }


def attempt_record(row: SampleRow, scores: Iterable[ScoreRow]) -> Json:
    """An attempt's row in the table of samples: a value for each column."""
    scores, question = list(scores), " ".join(row.question.split())
    failed_judges = sorted({score.judge for score in scores if score.status == "error"})
    return {
        "id": row.sample_id,
        "epoch": row.epoch,
        "status": f"{row.status}, partial" if row.partial else row.outcome if row.outcome == "rejected" else row.status,
        "route": row.route or "",
        "tags": dict(row.tags),
        "cost": row.spent.cost_usd,
        "seconds": row.timing.seconds,
        "tokens": row.spent.total_tokens,
        "citations": row.citation_status or "",
        "question": question if len(question) <= QUESTION else f"{question[:QUESTION]}\u2026",
        "error": str(row.error) if row.error else "",
        "unjudged": failed_judges,
        "scores": {score.metric: score.number for score in scores},
    }


def sample_record(row: SampleRow, scores: Iterable[ScoreRow], sample: Sample | None, manifest: Manifest) -> Json:
    """The page of an attempt, except its timeline."""
    sources = [source for source in row.sources if source.kind == "retrieved"]
    places = {source.address: place for place, source in enumerate(sources)}
    return {
        **row.model_dump(mode="json", include=_AS_IT_IS),
        "id": row.sample_id,
        "seconds": row.timing.seconds,
        "spent": spend_line(row.spent),
        "error": str(row.error) if row.error else None,
        "turns": [[turn.question, safe_html(turn.report), turn.route] for turn in row.turns],
        **marked_report(row, places, manifest),
        "sources": [
            {
                "address": source.address,
                "title": source.title,
                "published": source.published,
                "tool": source.tool,
                "call": source.call_id,
                "text": source.text[:TEXT_OF_SOURCE],
                "more": max(0, len(source.text) - TEXT_OF_SOURCE),
            }
            for source in sources
        ],
        "gold": sample and _gold(sample, row),
        "scores": [_score(score) for score in scores],
        "again": rerun_command(manifest, row.sample_id),
    }


def rerun_command(manifest: Manifest, sample: str) -> str:
    """The command that runs this sample again with the settings of the run."""
    overrides = manifest.rescored.overrides if manifest.rescored else manifest.overrides
    quoted = sample if _PLAIN_ID.fullmatch(sample) else "'" + sample.replace("\\", "\\\\").replace("'", "\\'") + "'"
    kept = [text for text in overrides if not text.startswith(_WHICH_SAMPLES)]
    return shlex.join(["aiq", "run", *kept, f"dataset.ids=[{quoted}]"])


def _metrics(manifest: Manifest, summary: Summary) -> list[Json]:
    declared = {metric.name: metric for judge in manifest.judges for metric in judge.metrics}
    metrics = []
    for name, estimate in summary.metrics.items():
        low, high = summary.ranges.get(name, (None, None))
        higher = declared[name].higher_is_better if name in declared else True
        metrics.append({"name": name, **estimate.model_dump(), "low": low, "high": high, "higher": higher})
    return metrics


def headline(manifest: Manifest, summary: Summary) -> list[str]:
    """The first metric of each judge, those with most samples first; if no judges are known, of each prefix."""
    firsts: dict[str, str] = {}
    owners = {metric.name: judge.name for judge in manifest.judges for metric in judge.metrics}
    for name in summary.metrics:
        firsts.setdefault(owners.get(name, name.partition(".")[0]), name)
    return sorted(firsts.values(), key=lambda name: -summary.metrics[name].n)


def _estimates(estimates: Mapping[str, Estimate]) -> Json:
    return {name: estimate.model_dump() for name, estimate in estimates.items()}


def _route(name: str, route: RouteSummary) -> Json:
    stats = {"n": route.n, "seconds": route.mean_seconds, "cost": route.cost_usd, "unreported": route.unreported_calls}
    return {"name": name, **stats, "metrics": _estimates(route.metrics)}


def _table(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> Json | None:
    cells = [list(row) for row in rows]
    return {"headings": [" ".join(heading.split()) for heading in headings], "rows": cells} if cells else None


def _all_failed(summary: Summary) -> bool:
    return 0 < summary.n_attempts == summary.n_errors


def _agent(manifest: Manifest) -> str:
    return manifest.options.get("agent") or str(manifest.raw_section("agent").get("target", "")).rpartition(":")[2]


def _score(score: ScoreRow) -> Json:
    ratio = None if score.numerator is None else [score.numerator, score.denominator]
    return {
        "metric": score.metric,
        "judge": score.judge,
        "model": score.judge_model,
        "status": score.status,
        "value": score.number,
        "ratio": ratio,
        "why": score.why or "",
        "detail": rounded(dict(score.detail)),
    }


def _gold(sample: Sample, row: SampleRow) -> Json:
    rubric = sample.rubric
    criteria = rubric and [
        [dimension, rubric.dimension_weight.get(dimension), [[c.criterion, c.explanation, c.weight] for c in items]]
        for dimension, items in rubric.criteria.items()
    ]
    truth = sample.truth
    return {
        "answers": list(sample.answers),
        "reference": safe_html(sample.reference) if sample.reference else None,
        "criteria": criteria,
        "facts": [[fact.id, " / ".join(fact.forms)] for fact in truth.facts] if truth else [],
        "other": sample.question.text != row.question,
    }
