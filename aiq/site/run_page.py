"""Writes a run's `index.html`: one file, no scripts from elsewhere, no network, opens from disk.

What the page of a run shows, read from the run's folder row by row; the long texts of sources are left behind.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from aiq.analysis.calibration_beside import reliabilities
from aiq.core.samples import SampleKey
from aiq.runs.folder import RunFolder, natural, write_whole
from aiq.runs.reader import read_samples, read_scores
from aiq.runs.rows import SampleRow, ScoreRow
from aiq.site.markdown import TEMPLATES, environment, render, style
from aiq.site.tables import (
    NOISE_HEADINGS,
    NOTHING_SCORED,
    OFFLINE_NOTE,
    dollars,
    interval,
    noise_cells,
    number,
)
from aiq.stats.estimates import Estimate


@dataclass(frozen=True)
class SourceView:
    """A retrieved source; `citations` are its numbers in the report with the level at which each matched."""

    title: str
    target: str
    tool: str
    citations: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class ScoreView:
    """One metric of an attempt. `shown`: the number, or what stands for it."""

    metric: str
    shown: str
    status: str
    note: str
    detail: Mapping[str, JsonValue]


@dataclass
class AttemptView:
    """One (sample, epoch) as the page lists it."""

    row: SampleRow
    report: str | None
    sources: tuple[SourceView, ...]
    scores: list[ScoreView] = field(default_factory=list)

    @property
    def good(self) -> bool:
        return self.row.answered and not any(score.status == "error" for score in self.scores)


def read_attempts(folder: RunFolder) -> list[AttemptView]:
    """The last attempt of each key with its scores."""
    views: dict[SampleKey, AttemptView] = {}

    def view(row: SampleRow) -> SampleRow:
        views[row.key] = _attempt(row)
        return row.light()

    scores = read_scores(folder, read_samples(folder, view))
    for key, found in views.items():
        found.scores = [_score(score) for score in scores[key]]
    return list(views.values())


def _attempt(row: SampleRow) -> AttemptView:
    cited: dict[str, list[tuple[int, str]]] = {}
    for citation in row.audit.valid_citations if row.audit else ():
        cited.setdefault(citation.source, []).append((citation.number, citation.level))
    sources = []
    for source in row.retrieved:
        target = source.url or source.citation_key or ""
        sources.append(SourceView(source.title or target, target, source.tool, tuple(cited.get(target, ()))))
    return AttemptView(row.light(), render(row.report) if row.report is not None else None, tuple(sources))


def _score(row: ScoreRow) -> ScoreView:
    note = row.error.message if row.error else row.reason or ""
    if row.value is not None:
        shown = f"{row.value:.3g}"
    elif row.numerator is not None and row.denominator is not None:
        shown = f"{row.numerator:g} of {row.denominator:g}"
    else:
        shown = "error" if row.status == "error" else "none"
    return ScoreView(row.metric, shown, row.status, note, row.detail)


def write_page(folder: RunFolder, order: Sequence[SampleKey] = ()) -> Path:
    """Render the run as it stands in its folder, attempts in `order` (the dataset's); the page's path."""
    summary, manifest = folder.read_summary(), folder.read_manifest()
    places = {key: place for place, key in enumerate(order)}
    attempts = sorted(read_attempts(folder), key=lambda view: _place(view, places))
    page = (
        _environment()
        .get_template("run.html.j2")
        .render(
            manifest=manifest,
            summary=summary,
            attempts=attempts,
            reliability=reliabilities(folder, summary.metrics)[0],
            offline_note=OFFLINE_NOTE,
            nothing_scored=NOTHING_SCORED,
            noise_headings=NOISE_HEADINGS,
            style=style("style.css"),
            script=(TEMPLATES / "filter.js").read_text(encoding="utf-8"),
        )
    )
    write_whole(folder.page_path, page)
    return folder.page_path


def _place(view: AttemptView, places: Mapping[SampleKey, int]) -> tuple[object, ...]:
    """What failed comes first, then by place in the dataset; what has none by sample and epoch, at the end."""
    row = view.row
    return view.good, places.get(row.key, len(places)), natural(row.sample_id), row.epoch


def bar(estimate: Estimate, ends: tuple[float, float] | None) -> dict[str, str] | None:
    """Where mean and interval lie on a bar between the metric's ends, in per cent; None for one without ends."""
    if ends is None:
        return None
    first, last = ends
    low, high = estimate.ci95 or (estimate.mean, estimate.mean)
    left, mean, right = (min(1.0, max(0.0, (at - first) / (last - first))) for at in (low, estimate.mean, high))
    return {
        "mean": f"{mean:.2%}",
        "left": f"{left:.2%}",
        "width": f"{right - left:.2%}",
        "ends": f"{first:g} to {last:g}",
    }


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _environment() -> Any:
    found = environment()
    shown = {"number": number, "interval": interval, "dollars": dollars, "noise_cells": noise_cells}
    found.filters |= {**shown, "bar": bar, "json": _json}
    return found
