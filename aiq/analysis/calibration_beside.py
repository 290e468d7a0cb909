"""What is known of a run's judges, to stand beside their scores."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from aiq.analysis.calibration import measured
from aiq.analysis.calibration_inputs import BY_CHANCE, MetricReliability
from aiq.core.errors import UserError
from aiq.runs.folder import RunFolder

NOT_MEASURED: Final = "not measured"


def reliabilities(folder: RunFolder, metrics: Iterable[str]) -> tuple[Mapping[str, str], str | None]:
    """By metric, as tables show it: the latest calibration of the very same judge (settings, prompts and model).

    The second member is why there is none at all, where a file cannot be read: the run's own numbers stand.
    """
    manifest = folder.read_manifest()
    given = manifest.config.get("judge_reliability")
    try:
        known = measured(_results(folder), given if isinstance(given, str) else None)
    except UserError as error:
        return dict.fromkeys(metrics, NOT_MEASURED), str(error)
    hashes = tuple(manifest.hashes.judges.values())
    found = {metric: next((known[h, metric] for h in hashes if (h, metric) in known), None) for metric in metrics}
    return {metric: shown(one) for metric, one in found.items()}, None


def shown(one: MetricReliability | None) -> str:
    """The reliability with its interval; and that a judge obeys what a report tells it, where it does."""
    if one is None or one.reliability is None:
        return NOT_MEASURED
    text = f"{one.reliability.value:.2f}"
    if one.reliability.ci95 is not None:
        text += f" ({one.reliability.ci95[0]:.2f} to {one.reliability.ci95[1]:.2f})"
    obeys = one.obeys_instructions
    caught = obeys is not None and obeys.ci95 is not None and obeys.ci95[0] > BY_CHANCE
    return text + (f", obeys {100 * obeys.value:.0f} %" if obeys and caught else "")


def _results(folder: RunFolder) -> Path:
    """The folder of all runs: `<results>/<experiment>/<run id>`."""
    return folder.path.absolute().parent.parent
