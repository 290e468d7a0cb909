"""Shards as Slurm jobs, through submitit."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, JsonValue

from aiq.core.errors import RunAborted
from aiq.core.samples import Shard
from aiq.core.settings import Positive, Settings
from aiq.experiment.launchers.base import ShardEnd, import_extra, work


class SlurmSettings(Settings):
    """Settings of the jobs."""

    cluster: Literal["slurm", "local"] = Field(description="slurm, or local: processes on this machine, for trying out")
    parameters: Mapping[str, JsonValue] = Field(
        description="parameters for submitit, such as {timeout_min: 240, slurm_partition: cpu}"
    )
    poll_seconds: Positive = Field(description="seconds between two checks of a job")


class Slurm:
    """Submits jobs when the run starts, and cancels them with it."""

    Settings = SlurmSettings

    def __init__(self, settings: SlurmSettings) -> None:
        self._settings = settings
        self._submitit: Any = None

    @asynccontextmanager
    async def opened(self, shards: int) -> AsyncIterator[None]:
        self._submitit = import_extra("submitit", "slurm")
        with _refusals():
            self._executor(Path(), "aiq")
        yield

    async def run(self, folder: Path, shard: Shard) -> ShardEnd:
        job = await asyncio.to_thread(self._submit, folder, shard)
        try:
            while not await asyncio.to_thread(job.done):  # noqa: ASYNC110  a job elsewhere sets no event
                await asyncio.sleep(self._settings.poll_seconds)
        except asyncio.CancelledError:
            job.cancel()
            raise
        return await asyncio.to_thread(_end, job)

    def _submit(self, folder: Path, shard: Shard) -> Any:
        with _refusals():
            executor = self._executor(folder / "jobs", f"aiq-{folder.name}-{shard.number}")
            return executor.submit(work, folder.absolute(), shard)

    def _executor(self, folder: Path, name: str) -> Any:
        executor = self._submitit.AutoExecutor(folder=folder, cluster=self._settings.cluster)
        executor.update_parameters(**{"name": name, **self._settings.parameters})
        return executor


@contextmanager
def _refusals() -> Iterator[None]:
    """Makes what submitit or Slurm refuses one line; submitit raises errors of many kinds."""
    try:
        yield
    except Exception as error:
        raise RunAborted(f"runner.launcher: {' '.join(str(error).split())}") from None


def _end(job: Any) -> ShardEnd:
    """The result of the job; one that was killed or ran out of time counts as ended by a signal."""
    error = job.exception()
    return job.result() if error is None else ShardEnd(-1, " ".join(str(error).split()))
