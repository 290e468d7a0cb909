"""A run in other experiment trackers, through their own clients in local mode: MLflow and Weights & Biases.

Both get the same: the config as parameters, each metric with its interval and n, spend, what identifies the run as
tags, and summary, manifest and page as files. Nothing is sent anywhere: MLflow writes a SQLite file and a folder of
artifacts, W&B an offline run that `wandb sync` can upload.
"""

import os
import shlex
import shutil
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from aiq.core.base import Record
from aiq.core.errors import UserError
from aiq.core.settings import dotted
from aiq.runs.folder import RunFolder
from aiq.runs.manifest import RunStatus
from aiq.runs.reader import summary_of
from aiq.runs.summary import Summary

_IDENTITY: Final = {
    *("run_id", "status", "started", "finished", "clock", "offline", "git_revision"),
    *("dataset", "hashes", "models", "sweep"),
}
_MLFLOW_STATUS: Final = {"finished": "FINISHED", "interrupted": "KILLED", "failed": "FAILED"}
_MAX_CHARS: Final = 6000  # characters of a parameter's value in MLflow; a tag's may have 8,000
_BATCH: Final = 100  # parameters in one request to MLflow, which also takes a thousand metrics


class Tracked(Record):
    """What a tracker gets of a run. `started`, `finished`: seconds since 1970."""

    experiment: str
    run_id: str
    parameters: Mapping[str, Any]
    metrics: Mapping[str, float]
    tags: Mapping[str, str]
    files: tuple[Path, ...]
    started: float
    finished: float
    status: RunStatus


def read_tracked(folder: RunFolder) -> Tracked:
    manifest = folder.read_manifest()
    identity = manifest.model_dump(mode="json", include=_IDENTITY)
    files = (folder.summary_path, folder.manifest_path, folder.page_path)
    started = datetime.fromisoformat(manifest.started)
    return Tracked(
        experiment=manifest.experiment,
        run_id=manifest.run_id,
        parameters=dotted(manifest.config),
        metrics=dict(_metrics(summary_of(folder, manifest))),
        tags={f"aiq.{name}": str(value) for name, value in dotted(identity).items() if value is not None},
        files=tuple(path for path in files if path.is_file()),
        started=started.timestamp(),
        finished=(datetime.fromisoformat(manifest.finished) if manifest.finished else started).timestamp(),
        status=manifest.status,
    )


def _metrics(summary: Summary) -> Iterator[tuple[str, float]]:
    for name, estimate in summary.metrics.items():
        yield name, estimate.mean
        yield f"{name}.n", estimate.n
        for end, value in zip(("ci95_low", "ci95_high"), estimate.ci95 or (), strict=False):
            yield f"{name}.{end}", value
    for account, usage in summary.usage.items():
        for field in ("calls", "input_tokens", "output_tokens", "cost_usd", "unreported_calls"):
            if (amount := getattr(usage.total, field)) is not None:
                yield f"spend.{account}.{field}", amount
    counts = {"samples": summary.n_samples, "attempts": summary.n_attempts, "errors": summary.n_errors}
    yield from ((f"run.{name}", count) for name, count in counts.items())
    if seconds := summary.timing.run_seconds:  # unknown for a run that was cut off
        yield "run.seconds", seconds
    for judge, errors in summary.judge_errors.items():
        yield f"unjudged.{judge}", errors.n


def to_mlflow(run: Tracked, out: Path) -> str:
    """Log the run to the MLflow store below `out` (`mlflow.db`, `artifacts/`), once; returns the command to open it.

    Raises UserError if MLflow is not installed or refuses the run: its experiment was deleted there, or another
    version made the store.
    """
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    try:
        from mlflow.exceptions import MlflowException
        from sqlalchemy.exc import SQLAlchemyError
    except ImportError as error:
        raise UserError(f"--format mlflow needs MLflow: pip install 'aiq-bench[mlflow]' ({error})") from None
    try:
        _log_to_mlflow(run, out)
    except (MlflowException, SQLAlchemyError) as error:
        why = str(error).splitlines()[0]
        raise UserError(f"{out / 'mlflow.db'}: MLflow refuses the run ({why}); name another folder with --to") from None
    return f"mlflow ui --backend-store-uri {shlex.quote(f'sqlite:///{out}/mlflow.db')}"


def _log_to_mlflow(run: Tracked, out: Path) -> None:
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Param, RunTag

    out.mkdir(parents=True, exist_ok=True)
    store = f"sqlite:///{(out / 'mlflow.db').absolute()}"
    client = MlflowClient(tracking_uri=store, registry_uri=store)
    existing = client.get_experiment_by_name(run.experiment)
    artifacts = (out / "artifacts").absolute().as_uri()
    experiment = existing.experiment_id if existing else client.create_experiment(run.experiment, artifacts)
    for previous in client.search_runs([experiment], f"tags.`aiq.run_id` = '{run.run_id}'"):
        client.delete_run(previous.info.run_id)  # this run, exported before
    start_ms, end_ms = round(run.started * 1000), round(run.finished * 1000)
    run_id = client.create_run(experiment, start_time=start_ms, run_name=run.run_id).info.run_id
    metrics = [Metric(_key(name), value, end_ms, 0) for name, value in run.metrics.items()]
    parameters = [Param(_key(name), str(value)[:_MAX_CHARS]) for name, value in run.parameters.items()]
    tags = [RunTag(_key(name), value[:_MAX_CHARS]) for name, value in run.tags.items()]
    for start in range(0, max(map(len, (metrics, parameters, tags))), _BATCH):
        batch = slice(start, start + _BATCH)
        client.log_batch(run_id, metrics=metrics[batch], params=parameters[batch], tags=tags[batch])
    for path in run.files:
        client.log_artifact(run_id, str(path))
    if status := _MLFLOW_STATUS.get(run.status):  # else it is running, as it was created
        client.set_terminated(run_id, status, end_ms)


def _key(name: str) -> str:
    """A name with only the characters that MLflow accepts: letters, digits and `_-. :/`."""
    return "".join(char if char.isalnum() or char in "_-. :/" else "_" for char in name)[:250]


def to_wandb(run: Tracked, out: Path) -> str:
    """Write the run as an offline run of W&B below `out`; returns the command to upload it."""
    try:
        import wandb
    except ImportError as error:
        raise UserError(f"--format wandb needs Weights & Biases: pip install 'aiq-bench[wandb]' ({error})") from None
    out.mkdir(parents=True, exist_ok=True)
    settings = wandb.Settings(
        mode="offline",
        silent=True,
        host="",  # else the name of this machine
        console="off",
        disable_git=True,
        disable_code=True,
        x_disable_stats=True,
        x_disable_meta=True,
        x_disable_machine_info=True,
        x_save_requirements=False,
    )
    with wandb.init(
        project="aiq",
        group=run.tags.get("aiq.sweep.id", run.experiment),
        name=f"{run.experiment} {run.run_id}",
        id=run.run_id.replace("/", "-"),  # a sweep's point has SWEEP_ID/3, which W&B refuses
        config={**run.parameters, **run.tags},
        dir=str(out),
        reinit="create_new",
        settings=settings,
    ) as wandb_run:
        wandb_run.summary.update(dict(run.metrics))
        for path in run.files:  # into the offline run's own folder: an artifact would be in the user's cache
            wandb_run.save(shutil.copy(path, wandb_run.dir), base_path=wandb_run.dir, policy="end")
        folder = Path(wandb_run.dir).parent
        wandb_run.finish(exit_code=int(run.status != "finished"))
    wandb.teardown()  # only then is the run's file complete
    return f"wandb sync {shlex.quote(str(folder))}"
