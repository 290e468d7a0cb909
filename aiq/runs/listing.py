"""A list of runs and sweeps: what each is and its results so far, without reading its rows."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from aiq.core.base import Record
from aiq.core.errors import UserError, say
from aiq.core.usage import Usage
from aiq.runs.folder import MANIFEST, SWEEP_FILE, RunFolder, in_use
from aiq.runs.manifest import Manifest
from aiq.runs.sweeps import SweepFolder
from aiq.stats.estimates import Estimate


class ListedRun(Record):
    """A run or a sweep; samples and spend of a sweep are summed over its points.

    `status`: that of the manifest, but `cut off` if it says `running` and no process holds the lock. `metric` and
    `score`: the first metric that has a number; for a sweep, that of the recommended point. `summarised`: whether
    there are numbers at all. `cost_usd` is None without a price, and a lower bound if there are `unreported_calls`.
    """

    kind: Literal["run", "sweep"]
    id: str
    folder: str
    experiment: str
    agent: str
    model: str
    dataset: str
    status: str
    started: str | None
    samples: int
    metric: str | None = None
    score: Estimate | None = None
    summarised: bool
    cost_usd: float | None = None
    unreported_calls: int = 0

    def has(self, words: Iterable[str]) -> bool:
        """Whether each word is in one of its text fields, ignoring case."""
        texts = [value.casefold() for _, value in self if isinstance(value, str)]
        return all(any(word.casefold() in text for text in texts) for word in words)


def list_runs(results: str, *, points: bool = False) -> list[ListedRun]:
    """All runs and sweeps below `results`, newest first; `points`: the points of sweeps too.

    Reports unreadable ones on stderr. Raises UserError if there are none.
    """
    files = [*Path(results).glob(f"*/*/{MANIFEST}"), *Path(results).glob(f"*/*/{SWEEP_FILE}")]
    files += Path(results).glob(f"*/*/*/{MANIFEST}") if points else []
    if not files:
        raise UserError(f"there are no runs in {results}/; name the results folder with --results")
    return sorted(_read(files), key=lambda run: (run.started or "", run.id), reverse=True)


def _read(files: Iterable[Path]) -> Iterator[ListedRun]:
    for file in files:
        try:
            yield _sweep(SweepFolder(file.parent)) if file.name == SWEEP_FILE else _run(RunFolder(file.parent))
        except UserError as error:
            say(f"aiq: {error}")


def _run(folder: RunFolder) -> ListedRun:
    manifest = folder.read_manifest()
    ended = manifest.status != "running" and folder.summary_path.is_file()  # else the summary is from an earlier start
    summary = folder.read_summary() if ended else None
    metric, score = next(iter(summary.metrics.items()), (None, None)) if summary else (None, None)
    return ListedRun(
        kind="run",
        id=folder.run_id,
        folder=str(folder.path),
        experiment=manifest.experiment,
        **_components([manifest]),
        status=_status(folder.path, manifest.status),
        started=manifest.started,
        samples=manifest.dataset.samples,
        metric=metric,
        score=score,
        summarised=summary is not None,
        cost_usd=summary.cost_usd if summary else None,
        unreported_calls=summary.unreported_calls if summary else 0,
    )


def _sweep(folder: SweepFolder) -> ListedRun:
    sweep = folder.read()
    runs = [run for point in sweep.points if (run := folder.point(point.number)).manifest_path.is_file()]
    summaries = [run.read_summary() for run in runs if run.summary_path.is_file()]
    manifests = [run.read_manifest() for run in runs]
    usage = sum((Usage(cost_usd=s.cost_usd, unreported_calls=s.unreported_calls) for s in summaries), Usage())
    best = sweep.recommendation and sweep.points[sweep.recommendation.point]
    return ListedRun(
        kind="sweep",
        id=sweep.sweep_id,
        folder=str(folder.path),
        experiment=sweep.experiment,
        **_components(manifests),
        status=_status(folder.path, sweep.status),
        started=min((manifest.started for manifest in manifests), default=None),
        samples=sum(manifest.dataset.samples for manifest in manifests),
        metric=sweep.metric,
        score=best.metrics.get(sweep.metric or "") if best else None,
        summarised=bool(summaries),
        cost_usd=usage.cost_usd if summaries else None,
        unreported_calls=usage.unreported_calls,
    )


def _status(folder: Path, status: str) -> str:
    return "cut off" if status == "running" and not in_use(folder) else status


def _components(manifests: Sequence[Manifest]) -> dict[str, str]:
    """The names of agents, their models, and datasets, without repetition."""
    names = {
        "agent": [manifest.options.get("agent", "") for manifest in manifests],
        "model": [model for manifest in manifests for model in manifest.agent_models.values()],
        "dataset": [manifest.dataset.name for manifest in manifests],
    }
    return {kind: ", ".join(filter(None, dict.fromkeys(values))) for kind, values in names.items()}
