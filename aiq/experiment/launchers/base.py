"""What a launcher does: start the process of a shard, wait for its end, and report how it ended.

The process is always `aiq run resume=RUN shard=K/N`: it finds all it needs, and writes its results, in the run's
folder, which all machines must see.
"""

import asyncio
import sys
import tempfile
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from aiq.core.errors import ConfigError
from aiq.core.samples import Shard

GRACE_SECONDS = 20.0
"""How long a shard may take to cancel what is in flight; a run that has cancelled its attempts ends by itself."""


@dataclass(frozen=True)
class ShardEnd:
    """An exit code, negative if a signal ended the process, and the last line that it wrote to stderr."""

    code: int
    error: str


class Launcher(Protocol):
    """Made from its `Settings`; the run opens it once."""

    def opened(self, shards: int) -> AbstractAsyncContextManager[None]:
        """A context that is held while this many shards are at work, from before anything is written.

        Raises ConfigError or RunAborted, in one line.
        """

    async def run(self, folder: Path, shard: Shard) -> ShardEnd:
        """Do the shard. If it is cancelled here, its process ends and keeps finished work."""


async def run_locally(folder: Path, shard: Shard) -> ShardEnd:
    """Do the shard in a process on this machine, which stops when its stdin closes, that is when this process ends.

    It has its own process session, so that Ctrl-C reaches only the process that started it.
    """
    with tempfile.TemporaryFile() as errors:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "aiq.shard", str(folder), str(shard)),
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
        lines = errors.read().decode("utf-8", "replace").strip().splitlines()
        return ShardEnd(code, lines[-1].removeprefix("aiq: ") if lines else "")


def work(folder: Path, shard: Shard) -> ShardEnd:
    """The same, blocking, for a worker elsewhere that does nothing else."""
    return asyncio.run(run_locally(folder, shard))


def import_extra(name: str, extra: str) -> Any:
    """The package that a launcher needs. Raises ConfigError if it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        raise ConfigError(f"runner={extra} needs more packages: pip install 'aiq-bench[{extra}]'") from None
