"""Writes a run's `index.html`: one file, no scripts from elsewhere, no network, opens from disk."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aiq.core.samples import SampleKey
from aiq.experiment.calibration.beside import reliabilities
from aiq.experiment.folder import RunFolder, write_whole
from aiq.experiment.order import natural
from aiq.experiment.table import (
    NOISE_HEADINGS,
    NOTHING_SCORED,
    OFFLINE_NOTE,
    dollars,
    interval,
    noise_cells,
    number,
)
from aiq.site.environment import TEMPLATES, environment, style
from aiq.site.view import AttemptView, read_attempts
from aiq.stats.estimates import Estimate


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
