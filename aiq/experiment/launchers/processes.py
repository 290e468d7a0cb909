"""Shards as processes of this machine."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from aiq.core.samples import Shard
from aiq.core.settings import Settings
from aiq.experiment.launchers.base import ShardEnd, command, last_line

GRACE_SECONDS = 20.0
"""How long a shard may take to cancel what is in flight; after a run has cancelled its attempts it ends by itself."""


class Processes:
    """Each in a session of its own, so that Ctrl-C reaches only the process that started them."""

    Settings = Settings

    def __init__(self, settings: object) -> None:
        pass

    @asynccontextmanager
    async def opened(self, shards: int) -> AsyncIterator[None]:
        yield

    async def run(self, folder: Path, shard: Shard) -> ShardEnd:
        with tempfile.TemporaryFile() as errors:
            process = await asyncio.create_subprocess_exec(
                *command(folder, shard),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )
            try:
                code = await process.wait()
            except asyncio.CancelledError:
                assert process.stdin is not None
                process.stdin.close()
                with suppress(TimeoutError):
                    await asyncio.wait_for(process.wait(), GRACE_SECONDS)
                raise
            finally:
                with suppress(ProcessLookupError):
                    process.kill()
            errors.seek(0)
            return ShardEnd(code, last_line(errors.read()))
