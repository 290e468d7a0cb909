"""Shards as processes on this machine."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aiq.core.samples import Shard
from aiq.core.settings import Settings
from aiq.experiment.launchers.base import ShardEnd, run_locally


class Processes:
    """Starts each shard as a local process; there is nothing to configure."""

    Settings = Settings

    def __init__(self, settings: object) -> None:
        pass

    @asynccontextmanager
    async def opened(self, shards: int) -> AsyncIterator[None]:
        yield

    async def run(self, folder: Path, shard: Shard) -> ShardEnd:
        return await run_locally(folder, shard)
