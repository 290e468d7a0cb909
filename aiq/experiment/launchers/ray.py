"""Shards as Ray tasks: on an existing cluster, or on one on this machine that listens on loopback only."""

import os
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import Field

from aiq.core.errors import RunAborted
from aiq.core.samples import Shard
from aiq.core.settings import Positive, Settings
from aiq.experiment.launchers.base import ShardEnd, import_extra, work

_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
"""No usage statistics, and no warnings about accelerators, which shards do not use."""
_LOCAL = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""A one-machine cluster on loopback; the switch is named after the systems where that is the default."""
_CLUSTER_FILE = "ray_bootstrap_config.yaml"
"""In the home folder. Without it, Ray asks the metadata services of three clouds where it is running."""
_ANSWER_SECONDS = 10.0
"""How long the host of a cluster may take to accept a connection; Ray itself tries for minutes."""


class RaySettings(Settings):
    """Settings of the cluster."""

    address: str | None = Field(
        description="address of a cluster, such as ray://HOST:10001 or auto; null: its own cluster, on this machine"
    )
    cpus: Positive = Field(description="CPUs that a shard reserves")


class Ray:
    """Ray replaces a worker that dies, and its shard continues where it was."""

    Settings = RaySettings

    def __init__(self, settings: RaySettings) -> None:
        self._settings = settings
        self._submit: Callable[..., Any]

    @asynccontextmanager
    async def opened(self, shards: int) -> AsyncIterator[None]:
        with _cluster(self._settings.address, shards) as (ray, home):
            task = ray.remote(_work).options(num_cpus=self._settings.cpus, max_retries=-1)
            self._submit = partial(task.remote, home)
            yield

    async def run(self, folder: Path, shard: Shard) -> ShardEnd:
        end: ShardEnd = await self._submit(folder, shard)
        return end


@contextmanager
def _cluster(address: str | None, shards: int) -> Iterator[tuple[Any, Path | None]]:
    """Ray, connected, and the home folder of this process if the cluster's is another one."""
    os.environ.update(_QUIET if address else _QUIET | _LOCAL)
    ray, home = import_extra("ray", "ray"), os.environ.get("HOME") or str(Path.home())
    options = {"address": address} if address else {"num_cpus": shards, "include_dashboard": False}
    if address:
        _check_reachable(address)
    with TemporaryDirectory() as folder:
        Path(folder, _CLUSTER_FILE).write_text("{}", encoding="utf-8")
        try:
            os.environ["HOME"] = home if address else folder
            ray.init(log_to_driver=False, logging_level="error", **options)
        except (ConnectionError, RuntimeError, ValueError, SystemExit) as error:  # it exits if another program answers
            reason = "no answer" if isinstance(error, SystemExit) else " ".join(str(error).split())
            raise RunAborted(f"runner.launcher.address={address}: no Ray cluster: {reason}") from None
        finally:
            os.environ["HOME"] = home
        try:
            yield ray, None if address else Path(home)
        finally:
            ray.shutdown()


def _check_reachable(address: str) -> None:
    """Raises RunAborted if nothing listens at an address that names a port."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdecimal():
        try:
            socket.create_connection((host.strip("[]"), int(port)), _ANSWER_SECONDS).close()
        except (OSError, OverflowError) as error:
            raise RunAborted(f"runner.launcher.address={address}: no Ray cluster: {error}") from None


def _work(home: Path | None, folder: Path, shard: Shard) -> ShardEnd:
    """The task; `home`: the home folder of the process that launches the shards, if theirs is another one."""
    if home is not None:
        os.environ["HOME"] = str(home)
    return work(folder, shard)
