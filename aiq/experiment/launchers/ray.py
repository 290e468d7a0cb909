"""Shards as tasks of Ray: on a cluster that exists, or on one of this machine that listens on loopback only."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pydantic import Field

from aiq.core.errors import RunAborted
from aiq.core.samples import Shard
from aiq.core.settings import Positive, Settings
from aiq.experiment.launchers.base import ShardEnd, package, work

_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
"""No statistics of usage, and no word on settings of accelerators, of which a shard uses none."""


class RaySettings(Settings):
    """Of the cluster."""

    address: str | None = Field(
        description="of a cluster, such as ray://HOST:10001 or auto; null: one of its own, here"
    )
    cpus: Positive = Field(description="that a shard reserves")


class Ray:
    """A worker that dies is replaced by Ray, and its shard goes on where it was."""

    Settings = RaySettings

    def __init__(self, settings: RaySettings) -> None:
        self._settings = settings
        self._task: Any = None

    @asynccontextmanager
    async def opened(self, shards: int) -> AsyncIterator[None]:
        os.environ.update(_QUIET)
        ray = package("ray", "ray")
        here: dict[str, Any] = {"num_cpus": shards, "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
        given = {"address": self._settings.address} if self._settings.address else here
        try:
            ray.init(log_to_driver=False, logging_level="error", **given)
        except (ConnectionError, RuntimeError, ValueError) as error:
            why = " ".join(str(error).split())
            raise RunAborted(f"runner.launcher.address={self._settings.address}: no Ray cluster: {why}") from None
        try:
            options = {"num_cpus": self._settings.cpus, "max_retries": -1}
            self._task = ray.remote(work).options(**options)
            yield
        finally:
            ray.shutdown()

    async def run(self, folder: Path, shard: Shard) -> ShardEnd:
        end: ShardEnd = await self._task.remote(folder, shard)
        return end
