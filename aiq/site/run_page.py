"""The page of a run, `index.html`: one file that opens from disk and needs no network."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from aiq.analysis.reliability import reliabilities
from aiq.core.samples import SampleKey
from aiq.runs.folder import RunFolder, natural, write_whole
from aiq.runs.reader import read_samples, read_scores
from aiq.runs.rows import SampleRow, ScoreRow
from aiq.site.markdown import TEMPLATES, environment, render, style
from aiq.site.tables import (
    NOISE_HEADINGS,
    NOTHING_SCORED,
    citations,
    dollars,
    interval,
    judge_failures,
    missing_metrics,
    noise_cells,
    notes,
    number,
    replay_note,
    rounded,
    score_note,
    score_value,
)
from aiq.stats.estimates import Estimate


def write_page(folder: RunFolder, order: Sequence[SampleKey] = ()) -> Path:
    """Render what the run's folder holds, failures first, then by `order` (the dataset's). Returns the page's path."""
    summary, manifest = folder.read_summary(), folder.read_manifest()
    samples = read_samples(folder, SampleRow.light)
    scores = read_scores(folder, samples)
    places = {key: place for place, key in enumerate(order)}

    def place(attempt: tuple[SampleRow, list[ScoreRow]]) -> tuple[Any, ...]:
        row, scores = attempt
        good = row.answered and not any(score.status == "error" for score in scores)
        return good and not row.partial, places.get(row.key, len(places)), natural(row.sample_id), row.epoch

    page = (
        _templates()
        .get_template("run.html.j2")
        .render(
            manifest=manifest,
            summary=summary,
            attempts=sorted(((row, scores[key]) for key, row in samples.items()), key=place),
            reliability=reliabilities(folder, summary.metrics)[0],
            notes=[*notes(summary), *replay_note(manifest)],
            judge_failures=list(judge_failures(summary)),
            nothing_scored=NOTHING_SCORED,
            noise_headings=NOISE_HEADINGS,
            style=style("style.css"),
            script=(TEMPLATES / "filter.js").read_text(encoding="utf-8"),
        )
    )
    write_whole(folder.page_path, page)
    return folder.page_path


@cache
def _templates() -> Any:
    """Compiled once for all runs of a sweep."""
    templates = environment()
    cells = (number, interval, dollars, noise_cells, bar, rounded, score_value, score_note, citations, missing_metrics)
    templates.filters |= {"markdown": render, "json": _json, **{cell.__name__: cell for cell in cells}}
    return templates


def bar(estimate: Estimate, ends: tuple[float, float] | None) -> Mapping[str, str] | None:
    """Where mean and interval lie on a bar between the metric's ends, in per cent; None for a metric without ends."""
    if ends is None:
        return None
    first, last = ends
    low, high = estimate.ci95 or (estimate.mean, estimate.mean)
    left, mean, right = (min(1.0, max(0.0, (at - first) / (last - first))) for at in (low, estimate.mean, high))
    percent = {"mean": mean, "left": left, "width": right - left}
    return {**{name: f"{share:.2%}" for name, share in percent.items()}, "ends": f"{first:g} to {last:g}"}


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
